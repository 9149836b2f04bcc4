"""pgvector's graph as the one index of several servers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rag_core import Settings
from rag_core.storage import Storage
from rag_core.storage import storage as storage_module
from rag_core.storage.indexes.hnsw_index import HnswIndex
from rag_core.storage.maintenance.doctor import verify
from tests.rag_core.storage.filled import PROFILE, WITHOUT_CHROMA, stored

CHUNKS = 20


@pytest.fixture
def three(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Storage, ...]]:
    """Servers with the graph, which follow when they are told to."""
    monkeypatch.setattr(storage_module, "INDEXES", (*WITHOUT_CHROMA, HnswIndex))
    sharing = settings.changed("retrieval", index="hnsw").changed(
        "storage", shared=True, originals=settings.data_dir.with_name("originals")
    )
    all_of_them = [
        Storage(sharing.model_copy(update={"data_dir": settings.data_dir.with_name(f"server{number}")}))
        for number in range(3)
    ]
    for one in all_of_them:
        one.stop_following()
    yield (*all_of_them,)
    for one in all_of_them:
        one.close()


def graph(storage: Storage) -> HnswIndex:
    return storage.index(HnswIndex)


def settle(*storages: Storage) -> None:
    """Have all follow at once."""
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda one: one.settle(), storages))


def written(storage: Storage) -> int:
    """How many rows were ever put into the table."""
    row = storage.database.row("SELECT count(*), max(xmin::text::bigint) FROM hnsw_chunks")
    return int(row[1]) if row else 0


def recall(storage: Storage, k: int = 10) -> float:
    """The share of the true nearest that the graph finds."""
    queries = np.random.default_rng(1).standard_normal((50, PROFILE.dimensions)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    found, true = (storage.dense[name].nearest(queries, k) for name in ("hnsw", "pgvector"))
    return sum(len({*a.refs} & {*b.refs}) for a, b in zip(found, true, strict=True)) / (k * len(queries))


def test_what_any_server_adds_is_in_the_graph_of_all_once(three: tuple[Storage, ...]) -> None:
    for number in range(90):
        three[number % 3].commit([stored(three[number % 3], number, CHUNKS)], PROFILE)
    settle(*three)
    assert [graph(one).count() for one in three] == [90 * CHUNKS] * 3
    assert [graph(one).waiting() for one in three] == [0] * 3
    for one in three:
        assert recall(one) >= 0.98
        assert verify(one, deep=True).findings == ()
    # What one of them has put another does not write again.
    three[0].commit([stored(three[0], 90, CHUNKS)], PROFILE)
    three[0].settle()
    before = written(three[0])
    three[1].settle()
    assert written(three[1]) == before


def test_one_that_makes_it_anew_or_goes_away_leaves_it_whole(three: tuple[Storage, ...]) -> None:
    first, second, third = three
    ids = []
    for number in range(12):
        item = stored(first, number, CHUNKS)
        ids.append(item.document_id)
        first.commit([item], PROFILE)
    settle(*three)
    graph(first).rebuild("a test wants it so")
    assert [graph(one).waiting() for one in three] == [12] * 3
    first.close()  # before it has filled it
    second.remove(ids[0])
    settle(second, third)
    for one in (second, third):
        assert graph(one).count() == 11 * CHUNKS
        assert graph(one).waiting() == 0
        assert verify(one, deep=True).findings == ()
