"""A graph outside their processes as the one index of several servers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rag_core import Settings
from rag_core.storage import Storage
from rag_core.storage import storage as storage_module
from rag_core.storage.indexes.dense import Within
from rag_core.storage.indexes.graph_index import GraphIndex
from rag_core.storage.indexes.hnsw_index import HnswIndex
from rag_core.storage.indexes.milvus_index import MilvusIndex
from rag_core.storage.maintenance.doctor import verify
from tests.rag_core.storage.filled import PROFILE, WITHOUT_CHROMA, stored

CHUNKS = 20


@pytest.fixture(params=[HnswIndex, MilvusIndex], ids=["hnsw", "milvus"])
def three(
    request: pytest.FixtureRequest, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Storage, ...]]:
    """Servers with the graph, which follow when they are told to."""
    kind: type[GraphIndex] = request.param
    monkeypatch.setattr(storage_module, "INDEXES", (*WITHOUT_CHROMA, kind))
    sharing = settings.changed("retrieval", index=kind.name).changed(
        "storage", shared=True, originals=settings.data_dir.with_name("originals"),
        milvus=request.getfixturevalue("new_milvus")() if kind is MilvusIndex else "",
    )  # fmt: skip
    all_of_them = [
        Storage(sharing.model_copy(update={"data_dir": settings.data_dir.with_name(f"server{number}")}))
        for number in range(3)
    ]
    for one in all_of_them:
        one.stop_following()
    yield (*all_of_them,)
    for one in all_of_them:
        one.close()


def graph(storage: Storage) -> GraphIndex:
    return next(index for index in storage.indexes if isinstance(index, GraphIndex))


def settle(*storages: Storage) -> None:
    """Have all follow at once."""
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda one: one.settle(), storages))


def recall(storage: Storage, within: Within | None = None, k: int = 10) -> float:
    """The share of the true nearest that the graph finds."""
    queries = np.random.default_rng(1).standard_normal((50, PROFILE.dimensions)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    found, true = (storage.dense[name].nearest(queries, k, within) for name in (graph(storage).name, "pgvector"))
    return sum(len({*a.refs} & {*b.refs}) for a, b in zip(found, true, strict=True)) / (k * len(queries))


def test_what_any_server_adds_is_in_the_graph_of_all_once(
    three: tuple[Storage, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(90):
        three[number % 3].commit([stored(three[number % 3], number, CHUNKS)], PROFILE)
    settle(*three)
    assert [graph(one).count() for one in three] == [90 * CHUNKS] * 3
    assert [graph(one).waiting() for one in three] == [0] * 3
    ids = sorted(three[0].documents.ready_ids())
    narrow = Within(dict.fromkeys(ids[:5]), 5 * CHUNKS)
    single = Within({key: np.arange(0, CHUNKS, 3) for key in ids[5:10]}, 5 * 7)
    for one in three:
        assert min(recall(one), recall(one, narrow), recall(one, single)) >= 0.98
        assert verify(one, deep=True).findings == ()
    # What one of them has put another does not write again.
    three[0].commit([stored(three[0], 90, CHUNKS)], PROFILE)
    three[0].settle()
    put: list[object] = []
    monkeypatch.setattr(type(graph(three[1])), "_insert", lambda index, connection, rows: put.extend(rows))
    three[1].settle()
    assert (graph(three[1]).waiting(), put) == (0, [])


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
