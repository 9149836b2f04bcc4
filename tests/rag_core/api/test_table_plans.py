"""Plans over tables by REST: bodies that ask for too much, and what an earlier question may hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from rag_core import Library, Settings
from tests.conftest import add_text
from tests.rag_core.api.conftest import serve

ROWS = [f"A-{100 + row},{('Oslo', 'Bern')[row % 2]},{'1.7e308' if row % 5 == 0 else row}" for row in range(60)]
PLANS = "/api/v1/table-plans"


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("t")
    with Library.open(Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())) as library:
        add_text(library, "orders.csv", "\n".join(["Order,City,Worth", *ROWS]))
        yield library


@pytest.fixture(scope="module")
def reader(orders: Library) -> Iterator[httpx.Client]:
    """A client with a key that reads."""
    _, text = orders.access.create("reader")
    with serve(orders) as served, served.client(text) as client:
        yield client


def plan(orders: Library, **changed: Any) -> dict[str, Any]:
    """One that counts all rows, with some of it changed."""
    (document,) = orders.documents()
    return {"document_id": document.id, "table": 0, "conditions": [], "operation": "count", **changed}


def under(value: str) -> dict[str, Any]:
    return {"column": 2, "head": "", "comparison": "under", "values": [value]}


@pytest.mark.parametrize(
    "changed",
    [
        {"target": 999}, {"target": -999}, {"target": 10**30}, {"operation": "count by", "by": 1, "target": 999},
        {"operation": "look up", "target": 1, "by": 999}, {"operation": "share", "by": 1, "target": 999},
        {"conditions": [under(str(number)) for number in range(2_000)]}, {"conditions": [under("z" * 1_000_000)]},
        {"conditions": [{**under("z" * 1_000_000), "comparison": "month"}]},
        {"conditions": [under("nan")]}, {"conditions": [under("1e999")]},
        {"conditions": [{**under("5"), "comparison": "is", "values": ["Oslo"] * 100_000}]},
        {"operation": "sum", "target": 2}, {"operation": "sum by", "target": 2, "by": 1},
        {"operation": "mean by", "target": 2, "by": 1}, {"operation": "group of largest sum", "target": 2, "by": 1},
    ],
)  # fmt: skip
def test_what_a_table_has_not_is_refused_in_few_words(
    orders: Library, reader: httpx.Client, changed: dict[str, Any]
) -> None:
    before = len(orders.conversations())
    for path, more in ((PLANS, {"question": "How many?"}), (f"{PLANS}/rows", {})):
        answer = reader.post(path, json={"plan": plan(orders, **changed), **more}, timeout=20)
        assert answer.status_code == 422
        assert len(answer.text) < 1_000
    assert len(orders.conversations()) == before


def test_what_was_asked_before_is_no_longer_than_a_question(orders: Library, reader: httpx.Client) -> None:
    begun = time.monotonic()
    kept = {"plan": plan(orders), "question": "How many?", "query": "word " * 100_000}
    assert reader.post(PLANS, json=kept).status_code == 422
    given = {"question": "And in Oslo?", "keep": False, "history": [["orders 5 in Oslo and " * 150_000, "a"]]}
    assert reader.post("/api/v1/ask", json=given, timeout=60).status_code == 200
    earlier = [
        {"role": "user", "content": "orders in Oslo " * 100_000}, {"role": "assistant", "content": "a"},
        {"role": "user", "content": "And in Bern?"},
    ]  # fmt: skip
    said = reader.post("/v1/chat/completions", json={"model": "extractive", "messages": earlier}, timeout=60)
    assert said.status_code == 200
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("question", ["What is the total worth by city?", "What is the mean worth per city?"])
def test_figures_that_are_too_large_to_add_are_no_fault(orders: Library, reader: httpx.Client, question: str) -> None:
    answer = reader.post("/api/v1/ask", json={"question": question})
    assert answer.status_code == 200
    assert "inf" not in answer.json()["text"].split()
