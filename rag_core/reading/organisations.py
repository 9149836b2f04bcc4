"""Names of companies and bodies, by the endings that law gives them (legal_forms.txt) or the form they are filed on."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from rag_core.reading.front import Front
from rag_core.reading.sections import bare_words

_FILE = Path(__file__).with_name("legal_forms.txt")
_REGISTRANT = re.compile(
    r"\(?\s*(?:exact\s+)?names?\s+of\s+(?:the\s+)?(?:registrant|company|issuer)s?\s+as\s+specified", re.IGNORECASE
)
_NO_NAME = re.compile(
    r"commission|file\s+n|\bform\b|\bperiod\b|washington|pursuant|\(|\b(?:19|20)\d\d\b|^\W*(?:or|and)\W*$",
    re.IGNORECASE,
)
_FILE_NUMBER = re.compile(r"^.*\d+-\d{3,6}\s+")
_BEFORE_VERB = re.compile(r"^(.{2,40}?)\s+(?:reports?|announces?|announced|posts|delivers)\s", re.IGNORECASE)
# Lines above the words "exact name of registrant" that may hold it.
_ABOVE = 4
_LINES = 70
_HEAD_LINES = 8
_NAMED, _HEAD, _AUTHOR, _MOST_TIMES, _LEAST = 3.0, 2.0, 1.0, 2.0, 3.0
# A single word of so many capitals is an abbreviation.
_SIGN_CHARS = 4
_SMALL = {"of", "and", "the", "for", "in", "de", "du", "la", "di", "für", "und", "et", "y", "von", "van"}
_NO_NAMES = _SMALL | {"a", "this", "our", "its", "each", "such"}


def find_organisation(front: Front, title: str, names: Sequence[str], authors: str) -> str:
    """The organisation whose document it is, as it is written, or ""."""
    found = _registrant(front) or _by_form(front, title, names, authors) or _before_verb(front)
    return _spelled(found, front.text)


def _registrant(front: Front) -> str:
    """The name that a filing's cover has above "exact name of registrant as specified in its charter"."""
    for number, line in enumerate(front.lines):
        match = _REGISTRANT.search(line.text)
        if match is None:
            continue
        above = [
            line.text[: match.start()],
            *(item.text for item in front.lines[max(0, number - _ABOVE) : number][::-1]),
        ]
        for place, text in enumerate(above):
            name = _FILE_NUMBER.sub("", text).strip(" _.-–—")
            if len(bare_words(name)) < 2 or _NO_NAME.search(name):
                continue
            before = above[place + 1] if place + 1 < len(above) else ""
            # A name in two lines ends in one that is a legal form and little else.
            return (
                f"{before} {text.strip()}"
                if _is_rest(name) and not _NO_NAME.search(before)
                else text[-120:].strip(" _")
            )
    return ""


def _is_rest(name: str) -> bool:
    words = name.replace(",", " ").split()
    return len(words) <= 2 and any(word.rstrip(".").casefold() in _forms() for word in words)


def _by_form(front: Front, title: str, names: Sequence[str], authors: str) -> str:
    """The name with a legal ending that is said most, first, and in the title or the file's name."""
    scores: dict[str, float] = defaultdict(float)
    times: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for number, line in enumerate(front.lines[:_LINES]):
        for name in (name for part in line.parts for name in _legal_names(part)):
            key = bare_words(name)
            times[key] += 1
            scores[key] = max(scores[key], _HEAD if number < _HEAD_LINES else 0.0)
            spelled.setdefault(key, name)
    said = [bare_words(text) for text in (title, *names) if text]
    for key, name in spelled.items():
        main = main_word(name)
        scores[key] += min(times[key], _MOST_TIMES)
        scores[key] += _NAMED * any(main in text for text in said) + _AUTHOR * (main in bare_words(authors))
    best = max(scores, key=lambda key: scores[key], default="")
    return spelled[best] if best and scores[best] >= _LEAST else ""


def is_legal_name(text: str) -> bool:
    """Whether a text is an organisation's full name and nothing else, as "Rules of the Garden Trust" are."""
    return " of the " not in text and _name_pattern().fullmatch(text) is not None


def main_word(name: str) -> str:
    """The first word of a name that tells it from others, for comparing."""
    words = [word for word in name.split() if word.casefold() not in _NO_NAMES]
    first = bare_words(words[0])
    return first if len(first) > 2 or len(words) < 2 else first + bare_words(words[1])


def _legal_names(line: str) -> Iterator[str]:
    for match in _name_pattern().finditer(line):
        words = match[0].split()
        while words and words[0].casefold() in _SMALL - {"the"}:
            words = words[1:]
        rest = [word for word in words if word.strip(".,").casefold() not in _NO_NAMES | _forms().keys()]
        if rest:
            yield " ".join(words)


def _before_verb(front: Front) -> str:
    """The one that reports or announces in a headline."""
    for line in front.first[:20]:
        match = _BEFORE_VERB.match(line.text)
        if (
            match
            and match[1][:1].isupper()
            and all(w[:1].isupper() or w in _SMALL or w == "&" for w in match[1].split())
        ):
            return match[1]
    return ""


def _spelled(name: str, text: str) -> str:
    """A name in capitals as the text writes it elsewhere, else with small letters in its longer words."""
    name = " ".join(name.split()).strip(" ,;:-–—_*")
    if not name.isupper() or (" " not in name and len(name) <= _SIGN_CHARS):
        return name
    others = re.findall(r"\s+".join(re.escape(word) for word in name.split()), text, re.IGNORECASE)
    other = next((found for found in others if not found.isupper() and found[:1].isupper()), "")
    return " ".join((other or " ".join(_lowered(word) for word in name.split())).split())


def _lowered(word: str) -> str:
    written = _forms().get(word.strip(".,").casefold())
    if written:
        return written + word[len(word.rstrip(".,")) :]
    if word.casefold() in _SMALL:
        return word.casefold()
    letters = [character for character in word if character.isalpha()]
    is_sign = any(character.isdigit() for character in word) or "&" in word
    is_short = len(letters) <= 3 and not set("AEIOUY") & set(letters)
    return word if is_sign or is_short else "-".join(part.capitalize() for part in word.split("-"))


@cache
def _forms() -> dict[str, str]:
    """Legal endings, without their last point and in small letters, as they are written."""
    rows = _FILE.read_text(encoding="utf-8").splitlines()
    found: dict[str, str] = {}
    for row in rows:
        if not row.startswith("#"):
            found.setdefault(row.casefold(), row)
    return found


@cache
def _name_pattern() -> re.Pattern[str]:
    forms = sorted({*_forms().values(), *(form.upper() for form in _forms().values())}, key=len, reverse=True)
    word = r"[^\W\d_a-zß-ÿ][\w&'’.\-]*|\d+[A-Z]{1,3}(?!\w)"
    joined = "|".join([*sorted(_SMALL), "&"])
    ending = "|".join(re.escape(form) for form in forms)
    return re.compile(
        rf"(?<![^\W\d]|\.)(?:{word})(?:,?\s(?:(?:{joined})\s)*(?:{word})){{0,5}}?,?\s(?:{ending})(?![\w&])\.?"
    )
