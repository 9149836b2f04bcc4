"""How far an extractive answer can be trusted: logistic regressions over the evidence for what it quotes.

One estimates whether the quotes answer the question, the other whether the passages do at all, which an abstention
needs: both were fitted on questions of real use, near misses among them, by `tests.benchmarks.fit_reader`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.answering.strategies.evidence import Evidence, counted
from rag_core.answering.strategies.matching import Floats
from rag_core.answering.strategies.weights import reader

SIGNS = (
    "score", "share", "margin", "own_share", "near_share", "all_share", "worst", "all_names", "answers_anew", "hit",
    "meant", "nearness", "asked", "first", "figures_asked", "tabular", "together", "anywhere", "all_numbers",
    "near_numbers", "missing", "said", "said_anywhere",
)  # fmt: skip
"""What is looked at. share: of the first unit in the softmax of scores; margin: to the second's score; together and
anywhere: the question's words matched by all quotes, and by the unit that matches most. missing: the weightiest word
that the first lacks. said, said_anywhere: the share of words that stand in the first, and in any unit, by their stems.
The others are features."""

_OF_FIRST = (
    "own_share", "near_share", "all_share", "worst", "all_names", "answers_anew", "hit", "meant", "nearness", "asked",
    "first", "figures_asked", "tabular", "all_numbers", "near_numbers",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Trust:
    """Probabilities 0..1 that an answer is right and that the passages hold one; `enough` to answer."""

    right: float
    answerable: float
    enough: bool


def trust(evidence: Evidence, scores: Floats, chosen: Sequence[int]) -> Trust:
    """How far the chosen units, best first, can be trusted to answer."""
    known = signs(evidence, scores, chosen)
    right = _probability(known, reader().right)
    return Trust(right, _probability(known, reader().answerable), right >= reader().answer_from)


def signs(evidence: Evidence, scores: Floats, chosen: Sequence[int]) -> dict[str, float]:
    """What trust is estimated from, by name."""
    first = chosen[0]
    ordered = np.sort(scores)[::-1]
    shares = np.exp(scores - ordered[0])
    together = evidence.full[list(chosen)].max(axis=0)
    stands = evidence.full >= 1
    known = {name: float(evidence.column(name)[first]) for name in _OF_FIRST}
    return known | {
        "score": float(scores[first]),
        "share": float(shares[first] / shares.sum()),
        "margin": float(ordered[0] - ordered[1]) if len(ordered) > 1 else 1.0,
        "together": float(together @ evidence.weights),
        "anywhere": float(evidence.column("all_share").max()),
        "missing": float((evidence.weights * (1 - counted(evidence.full[first]))).max(initial=0.0)),
        "said": float(stands[first].mean()) if stands.size else 0.0,
        "said_anywhere": float(stands.any(axis=0).mean()) if stands.size else 0.0,
    }


def _probability(known: Mapping[str, float], weights: Mapping[str, float]) -> float:
    log_odds = weights["bias"] + sum(weight * known[name] for name, weight in weights.items() if name != "bias")
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds))))
