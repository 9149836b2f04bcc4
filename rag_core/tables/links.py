"""What the words of a question stand for in a table: cells, numbers and dates, exactly, nearly, or compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import reduce
from itertools import chain, pairwise

import numpy as np

from rag_core.tables.clock import times_said
from rag_core.tables.columns import Column, Mask, normalised
from rag_core.tables.postings import Codes
from rag_core.tables.table import WholeTable
from rag_core.tables.values import Numbers, date_in, number_in
from rag_core.tables.words import AND, BETWEEN, UNTIL, Words, heads_named, is_month, moment_of
from rag_core.text.days import MONTHS
from rag_core.text.stems import stem
from rag_core.text.wordlists import NUMBER_WORDS, STOP_WORDS

_FIGURE = re.compile(r"(?<![\w.])[$€£¥]?\s?-?\d[\d,.'’]*\d%?|(?<![\w.,])-?\d%?")
_LONGEST, _LONGEST_PERIOD = 10, 7
_MOST_CODES = 2_000
_FEWEST_LETTERS = 3
_OPPOSITE = "un"
_CLOSE = 1e-9
_PERIOD = re.compile(r"(?:([^\W\d_]{3,})\.? )?((?:1[5-9]|20)\d\d)|([^\W\d_]{3,})")
_QUARTER = re.compile(
    r"(?:q([1-4])|(1st|first|2nd|second|3rd|third|4th|fourth|last|[1-4]\.) quart(?:er|al)(?: of)?) (\d{4})", re.I
)
_QUARTERS = {"1st": 1, "first": 1, "2nd": 2, "second": 2, "3rd": 3, "third": 3, "4th": 4, "fourth": 4, "last": 4}
COMPARISONS = ("=", ">", "<", ">=", "<=")
_OF_ONE_FIGURE = COMPARISONS[:3]  # that a figure may stand for where no words say that it belongs
# "From 2024" and "compared to 2024" may mean that year alone.
_SINCE, _UP_TO = frozenset(("since", "seit", "ab", "depuis", "desde")), frozenset(("until", "till", "bis", "hasta"))
_BOUNDS = {"no less than": ">=", "no more than": "<="}  # as "at least" and "at most" are told here
_EARLIER = frozenset(("before", "earlier", "vor", "avant", "antes"))
_LATER = frozenset(("after", "later", "past", "nach", "apres", "despues"))
_OR = {**dict.fromkeys(("more", "above", "higher"), ">="), **dict.fromkeys(("less", "fewer", "below", "lower"), "<=")}
_WITHIN = frozenset(("in", "im", "en", "on", "am", "during"))
_FROM, _TO = frozenset(("from", "von", "ab", "aus", "depuis", "de", "desde")), frozenset(("to", "nach", "a", "hacia"))
_WAY = re.compile(r"\s*(?:[–—→⇒>]|[-=]>|\s-\s|\sto\s)\s*")
_REACH = 4  # words behind a "not" of which one is negated
_BEHIND_NOT = 2  # words from a "not" to the one that it is said of: "not yet paid"
_END_OF_MONTH = 0.31
_NOTHING = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Link:
    """Words of a question, `first` to `last` (not included), that stand for cells of a column.

    codes: the distinct cells. exact: they are those words, and no more. comparison: how a cell's number compares with
    the one asked, "" for cells that are listed; value: the latter, or the first day of a period, until its last.
    "month" compares the month of a date, of any year, with those from `value` to `until`, 1..12, over the turn of the
    year where `until` is the smaller one; a day of it stands in the decimals, 5.14 is the 14th of May.
    is_negated: whether rows are left that have another cell.
    """

    first: int
    last: int
    column: int
    codes: tuple[int, ...] = ()
    exact: bool = True
    comparison: str = ""
    value: float = 0.0
    until: float = 0.0
    is_negated: bool = False

    @property
    def is_bound(self) -> bool:
        """Whether it leaves all on one side of a figure or a day."""
        return self.comparison in COMPARISONS[1:]

    def rows(self, table: WholeTable) -> Mask:
        """The rows that it leaves."""
        column = table.columns[self.column]
        if self.is_negated:
            return ~column.rows_of([*self.codes, *([column.blank] if column.blank >= 0 else [])])
        if not self.comparison:
            return column.rows_of(self.codes)
        values = column.values
        found: Mask
        with np.errstate(invalid="ignore"):
            if self.comparison == "month":
                found = _months_between(values, self.value, self.until)
            elif self.comparison == "within":
                found = (values >= self.value) & (values <= self.until)
            elif self.comparison == ">":
                found = values > (self.until or self.value)
            elif self.comparison == "<":
                found = values < self.value
            elif self.comparison == ">=":
                found = values >= self.value
            elif self.comparison == "<=":
                found = values <= (self.until or self.value)
            else:
                found = np.abs(values - self.value) <= _CLOSE * max(abs(self.value), 1.0)
        return found[column.codes]


def links_of(words: Words, table: WholeTable) -> list[Link]:
    """Everything that words of a question may stand for, the longest at each place; those that others hold are out."""
    found: list[Link] = []
    times = (words.span(start, end) for start, end, _ in times_said(words.text) if ":" in words.text[start:end])
    clocks = {place for first, last in times for place in range(first, last)}  # "7:30" is no figure, "3 h" is one
    for place, column in enumerate(table.columns):
        cells = [*_exact(words, place, column), *_partial(words, place, column)]
        cells = [one for one in cells if not words.is_cut(one.first, one.last)]
        found += [one for one in cells if not any(_is_within(one, other) for other in cells)]
        if column.kind == "number":
            figures = [one for one in _numbers(words, place) if not words.is_cut(one.first, one.last)]
            figures = [one for one in figures if clocks.isdisjoint(range(one.first, one.last))]
            sides = [one for one in figures if one.comparison not in _OF_ONE_FIGURE]
            found = [one for one in found if not any(_is_within(one, side) for side in sides)] + figures
        elif column.kind == "date":
            found += _times(words, place) if column.is_time else _dates(words, place)
    if not words.negations:
        return found
    empty = _empty(words, table)
    done = {one.first for one in empty}
    return [*_negated(words, found, [place for place in words.negations if place not in done]), *empty]


def _empty(words: Words, table: WholeTable) -> list[Link]:
    """The empty cells of columns that stand right behind a "not": "not returned", "not yet paid"."""
    named = heads_named(words, table.heads)
    return [
        Link(negation, place + 1, at, (column.blank,))
        for negation in words.negations
        for at, column in enumerate(table.columns) if column.blank >= 0 and not column.is_yes_or_no
        for place in named[at] if negation < place <= negation + _BEHIND_NOT
    ]  # fmt: skip


def _negated(words: Words, links: Sequence[Link], negations: Sequence[int]) -> list[Link]:
    """The links where those cells are negated that stand first behind a "not"."""
    negated: dict[int, int] = {}
    for place in negations:
        cells = [one for one in links if one.exact and not one.comparison]
        behind = [one.first for one in cells if place < one.first <= place + _REACH]
        if behind and not any(one.first <= place < one.last for one in cells):
            negated[min(behind)] = place
    return [
        replace(one, first=negated[one.first], is_negated=True) if one.first in negated and not one.comparison else one
        for one in links
    ]


def _is_within(one: Link, other: Link) -> bool:
    longer = other.last - other.first > one.last - one.first
    same = (other.first, other.last) == (one.first, one.last)
    return (longer and other.first <= one.first and one.last <= other.last) or (same and other.exact and not one.exact)


def _exact(words: Words, place: int, column: Column) -> Iterator[Link]:
    for first in range(len(words.plain)):
        for last in range(min(first + _LONGEST, len(words.plain)), first, -1):
            text = " ".join(words.plain[first:last])
            said = (text, _singular(text), *(words.translated[first] if last == first + 1 else ()))
            codes = next((column.by_text[one] for one in said if one in column.by_text), _NOTHING)
            is_function_word = last == first + 1 and text in STOP_WORDS and first not in words.acronyms
            if len(codes) and not (is_function_word and not is_month(words, first)):
                yield Link(first, last, place, tuple(codes.tolist()))
                break
        word, opposite = words.plain[first], words.plain[first].removeprefix(_OPPOSITE)
        if opposite != word and word not in column.by_text and opposite in column.by_text:  # "unpaid", of "paid"
            yield Link(first, first + 1, place, tuple(column.by_text[opposite].tolist()), is_negated=True)


def _singular(text: str) -> str:
    return text.removesuffix("s") if len(text) > _FEWEST_LETTERS else text


def _partial(words: Words, place: int, column: Column) -> Iterator[Link]:
    """Runs of words that some cells hold beside others; of several runs those cells that hold them all, where there
    are any: "a valve of brass" is no valve of steel."""
    runs = [(first, last, _directed(words, column, first, last, codes)) for first, last, codes in _runs(words, column)]
    common = reduce(lambda known, run: _common(known, run[2]), runs[1:], runs[0][2]) if len(runs) > 1 else _NOTHING
    for first, last, codes in runs:
        if 0 < len(codes := common if len(common) else codes) <= _MOST_CODES:
            yield Link(first, last, place, tuple(codes.tolist()), exact=False)


def _directed(words: Words, column: Column, first: int, last: int, codes: Codes) -> Codes:
    """Of cells from one thing to another ("Oslo – Bergen") those that begin with what comes behind "from", and those
    that end with what comes behind "to"; all where there are none."""
    before = words.plain[first - 1] if first else ""
    end = 0 if before in _FROM else 1 if before in _TO else None
    if end is None or len(codes) > _MOST_CODES:
        return codes
    said = {*words.stems[first:last]}
    parts = [_WAY.split(column.texts[code], maxsplit=1) for code in codes.tolist()]
    there = [len(ends) == 2 and said <= {*map(stem, normalised(ends[end]).split())} for ends in parts]
    return codes[np.array(there)] if any(there) else codes


def _common(codes: Codes, others: Codes) -> Codes:
    found: Codes = np.intersect1d(codes, others, assume_unique=True)
    return found


def _runs(words: Words, column: Column) -> Iterator[tuple[int, int, Codes]]:
    """Runs of words with the cells that hold each."""
    first = 0
    while first < len(words.stems):
        word = words.stems[first]
        is_telling = first in words.telling and len(word) >= _FEWEST_LETTERS
        said = (word, *map(stem, words.translated[first])) if is_telling else ()
        codes = next((column.by_word[one] for one in said if one in column.by_word), _NOTHING)
        last = first + 1
        while len(codes) and last < len(words.stems):
            more = _common(codes, column.by_word.get(words.stems[last], _NOTHING))
            if not len(more):
                break
            codes, last = more, last + 1
        if len(codes):
            yield first, last, codes
        first = last


def _numbers(words: Words, place: int) -> Iterator[Link]:
    """Figures, those between two of them, and those from one on or up to it."""
    figures = [*_figures(words)]
    runs = [(one, other) for one, other in pairwise(figures) if _is_run(words.said, one[0], one[1], other[0])]
    for (first, _, value), (_, last, until) in runs:
        if value <= until:
            yield Link(first, last, place, comparison="within", value=value, until=until)
    inner = {figure for run in runs for figure in run}
    for first, last, value in (one for one in figures if one not in inner):
        bound = _bound(words, first, last)
        for sign in (bound,) if bound else _OF_ONE_FIGURE:
            yield Link(first, last, place, comparison=sign, value=value)


def _figures(words: Words) -> Iterator[tuple[int, int, float]]:
    """The numbers that words say, in figures or as a word, with the words' places."""
    for match in _FIGURE.finditer(words.text):
        first, last = words.span(match.start(), match.end())
        if (number := number_in(match[0])) and last:
            yield first, last, number[0]
    for first, word in enumerate(words.plain):
        if word in NUMBER_WORDS:
            yield first, first + 1, float(NUMBER_WORDS[word])


def _bound(words: Words, first: int, last: int) -> str:
    """How cells compare with a figure that belongs to them: "at least 4", "4 GB or more"; "" of any other figure."""
    before = [*chain.from_iterable(words.english[:first])][-3:]
    behind = [*chain.from_iterable(words.english[last:])][:3]
    at = behind.index("or") if "or" in behind[:2] else -1
    return _BOUNDS.get(" ".join(before), "") or (_OR.get(" ".join(behind[at + 1 : at + 2]), "") if at >= 0 else "")


def _dates(words: Words, place: int) -> Iterator[Link]:
    """Days, months and years."""
    taken: set[int] = set()
    for length in range(min(_LONGEST_PERIOD, len(words.matches)), 0, -1):
        for first in range(len(words.matches) - length + 1):
            last = first + length
            if taken.isdisjoint(range(first, last)):
                text = words.text[words.matches[first].start() : words.matches[last - 1].end()]
                run = _run(words, first, last)
                if period := run or _period(text):
                    taken.update(range(first, last))
                    for sign in ("within",) if run else _period_signs(words, first):
                        yield Link(first, last, place, comparison=sign, value=period[0], until=period[1])
    yield from _months(words, place, taken)


def _times(words: Words, place: int) -> Iterator[Link]:
    """Times of the day, those between two of them, and those from one on or up to it."""
    spans = ((words.span(start, end), time) for start, end, time in times_said(words.text))
    times = [(first, last, time) for (first, last), time in spans if last]
    runs = [(one, other) for one, other in pairwise(times) if _is_run(words.said, one[0], one[1], other[0])]
    inner = {time for run in runs for time in run}
    for (first, _, value), (_, last, until) in runs:
        yield Link(first, last, place, comparison="within", value=value, until=until)
    for first, last, value in (one for one in times if one not in inner):
        before = {*words.plain[max(first - 2, 0) : first]}
        side = "<" if before & _EARLIER else ">" if before & _LATER else ""
        for sign in [side] if side else _period_signs(words, first):
            yield Link(first, last, place, comparison=sign, value=value, until=value)


def _period_signs(words: Words, first: int) -> tuple[str, ...]:
    """How days or times may compare with one that begins there."""
    around = {*words.said[max(first - 1, 0) : first + 1]}  # "since 2 May 2021" is read as one day
    if first and words.said[first - 1] in _WITHIN:
        return ("within",)
    bound = ">=" if around & _SINCE else "<=" if around & _UP_TO else ""
    return (bound,) if bound else ("within", ">", "<")


def _run(words: Words, first: int, last: int) -> tuple[float, float] | None:
    """The first and the last day of what words name from one period to another: "March and May 2024" of "between March
    and May 2024"; None where they are no such run."""
    for middle in range(first + 1, last - 1):
        if _is_run(words.said, first, middle, middle + 1):
            text = words.text[words.matches[first].start() : words.matches[middle - 1].end()]
            end = _period(words.text[words.matches[middle + 1].start() : words.matches[last - 1].end()])
            year = int(words.said[last - 1]) if end and words.said[last - 1].isdigit() else 0
            begin = end and (_period(text) or (_period(f"{text} {year}") if text.casefold() in MONTHS else None))
            if begin and end and begin[0] <= end[1]:
                return begin[0], end[1]
    return None


def _months(words: Words, place: int, taken: set[int]) -> Iterator[Link]:
    """Months and days of any year: "in March", "on 14 May", "between March and May"."""
    named = [
        (first, last, moment_of(words.said[first:last]))
        for first, last in words.days
        if taken.isdisjoint((first, first + 1))
    ]
    inner = {one for first, last, _ in named for one in range(first, last)} | taken
    months = (one for one in range(len(words.plain)) if one not in inner and is_month(words, one))
    named = sorted([*named, *((one, one + 1, moment_of(words.said[one : one + 1])) for one in months)])
    runs = [(one, other) for one, other in pairwise(named) if _is_run(words.said, one[0], one[1], other[0])]
    joined = {one for run in runs for one in run}
    for one, other in [*runs, *((one, one) for one in named if one not in joined)]:
        yield Link(one[0], other[1], place, comparison="month", value=one[2], until=other[2])


def _is_run(said: Sequence[str], first: int, last: int, other: int) -> bool:
    """Whether a span of words and another, which begins there, are the ends of one period."""
    between, before = said[last:other], said[first - 1] if first else ""
    return len(between) == 1 and (between[0] in UNTIL or (between[0] in AND and before in BETWEEN))


def _months_between(days: Numbers, first: float, last: float) -> Mask:
    known = ~np.isnan(days)
    dates = np.where(known, days, 0).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    moments = months.astype(int) % 12 + 1 + ((dates - months).astype(int) + 1) / 100
    last = last if last % 1 else last + _END_OF_MONTH
    begins, ends = moments >= first - _CLOSE, moments <= last + _CLOSE
    inside: Mask = begins & ends if first <= last else begins | ends
    return inside & known


def _period(text: str) -> tuple[float, float] | None:
    """The first and the last day of what a text names, in days since 1970: a day, a month, a quarter, a year."""
    if day := date_in(text):
        return (_days(day), _days(day))
    if quarter := _QUARTER.fullmatch(text):
        number = _QUARTERS.get((quarter[2] or "").casefold()) or int((quarter[1] or quarter[2])[0])
        return _span(int(quarter[3]), 3 * number - 2, 3)
    found = _PERIOD.fullmatch(text)
    if not found or not found[2]:
        return None
    year, month = int(found[2]), MONTHS.get((found[1] or "").casefold())
    if found[1] and not month:
        return None
    return _span(year, month or 1, 1 if month else 12)


def _span(year: int, first: int, months: int) -> tuple[float, float]:
    """The first and the last day of some months of a year."""
    behind = first + months - 1
    return _days(date(year, first, 1)), _days(date(year + behind // 12, behind % 12 + 1, 1)) - 1


def _days(day: date) -> float:
    return float((day - date(1970, 1, 1)).days)
