"""Fits the weights of plans over tables, rag_core/tables/weights.json: `python -m tests.benchmarks.fit_plans`.

Of each question the plans that find its answer are known, not which of them it means: the likelihood is of all of them
together (Pasupat and Liang 2015). `trust` is fitted on questions kept out, some of them asked of another table.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from rag_core.embedding import open_embedder
from rag_core.settings import Settings
from rag_core.tables import plans as grammar
from rag_core.tables import weights as weighing
from rag_core.tables.asking import TRUST_SIGNS, Encode, Ranked, best_plans, scene_of, trust_signs
from rag_core.tables.plans import Plan, condition_sets, rows_left, run
from rag_core.tables.scene import Scene
from rag_core.tables.scoring import features_of
from rag_core.tables.weights import Features, Weights
from rag_core.tables.words import Words
from tests.benchmarks.measure import emit
from tests.benchmarks.table_questions import Asked, encyclopaedia, invented, is_right

_MOST_WRONG, _MOST_TRIED = 150, 5_000
_FEWEST = 12
_DIGIT = re.compile(r"\d")
_SHARES = {"of other tables": 0.3, "without the column": 0.5}  # of their number, in the fit of trust
_RIDGE, _RIDGE_NEW, _RIDGE_TRUST = 0.02, 0.2, 0.05
# The operations from whose weights those of others that were not known yet begin.
_BROTHERS = {
    grammar.LARGEST_BY: grammar.MEAN_BY, grammar.SMALLEST_BY: grammar.MEAN_BY, grammar.RAREST: grammar.COMMONEST,
    **dict.fromkeys(grammar.FURTHEST_GROUPS[1:], grammar.GROUP_LARGEST),
}  # fmt: skip
PATH = Path(weighing.__file__).with_name("weights.json")


@dataclass(frozen=True)
class Example:
    """The plans of a question. right: how many of the first of them find its answer."""

    features: Sequence[Features]
    right: int


@dataclass(frozen=True)
class Held:
    """Weights that stay as they are while those of what was not known when they were fitted are."""

    values: Mapping[str, float]
    vocabulary: frozenset[str]

    @cached_property
    def operations(self) -> list[str]:
        """Those that were known, the longest first."""
        known = [one for one in grammar.OPERATIONS if f"o {one}" in self.values]
        return sorted(known, key=len, reverse=True)

    def is_new(self, name: str) -> bool:
        """Whether a feature is of an operation, a word or a sign that was not known."""
        if name in self.values:
            return False
        if operation := next((one for one in self.operations if name.startswith(f"o {one} ")), ""):
            return name.removeprefix(f"o {operation} ") not in self.vocabulary
        lead, _, word = name.rpartition(" ")
        if name.startswith("e "):
            return True
        is_word = lead == "t" or lead.startswith("c ") or lead.partition(" ")[2] == "behind"
        return not (is_word and word in self.vocabulary)

    def prior(self, name: str) -> float:
        """The weight from which a new one begins: that of its nearest brother."""
        for one, brother in _BROTHERS.items():
            if name.startswith((f"o {one}", f"r {one}", f"t {one}")) and f"o {one}" not in self.values:
                return self.values.get(name.replace(one, brother, 1), 0.0)
        of_cells = name.replace(" word", " exact", 1) if name.startswith(("c word ", "c function ")) else ""
        return self.values.get(of_cells, 0.0)

    def score(self, features: Features) -> float:
        """What known features weigh."""
        return sum(self.values.get(name, 0.0) * value for name, value in features.items())


def vocabulary(asked: Sequence[Asked]) -> frozenset[str]:
    """The words and pairs that many questions have, names of what they are about left out by that."""
    counts: Counter[str] = Counter()
    for one in asked:
        plain = Words(one.text).plain
        counts.update({*plain, *(f"{a} {b}" for a, b in pairwise(plain))})
    return frozenset(word for word, count in counts.items() if count >= _FEWEST and not _DIGIT.search(word))


def example(asked: Asked, scene: Scene, known: frozenset[str], chance: random.Random) -> Example | None:
    """None where no plan finds the answer, or all do."""
    right: list[tuple[Plan, int]] = []
    wrong: list[tuple[Plan, int]] = []
    for conditions in condition_sets(scene.links, asked.table):
        left = rows_left(asked.table, conditions)
        count = int(left.sum())
        for plan in scene.plans(conditions, count):
            if len(right) + len(wrong) < _MOST_TRIED:
                (right if is_right(run(plan, asked.table, left), asked.answers) else wrong).append((plan, count))
    if not right or not wrong:
        return None
    some = [*right[:60], *chance.sample(wrong, min(_MOST_WRONG, len(wrong)))]
    return Example([features_of(scene, plan, count, known) for plan, count in some], min(len(right), 60))


def fitted(examples: Sequence[Example], held: Held | None = None) -> dict[str, float]:
    """The weights under which the right plans are the likeliest, by name; those that are held aside."""
    held = held or Held({}, frozenset())
    names = sorted({name for one in examples for some in one.features for name in some if held.is_new(name)})
    places = {name: number for number, name in enumerate(names)}
    prior = np.array([held.prior(name) for name in names])
    columns, values, ends = [], [], [0]
    for one in examples:
        for some in one.features:
            new = [name for name in some if name in places]
            columns += [places[name] for name in new]
            values += [some[name] for name in new]
            ends.append(len(columns))
    known = np.array([held.score(some) for one in examples for some in one.features])
    matrix = csr_matrix((np.array(values, np.float32), columns, ends), (len(ends) - 1, len(names)))
    starts = np.cumsum([0, *(len(one.features) for one in examples)])
    is_right = np.zeros(len(ends) - 1, bool)
    for start, one in zip(starts, examples, strict=False):
        is_right[start : start + one.right] = True

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = matrix @ weights + known
        top = np.repeat(np.maximum.reduceat(scores, starts[:-1]), np.diff(starts))
        powers = np.exp(scores - top)
        every = np.add.reduceat(powers, starts[:-1])
        good = np.maximum(np.add.reduceat(powers * is_right, starts[:-1]), 1e-30)
        per = np.diff(starts)
        change = powers / np.repeat(every, per) - powers * is_right / np.repeat(good, per)
        ridge = (_RIDGE_NEW if held.values else _RIDGE) * len(examples) / 1000
        return (
            float(np.log(every / good).sum() + ridge * (weights - prior) @ (weights - prior)),
            matrix.T @ change + 2 * ridge * (weights - prior),
        )

    found = minimize(loss, prior, jac=True, method="L-BFGS-B", options={"maxiter": 150})
    emit(benchmark="fit_plans", examples=len(examples), features=len(names), loss=round(found.fun / len(examples), 3))
    return {name: round(float(weight), 4) for name, weight in zip(names, found.x, strict=True) if abs(weight) > 0.01}


@dataclass(frozen=True)
class Tried:
    """A question of a table that is asked with fitted weights."""

    set: str
    asked: Asked
    best: Sequence[Ranked]
    signs: Sequence[float]

    @property
    def is_right(self) -> bool:
        return bool(self.best) and is_right(self.best[0].result, self.asked.answers)


def report(name: str, asked: Sequence[Asked], encode: Encode, known: Weights) -> list[Tried]:
    """Ask, and tell how often the best plan finds the answer."""
    found = []
    for one in asked:
        scene = scene_of(one.text, one.table, encode)
        best = best_plans(scene, known)
        found.append(Tried(name, one, best, trust_signs(scene, best)))
    right = round(float(np.mean([one.is_right for one in found])), 3)
    emit(benchmark="fit_plans", set=name, questions=len(asked), right=right)
    return found


def without_answers(tried: Sequence[Tried], chance: random.Random) -> Iterator[Asked]:
    """What was rightly answered, asked of the same tables without a column that the plan goes by."""
    for one in tried:
        if one.is_right:
            plan = one.best[0].plan
            used = [column for column in (plan.target, plan.by) if column >= 0]
            used = used or [link.column for link in plan.conditions]
            left_out = chance.choice(used) if used else -1
            columns = [column for place, column in enumerate(one.asked.table.columns) if place != left_out]
            if used and len(columns) > 1:
                yield Asked(one.asked.text, replace(one.asked.table, columns=tuple(columns)), ())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=4_000, help="of the encyclopaedia that are learned from")
    parser.add_argument("--tables", type=int, default=220, help="invented tables that are learned from")
    parser.add_argument("--trust", action="store_true", help="fit anew how far plans are trusted, and no more")
    parser.add_argument(
        "--new", action="store_true", help="hold the weights that are known, and fit those that are not"
    )
    parser.add_argument("--seed", type=int, default=0, help="which questions are learned from")
    options = parser.parse_args()
    settings = Settings()
    encode = open_embedder(settings.embedding, settings.models_dir).encode_queries
    chance = random.Random(options.seed)
    known = weighing.weights()
    if not options.trust:
        held = Held(known.values, known.vocabulary) if options.new else None
        known = replace(fit_weights(options.questions, options.tables, encode, chance, held), trust=known.trust)
    chance = random.Random(0)
    kept, ours = chance.sample(encyclopaedia("dev"), 400), invented(50, seed=1)
    tried = report("encyclopaedia, kept out", kept, encode, known) + report("invented, kept out", ours, encode, known)
    strangers = [Asked(one.text, chance.choice(kept).table, ()) for one in (*kept, *ours)]
    tried += report("of other tables", strangers, encode, known)
    tried += report("without the column", list(without_answers(tried, chance)), encode, known)
    read = {
        "trust": fit_new_trust(tried, known.trust) if options.new else fit_trust(tried),
        "vocabulary": sorted(known.vocabulary),
        "values": dict(known.values),
    }
    PATH.write_text(json.dumps(read, indent=0) + "\n", encoding="utf-8")


def fit_weights(
    questions: int, tables: int, encode: Encode, chance: random.Random, held: Held | None = None
) -> Weights:
    """The weights of plans, which are not trusted yet; with those that are held."""
    people, ours = encyclopaedia("train"), invented(tables, seed=chance.randrange(2, 1000))
    asked = [*chance.sample(people, min(questions, len(people))), *ours]
    known = vocabulary(asked) if held is None else held.vocabulary | vocabulary(ours)
    emit(benchmark="fit_plans", vocabulary=len(known), asked=len(asked))
    scenes = ((one, scene_of(one.text, one.table, encode)) for one in asked)
    values = fitted([made for one, scene in scenes if (made := example(one, scene, known, chance))], held)
    return Weights({**(held.values if held else {}), **values}, known, {})


def fit_new_trust(tried: Sequence[Tried], known: Mapping[str, float]) -> dict[str, float]:
    """Those known, and of signs that are not what a logistic regression gives while these are held."""
    new = [place for place, name in enumerate(TRUST_SIGNS) if name not in known]
    signs, right = np.array([one.signs for one in tried]), np.array([one.is_right for one in tried])
    weights = np.array([_SHARES.get(one.set, 1.0) for one in tried])
    held = signs @ np.array([known.get(name, 0.0) for name in TRUST_SIGNS]) + known["bias"]

    def loss(found: np.ndarray) -> float:
        margins = np.where(right, 1, -1) * (held + signs[:, new] @ found)
        return float(weights @ np.logaddexp(0, -margins) + _RIDGE_TRUST * found @ found)

    found = minimize(loss, np.zeros(len(new))).x if new else ()
    return {**known, **{TRUST_SIGNS[place]: round(float(one), 4) for place, one in zip(new, found, strict=True)}}


def fit_trust(tried: Sequence[Tried]) -> dict[str, float]:
    """A logistic regression of whether the best plan is right."""
    from sklearn.linear_model import LogisticRegression

    signs, right = np.array([one.signs for one in tried]), np.array([one.is_right for one in tried])
    model = LogisticRegression(C=10.0, max_iter=2000).fit(
        signs, right, sample_weight=[_SHARES.get(one.set, 1.0) for one in tried]
    )
    chances = model.predict_proba(signs)[:, 1]
    for bound in (0.3, 0.5, 0.7, 0.8):
        over = chances >= bound
        emit(
            benchmark="fit_plans",
            trust_over=bound,
            share=round(float(over.mean()), 3),
            right=round(float(right[over].mean()), 3),
        )
    return {name: round(float(weight), 4) for name, weight in zip(TRUST_SIGNS, model.coef_[0], strict=True)} | {
        "bias": round(float(model.intercept_[0]), 4)
    }


if __name__ == "__main__":
    main()
