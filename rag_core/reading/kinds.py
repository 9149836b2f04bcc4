"""What kind of document it is, by the words that people and forms use for it: the list is document_kinds.tsv."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast

from rag_core.reading.front import Front
from rag_core.reading.periods import PeriodKind

# composed: called by organisation, kind and period, whatever the page says; own: so where the title says no more than
# the kind; title: by its title.
Naming = Literal["composed", "own", "title"]

_FILE = Path(__file__).with_name("document_kinds.tsv")
_TITLE, _NAME, _LINE, _LARGE, _LATER = 3.0, 2.0, 1.0, 1.5, 0.5
# A match on a later page counts only for words that are found on no other kind's pages.
_SURE = 4.0
_LEAST = 2.0
_LARGE_SIZE = 1.2
# Lines at the top of the first page that are looked at, and the words of one that is no sentence.
_TOP_LINES = 16
_LINE_WORDS = 12


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document, "" for none; how its title is made, and what its period is."""

    name: str = ""
    naming: Naming = "title"
    period: PeriodKind = "date"


@dataclass(frozen=True, slots=True)
class _Words:
    """Words that name a kind: one line has all of the patterns. `weight` says how sure they are.

    needle: letters that any such line has, in small ones, for looking quickly.
    """

    kind: Kind
    weight: float
    needle: str
    patterns: tuple[re.Pattern[str], ...]

    def match(self, line: str) -> bool:
        """Whether a line has them; a long one is a sentence and has them at its beginning."""
        found = [pattern.search(line) for pattern in self.patterns]
        short = line.count(" ") < _LINE_WORDS
        return all(match is not None and (short or match.start() == 0) for match in found)


def find_kind(title: str, names: Sequence[str], front: Front) -> Kind:
    """The kind that title, names and the lines of the first pages speak for most."""
    scores: dict[Kind, float] = defaultdict(float)
    places = list(_places(title, names, front))
    everything = " ".join(line for line, _, _ in places).casefold()
    for words in _vocabulary():
        if words.needle in everything:
            found = (weight for line, weight, least in places if words.weight >= least and words.match(line))
            scores[words.kind] = max(scores[words.kind], words.weight * max(found, default=0.0))
    if not scores:
        return Kind()
    best = max(scores, key=lambda kind: scores[kind])
    return best if scores[best] >= _LEAST else Kind()


def kind_words(text: str, kind: Kind) -> str:
    """What a text says besides the words of a kind."""
    for words in _vocabulary():
        if words.kind.name == kind.name:
            for pattern in words.patterns:
                text = pattern.sub(" ", text)
    return text


def _places(title: str, names: Sequence[str], front: Front) -> Iterator[tuple[str, float, float]]:
    """Lines that may name the kind, with what a match there counts, and how sure its words must be at least."""
    yield title, _TITLE, 0.0
    yield from ((re.sub(r"[_.]+", " ", name), _NAME, 0.0) for name in names)
    first = front.lines[0].page if front.lines else 0
    for number, line in enumerate(front.lines):
        if line.page != first:
            yield line.text, _LATER, _SURE
        elif line.size >= _LARGE_SIZE:
            yield line.text, _LARGE, 0.0
        else:
            yield line.text, _LINE, 0.0 if number < _TOP_LINES else _SURE


@cache
def _vocabulary() -> tuple[_Words, ...]:
    found = []
    for row in _FILE.read_text(encoding="utf-8").splitlines():
        if row.startswith("#"):
            continue
        name, naming, period, weight, alternatives = row.split("\t")
        kind = Kind(name, cast(Naming, naming), cast(PeriodKind, period))
        for alternative in alternatives.split("|"):
            patterns = tuple(_pattern(part.strip()) for part in alternative.split("&"))
            needle = max(re.split(r"[\s&=/-]+", alternative), key=len).casefold()
            found.append(_Words(kind, float(weight), needle, patterns))
    return tuple(found)


def _pattern(words: str) -> re.Pattern[str]:
    whole = words.startswith("=")
    parts = [re.escape(part) for part in re.split(r"[\s-]+", words.removeprefix("=").strip())]
    inner = r"[\s\-–—‑]*".join(parts)
    # Scripts without spaces have no bounds of words.
    ends = (r"(?<!\w)", r"(?!\w)") if words[-1] < "\u2e80" and words[-1].isalnum() else ("", "")
    return re.compile(rf"^\W*{inner}\W*$" if whole else f"{ends[0]}{inner}{ends[1]}", re.IGNORECASE)
