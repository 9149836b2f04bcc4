"""The numbers that Word counts before headings and items of lists ("2.1", "b)"), as its numbering part defines them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from docx.oxml.ns import qn

from rag_core.reading.flowing import archive

_PLACE = re.compile(r"%([1-9])")
_ROMAN = {1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x"}
_ROMAN |= {9: "ix", 5: "v", 4: "iv", 1: "i"}
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Level:
    """How a level of a list counts: in letters or numbers, from what on, and what is written around."""

    form: str
    start: int
    text: str


class Numbering:
    """Counts as Word does: lists that share a definition go on with one another, save where one begins anew."""

    def __init__(self, root: Any) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._of_style: dict[str, int] = {}
        self._lists: dict[str, str] = {}
        self._anew: dict[str, dict[int, int]] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        for element in root.iter(qn("w:abstractNum")):
            levels = {_number(one, qn("w:ilvl")): one for one in element.iter(qn("w:lvl"))}
            self._levels[element.get(qn("w:abstractNumId"), "")] = {at: _level(one) for at, one in levels.items()}
            self._of_style |= {_value(one, "w:pStyle", ""): at for at, one in levels.items()}
        for element in root.iter(qn("w:num")):
            name = element.get(qn("w:numId"), "")
            self._lists[name] = _value(element, "w:abstractNumId", "")
            starts = element.iter(qn("w:lvlOverride"))
            self._anew[name] = {
                _number(one, qn("w:ilvl")): archive.number(_value(one, "w:startOverride", "1"), 1)
                for one in starts
                if one.find(qn("w:startOverride")) is not None
            }

    def label(self, name: str, level: int | None, style: str) -> str:
        """The number of the next paragraph of a list, "" for a bullet or none. level: None is that of its style."""
        at = self._of_style.get(style, 0) if level is None else level
        levels = self._levels.get(self._lists.get(name, ""), {})
        counts = self._counts[self._lists.get(name, "")]
        for place, start in self._anew.pop(name, {}).items():
            counts[place] = start - 1
        if at not in levels:
            return ""
        counts[at] = counts.get(at, levels[at].start - 1) + 1
        for deeper in [place for place in counts if place > at]:
            del counts[deeper]

        def counted(place: re.Match[str]) -> str:
            one = int(place[1]) - 1
            known = levels.get(one, levels[at])
            return _FORMS.get(known.form, str)(min(counts.get(one, known.start), _MOST))

        is_bullet = levels[at].form in ("bullet", "none")
        return "" if is_bullet else _PLACE.sub(counted, levels[at].text).strip()


def _level(element: Any) -> _Level:
    start = _value(element, "w:start", "1")
    return _Level(_value(element, "w:numFmt", "decimal"), archive.number(start, 1), _value(element, "w:lvlText", ""))


def _value(element: Any, name: str, default: str) -> str:
    found = element.find(qn(name))
    return default if found is None else str(found.get(qn("w:val"), default))


def _number(element: Any, name: str) -> int:
    return archive.number(element.get(name))


def _letters(number: int) -> str:
    """a to z, then aa to zz, as Word counts."""
    return chr(ord("a") + (number - 1) % 26) * (1 + (number - 1) // 26) if number > 0 else "0"


def _roman(number: int) -> str:
    written = ""
    for worth, letters in _ROMAN.items():
        written += letters * (number // worth)
        number %= worth
    return written


_FORMS: dict[str, Callable[[int], str]] = {
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
}
