"""A passage as evidence: its sentences with their token vectors, and every figure in it with what stands around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rag_core.answering.claims.measures import Mention, currencies_of, mentions, scales_of, units_of
from rag_core.answering.encoding import EncodeTokens
from rag_core.answering.passages import Passage, Quote, quotes
from rag_core.answering.tables.tables import Cell, cells_of
from rag_core.text.context import context_of
from rag_core.text.terms import terms

_AROUND, _NEAR = 90, 48  # characters on either side of a figure or name that say what it is of
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_NAME = re.compile(r"(?<=[\w,;:)(]\s)[A-Z][\w'’-]+")  # a capital that is not owed to a sentence's beginning
_WORD = re.compile(r"\w+")
_SHARE = ("share", "per cent")

Tokens = NDArray[np.int64]
"""Places of tokens in a source's vectors."""


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around something: tokens and stems."""

    tokens: Tokens
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A figure of a passage. `quote` is the number of its sentence, -1 for none.

    wide, near: what stands around it, for a cell its label and heads. years: those that stand with it. units: those of
    a cell's label and heads. row, column: what a cell shares with others, none for a figure in a sentence. loose: its
    scale may stand elsewhere. share: a per cent sign stands near.
    """

    mention: Mention
    quote: int
    wide: Context
    near: Context
    years: frozenset[float]
    units: frozenset[tuple[str, str]] = frozenset()
    row: tuple[object, ...] = ()
    column: tuple[object, ...] = ()
    loose: bool = False
    share: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    """A capitalised word amid a passage's sentences, and what stands around it."""

    stems: frozenset[str]
    text: str
    around: Context


@dataclass(slots=True)
class Source:
    """A passage with the vectors of its tokens, float32 (t, h), and their spans in `prefix` and text together."""

    passage: Passage
    prefix: str
    vectors: NDArray[np.float32]
    spans: NDArray[np.int64]
    language: str
    quotes: tuple[Quote, ...] = ()
    tokens: list[Tokens] = field(default_factory=list)
    stems: list[frozenset[str]] = field(default_factory=list)
    words: list[frozenset[str]] = field(default_factory=list)
    figures: tuple[Occurrence, ...] = ()
    names: tuple[Name, ...] = ()
    units: frozenset[tuple[str, str]] = frozenset()
    currencies: frozenset[str] = frozenset()
    scales: set[float] = field(default_factory=set)

    def __post_init__(self) -> None:
        text = self.passage.text
        self.quotes = tuple(quotes([self.passage]))
        self.tokens = [self.within(quote.start, quote.end) for quote in self.quotes]
        self.stems = [stems(quote.text, self.language) for quote in self.quotes]
        self.words = [words_of(quote.text) for quote in self.quotes]
        self.units, self.scales = units_of(text), scales_of(text)
        self.currencies = currencies_of(text)
        self.figures = tuple(self._figures())
        self.names = tuple(self._names())

    @property
    def head(self) -> int:
        """How many tokens the prefix has."""
        return int(np.searchsorted(self.spans[:, 0], len(self.prefix)))

    def within(self, start: int, end: int) -> Tokens:
        """The tokens of a span on the page."""
        shift = len(self.prefix) - self.passage.start
        first, last = np.searchsorted(self.spans[:, 0], (start + shift, end + shift))
        return np.arange(first, last)

    def raw(self, start: int, end: int) -> str:
        """The text of a span on the page."""
        begin = self.passage.start
        return self.passage.text[max(start - begin, 0) : max(end - begin, 0)]

    def _quote_at(self, place: int) -> int:
        return next((number for number, one in enumerate(self.quotes) if one.start <= place < one.end), -1)

    def _context(self, start: int, end: int, width: int) -> tuple[Context, str]:
        """What stands around a span within its own sentence."""
        number = self._quote_at(start)
        first, last = start - width, end + width
        if number >= 0:
            first, last = max(first, self.quotes[number].start), min(last, self.quotes[number].end)
        text = self.raw(first, last)
        return Context(self.within(first, last), stems(text, self.language)), text

    def _figures(self) -> Iterator[Occurrence]:
        taken = []
        for cell in cells_of(self.passage, 0):
            taken.append((cell.part.start, cell.part.end))
            yield self._of_cell(cell)
        for mention in mentions(self.passage.text, self.language):
            start, end = mention.start + self.passage.start, mention.end + self.passage.start
            if any(first < end and start < last for first, last in taken):
                continue
            number = self._quote_at(start)
            wide, text = self._context(start, end, _AROUND)
            near, _ = self._context(start, end, _NEAR)
            yield Occurrence(
                mention, number, wide, near, _years(text), share="%" in text,
                loose=number >= 0 and self.quotes[number].kind == "row",
            )  # fmt: skip

    def _of_cell(self, cell: Cell) -> Occurrence:
        group = cell.group.text if cell.group else ""
        own = " ; ".join((cell.name, cell.head, group))
        printed = " ; ".join((cell.name, cell.head, cell.part.text))
        percent = cell.figure.percent
        currencies = currencies_of(f"{cell.part.text} ; {cell.head}") if not percent else frozenset()
        mention = Mention(
            abs(cell.figure.value), 0.5 * 10.0**-cell.figure.decimals, cell.part.start, cell.part.end,
            scale=_SCALES.get(cell.scale, 0.0), unit=_SHARE if percent else None,
            currency=next(iter(currencies)) if len(currencies) == 1 else None,
        )  # fmt: skip
        parts = (*cell.label, *cell.heads, *((cell.group,) if cell.group else ()))
        tokens = [self.within(part.start, part.end) for part in parts]
        about = " ; ".join((own, *(part.text for part in cell.about)))
        context = Context(np.concatenate([np.arange(0), *tokens]), stems(about, self.language))
        return Occurrence(
            mention, self._quote_at(cell.part.start), context, context, _years(own),
            units=frozenset(unit for unit in units_of(printed) if unit[0] != _SHARE[0]),
            row=("row", cell.table, *(part.start for part in cell.label)),
            column=("column", cell.table, *(part.start for part in cell.heads)) if cell.heads else (cell.column,),
            loose=True, share="%" in printed,
        )  # fmt: skip

    def _names(self) -> Iterator[Name]:
        for match in _NAME.finditer(self.passage.text):
            start, end = match.start() + self.passage.start, match.end() + self.passage.start
            yield Name(stems(match[0], self.language), match[0], self._context(start, end, _AROUND)[0])


@lru_cache(maxsize=4096)
def _years(text: str) -> frozenset[float]:
    return frozenset(one.value for one in mentions(text) if one.is_year)


@lru_cache(maxsize=4096)
def stems(text: str, language: str) -> frozenset[str]:
    """The terms of a text as a set."""
    return frozenset(terms(text, language))


def words_of(text: str) -> frozenset[str]:
    """The words of a text in lower case."""
    return frozenset(_WORD.findall(text.casefold()))


def sources_of(passages: Sequence[Passage], encode_tokens: EncodeTokens) -> list[Source]:
    """The passages as evidence; one call of `encode_tokens`."""
    prefixes = [context_of(one.hits[0].document.title, one.section) for one in passages]
    read = (
        encode_tokens([prefix + one.text for prefix, one in zip(prefixes, passages, strict=True)]) if passages else ()
    )
    return [
        Source(passage, prefix, vectors, spans, passage.hits[0].document.main_language)
        for passage, prefix, (vectors, spans) in zip(passages, prefixes, read, strict=True)
    ]
