"""How far an extractive answer can be trusted: logistic regressions over the evidence for what it quotes.

One estimates whether the quotes answer the question, the other whether the passages do at all, which an abstention
needs: both were fitted on questions of real use, near misses among them, by `tests.benchmarks.fit_reader`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rag_core.answering.strategies.composing import Composition
from rag_core.answering.strategies.evidence import Evidence
from rag_core.answering.strategies.weights import reader

SIGNS = (
    "share", "together", "near_share", "all_share", "worst", "all_names", "all_numbers", "nearness", "asked", "first",
    "meant", "answers_anew",
)  # fmt: skip
"""What is looked at. share: of the first unit in the softmax of scores; together: the question's words matched by all
quotes. The others are features of the first. More of them fitted no better on questions kept out."""

_OF_FIRST = SIGNS[2:]


@dataclass(frozen=True, slots=True)
class Trust:
    """Probabilities 0..1 that an answer is right and that the passages hold one; `enough` to answer."""

    right: float
    answerable: float
    enough: bool


def trust(evidence: Evidence, made: Composition) -> Trust:
    """How far an answer can be trusted."""
    known = signs(evidence, made)
    right = _probability(known, reader().right)
    return Trust(right, _probability(known, reader().answerable), right >= reader().answer_from)


def signs(evidence: Evidence, made: Composition) -> dict[str, float]:
    """What trust is estimated from, by name."""
    first = made.chosen[0]
    shares = np.exp(made.scores - made.scores.max())
    together = evidence.full[list(made.chosen)].max(axis=0)
    return {name: float(evidence.column(name)[first]) for name in _OF_FIRST} | {
        "share": float(shares[first] / shares.sum()),
        "together": float(together @ evidence.weights),
    }


def _probability(known: Mapping[str, float], weights: Mapping[str, float]) -> float:
    log_odds = weights["bias"] + sum(weight * known[name] for name, weight in weights.items() if name != "bias")
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds))))
