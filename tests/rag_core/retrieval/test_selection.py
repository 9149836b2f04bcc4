"""Near-duplicates are folded; the hits are the best, differing ones, or some of each side."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from rag_core.domain import Scope
from rag_core.retrieval.candidates import Candidates
from rag_core.retrieval.identity import Meant
from rag_core.retrieval.near_duplicates import folded
from rag_core.retrieval.query import Query
from rag_core.retrieval.selection import picked, wanted
from rag_core.storage.postgres.passages import PassageRow
from rag_core.text.numbers import numbers

TEXTS = {
    ("a", 0): "The ferry leaves Veyra at nine and comes back at noon.",
    ("a", 1): "Berths are let by the week.",
    ("b", 0): "The ferry leaves Veyra at nine and comes back at noon!",
    ("b", 1): "The ferry leaves Veyra at ten and comes back at noon.",
    ("c", 0): "Rye bread is baked on Fridays.",
}
DIRECTIONS = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.01], [1.0, 0.01, 0.0], [0.6, 0.8, 0.0]]


def candidates() -> Candidates:
    refs = list(TEXTS)
    rows = [PassageRow(*ref, 1, "", "", 0, len(text), "[]", text, "") for ref, text in TEXTS.items()]
    score = np.linspace(1, 0.6, len(refs), dtype=np.float32)
    return Candidates(refs, score, "fused", {"fused": score}, np.array(DIRECTIONS, np.float32), rows)


def query(text: str, *sides: str) -> Query:
    meant = Meant(sides=tuple(frozenset(side) for side in sides))
    return Query.of(text, np.array([1.0, 0.5, 0.0], np.float32), Scope(), None, meant)


def test_the_same_words_are_folded_and_other_numbers_are_not() -> None:
    standing, similar = folded(candidates(), 9)
    assert standing == [0, 1, 3, 4]
    assert similar == {0: 1}


def test_nothing_is_folded_of_few_or_without_vectors() -> None:
    assert folded(candidates().take([0]), 9) == ([0], {})
    assert folded(candidates().take([]), 9) == ([], {})


def test_rows_of_a_table_are_compared_without_reading_the_figures_of_each_for_every_other() -> None:
    texts = ["\n".join(f"K-{n}{row:04}\tOslo\t{n * row}.50\tpaid" for row in range(80)) for n in range(10, 46)]
    rows = [PassageRow("a", at, 1, "", "", 0, len(text), "[]", text, "") for at, text in enumerate(texts)]
    score = np.linspace(1, 0.6, len(rows), dtype=np.float32)
    alike = Candidates([("a", at) for at in range(36)], score, "fused", {"fused": score},
                       np.ones((36, 3), np.float32), rows)  # fmt: skip
    once = _seconds(lambda: [numbers(text) for text in texts])
    assert _seconds(lambda: folded(alike, 36)) < 4 * once  # 630 pairs, 36 texts
    assert folded(alike, 36) == (list(range(36)), {})


def _seconds(call: Callable[[], object]) -> float:
    began = time.thread_time()
    call()
    return time.thread_time() - began


def test_the_best_are_picked_in_order() -> None:
    assert picked(query("ferry"), candidates(), 3, None) == [0, 1, 2]
    assert picked(query("ferry"), candidates(), 9, None) == [0, 1, 2, 3, 4]
    assert picked(query("ferry"), candidates().take([]), 3, None) == []


def test_mmr_goes_by_the_fused_scores() -> None:
    assert picked(query("ferry"), candidates(), 3, 1.0) == [0, 1, 2]
    assert picked(query("ferry"), candidates(), 2, 0.5) == [0, 1]
    assert picked(query("ferry"), candidates(), 3, 0.3)[:2] == [0, 1]
    near = candidates().take([0, 2, 4])
    assert picked(query("ferry"), near, 2, 0.5) == [0, 2]


def test_a_comparison_gets_passages_of_each_side() -> None:
    assert picked(query("Harbour or bakery?", "a", "c"), candidates(), 2, None) == [0, 4]
    assert picked(query("Harbour or bakery?", "a", "c"), candidates(), 3, None) == [0, 4, 1]
    assert 4 in picked(query("Harbour or bakery?", "a", "c"), candidates(), 3, 0.85)
    assert picked(query("Harbour or nothing?", "a", "z"), candidates(), 3, None) == [0, 1, 2]


def test_lists_and_comparisons_take_more_passages() -> None:
    assert [wanted(kind, 6) for kind in ("fact", "definition", "list", "comparison", "summary")] == [6, 6, 9, 9, 12]
