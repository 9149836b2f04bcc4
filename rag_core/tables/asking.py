"""Asks a table: the plans that fit a question best, what they find, and how far that is trusted."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from rag_core.tables.columns import normalised
from rag_core.tables.joins import JoinedTable
from rag_core.tables.links import COMPARISONS, Link
from rag_core.tables.plans import (
    COUNT,
    FIRST,
    FURTHEST_ROWS,
    GROUPED,
    LAST,
    LOOK_UP,
    OF_FIGURES,
    ROW_SMALLEST,
    STEPS,
    Plan,
    Result,
    Selection,
    condition_sets,
    run,
)
from rag_core.tables.scene import Scene, columns_of
from rag_core.tables.scoring import Scorer
from rag_core.tables.soundness import ENDS_OF
from rag_core.tables.table import WholeTable
from rag_core.tables.weights import Weights, operation_words
from rag_core.tables.words import Words
from rag_core.text.stems import stem

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
_NEARLY = 0.5  # of the best plan's share
_OF_ROWS = (*FURTHEST_ROWS, FIRST, LAST)  # those that find rows, whatever column says which
_MOST_RUN = 40
_DOES, _SUBJECTS = frozenset(("do", "does", "did")), frozenset(("i", "we", "you", "they", "he", "she", "it"))
_RECEIVED = frozenset(("received", "earned", "earn", "came", "come", "bring", "brought"))
_PEOPLE = frozenset(map(stem, ("people", "person", "persons")))
_BEING = frozenset(("is", "are", "was", "were", "be", "been"))
_OF_ANY_TABLE = frozenset(("listed", "shown", "given", "included", "mentioned", "only", "total", "number"))
_BEFORE, _SIDES = 3, frozenset(("more", "less", "fewer", "higher", "lower", "later", "earlier"))
_OF_THINGS = ("which", "how many")
_FURTHEST = 12.0  # below the best score, where a share is next to nothing
TRUST_SIGNS = (
    "share", "score", "covered", "unexplained", "unexplained share", "figures left", "names left", "exact", "parts",
    "no condition", "looks up", "counts", "named", "found", "nothing", "near", "key", "listed",
    "operation", "columns", "conditions", "unnamed look-up", "unnamed", "columns of look-up", "many found",
    "explained",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ranked:
    """A plan with its score, its share of what speaks for all, and what it finds. parts: what speaks for its operation,
    its columns and its conditions."""

    plan: Plan
    score: float
    share: float
    result: Result
    parts: tuple[float, float, float]


def scene_of(question: str, table: WholeTable, encode: Encode, called: str = "") -> Scene:
    """A question before a table of a document that is called so. `encode` turns texts into vectors of unit length,
    float32 (n, d)."""
    asked, *heads = encode([question, *(column.head or "-" for column in table.columns)])
    names = frozenset(stem(word) for word in normalised(called).split() if word.isalpha())
    return Scene(Words(question), table, np.array([head @ asked for head in heads], dtype=np.float32), names)


def best_plans(scene: Scene, known: Weights) -> list[Ranked]:
    """The plans of which most speaks, the best first; of those that find the same only the best, with the share of all
    of these. None where nothing is found."""
    scorer = Scorer(scene, known)
    selection = Selection(scene.table)
    every = selection.count(())
    scored: list[tuple[float, int, Plan]] = []
    must = _key_words(scene).union(scene.words.negations, _covered(scene.of_outflows))
    must |= scene.described if scene.outflows else set()
    for conditions in condition_sets(scene.links, scene.table):
        if not _covered(conditions).issuperset(must):  # it would say the opposite, or speak of other rows
            continue
        count = selection.count(conditions)
        if (count == every and _is_no_choice(conditions)) or not selection.has_each(conditions):
            continue
        some = list(scene.plans(conditions, count))
        scored += zip(scorer.scores(conditions, some, count), range(len(scored), len(scored) + len(some)), some)  # noqa: B905
    best = heapq.nlargest(_MOST_RUN, scored)
    total = sum(math.exp(score - best[0][0]) for score, _, _ in best)
    alike: dict[object, Ranked] = {}
    for score, _, plan in best:
        result = run(plan, scene.table, selection.left(plan.conditions)) if score > best[0][0] - _FURTHEST else None
        if result is None:
            continue
        share = math.exp(score - best[0][0]) / total
        said = (frozenset(result.texts), result.count, () if result.texts else result.groups)
        key = result.value if result.value is not None else said
        if plan.target in scene.labels and plan.operation in _OF_ROWS:  # a row by its code, or by its name
            key = ("rows", *result.rows.tolist()[:_MOST_RUN])
        one = Ranked(plan, score, share, result, scorer.parts(plan))
        alike[key] = _fuller(scene, before, one) if (before := alike.get(key)) else one
    return _fuller_first(scene, sorted(alike.values(), key=lambda one: -one.share))


def _fuller(scene: Scene, before: Ranked, other: Ranked) -> Ranked:
    """Of two plans that find the same the better one, with the share of both; the other where that leaves fewer words:
    of "Which drinks cost less than 3 euros?" that "drinks" are meant."""
    plan = other.plan if _is_fuller(scene, other, before) else before.plan
    return replace(before, share=before.share + other.share, plan=plan)


def _fuller_first(scene: Scene, best: list[Ranked]) -> list[Ranked]:
    """The plans with one before the best that does the same, is nearly as likely and leaves fewer words: "the cheapest
    cake" is a cake."""
    near = [one for one in best[1:] if one.share >= _NEARLY * best[0].share and _is_fuller(scene, one, best[0])]
    return [near[0], *(one for one in best if one is not near[0])] if near else best


def _is_fuller(scene: Scene, one: Ranked, other: Ranked) -> bool:
    """Whether it does what another does, and leaves some of the words that the other leaves and no others."""
    done, by_other = ((plan.operation, plan.target, plan.by) for plan in (one.plan, other.plan))
    return done == by_other and _left(scene, one) < _left(scene, other)


def trust_signs(scene: Scene, best: Sequence[Ranked]) -> list[float]:
    """What speaks for the best plan being right, in the order of `TRUST_SIGNS`."""
    if not best:
        return [0.0] * len(TRUST_SIGNS)
    one, words = best[0], scene.words
    conditions = one.plan.conditions
    covered, heads, listed = _explained(scene, one)
    columns = [column for column in (one.plan.target, one.plan.by) if column >= 0]
    telling = set(scene.telling)
    left = telling - covered - heads - listed
    figures = {place for place in telling if words.plain[place][:1].isdigit()}
    names = {place for place in telling if place and words.matches[place][0][:1].isupper()}
    return [
        one.share,
        one.score / 10,
        len(telling & covered) / max(len(telling), 1),
        float(len(left)),
        len(left) / max(len(telling), 1),
        float(len(figures - covered - heads)),
        float(len(names - covered - heads)),
        float(sum(link.exact or scene.is_description(link.column) for link in conditions)),
        float(sum(not link.exact and not scene.is_description(link.column) for link in conditions)),
        float(not conditions),
        float(one.plan.operation == LOOK_UP),
        float(one.plan.operation == COUNT),
        float(bool(heads)),
        min(len(one.result.rows), 20) / 20,
        float(one.result.value == 0),
        max((float(scene.nearness[column]) for column in columns), default=0.0),
        float(any(link.exact and scene.table.columns[link.column].is_key for link in conditions)),
        float(any(scene.is_listed(column) for column in columns)),
        *(part / 5 for part in one.parts),
        float(one.plan.operation == LOOK_UP and not heads and not listed),
        float(bool(columns) and not heads and not listed),
        one.parts[1] / 5 * (one.plan.operation == LOOK_UP),
        float(one.plan.operation == LOOK_UP and len(one.result.texts) > 1),
        float(is_explained(scene, one)),
    ]


def none_has_all(scene: Scene) -> Ranked | None:
    """That no row has all of what a question "How many ...?" says, where each is in some row and no word is left."""
    if scene.asks != "how many":
        return None
    selection = Selection(scene.table)
    heads = {place for places in scene.named for place in places}
    left = {place for place in scene.telling if scene.words.plain[place] not in ("how", "many")} - heads
    for conditions in condition_sets([one for one in scene.links if one.exact and not one.comparison], scene.table):
        is_all = len({one.column for one in conditions}) == len(conditions) > 1 and left <= _covered(conditions)
        if is_all and not any(one.is_negated for one in conditions) and not selection.count(conditions):
            return Ranked(Plan(conditions, COUNT), 0.0, 1.0, Result((), 0.0, np.empty(0, np.intp)), (0.0, 0.0, 0.0))
    return None


def passes_over(scene: Scene, one: Ranked, places: Set[int]) -> bool:
    """Whether a plan has nothing of one of some telling words."""
    left = set(scene.telling).difference(*_explained(scene, one))
    return bool(left & places)


def _key_words(scene: Scene) -> set[int]:
    """The words of codes that choose one row."""
    columns = scene.table.columns
    keys = [link for link in scene.links if link.exact and not link.comparison and columns[link.column].is_key]
    codes = scene.words.codes
    return _covered([link for link in keys if (link.first, link.last) in codes])


def _is_no_choice(conditions: Sequence[Link]) -> bool:
    """Whether conditions that leave every row say nothing: all are over a figure, or all of a column's cells listed."""
    columns = [link.column for link in conditions]
    return any(link.comparison in COMPARISONS for link in conditions) or len(set(columns)) < len(columns)


def _covered(links: Iterable[Link]) -> set[int]:
    return {place for link in links for place in range(link.first, link.last)}


def unexplained(scene: Scene, one: Ranked) -> list[str]:
    """The words of a question that its plan has nothing of, those for what it does aside."""
    return [scene.words.matches[place][0] for place in sorted(_left(scene, one))]


def is_explained(scene: Scene, one: Ranked) -> bool:
    """Whether no word is left, but for what is asked for: "items" of "How many items cost over 40?"."""
    left = _left(scene, one)
    return not left or (left == {scene.behind} and any(_explained(scene, one)))


def goes_by_other(scene: Scene, one: Ranked) -> bool:
    """Whether it computes or compares figures while a word is left that calls another column of figures: of "lost most
    stock this month" what is in stock, and no change of this month."""
    if one.plan.operation not in (*OF_FIGURES, *FURTHEST_ROWS, *GROUPED):
        return False
    columns = enumerate(scene.table.columns)
    called = {place for at, column in columns if column.kind == "number" for place in scene.named[at]}
    return bool(called & _left(scene, one))


def is_of_other(scene: Scene, one: Ranked) -> bool:
    """Whether a question asks for something else of what its plan's column says in part: "the pH of the water" is no
    temperature of it."""
    if one.plan.target < 0:
        return False
    words, named = scene.words, set(scene.named[one.plan.target])
    head = normalised(scene.table.columns[one.plan.target].head).split()
    before = [place for place in _left(scene, one) if words.plain[place + 1 : place + 2] == ["of"]]
    is_in_part = len({words.stems[place] for place in named}) < len(head)
    return is_in_part and any(named & {place + 2, place + 3} for place in before)


def is_other_day(scene: Scene, one: Ranked) -> bool:
    """Whether a question "When ...?" is told a day whose column says of what it is, and which is not named, while a
    word is left: a start date is no birthday."""
    if scene.asks != "when" or one.plan.target < 0 or not _left(scene, one):
        return False
    column = scene.table.columns[one.plan.target]
    return column.kind == "date" and not scene.named[one.plan.target] and len(normalised(column.head).split()) > 1


def is_unasked_end(scene: Scene, one: Ranked) -> bool:
    """Whether it goes for one end of some rows where no word asks for one: which must be reordered is not which has the
    largest "Reorder at"."""
    return one.plan.operation in ENDS_OF and not scene.ends and not operation_words(scene.words, *ENDS_OF)


def passes_which(scene: Scene, one: Ranked) -> bool:
    """Whether its plan has nothing of a word that may say which rows are meant: what they are, "are lost", "is the
    head", or what stands before their name, "unpaid invoices"."""
    said, rows = scene.words.english, scene.context | scene.naming
    return any(
        place + 1 in rows or not _BEING.isdisjoint(chain.from_iterable(said[max(place - 2, 0) : place]))
        for place in _left(scene, one) - {scene.behind}
        if _OF_ANY_TABLE.isdisjoint(said[place])
    )


def share_unexplained(scene: Scene, one: Ranked) -> float:
    """How many of a question's words its plan has nothing of, 0..1, the things asked for aside ("which order"); names
    of the table's document count as explained."""
    things = {scene.behind} if scene.asks in _OF_THINGS else set()
    return len(_left(scene, one) - things) / max(len(scene.words.telling), 1)


def _left(scene: Scene, one: Ranked) -> set[int]:
    operations = (one.plan.operation, *STEPS.get(one.plan.operation, ()), *_in_time(scene, one.plan))
    said = operation_words(scene.words, *operations)
    explained = _explained(scene, one)
    said = said | scene.furthest if one.plan.operation in ENDS_OF else said
    aside = (said, _of_amounts(scene, one.plan), _of_people(scene, one.plan), _of_bounds(scene, one.plan))
    left = set(scene.telling).difference(*explained, *aside)
    return set() if left and left == _verb(scene) and any(explained) else left


def _verb(scene: Scene) -> set[int]:
    """The verb that ends a question, "did Ravi work", "do we use": what is done is said by what else it names."""
    last = max(scene.telling, default=0)
    before = scene.words.plain[last - 1] if last else ""
    does = not _DOES.isdisjoint(chain.from_iterable(scene.words.english[:last]))
    is_verb = does and (before in _SUBJECTS or last - 1 in scene.telling)
    return {last} if is_verb and scene.words.matches[last][0].islower() else set()


def _in_time(scene: Scene, plan: Plan) -> tuple[str, ...]:
    """What the row of the smallest or largest day is too: the first or the last."""
    if plan.operation not in FURTHEST_ROWS or scene.table.columns[plan.by].kind != "date":
        return ()
    return (FIRST,) if plan.operation == ROW_SMALLEST else (LAST,)


def _of_people(scene: Scene, plan: Plan) -> set[int]:
    """The words for anybody, "the people", where a plan counts rows or tells names."""
    is_of_names = plan.target >= 0 and scene.table.columns[plan.target].has_names
    if not is_of_names and plan.operation != COUNT:
        return set()
    return {place for place in scene.telling if scene.words.stems[place] in _PEOPLE}


def _of_bounds(scene: Scene, plan: Plan) -> set[int]:
    """The words before a figure or a day that say on which side of it a plan's rows are, "less than"."""
    places = (range(max(link.first - _BEFORE, 0), link.first) for link in plan.conditions if link.is_bound)
    return {place for place in chain.from_iterable(places) if not _SIDES.isdisjoint(scene.words.english[place])}


def _of_amounts(scene: Scene, plan: Plan) -> set[int]:
    """The words that ask for an amount, "cost", "received", "the number of", where a plan finds or goes by one."""
    compared = [link.column for link in plan.conditions if link.comparison]
    columns = {scene.table.columns[at].kind for at in (plan.target, plan.by, *compared) if at >= 0}
    said = scene.words.english
    asked = {place for place in scene.telling if not _RECEIVED.isdisjoint(said[place])}
    asked |= {place for place in scene.telling if "number" in said[place] and said[place + 1 : place + 2] == [["of"]]}
    return asked.union(scene.paid) if "number" in columns else set()


def _explained(scene: Scene, one: Ranked) -> tuple[set[int], set[int], set[int]]:
    """The words that stand for a plan's conditions and for other cells of a row that a key chooses, for the heads of
    its columns, and for cells of these."""
    plan = one.plan
    columns = [column for column in (plan.target, plan.by) if column >= 0]
    constrained = list(columns_of(scene, plan))
    if isinstance(scene.table, JoinedTable):  # the cells by which they are joined are gone by as well
        constrained.append(scene.table.by)
    sizes = {place for place, size in scene.words.sizes.items() if size == plan.size}
    return (
        _covered(plan.conditions) | _covered(_of_same_row(scene, one)) | sizes,
        {place for column in (*columns, *constrained) for place in scene.named[column]}
        | {place for place, measures in scene.measured.items() if not measures.isdisjoint((*columns, *constrained))},
        {place for column in columns for place in scene.alternatives[column]},
    )


def _of_same_row(scene: Scene, one: Ranked) -> list[Link]:
    """The other cells that a question has of the row that a key chooses: of "Bram with booking BK-3100" his name."""
    columns = scene.table.columns
    keys = [link for link in one.plan.conditions if link.exact and not link.comparison and columns[link.column].is_key]
    if not keys or len(one.result.rows) != 1 or one.plan.operation != LOOK_UP:
        return []
    row = int(one.result.rows[0])
    same = [link for link in scene.links if not link.is_bound and not link.is_negated]
    return [link for link in same if bool(link.rows(scene.table)[row])]


def trust(signs: Sequence[float], known: Weights) -> float:
    """The probability, 0..1, that the best plan is right."""
    weighed = sum(known.trust.get(name, 0.0) * sign for name, sign in zip(TRUST_SIGNS, signs, strict=True))
    return (1 + math.tanh((weighed + known.trust["bias"]) / 2)) / 2  # the logistic function, of any size
