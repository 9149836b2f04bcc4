"""A question before a table: what its words may stand for there, and which plans are sound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from rag_core.tables import plans as grammar
from rag_core.tables.attributes import measured
from rag_core.tables.balances import balances, labels_of, row_names, row_numbers
from rag_core.tables.columns import normalised
from rag_core.tables.links import Link, links_of
from rag_core.tables.outflows import outflow_columns, outflow_links, outflow_places, paid_places
from rag_core.tables.periods import PeriodTable, periods_of
from rag_core.tables.plans import Plan
from rag_core.tables.question_words import asks_whether
from rag_core.tables.soundness import (
    AMOUNTS,
    FURTHEST,
    WORDS_OF_ENDS,
    adds_up_again,
    is_no_money,
    is_no_row,
    is_of_a_side,
    is_of_none,
    is_of_one_row,
    is_other_end,
    is_other_measure,
    is_other_payment,
    is_unasked_end,
    is_unasked_figure,
    tells_a_condition,
    tells_no_day,
    tells_no_number,
    tells_nobody,
    tells_nothing,
)
from rag_core.tables.table import WholeTable
from rag_core.tables.weights import operation_words
from rag_core.tables.words import Words, heads_named
from rag_core.text.stems import stem

_OF_TIME = (grammar.FIRST, grammar.LAST)
_OF_EXTREMES = (*FURTHEST, *grammar.FURTHEST_ROWS, *_OF_TIME)
_OF_ALL = (grammar.SUM, grammar.MEAN, grammar.MEDIAN)  # of all rows alike
_EARNED = frozenset(("earn", "earns", "earned"))
_PAST = frozenset(
    ("did", "was", "were", "have", "has", "had", "spent", "paid", "charged", "hat", "haben", "wurde", "ont")
)
_OFTEN = frozenset(("often", "frequent", "frequently", "times"))
_OF_DIFFERENCES = frozenset(
    ("difference", "than", "more", "less", "fewer", "between", "change", "changed", "apart", "after", "before", "since",
     "later", "earlier")
)  # fmt: skip
_ENDS = frozenset(("highest", "largest", "most", "lowest", "least", "first", "last", "newest", "oldest"))
_NEAR = 3  # words behind a number of things that may name them: "the three largest orders"
_NOT_MEANT = (
    is_other_end, is_unasked_end, is_other_measure, is_of_none, is_of_one_row, is_no_money, is_no_row,
    is_unasked_figure, tells_a_condition, tells_no_day, tells_no_number, is_of_a_side,
)  # fmt: skip
_QUESTIONS = ("who", "when", "where", "which", "what", "why", "how many", "how much", "how")


@dataclass(frozen=True)
class Scene:
    """A question before a table. nearness: the cosine of each head with the question, float32 (columns,). called: the
    stems of what its document is called, "orders": so its rows are."""

    words: Words
    table: WholeTable
    nearness: NDArray[np.float32]
    called: frozenset[str] = frozenset()

    @cached_property
    def named(self) -> list[list[int]]:
        """For each column the words that its head has too; one of people is meant by "person"."""
        columns = self.table.columns
        people = [at for at, some in enumerate(self.words.english) if "person" in some]
        named = heads_named(self.words, [column.head for column in columns])
        named = [sorted({*at, *people}) if people and columns[n].has_people else at for n, at in enumerate(named)]
        return [sorted({*places, *self.paid}) if at in self.outflows else places for at, places in enumerate(named)]

    @cached_property
    def measured(self) -> dict[int, set[int]]:
        """The columns that a word for how something is goes by, "Price" of "cheapest", by its place."""
        return measured(self.words, self.table.heads)

    @cached_property
    def naming(self) -> frozenset[int]:
        """The words that name a column."""
        return frozenset(chain.from_iterable(self.named))

    @cached_property
    def speaks_of_money(self) -> bool:
        """Whether it asks what was paid, spent or charged, and no column has that below zero."""
        return bool(self.paid) and not self.outflows

    @cached_property
    def asks_price(self) -> bool:
        """Whether it asks what something costs, and not what somebody has paid."""
        return not self.says(_PAST)

    @cached_property
    def paid(self) -> list[int]:
        """The places of the words for what is paid."""
        return paid_places(self.words) if self.outflows else outflow_places(self.words)

    @cached_property
    def outflows(self) -> set[int]:
        """The columns of negative figures that a word for what is paid means."""
        return outflow_columns(self.words, self.table)

    @cached_property
    def links(self) -> list[Link]:
        """What its words may stand for."""
        # "Payment" says of "CARD PAYMENT" nothing that others are not.
        paid = set(self.paid) if self.outflows else set()
        found = (one for one in links_of(self.words, self.table) if one.comparison or self._is_of_rows(one))
        return [*(one for one in found if one.exact or not paid & set(range(one.first, one.last))), *self.of_outflows]

    @cached_property
    def of_outflows(self) -> list[Link]:
        """That they are below zero, where others are not."""
        return outflow_links(self.words, self.table, sorted(self.outflows))

    @cached_property
    def alternatives(self) -> list[set[int]]:
        """For each column the words that are cells of it: "paid, open or overdue" of a column of states."""
        found: list[set[int]] = [set() for _ in self.table.columns]
        for one in self.links:
            if one.exact and not one.comparison:
                found[one.column].update(range(one.first, one.last))
        return found

    def _is_of_rows(self, link: Link) -> bool:
        """Whether cells stand in rows, and not only in those that sum up others: "total" is no name."""
        totals = self.table.totals
        return not totals.any() or bool((link.rows(self.table) & ~totals).any())

    @cached_property
    def context(self) -> set[int]:
        """The words that are said above the table, or call its document and no column: they hold of all of it."""
        known = self.table.context | self.called.difference(stem(normalised(head)) for head in self.table.heads)
        return {place for place in self.words.telling if self.words.stems[place] in known} - self.choices

    @cached_property
    def telling(self) -> list[int]:
        """The words that say something of some rows or columns."""
        return [place for place in self.words.telling if place not in self.context]

    def before(self, place: int) -> str:
        """The word before those that name a column, of "each city" and "different cities"; "" where none does."""
        first = min(self.named[place], default=0)
        return " ".join(self.words.english[first - 1][-1:]) if first else ""

    def is_listed(self, place: int) -> bool:
        """Whether the question lists what a column may say: "paid, open or overdue"."""
        return len(self.alternatives[place]) > 1 and self.table.columns[place].variety == "choice"

    def is_description(self, place: int) -> bool:
        """Whether a column's cells say what its rows are about, so that a word of one chooses it; of payments whom
        they went to as well."""
        column = self.table.columns[place]
        return column.has_descriptions or (bool(self.outflows) and column.has_phrases)

    @cached_property
    def described(self) -> set[int]:
        """The words of descriptions: whom a payment went to, or what it was for."""
        words = [one for one in self.links if not one.exact and self.is_description(one.column)]
        places = {place for one in words for place in range(one.first, one.last)}
        return places - self.naming - operation_words(self.words, *grammar.OF_FIGURES)

    @cached_property
    def choices(self) -> set[int]:
        """The words that are cells of columns that have a few different ones."""
        columns = zip(self.table.columns, self.alternatives, strict=True)
        return {place for column, places in columns if column.variety == "choice" for place in places}

    def plans(self, conditions: tuple[Link, ...], count: int) -> Iterator[Plan]:
        """What can be done with so many rows that conditions leave."""
        covered = {place for one in conditions for place in range(one.first, one.last)}
        sizes = {size for place, size in self.words.sizes.items() if place not in covered}
        found = grammar.plans(
            self.table, conditions, count, is_of_neighbours=self.words.name_neighbours, sizes=sorted(sizes)
        )
        found = (plan for plan in found if self._is_sound(plan, covered))
        if count > 1 and (self.says_average or self.ends - covered):  # what all of them have is neither
            found = (plan for plan in found if plan.operation != grammar.LOOK_UP)
        if count > 1 and self.asks in AMOUNTS:  # names of rows are no amount
            found = (plan for plan in found if plan.operation != grammar.LOOK_UP or plan.target not in self.keys)
        if self.furthest - covered:
            out = (*_OF_ALL, *(_OF_TIME if self.ends == self.furthest else ()))
            found = (plan for plan in found if plan.operation not in out)
        if any(self.words.is_run(one.first, one.last) for one in conditions if one.comparison):
            found = (plan for plan in found if plan.operation != grammar.DIFFERENCE)
        if self.outflows:
            found = (plan for plan in found if not is_other_payment(self, plan))
        if self.asks == "which" and self.behind in self.naming:
            found = filter(self._goes_by_what_is_asked, found)
        if self.asks == "when" and any(column.kind == "date" for column in self.table.columns):
            found = (plan for plan in found if not self._is_amount(plan))
        if self._is_of_one_row:
            found = filter(self._says_whether, found)
        return (plan for plan in found if not tells_nobody(self, plan)) if self.asks == "who" else found

    @cached_property
    def _is_of_one_row(self) -> bool:
        """Whether it asks if one row, chosen by its own name or code, has another cell: "Is the bell from Kranz?"."""
        return asks_whether(self.words.text) and any(map(self._is_of_row, self.links)) and any(self._others)

    @cached_property
    def _others(self) -> list[bool]:
        """For each column whether the question has a cell of it that is no row's own."""
        return [
            bool(places) and not one.is_key for one, places in zip(self.table.columns, self.alternatives, strict=True)
        ]

    def _is_of_row(self, link: Link) -> bool:
        return link.exact and not link.comparison and self.table.columns[link.column].is_key

    def _says_whether(self, plan: Plan) -> bool:
        """Whether it looks up what that row has in the place of the cell that is asked for."""
        is_of_row = any(map(self._is_of_row, plan.conditions))
        return plan.operation == grammar.LOOK_UP and is_of_row and self._others[plan.target]

    def _is_sound(self, plan: Plan, covered: set[int]) -> bool:
        """Whether what is added up is of no other payments too, and no balance, and what is counted out, the customers
        of "top three customers", is gone by."""
        is_sum = plan.operation in (*grammar.ADDED_UP, *grammar.FURTHEST_GROUPS)
        if is_sum and (self.described - covered or (plan.target in self.balances and not self.named[plan.target])):
            return False
        if plan.target in self.numbering and plan.operation in grammar.ADDED_UP:
            return False
        if tells_nothing(self, plan) or adds_up_again(self, plan) or not self.other_periods.isdisjoint(plan.columns):
            return False
        if self.says_average and plan.operation in grammar.SUMMED:
            return False
        if plan.operation == grammar.MEDIAN and not self.says(("median", "middle")):
            return False
        if plan.operation == grammar.SHARE and not self.asks_share:
            return False
        if plan.operation == grammar.COUNT and self._asks_for_number(covered):
            return False
        if plan.operation == grammar.DIFFERENCE and not self.says(_OF_DIFFERENCES):
            return False
        of_money = bool(self.paid) or self.says(_EARNED)  # "most" is of it
        if of_money and plan.operation in (grammar.COMMONEST, grammar.RAREST) and not self.says(_OFTEN):
            return False
        if self.says_average and not self.ends and plan.operation in _OF_EXTREMES:
            return False
        if any(is_out(self, plan) for is_out in _NOT_MEANT):
            return False
        if plan.size == 1:
            return self.counted not in self.listed or self.size_of_counted in covered
        return self.counted < 0 or any(self.counted in self.named[place] for place in columns_of(self, plan))

    def _asks_for_number(self, covered: set[int]) -> bool:
        """Whether what would choose rows says what number is asked for, "the phone number of Ann"."""
        places = (place for place, some in enumerate(self.words.english) if some == ["number"])
        return any(place - 1 in covered and place - 1 in self.telling for place in places)

    @cached_property
    def asks_share(self) -> bool:
        """Whether it asks for a share of the rows."""
        return "%" in self.words.text or self.says(("share", "percentage"))

    def says(self, some: Iterable[str]) -> bool:
        """Whether it has one of some words, in the English of questions."""
        return not set(some).isdisjoint(chain.from_iterable(self.words.english))

    @cached_property
    def figures_asked(self) -> bool:
        """Whether the word behind "how many", one that chooses rows aside, names a column of figures, and no other word
        goes on with it: of "How many billable hours are there?" hours, of "How many sales staff?" no sales."""
        if self.asks != "how many":
            return False
        place = self.behind
        while place in self.choices:
            place += 1
        columns = enumerate(self.table.columns)
        figures = {at for at, one in columns if one.kind == "number" and not one.may_be_years}
        named = any(place in self.named[at] for at in figures - self.numbering - self.row_names)
        return named and place + 1 not in self.telling

    @cached_property
    def keys(self) -> list[int]:
        """The columns of texts or numbers by which each row is called, and of the periods of a table of these: who
        counts rows counts these."""
        periods = [len(self.table.others)] if isinstance(self.table, PeriodTable) else []
        keys = [at for at, column in enumerate(self.table.columns) if column.kind == "text" and column.is_key]
        return [*keys, *sorted(self.numbering | self.row_names), *periods]

    @cached_property
    def other_periods(self) -> set[int]:
        """The columns of months or years, of a table that has one for each, that the question does not name."""
        return {at for at in periods_of(self.table) if len({*self.named[at]}) < len(self.table.heads[at].split())}

    @cached_property
    def labels(self) -> tuple[int, ...]:
        """The first column of codes of which each row has its own and that of names right behind it, "Part no." and
        "Description": who asks for one is told of the same row by the other. () where there are none."""
        return labels_of(self.table)

    @cached_property
    def row_names(self) -> set[int]:
        """The columns of numbers that name rows."""
        return row_names(self.table)

    @cached_property
    def says_average(self) -> bool:
        """Whether it says "average" of no column that is called so: what is summed up is no answer."""
        return any("average" in some and place not in self.naming for place, some in enumerate(self.words.english))

    @cached_property
    def ends(self) -> set[int]:
        """The words that ask for one end of some rows, "highest", "last", and not for a limit, "at most"."""
        said = self.words.english
        return {
            place for place, some in enumerate(said)
            if not _ENDS.isdisjoint(some) and place not in self.naming and ["at"] not in said[max(place - 1, 0) : place]
        }  # fmt: skip

    @cached_property
    def furthest(self) -> set[int]:
        """Those of them that say of which end, "highest", "least"."""
        return {place for place in self.ends if set().union(*WORDS_OF_ENDS.values()) & {*self.words.english[place]}}

    @cached_property
    def balances(self) -> set[int]:
        """The columns that run up another one."""
        return balances(self.table)

    @cached_property
    def numbering(self) -> set[int]:
        """The columns that number the rows."""
        return row_numbers(self.table)

    @cached_property
    def counted(self) -> int:
        """The word for a column that stands soon behind how many are asked for, or -1."""
        return self._counted[1]

    @cached_property
    def size_of_counted(self) -> int:
        """The number of these, or -1."""
        return self._counted[0]

    @cached_property
    def _counted(self) -> tuple[int, int]:
        near = (
            (size, at) for size in self.words.sizes for at in range(size + 1, size + 1 + _NEAR) if at in self.naming
        )
        return next(near, (-1, -1))

    @cached_property
    def listed(self) -> set[int]:
        """The word for a column right behind how many of it are asked for, of "top 3 customers": one is not enough."""
        return {self.counted} if self.size_of_counted == self.counted - 1 >= 0 and self.asks != "how many" else set()

    def _is_amount(self, plan: Plan) -> bool:
        """Whether it finds a figure that can be no year: it tells nobody when."""
        column = self.table.columns[plan.target]
        return plan.operation in grammar.OF_FIGURES and column.kind == "number" and not column.may_be_years

    def _goes_by_what_is_asked(self, plan: Plan) -> bool:
        """Whether it has anything of the column behind "which": of "Which customer has the order ...?" no order."""
        return any(self.behind in self.named[place] for place in columns_of(self, plan))

    @cached_property
    def asks(self) -> str:
        """The question word."""
        text = " ".join(chain.from_iterable(self.words.english))
        return next((word for word in _QUESTIONS if f" {word} " in f" {text} "), "none")

    @cached_property
    def behind(self) -> int:
        """The place of the word right behind the question word, of "which city", or -1."""
        last = self.asks.split()[-1]
        asking = next((place for place, some in enumerate(self.words.english) if last in some), len(self.words.plain))
        behind = (place for place, some in enumerate(self.words.english) if place > asking and some)
        return next(behind, -1)


def columns_of(scene: Scene, plan: Plan) -> list[int]:
    """The columns that a plan goes by, those of the dates by which rows are first or last and of the keys of rows that
    are counted or added up among them: "Who joined last?", "Which supplier has the most articles?", "the total of all
    orders", "per month"."""
    plan_columns = [*plan.columns, *(scene.labels if plan.target in scene.labels else ())]
    if plan.operation in (grammar.FIRST, grammar.LAST):
        return [*plan_columns, *grammar.dates_of(plan, scene.table)]
    is_of_rows = plan.operation in (*grammar.COUNTED, *grammar.ADDED_UP, *grammar.SUMMED)
    return [*plan_columns, *scene.keys] if is_of_rows else plan_columns
