"""A text cut into words, numbers and codes, by Unicode's classes of characters, whatever its script.

A run is what stands together without a space: `Apple's`, `10-K`, `3.5 %`, `forward-looking`, a stretch of Chinese. Each
run is cut into tokens: words; numbers; codes, kept whole (e-mail addresses, ISO dates, `A320-200`, `§ 4.2`, `3.5%`)
beside their parts; and, in scripts that put no spaces between words, overlapping pairs of characters, the usual unit of
their full-text search (Nie, Gao, Zhang and Zhou 2000). Hyphenation at line ends is undone. Compatibility forms (NFKC)
are resolved token by token, so that offsets stay those of the text and the 1 of "Sales¹" is not taken for a digit.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import regex

Kind = Literal["word", "number", "code", "pair"]


class Token(NamedTuple):
    """A token in lower case, and where it stands: `text[start:end]`, in characters."""

    text: str
    kind: Kind
    start: int
    end: int


_PAIRED = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"


def _break(small: str) -> str:
    return rf"\u00ad(?:[ \t]*\r?\n[ \t]*)?|[-\u2010][ \t]*\r?\n[ \t]*(?={small})"


def _run(character: str, small: str) -> str:
    """The pattern of a run of one class of characters, of which those that are small letters go on a divided word."""
    return (
        rf"(?:§§?\s?(?=\d))?{character}(?:{character}+|[-.'’_@+\u2010\u2011](?={character})"
        rf"|(?<=\d)(?:[,\u066b\u066c]|[\u00a0\u202f](?=\d{{3}}(?!\d)))(?=\d)|{_break(small)})*"
        r"(?:(?<=\d)[ \u00a0\u202f]?[%٪])?"
    )


_BREAK = _break(r"\p{Ll}")
_RUN = regex.compile(
    rf"[[\p{{L}}\p{{M}}]&&[{_PAIRED}]]+|" + _run(rf"[[\p{{L}}\p{{M}}\p{{Nd}}]--[{_PAIRED}]]", r"\p{Ll}"), regex.V1
)
# The same for texts of western Europe, by an engine that takes a fifth of the time.
_WESTERN_RUN = re.compile(_run("[A-Za-z0-9ªµºÀ-ÖØ-öø-ÿ]", "[a-zµß-öø-ÿ]"))
_NOT_WESTERN = re.compile("[^\x00-\x1b\x20-\xff\u2010-\u2027€]")
_PAIRED_RUN = regex.compile(rf"[{_PAIRED}]", regex.V1)
_BREAKS = regex.compile(_BREAK)
_PLAIN = regex.compile(
    r"(?<!\d)\d{1,3}(?:[\u00a0\u202f'’]\d{3})+(?:[.,]\d+)?(?!\d)"
    r"|\d+(?:[.,\u066b\u066c]\d+)*"
    rf"|[\p{{L}}\p{{M}}](?:[\p{{L}}\p{{M}}]|{_BREAK})*"
)
_MAIL = regex.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SECTION = regex.compile(r"§§?\s?(\d+(?:\.\d+)*\p{L}?)(?!\p{L})")
_GROUPS = regex.compile(r"\d+(?:[-\u2010\u2011]\d+)+")
_DOTTED = regex.compile(r"\p{L}(?:\.\p{L})+")
_INITIAL = regex.compile(r"\p{L}[-\u2010\u2011]\p{L}{2,}")
_SHARE = regex.compile(r"\d[\d.,'’\u00a0\u202f\u066b\u066c]*(?=\s?[%٪])")
_DIGIT, _LETTER = regex.compile(r"\d"), regex.compile(r"\p{L}")
_HYPHEN = regex.compile(r"[-\u2010\u2011]")
_HAN = regex.compile(r"\p{Han}")
_CLUSTER = regex.compile(r"\X")
_MARKS = {"\u066b": ".", "\u066c": ",", "٪": "%"}
_LONGEST = 64
"""Runs of more characters are not worth remembering."""


def _pattern(text: str) -> Any:
    return _RUN if _NOT_WESTERN.search(text) else _WESTERN_RUN


def runs(text: str) -> list[str]:
    """The runs of a text, in order: what `run_tokens` cuts further."""
    found: list[str] = _pattern(text).findall(text)
    return found


def placed_runs(text: str) -> list[tuple[int, str]]:
    """The runs of a text with where they begin."""
    return [(match.start(), match[0]) for match in _pattern(text).finditer(text)]


def tokens(text: str) -> Iterator[Token]:
    """All tokens of a text in order; a code stands before its parts, and at the same place."""
    for match in _pattern(text).finditer(text):
        first = match.start()
        for token in run_tokens(match[0]):
            yield Token(token.text, token.kind, first + token.start, first + token.end)


def words(text: str) -> list[str]:
    """All words and numbers of a text in lower case; of scripts without spaces each character by itself."""
    found: list[str] = []
    for run in runs(text):
        if _PAIRED_RUN.match(run):
            found.extend(plain(run))
        else:
            found.extend(token.text for token in run_tokens(run) if token.kind in ("word", "number"))
    return found


def run_tokens(run: str) -> tuple[Token, ...]:
    """The tokens of one run, with offsets within it."""
    return _remembered(run) if len(run) <= _LONGEST else _cut(run)


def plain(text: str) -> str:
    """Lower case, one form for characters that look alike (NFKC), European digits, no hyphenation at line ends."""
    if text.isascii() and "\n" not in text:
        return text.lower()
    text = unicodedata.normalize("NFKC", _BREAKS.sub("", text)).casefold().replace("i\u0307", "i")  # Turkish İ
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else _MARKS.get(c, c) for c in text)


def _cut(run: str) -> tuple[Token, ...]:
    if _PAIRED_RUN.match(run):
        return tuple(_pairs(run))
    parts = [
        Token(plain(match[0]), "number" if match[0][0].isdecimal() else "word", match.start(), match.end())
        for match in _PLAIN.finditer(run)
    ]
    whole = _whole(run) if len(parts) > 1 or run[-1] in "%٪" or run[0] == "§" else None
    if whole is None:
        return tuple(parts)
    return (Token(whole, "code", 0, len(run)), *parts)


_remembered = lru_cache(maxsize=1 << 14)(_cut)


def _whole(run: str) -> str | None:
    """A run as one code, in one spelling: without hyphens where it mixes letters and digits; None if it is no code."""
    if _MAIL.fullmatch(run) or _GROUPS.fullmatch(run):
        return str(_HYPHEN.sub("-", plain(run)))
    section, share = _SECTION.match(run), _SHARE.match(run)
    if section:
        return "§" + plain(section[1])
    if _DOTTED.fullmatch(run):
        return plain(run).replace(".", "")
    if _INITIAL.fullmatch(run):
        return plain(_HYPHEN.sub("", run))
    if share:
        return plain(share[0]) + "%"
    if _DIGIT.search(run) and _LETTER.search(run) and not set(run) & set("@'’\u00a0\u202f"):
        return plain(_HYPHEN.sub("", run)).replace(",", "")
    return None


def _pairs(run: str) -> Iterator[Token]:
    """Overlapping pairs of characters, vowel signs and marks kept with what they stand on."""
    clusters = [match.span() for match in _CLUSTER.finditer(run)]
    for index, (start, end) in enumerate(clusters):
        if len(clusters) == 1 or _HAN.match(run, start):
            yield Token(plain(run[start:end]), "pair", start, end)
        if index + 1 < len(clusters):
            end = clusters[index + 1][1]
            yield Token(plain(run[start:end]), "pair", start, end)
