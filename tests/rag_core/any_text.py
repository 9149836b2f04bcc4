"""Text as it may come: words that the parts of a question are made of, and characters of every kind between them."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

_EVERY_DAY = 25
EXAMPLES = int(os.environ.get("LECTERN_FUZZ_TEXTS", str(_EVERY_DAY)))
# What fools code that takes characters for what they look like: digits that are no numbers, letters that change their
# length with their case, scripts without words, marks without letters, and what UTF-8 cannot hold.
ODD = (
    "\\_(ツ)_/", "ｶﾀｶﾅ", "ー", "〇三百", "²³", "½", "١٢٣", "①②", "𝟙𝟚", "Ⅷ", "㊿", "İı", "ŉ", "ﬁﬂ", "ẞß",
    "ǅ", "\x00", "\ufffe",
    "\ud800", "\udfff", "\u202e", "\u200f", "\u2066", "\u200d", "\ufeff", "\xad", "\u0378", "\U000e0041", "\U0010ffff",
    "e\u0301\u0301\u0301", "\u0301", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "한국어", "ไทย", "العَرَبِيَّة", "עִבְרִית", "हिन्दी",
    "\x1b[0m", "\x85", "\u2028",
    "\x0b\x0c", "\t", "\r", "\n\n", "$€£¥", "%", "−5", "1e999", "9" * 400, "1,2.3,4", "0x", "..", "…", "«»", "“",
    '"', "'", "`",
    "@", "#", "|", "---", "```", "<b>", "&amp;", "{}", "[](", "\\", "/", "*", "?", "!", ":", ";", "~", "^", "(", ")",
    "=",
)  # fmt: skip
WORDS = (
    "what", "how many", "how much", "when", "who", "which", "compare", "sum of", "average", "list", "between",
    "and", "or",
    "more than", "the highest", "total", "revenue", "sales", "bread", "price", "in 2019", "2020", "Q1", "3.5", "1,000",
    "the", "of", "was", "not", "change", "from", "to", "per cent", "page 2", "rye", "glacier", "bishop", "hello",
    "thanks",
    "is it true that", "summarise", "why", "where", "and then", "handbook", "euros", "days", "table", "January",
)  # fmt: skip
CHARACTERS = st.characters(exclude_categories=())
PIECES = st.one_of(st.sampled_from(WORDS), st.sampled_from(ODD), st.text(CHARACTERS, min_size=1, max_size=5))
TEXTS = st.builds(
    lambda pieces, mark: mark.join(pieces), st.lists(PIECES, max_size=12), st.sampled_from((" ", "", "\n"))
)
NAMES = st.one_of(TEXTS, st.text(CHARACTERS, max_size=300))


def tried(share: float) -> settings:
    """How often a test is tried: its share of all examples. Every day the same ones."""
    return settings(
        max_examples=max(2, round(share * EXAMPLES)), deadline=None, database=None, derandomize=EXAMPLES <= _EVERY_DAY,
        phases=[Phase.generate, Phase.shrink], suppress_health_check=[*HealthCheck],
    )  # fmt: skip


# The beginnings of files of some kinds, so that what follows is taken for their text.
_BEGINNINGS = (
    "", "# ", "<html><body><table><tr><td>", "<title>", "a,b,c\n1,", '{"a": [', "1\n00:00:01,000 --> 00:00:02,000\n",
    "\\section{",
    "BEGIN:VCARD\nNOTE;QUOTED-PRINTABLE:", "BEGIN:VEVENT\nDTSTART:",
    "Subject: ", "From: a@b\nSubject: x\nContent-Type: text/html\n\n", "|a|b|\n|-|-|\n|", "{\\rtf1 ", "<h1>",
    "Abstract\n",
)  # fmt: skip
_BETWEEN = ("\n", "|", "</td></tr>", "\n\n", ",", ', "x"]}', "\t")
_ENDINGS = (
    "txt",
    "md",
    "csv",
    "html",
    "json",
    "srt",
    "ics",
    "vcf",
    "tex",
    "ipynb",
    "eml",
    "xml",
    "py",
    "rtf",
    "tsv",
    "log",
    "yaml",
    "",
)
_ENCODINGS = ("utf-8", "utf-16", "latin-1", "shift_jis")


@st.composite
def contents(draw: st.DrawFn) -> tuple[str, bytes]:
    """The ending of a file's name, and its bytes."""
    parts = draw(st.lists(TEXTS, min_size=1, max_size=4))
    text = draw(st.sampled_from(_BEGINNINGS)) + draw(st.sampled_from(_BETWEEN)).join(parts)
    encoding = draw(st.sampled_from(_ENCODINGS))
    errors = "surrogatepass" if encoding.startswith("utf") else "ignore"
    return draw(st.sampled_from(_ENDINGS)), text.encode(encoding, errors)
