"""How well a plan fits a question: a log-linear model over words and columns (Pasupat and Liang 2015).

A plan's score is the sum of what speaks for its operation, its columns and its conditions, each for itself, so that
all plans of a question are scored in a moment and only the best are run. The weights are data, `weights.json`, made by
`python -m tests.benchmarks.fit_plans`: the mean of two fits, and with `--new` those of what came later, fitted while
these were held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from rag_core.tables import plans as grammar
from rag_core.tables.balances import balances, row_numbers
from rag_core.tables.links import Link, Words, heads_named, links_of
from rag_core.tables.outflows import MIRRORED, neutral_words, outflow_columns, outflow_links, outflow_places
from rag_core.tables.plans import Plan
from rag_core.tables.table import WholeTable, normalised
from rag_core.tables.weights import Features, Weights, operation_words
from rag_core.text.stems import stem

_PLACES = (*((number, f"row{number}") for number in (0, 1)), (4, "few"), (20, "some"))
_CLASSES = {grammar.LOOK_UP: "look", grammar.COUNT: "count", grammar.DIFFERENT: "different", grammar.SUM: "sum",
            grammar.MEAN: "sum", grammar.MEDIAN: "sum", grammar.LARGEST: "end", grammar.SMALLEST: "end",
            grammar.DIFFERENCE: "sum", grammar.COMMONEST: "common",
            grammar.BEHIND: "next", grammar.BEFORE: "next", grammar.COUNT_BY: "count",
            grammar.SUM_BY: "sum", grammar.MEAN_BY: "sum", grammar.LARGEST_BY: "end", grammar.SMALLEST_BY: "end",
            **dict.fromkeys(grammar.FURTHEST_GROUPS, "sum"), grammar.RAREST: "common",
            grammar.SHARE: "count"}  # fmt: skip
_CHOOSERS = {**dict.fromkeys(grammar.GROUPED, "group"), grammar.SHARE: "share"}
_SIGNS = {"month": "within"}  # a month is a period
# How cells are linked, by whether they are the words and no more, and whether they describe, where a word is much.
_SURENESS = {(True, False): "exact", (True, True): "exact", (False, False): "part", (False, True): "word"}
_NEAR = 3  # words behind a number of things that may name them: "the three largest orders"
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
        """For each column the words that its head has too."""
        named = heads_named(self.words, [column.head for column in self.table.columns])
        paid = outflow_places(self.words) if self.outflows else []
        return [sorted({*places, *paid}) if at in self.outflows else places for at, places in enumerate(named)]

    @cached_property
    def naming(self) -> frozenset[int]:
        """The words that name a column."""
        return frozenset(chain.from_iterable(self.named))

    @cached_property
    def speaks_of_money(self) -> bool:
        """Whether it asks what was paid, spent or charged, and no column has that below zero."""
        return bool(outflow_places(self.words)) and not self.outflows

    @cached_property
    def outflows(self) -> set[int]:
        """The columns of negative figures that a word for what is paid means."""
        return outflow_columns(self.words, self.table)

    @cached_property
    def links(self) -> list[Link]:
        """What its words may stand for."""
        # "Payment" says of "CARD PAYMENT" nothing that others are not.
        paid = set(outflow_places(self.words)) if self.outflows else set()
        found = links_of(self.words, self.table)
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
            if one.exact and not one.comparison and self._is_of_rows(one):
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
        """Whether a column's cells say what its rows are about, so that a word of one chooses it."""
        return self.table.columns[place].has_descriptions

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
        if any(self.words.is_run(one.first, one.last) for one in conditions if one.comparison):
            found = (plan for plan in found if plan.operation != grammar.DIFFERENCE)
        found = filter(self._is_of_payments, found) if self.outflows else found
        if self.asks == "which" and self.behind in self.naming:
            found = filter(self._goes_by_what_is_asked, found)
        if self.asks == "when" and any(column.kind == "date" for column in self.table.columns):
            found = (plan for plan in found if not self._is_amount(plan))
        return filter(self._is_someone, found) if self.asks == "who" and self._has_names else found

    @cached_property
    def _has_names(self) -> bool:
        return any(column.has_names for column in self.table.columns)

    def _is_someone(self, plan: Plan) -> bool:
        """Whether what is told to one who asks "Who?" is no code, unless its column is named."""
        column = self.table.columns[plan.target]
        return plan.target < 0 or column.kind != "text" or column.has_names or bool(self.named[plan.target])

    def _is_sound(self, plan: Plan, covered: set[int]) -> bool:
        """Whether what is added up is of no other payments too, and no balance, and what is counted out, the customers
        of "top three customers", is gone by."""
        is_sum = plan.operation in (*grammar.ADDED_UP, *grammar.FURTHEST_GROUPS)
        if is_sum and (self.described - covered or (plan.target in self.balances and not self.named[plan.target])):
            return False
        if plan.target in self.numbering and plan.operation in grammar.ADDED_UP:
            return False
        if self.says_average and plan.operation in grammar.SUMMED:
            return False
        counted = self.counted if plan.size > 1 else -1
        return counted < 0 or any(counted in self.named[place] for place in plan.columns)

    @cached_property
    def says_average(self) -> bool:
        """Whether it says "average" of no column that is called so: what is summed up is no answer."""
        return any("average" in some and place not in self.naming for place, some in enumerate(self.words.english))

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
        near = (at for size in self.words.sizes for at in range(size + 1, size + 1 + _NEAR) if at in self.naming)
        return next(near, -1)

    def _is_amount(self, plan: Plan) -> bool:
        """Whether it finds a figure that can be no year, as whole ones can: it tells nobody when."""
        column = self.table.columns[plan.target]
        return plan.operation in grammar.OF_FIGURES and column.kind == "number" and not column.is_whole

    def _goes_by_what_is_asked(self, plan: Plan) -> bool:
        """Whether it has anything of the column behind "which": of "Which customer has the order ...?" no order."""
        return any(self.behind in self.named[place] for place in plan.columns)

    def _is_of_payments(self, plan: Plan) -> bool:
        """Whether what is computed is what was paid, or a column that is named, and no balance beside it."""
        if plan.operation == grammar.DIFFERENCE and not operation_words(self.words, plan.operation):
            return False  # of two payments that a month has
        is_of_figures = plan.operation in (*grammar.OF_FIGURES, *grammar.GROUPED) and plan.target >= 0
        return not is_of_figures or plan.target in self.outflows or bool(self.named[plan.target])

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


def operation_features(scene: Scene, operation: str, vocabulary: frozenset[str]) -> Features:
    """What speaks for an operation: the question's words, by themselves and in pairs.

    Which end is the largest payment says the column's sign, and no word."""
    said = neutral_words(scene.words) if operation in MIRRORED else scene.words.english
    words = [*chain.from_iterable(said)]
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    found = {f"o {operation} {word}": 1.0 for word in (*words, *pairs) if word in vocabulary}
    return found | {f"o {operation}": 1.0}


def column_features(scene: Scene, place: int, role: str, vocabulary: frozenset[str]) -> Features:
    """What speaks for a column in a role."""
    column, named = scene.table.columns[place], scene.named[place]
    telling = max(len(scene.telling), 1)
    length = max(len(column.head.split()), 1)
    before = scene.before(place)
    found = {
        f"{role} named": len(named) / telling,
        f"{role} whole": float(bool(named) and len(set(named)) >= length),
        f"{role} any": float(bool(named)),
        f"{role} asked": float(scene.behind in named),
        f"{role} near": float(scene.nearness[place]),
        f"{role} nearest": float(place == int(np.argmax(scene.nearness))),
        f"{role} first": float(place == 0),
        f"{role} {scene.asks} {column.kind}": 1.0,
        f"{role} {column.kind}": 1.0,
        f"{role} {column.variety}": 1.0,
        f"{role} {scene.asks} whole": float(column.is_whole),
        f"{role} listed": float(scene.is_listed(place)),
        f"{role} mentioned": float(bool(scene.alternatives[place])),
        f"{role} behind {before}": float(before in vocabulary),
        f"{role} empty": float(not column.head),
    }
    return {name: value for name, value in found.items() if value}


def condition_features(scene: Scene, conditions: Sequence[Link], vocabulary: frozenset[str]) -> Features:
    """What speaks for conditions: how much of the question they explain, and how surely."""
    words = scene.words
    covered = {place for one in conditions for place in range(one.first, one.last)}
    telling = set(scene.telling)
    figures = {place for place in telling if words.plain[place][:1].isdigit()}
    capitals = {place for place in telling if place and words.matches[place][0][:1].isupper()}
    columns = [one.column for one in conditions]
    found = {
        "c count": float(len(conditions)),
        "c none": float(not conditions),
        "c covered": len(covered & telling) / max(len(telling), 1),
        "c covered words": float(len(covered & telling)),
        "c figures left": float(len(figures - covered)),
        "c names left": float(len(capitals - covered)),
        "c or": float(len(columns) - len(set(columns))),
        "c choices left": float(len((scene.choices & telling) - covered)),
    }
    for one in conditions:
        column = scene.table.columns[one.column]
        sign = _SIGNS.get(one.comparison, one.comparison) or _SURENESS[one.exact, column.has_descriptions]
        more = {
            f"c {sign} {column.kind}": 1.0,
            f"c {sign} {column.variety}": 1.0,
            f"c {sign} words": float(one.last - one.first),
            f"c {sign} many": float(len(one.codes) > 1),
            "c head": float(bool(scene.named[one.column])),
            f"c function {sign}": float(not telling & set(range(one.first, one.last))),
            "c named head": float(set(range(one.first, one.last)) <= {p for some in scene.named for p in some}),
        }
        if one.comparison:
            more["c compared near"] = float(scene.nearness[one.column])
            more["c compared nearest"] = float(one.column in _nearest_figures(scene))
            around = chain(*words.english[max(one.first - 2, 0) : one.first], *words.english[one.last : one.last + 2])
            more |= {f"c {sign} {word}": 1.0 for word in around if word in vocabulary}
        for name, value in more.items():
            found[name] = found.get(name, 0.0) + value
    return {name: value for name, value in found.items() if value}


def _nearest_figures(scene: Scene) -> set[int]:
    """The column of figures and that of dates whose heads are nearest to the question."""
    kinds = [[p for p, column in enumerate(scene.table.columns) if column.kind == kind] for kind in ("number", "date")]
    return {max(places, key=lambda place: float(scene.nearness[place])) for places in kinds if places}


def row_features(operation: str, count: int, total: int) -> Features:
    """How many rows an operation is done with."""
    size = next((name for most, name in _PLACES if count <= most), "many")
    return {f"r {operation} {size}": 1.0, f"r {operation} all": float(count == total)}


def joint_features(scene: Scene, plan: Plan, vocabulary: frozenset[str]) -> Features:
    """That a plan asks for a column that it has conditions on."""
    constrained = {one.column for one in plan.conditions}
    found = {f"j {role_of(plan.operation)}": float(plan.target in constrained), "j by": float(plan.by in constrained)}
    return {name: value for name, value in (found | _passed_over(scene, plan, vocabulary)).items() if value}


def _passed_over(scene: Scene, plan: Plan, vocabulary: frozenset[str]) -> Features:
    """What speaks against a plan: columns that the question names and it does not go by, "at each site", and figures
    that are no money where it speaks of that."""
    role, found = role_of(plan.operation), Features()
    if scene.speaks_of_money:
        is_whole = plan.target >= 0 and scene.table.columns[plan.target].is_whole
        found = {f"p {plan.operation}": 1.0, f"p {role} whole": float(is_whole)}
    if not scene.naming:
        return found
    left = scene.naming.difference(*(range(one.first, one.last) for one in plan.conditions))
    left = left.difference(*(scene.named[column] for column in plan.columns))
    if left:
        found |= {f"j {role} heads left": float(len(left)), f"j {role} {scene.asks} left": float(scene.behind in left)}
        before = {word for place in left if place for word in scene.words.english[place - 1][-1:]}
        found |= {f"j left behind {word}": 1.0 for word in before & vocabulary}
    return found


def role_of(operation: str) -> str:
    """The role in which an operation's column is asked for."""
    return _CLASSES.get(operation, "row")


def size_features(scene: Scene, plan: Plan, vocabulary: frozenset[str]) -> Features:
    """That a plan finds as many as a number of the question says, and what stands around that."""
    if plan.size == 1:
        return {}
    place = next((place for place, size in scene.words.sizes.items() if size == plan.size), 0)
    said = scene.words.english
    around = [*chain.from_iterable((*said[max(place - 2, 0) : place], *said[place + 1 : place + 2]))]
    found = {"t sized": 1.0, f"t {plan.operation}": 1.0} | {f"t {word}": 1.0 for word in around if word in vocabulary}
    return found | {f"t {plan.operation} {word}": 1.0 for word in chain.from_iterable(said) if word in vocabulary}


def chooser_of(operation: str) -> str:
    """The role of the column by which an operation chooses or groups rows."""
    return _CHOOSERS.get(operation, "by")


class Scorer:
    """Scores the plans of one question over one table."""

    def __init__(self, scene: Scene, known: Weights) -> None:
        self._scene, self._known = scene, known
        places = range(len(scene.table.columns))
        self._operations = {
            one: known.score(operation_features(scene, one, known.vocabulary)) for one in grammar.OPERATIONS
        }
        roles = {role(one) for one in grammar.OPERATIONS for role in (role_of, chooser_of)}
        self._columns = {
            (role, place): known.score(column_features(scene, place, role, known.vocabulary))
            for role in roles
            for place in places
        }

    def scores(self, conditions: tuple[Link, ...], some: Sequence[Plan], count: int) -> list[float]:
        """A score for each plan with the same conditions, which leave so many rows."""
        base = self._known.score(condition_features(self._scene, conditions, self._known.vocabulary))
        total = len(self._scene.table)
        of_rows = {one: self._known.score(row_features(one, count, total)) for one in {*map(self._meant, some)}}
        return [
            base + of_rows[self._meant(plan)] + self._operations[self._meant(plan)]
            + self._of_columns(plan) + self._known.score(joint_features(self._scene, plan, self._known.vocabulary))
            + self._known.score(size_features(self._scene, plan, self._known.vocabulary))
            for plan in some
        ]  # fmt: skip

    def parts(self, plan: Plan) -> tuple[float, float, float]:
        """What speaks for a plan's operation, its columns and its conditions."""
        conditions = condition_features(self._scene, plan.conditions, self._known.vocabulary)
        return self._operations[self._meant(plan)], self._of_columns(plan), self._known.score(conditions)

    def _meant(self, plan: Plan) -> str:
        """The operation that a question speaks of where a plan does another: the largest payment is the furthest below
        zero."""
        column = plan.target if plan.by < 0 or plan.operation in grammar.GROUPED else plan.by
        return MIRRORED.get(plan.operation, plan.operation) if column in self._scene.outflows else plan.operation

    def _of_columns(self, plan: Plan) -> float:
        target = self._columns.get((role_of(plan.operation), plan.target), 0.0)
        return target + self._columns.get((chooser_of(plan.operation), plan.by), 0.0)


def features_of(scene: Scene, plan: Plan, count: int, vocabulary: frozenset[str]) -> Features:
    """All that speaks for a plan whose conditions leave so many rows: what weights are fitted on."""
    found = operation_features(scene, plan.operation, vocabulary)
    found |= condition_features(scene, plan.conditions, vocabulary)
    found |= row_features(plan.operation, count, len(scene.table)) | joint_features(scene, plan, vocabulary)
    if plan.target >= 0:
        found |= column_features(scene, plan.target, role_of(plan.operation), vocabulary)
    if plan.by >= 0:
        found |= column_features(scene, plan.by, chooser_of(plan.operation), vocabulary)
    return found | size_features(scene, plan, vocabulary)
