"""A column of a table as it is asked: its distinct cells, which rows have each, and what they are worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import ColumnType
from rag_core.tables.postings import Codes, Postings
from rag_core.tables.values import Kind, Numbers, names_currency, yes_or_no
from rag_core.text.person_names import is_name
from rag_core.text.stems import fold, stem

_WORD = re.compile(r"[^\W_]+")
Mask = NDArray[np.bool_]
_YEARS = (1500, 2100)
_MOST_ANSWERS = 3  # different cells of a column of yes and no: these, and none
_SAMPLE = 200  # cells that tell what most are
_DESCRIBED = 3  # words of a cell that describes
_CHOICE = 0.34  # of a column's rows, as many different cells as there are at most where they are chosen from a few
_LONGEST_CODE = 6  # letters
_WHO = ("who", "person", "wer", "qui", "quién", "chi")  # heads of people
LONGEST, _MOST_LETTERS = 12, 200  # words and letters of a cell that is a value, and no text
"""Longer cells are looked for nowhere."""


def _said_by_head(head: str) -> set[str]:
    """How the head of a column of yes and no is said: "Paid 2024" as it stands, and without its figures, as "paid"."""
    words = normalised(head)
    return {words, " ".join(word for word in words.split() if word.isalpha())} - {""}


def normalised(text: str) -> str:
    """A text as cells and questions are compared: its words in small letters, without accents and signs."""
    return " ".join(fold(word) for word in _WORD.findall(text.casefold()))


@dataclass(frozen=True, eq=False)
class Column:
    """A column of n rows. texts: the distinct cells; codes: which of these each row has, int32 (n,).

    values: what each distinct cell is worth, in days since 1970 where it is a date, the part of a day that has passed
    where it is a time, NaN where it is nothing. blank: the code of the empty cell, -1 where none is empty. by_hand:
    what a person says that it holds, "" as read.
    """

    head: str
    texts: Sequence[str]
    codes: Codes
    kind: Kind
    values: Numbers
    unit: str = ""
    blank: int = -1
    by_hand: ColumnType | Literal[""] = ""

    @cached_property
    def by_text(self) -> Postings:
        """The distinct cells that are values, and no texts, by their words."""
        said = self._said()
        return Postings.of({*said, *self._answers()} if self.is_yes_or_no else said)

    @cached_property
    def is_yes_or_no(self) -> bool:
        """Whether its cells say yes and no, in words, or a person says that they do."""
        if self.by_hand:
            return self.by_hand == "yes/no"
        if self.kind != "text" or len(self.texts) > _MOST_ANSWERS:
            return False
        return {yes_or_no(text) for code, text in enumerate(self.texts) if code != self.blank} == {True, False}

    @cached_property
    def by_word(self) -> Postings:
        """The distinct cells of words by each of their stems."""
        said = self._said() if self.kind == "text" else ()
        return Postings.of((word, code) for text, code in said for word in {stem(word) for word in text.split()})

    def _said(self) -> Iterator[tuple[str, int]]:
        for code, text in enumerate(self.texts):
            if text and len(text) <= _MOST_LETTERS and (words := normalised(text)).count(" ") < LONGEST:
                yield words, code

    def _answers(self) -> Iterator[tuple[str, int]]:
        """Cells of yes and no by these words, and by the head: "paid", "unpaid"."""
        known = [yes_or_no(text) for text in self.texts]
        if False not in known and self.blank >= 0:  # a mark, or nothing
            known[self.blank] = False
        for code, is_yes in enumerate(known):
            if is_yes is not None:
                yield ("yes" if is_yes else "no"), code
            for head in _said_by_head(self.head) if is_yes is not None else ():
                yield (head if is_yes else f"un{head}"), code

    @cached_property
    def numbers(self) -> Numbers:
        """What each row's cell is worth, float64 (n,)."""
        found: Numbers = self.values[self.codes]
        return found

    @cached_property
    def is_time(self) -> bool:
        """Whether its dates are times of the day, of no day: parts of the first that days are counted from."""
        known = self.values[~np.isnan(self.values)]
        return self.kind == "date" and bool(len(known)) and bool(((known >= 0) & (known <= 1)).all())

    @cached_property
    def is_key(self) -> bool:
        """Whether no two rows have the same cell."""
        return len(self.texts) == len(self.codes)

    @cached_property
    def variety(self) -> Literal["key", "choice", "many"]:
        """Whether each row has a cell of its own, or many share one of a few."""
        if self.by_hand in ("choice", "yes/no"):
            return "choice"
        if self.is_key:
            return "key"
        return "choice" if len(self.texts) <= _CHOICE * len(self.codes) else "many"

    @cached_property
    def is_whole(self) -> bool:
        """Whether its figures are whole numbers, as what is counted is."""
        known = self.values[~np.isnan(self.values)]
        return self.kind == "number" and bool(len(known)) and bool((known == np.round(known)).all())

    @cached_property
    def is_money(self) -> bool:
        """Whether its figures are amounts of a currency that stands in its head or beside them."""
        return self.kind == "number" and names_currency(f"{self.head} {self.unit}")

    @cached_property
    def may_be_years(self) -> bool:
        """Whether all its figures may be years."""
        known = self.values[~np.isnan(self.values)]
        return self.is_whole and bool((known >= _YEARS[0]).all() and (known <= _YEARS[1]).all())

    @cached_property
    def has_names(self) -> bool:
        """Whether most of its cells are texts without digits, as names are and codes are not."""
        return self._are_mostly(lambda text: not any(map(str.isdigit, text)))

    @cached_property
    def has_descriptions(self) -> bool:
        """Whether most of its cells are several words, as a statement says what was paid for: one of them is asked."""
        return self._are_mostly(lambda text: len(text.split()) >= _DESCRIBED)

    @cached_property
    def has_phrases(self) -> bool:
        """Whether most of its cells are more than a word, as whom was paid is: "Linden Pharmacy"."""
        return self._are_mostly(lambda text: len(text.split()) > 1)

    @cached_property
    def has_codes(self) -> bool:
        """Whether most of its cells are codes: they hold digits, or are a short word in capitals, as "BNY" is."""
        return self._are_mostly(
            lambda text: (
                any(map(str.isdigit, text)) or (text.isupper() and text.isalpha() and len(text) <= _LONGEST_CODE)
            )
        )

    @cached_property
    def has_people(self) -> bool:
        """Whether most of its cells are written as the names of people are, "Ines Falk", or its head says so."""
        return self._are_mostly(is_name) or (self.kind == "text" and self.head.casefold() in _WHO)

    def _are_mostly(self, holds: Callable[[str], bool]) -> bool:
        sample = [text for text in self.texts[:_SAMPLE] if text]
        return self.kind == "text" and 2 * sum(map(holds, sample)) > len(sample)

    def rows_of(self, codes: Sequence[int]) -> Mask:
        """The rows whose cell is one of some distinct ones."""
        wanted = np.zeros(len(self.texts), bool)
        wanted[list(codes)] = True
        found: Mask = wanted[self.codes]
        return found


class MappedColumns(Sequence[Column]):
    """Columns that are made when they are asked for. heads, kinds: of all of them."""

    def __init__(self, heads: Sequence[str], kinds: Sequence[str], make: Callable[[int], Column]) -> None:
        self.heads, self.kinds, self._make = heads, kinds, make
        self._made: dict[int, Column] = {}

    def __len__(self) -> int:
        return len(self.heads)

    @overload
    def __getitem__(self, place: int) -> Column: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Column]: ...
    def __getitem__(self, place: int | slice) -> Column | Sequence[Column]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        if (found := self._made.get(at)) is None:
            found = self._made.setdefault(at, self._make(at))
        return found
