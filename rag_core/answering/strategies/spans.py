"""What can be quoted: each sentence and table row of the passages, with the lines that say what it is about.

A row says little by itself ("Operating income 15,261 16,232"): its table's head, the line that its group stands under
and the heading in force are read along with it, and so is the sentence before one that begins with "It", and a question
before what may answer it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rag_core.answering.passages import Quote, is_running_title
from rag_core.text.sentences import ITEM_LABEL, LIST_ITEM

_LEANS_BACK = re.compile(
    r"""["'“‘(]*(?:it|its|he|his|she|her|they|their|this|these|those|that|such|both|there|the\s(?:former|latter)
    |another|the\sother|however|er|sie|es|diese[rsmn]?|dies|jene[rsmn]?|ihr|ils?|elles?|ce(?:tte|s|lui-ci|la)?
    |él|ellos|ellas?|est[ea]s?|est[eo]s|es[ea]s?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_YEAR = re.compile(r"(?<![\d,.])(?:19|20)\d\d(?!\d|[,.]\d)")
_DAY = re.compile(r"(?<=[A-Za-z.] )\d{1,2}(?=,? (?:19|20)\d\d)")  # of "September 26, 2020"
_ENDS = re.compile(r"[.!?…:;。！？][\"'”’»)\]]*$")
_LABELLED = re.compile(r"[^:.]{1,40}: +\w")  # "Apologies: Bernard Quill"
_HEAD_LINES, _HEAD_CHARS = 6, 320
_LONGEST_GROUP = 60  # characters of a line within a table that names the rows below it


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or row that could be quoted. Numbers are positions among the quotes of its passage.

    near: the lines that it leans on. head: those of its table's head, nearest first, and group the line that its rows
    stand under; None for a sentence.
    """

    quote: Quote
    near: tuple[int, ...]
    head: tuple[int, ...] = ()
    group: int | None = None

    @property
    def tabular(self) -> bool:
        """Whether it is a row or a cell's line rather than a sentence."""
        return is_tabular(self.quote)


def is_tabular(quote: Quote) -> bool:
    """Whether a quote is a row, or a fragment with a figure, as lists of figures have them."""
    return quote.kind == "row" or (quote.kind == "fragment" and _has_figure(quote.text))


def stands_alone(quote: Quote) -> bool:
    """Whether it says something by itself: a whole sentence, or a row with its label and what that says.

    Headings, feet of pages and heads of tables do not.
    """
    if quote.kind == "sentence":
        return quote.complete and bool(_ENDS.search(quote.text) or LIST_ITEM.match(quote.exact))
    says = _has_figure(quote.text) or _LABELLED.match(quote.text)
    return quote.kind == "row" and quote.text[:1].isalpha() and bool(says) and _periods(quote.text) < 2


def units(every: Sequence[Quote]) -> list[Unit]:
    """The units of all passages in order; headings and heads of tables, which may stand
    there again, are none, nor lines with a document's title."""
    by_passage = groupby(every, key=lambda quote: quote.passage)
    found = [unit for _, group in by_passage for unit in _of_passage(list(group))]
    texts = {(quote.passage, quote.position): quote.text for quote in every}
    heads = {(unit.quote.passage, texts[unit.quote.passage, place]) for unit in found for place in unit.head}
    return [
        unit
        for unit in found
        if not is_running_title(unit.quote)
        and (unit.quote.kind == "sentence" or (unit.quote.passage, unit.quote.text) not in heads)
    ]


def _of_passage(quotes: Sequence[Quote]) -> Iterator[Unit]:
    heading: int | None = None
    label: int | None = None
    group: int | None = None
    head: tuple[int, ...] = ()
    in_table = False
    for place, quote in enumerate(quotes):
        heading = place if quote.kind == "heading" else heading
        label = label if place and _goes_on(quotes[place - 1], quote) else None
        label = place if ITEM_LABEL.match(quote.exact) else label
        goes_on = in_table and _has_cells_of(quotes[place - 1], quote)
        periods = 0 if goes_on else _periods(quote.text)
        if periods > 1:
            in_table = False
        elif is_tabular(quote) and _has_figure(quote.text) and not periods:
            if not in_table:
                head, group, in_table = _head(quotes, place), None, True
        elif in_table and not goes_on and quote.kind != "sentence" and len(quote.text) < _LONGEST_GROUP:
            group = place
        else:
            in_table = goes_on
        if quote.kind == "heading" or (periods > 1 and quote.kind != "sentence"):
            continue
        if is_tabular(quote):
            near = [*head, group, heading]
        else:
            near = [place - 1 if place and _leans_back(quote, quotes[place - 1]) else None, label, heading]
        leans = tuple(dict.fromkeys(one for one in near if one is not None and one != place))
        yield Unit(quote, leans, head if is_tabular(quote) else (), group if is_tabular(quote) else None)


def _goes_on(before: Quote, quote: Quote) -> bool:
    """Whether a quote follows another on the same line."""
    hit = before.hit
    return hit is quote.hit and not hit.text[before.end - hit.start : quote.start - hit.start].strip(" ")


def _leans_back(quote: Quote, before: Quote) -> bool:
    """Whether a sentence says little without the one before: it points back, or answers a question."""
    return bool(_LEANS_BACK.match(quote.text)) or before.text.endswith("?")


def _head(quotes: Sequence[Quote], first_row: int) -> tuple[int, ...]:
    """The lines before a table's first row, up to and with the sentence that introduces it, or up to another's row."""
    found: list[int] = []
    room = _HEAD_CHARS
    for place in range(first_row - 1, max(-1, first_row - 1 - _HEAD_LINES), -1):
        room -= len(quotes[place].text)
        is_row = is_tabular(quotes[place]) and _has_figure(quotes[place].text) and not _periods(quotes[place].text)
        if room < 0 or is_row:
            break
        found.append(place)
        if quotes[place].kind == "sentence":
            break
    return tuple(found)


def _has_cells_of(row: Quote, other: Quote) -> bool:
    """Whether two lines are rows of as many cells."""
    cells = row.exact.count("\t")
    return row.kind == other.kind == "row" and cells > 0 and cells == other.exact.count("\t")


def _periods(text: str) -> int:
    """How many years a line names that holds no other figure, as heads of columns do; 0 for other lines."""
    years = len(_YEAR.findall(text))
    return years if years and not _has_figure(_YEAR.sub("", _DAY.sub("", text))) else 0


def _has_figure(text: str) -> bool:
    return any(character.isdigit() for character in text)
