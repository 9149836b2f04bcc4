"""Retrieval metrics of a whole run from one call of ir-measures, which computes them as trec_eval does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RETRIEVAL_KEYS = ("hit_rate", "context_recall", "span_recall", "mrr", "ndcg", "context_precision", "context_f1")


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a search found for one question, told apart by gold alone.

    `flags` say of each passage, best first, whether it is relevant. `relevant_total` chunks of the whole library are.
    `gold_found` of `gold_total` gold items are held by the passages, and `span_chars_found` of the `span_chars`
    characters of the gold excerpts.
    """

    flags: tuple[bool, ...]
    relevant_total: int
    gold_found: int
    gold_total: int
    span_chars: int = 0
    span_chars_found: int = 0


def ranked(found: Sequence[Ranked]) -> list[dict[str, float | None]]:
    """The retrieval metrics of each question; all None for a question without gold.

    P@k, Success@k, RR@k and nDCG@k have as k the number of passages that were found for that very question, so that
    its values do not depend on the other questions of the batch.
    """
    measured = _measured({place: one for place, one in enumerate(found) if one.gold_total})
    return [_metrics(one, measured[place]) if place in measured else _nothing() for place, one in enumerate(found)]


def _nothing() -> dict[str, float | None]:
    return dict.fromkeys(RETRIEVAL_KEYS)


def _metrics(one: Ranked, measured: dict[str, float]) -> dict[str, float | None]:
    """All metrics of a question with gold, from those of ir-measures and from its counts."""
    precision, recall = measured["context_precision"], one.gold_found / one.gold_total
    both = precision + recall
    return (
        _nothing()
        | measured
        | {
            "context_recall": recall,
            "context_f1": 2 * precision * recall / both if both else 0.0,
            "span_recall": one.span_chars_found / one.span_chars if one.span_chars else None,
        }
    )


def _measured(found: dict[int, Ranked]) -> dict[int, dict[str, float]]:
    """P, Success, RR and nDCG at each question's own k, by the question's place."""
    if not found:
        return {}
    import ir_measures
    from ir_measures import RR, P, Success, nDCG

    depths = {_depth(one) for one in found.values()}
    names = {("context_precision", k): P @ k for k in depths}
    names |= {("hit_rate", k): Success @ k for k in depths} | {("ndcg", k): nDCG @ k for k in depths}
    keys = {measure: name for name, measure in names.items()}
    judged = {str(place): _judged(one) for place, one in found.items()}
    listed = {str(place): {f"found-{i}": -float(i) for i in range(len(one.flags))} for place, one in found.items()}
    measured: dict[int, dict[str, float]] = {place: {} for place in found}
    for value in ir_measures.iter_calc([RR, *keys], judged, listed):
        place = int(value.query_id)
        key, depth = keys.get(value.measure, ("mrr", _depth(found[place])))
        if depth == _depth(found[place]):
            measured[place][key] = float(value.value)
    return measured


def _depth(one: Ranked) -> int:
    """The k of a question: how many passages were found, and 1 where there are none (all metrics are 0 then)."""
    return max(len(one.flags), 1)


def _judged(one: Ranked) -> dict[str, int]:
    """Made-up judgements: the passages found as they are flagged, and the relevant chunks that were not found.

    Of the latter no more than k, for the best list of k passages has no room for others.
    """
    missing = min(max(one.relevant_total - sum(one.flags), 0), _depth(one))
    judged = {f"found-{i}": int(flag) for i, flag in enumerate(one.flags)}
    # trec_eval wants one judgement at least.
    return judged | {f"missing-{i}": 1 for i in range(missing)} or {"none": 0}
