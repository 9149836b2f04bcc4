"""How well a plan fits a question: a log-linear model over words and columns (Pasupat and Liang 2015).

A plan's score is the sum of what speaks for its operation, its columns and its conditions, each for itself, so that
all plans of a question are scored in a moment and only the best are run. The weights are data, `weights.json`, made by
`python -m tests.benchmarks.fit_plans`: the mean of two fits, and with `--new` those of what came later, fitted while
these were held. Those of which end is asked for, of payments and of trust came from such a fit of 450 questions of an
encyclopaedia and some offices with fewer plans tried, its settings chosen by questions of the set that
`tests.benchmarks.tables` reports: its figures for the encyclopaedia flatter them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np

from rag_core.tables import plans as grammar
from rag_core.tables.links import Link
from rag_core.tables.outflows import MIRRORED, neutral_words
from rag_core.tables.plans import Plan
from rag_core.tables.scene import Scene, columns_of
from rag_core.tables.weights import Features, Weights

_PLACES = (*((number, f"row{number}") for number in (0, 1)), (4, "few"), (20, "some"))
_CLASSES = {grammar.LOOK_UP: "look", grammar.COUNT: "count", grammar.DIFFERENT: "different", grammar.SUM: "sum",
            grammar.MEAN: "sum", grammar.MEDIAN: "sum", grammar.LARGEST: "end", grammar.SMALLEST: "end",
            grammar.DIFFERENCE: "sum", grammar.COMMONEST: "common",
            grammar.BEHIND: "next", grammar.BEFORE: "next", grammar.COUNT_BY: "count",
            grammar.SUM_BY: "sum", grammar.MEAN_BY: "sum", grammar.LARGEST_BY: "end", grammar.SMALLEST_BY: "end",
            **dict.fromkeys(grammar.FURTHEST_GROUPS, "sum"), grammar.RAREST: "common",
            grammar.SHARE: "count"}  # fmt: skip
_CHOOSERS = {**dict.fromkeys(grammar.GROUPED, "group"), grammar.SHARE: "share"}
_SIGNS = {"month": "within", ">=": ">", "<=": "<"}  # a month is a period
_SAID = {">=": ("more", "than"), "<=": ("less", "than")}  # what speaks for one side speaks for it with its figure
# How cells are linked, by whether they are the words and no more, and whether they describe, where a word is much.
_SURENESS = {(True, False): "exact", (True, True): "exact", (False, False): "part", (False, True): "word"}
# The words for the one end and the other, as `in_english` has them: which is meant says a question that has no other.
_ENDS = {"high": frozenset(("highest", "largest", "most")), "low": frozenset(("lowest", "least"))}


def operation_features(scene: Scene, operation: str, vocabulary: frozenset[str]) -> Features:
    """What speaks for an operation: the question's words, by themselves and in pairs.

    Which end is the largest payment says the column's sign, and no word."""
    said = neutral_words(scene.words, scene.paid) if operation in MIRRORED else scene.words.english
    words = [*chain.from_iterable(said)]
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    found = {f"o {operation} {word}": 1.0 for word in (*words, *pairs) if word in vocabulary}
    ends = {end for end, some in _ENDS.items() if not some.isdisjoint(words)}
    found |= {f"e {operation} {end}": 1.0 for end in ends if len(ends) == 1}
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
        sign = _SIGNS.get(one.comparison, one.comparison) or _SURENESS[one.exact, scene.is_description(one.column)]
        more = {
            f"c {sign} {column.kind}": 1.0,
            f"c {sign} {column.variety}": 1.0,
            f"c {sign} words": float(one.last - one.first),
            f"c {sign} many": float(len(one.codes) > 1),
            "c head": float(bool(scene.named[one.column])),
            f"c function {sign}": float(not telling & set(range(one.first, one.last))),
            "c named head": float(not column.is_yes_or_no and set(range(one.first, one.last)) <= scene.naming),
        }
        if one.comparison:
            more["c compared near"] = float(scene.nearness[one.column])
            more["c compared nearest"] = float(one.column in _nearest_figures(scene))
            around = _SAID.get(one.comparison) or chain(
                *words.english[max(one.first - 2, 0) : one.first], *words.english[one.last : one.last + 2]
            )
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
    left = left.difference(*(scene.named[column] for column in columns_of(scene, plan)))
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


def meant(scene: Scene, plan: Plan) -> str:
    """The operation that a question speaks of where a plan does another: the largest payment is the furthest below
    zero."""
    column = plan.target if plan.by < 0 or plan.operation in grammar.GROUPED else plan.by
    return MIRRORED.get(plan.operation, plan.operation) if column in scene.outflows else plan.operation


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
        of_rows = {
            one: self._known.score(row_features(one, count, total))
            for one in {*(meant(self._scene, plan) for plan in some)}
        }
        return [
            base + of_rows[meant(self._scene, plan)] + self._operations[meant(self._scene, plan)]
            + self._of_columns(plan) + self._known.score(joint_features(self._scene, plan, self._known.vocabulary))
            + self._known.score(size_features(self._scene, plan, self._known.vocabulary))
            for plan in some
        ]  # fmt: skip

    def parts(self, plan: Plan) -> tuple[float, float, float]:
        """What speaks for a plan's operation, its columns and its conditions."""
        conditions = condition_features(self._scene, plan.conditions, self._known.vocabulary)
        return self._operations[meant(self._scene, plan)], self._of_columns(plan), self._known.score(conditions)

    def _of_columns(self, plan: Plan) -> float:
        target = self._columns.get((role_of(plan.operation), plan.target), 0.0)
        return target + self._columns.get((chooser_of(plan.operation), plan.by), 0.0)


def features_of(scene: Scene, plan: Plan, count: int, vocabulary: frozenset[str]) -> Features:
    """All that speaks for a plan whose conditions leave so many rows: what weights are fitted on."""
    operation = meant(scene, plan)
    found = operation_features(scene, operation, vocabulary)
    found |= condition_features(scene, plan.conditions, vocabulary)
    found |= row_features(operation, count, len(scene.table)) | joint_features(scene, plan, vocabulary)
    if plan.target >= 0:
        found |= column_features(scene, plan.target, role_of(plan.operation), vocabulary)
    if plan.by >= 0:
        found |= column_features(scene, plan.by, chooser_of(plan.operation), vocabulary)
    return found | size_features(scene, plan, vocabulary)
