"""Retrieval metrics: equal to ir-measures on judgements made in another way, and to the formulas."""

from __future__ import annotations

import math

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, P, Success, nDCG

from rag_core.evaluation.measuring.ranking import RETRIEVAL_KEYS, Ranked, ranked

NEAR = pytest.approx


@st.composite
def questions(draw: st.DrawFn) -> Ranked:
    flags = tuple(draw(st.lists(st.booleans(), max_size=25)))
    total = sum(flags) + draw(st.integers(0, 40))
    gold = draw(st.integers(1, 6))
    return Ranked(flags, total, draw(st.integers(0, gold)), gold, 0, 0)


def by_ir_measures(one: Ranked) -> dict[str, float]:
    """One question alone, its chunks under other names, all that are relevant in the judgements."""
    k = len(one.flags)
    judged = [ir_measures.Qrel("q", f"c{i:03}", 1) for i, flag in enumerate(one.flags) if flag]
    judged += [ir_measures.Qrel("q", f"x{i:03}", 1) for i in range(one.relevant_total - sum(one.flags))]
    found = [ir_measures.ScoredDoc("q", f"c{i:03}", 1 / (i + 2)) for i in range(k)]
    measures = {"context_precision": P @ k, "hit_rate": Success @ k, "mrr": RR @ k, "ndcg": nDCG @ k}
    keys = {measure: key for key, measure in measures.items()}
    return {keys[one.measure]: one.value for one in ir_measures.iter_calc(list(keys), judged, found)}


def by_formula(one: Ranked) -> dict[str, float]:
    k, gains = len(one.flags), [1 / math.log2(rank + 2) for rank in range(len(one.flags))]
    best = sum(gains[: min(one.relevant_total, k)])
    return {
        "context_precision": sum(one.flags) / k,
        "hit_rate": float(any(one.flags)),
        "mrr": 1 / (one.flags.index(True) + 1) if any(one.flags) else 0.0,
        "ndcg": sum(gain for gain, flag in zip(gains, one.flags, strict=True) if flag) / best if best else 0.0,
    }


@settings(max_examples=150, deadline=None)
@given(st.lists(questions(), min_size=1, max_size=8))
def test_equal_to_ir_measures(found: list[Ranked]) -> None:
    for one, metrics in zip(found, ranked(found), strict=True):
        assert list(metrics) == list(RETRIEVAL_KEYS)
        if not one.flags:
            continue
        wanted = by_formula(one)
        assert {key: metrics[key] for key in wanted} == NEAR(wanted, abs=1e-9)
        if one.relevant_total:  # ir-measures says nothing of a question without judgements
            assert {key: metrics[key] for key in wanted} == NEAR(by_ir_measures(one), abs=1e-9)


@given(st.lists(questions(), min_size=2, max_size=6))
@settings(max_examples=50, deadline=None)
def test_a_question_does_not_depend_on_the_others(found: list[Ranked]) -> None:
    assert ranked(found) == [ranked([one])[0] for one in found]


def test_nothing_asked() -> None:
    assert ranked([]) == []


def test_no_gold_says_nothing() -> None:
    metrics = ranked([Ranked((False, False), 0, 0, 0), Ranked((True,), 1, 1, 1)])
    assert set(metrics[0].values()) == {None}
    assert metrics[1] == {key: None if key == "span_recall" else 1.0 for key in RETRIEVAL_KEYS}


@pytest.mark.parametrize(
    "one",
    [Ranked((), 3, 0, 1), Ranked((), 0, 0, 1), Ranked((False,) * 5, 0, 0, 2), Ranked((False,) * 5, 7, 0, 2)],
    ids=["nothing found", "nothing found or relevant", "nothing relevant", "nothing relevant found"],
)
def test_nothing_right_is_zero(one: Ranked) -> None:
    assert ranked([one])[0] == {key: None if key == "span_recall" else 0.0 for key in RETRIEVAL_KEYS}


def test_counts_of_gold() -> None:
    metrics = ranked([Ranked((True, False, False, False), 2, 1, 2, span_chars=200, span_chars_found=50)])[0]
    assert metrics["context_recall"] == 0.5
    assert metrics["context_precision"] == 0.25
    assert metrics["context_f1"] == NEAR(1 / 3)
    assert metrics["span_recall"] == 0.25


def test_more_flags_than_relevant_chunks_is_taken_as_flagged() -> None:
    assert ranked([Ranked((True, True), 1, 1, 1)])[0]["ndcg"] == 1.0


def test_a_batch_with_a_long_document_is_fast() -> None:
    many = [Ranked((True, False) * 5, 100_000, 1, 1)] * 500
    assert [one["ndcg"] for one in ranked(many)] == NEAR([by_formula(many[0])["ndcg"]] * 500)
