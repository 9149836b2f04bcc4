"""Summaries and clusters in a library: made, kept, joined, made again where documents changed, gone with them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rag_core import Library, Upload
from rag_core.retrieval.hierarchy.building import cluster_documents, is_outdated, update
from rag_core.retrieval.hierarchy.clustering import Plan, unit
from rag_core.storage import Storage
from rag_core.storage.postgres.hierarchy import HierarchyStore, StaleSummary, Summarised
from tests.conftest import add_text

SUBJECTS = {
    "ferry": "The ferry {n} crosses the strait with cars and passengers when the wind allows its captain to sail.",
    "bread": "The baker of street {n} kneads dough with flour and yeast before the oven is hot enough for bread.",
    "tax": "The company of report {n} paid income taxes on its earnings, and deferred taxes were recorded as assets.",
}


def text(subject: str, number: int, lines: int = 1) -> str:
    return "\n\n".join(SUBJECTS[subject].format(n=100 * number + line) for line in range(lines))


def fill(library: Library, each: int) -> None:
    uploads = [
        Upload(f"{subject} {number}.txt", text(subject, number).encode())
        for subject in SUBJECTS
        for number in range(each)
    ]
    assert all(event.error is None for event in library.add(uploads))


@pytest.fixture
def storage(library: Library) -> Storage:
    return library.storage


@pytest.fixture
def store(storage: Storage) -> HierarchyStore:
    return HierarchyStore(storage.database)


def test_an_empty_library_has_nothing(storage: Storage, store: HierarchyStore) -> None:
    assert [step.stage for step in update(storage)] == ["done"]
    assert not is_outdated(store)
    held = store.held()
    assert (held.summaries.ids, held.documents, held.chunks) == ((), (), ())


def test_documents_of_a_kind_are_together(library: Library, storage: Storage, store: HierarchyStore) -> None:
    fill(library, 5)
    steps = list(update(storage))
    assert steps[-1].stage == "done"
    assert all(before.done <= after.done <= after.total for before, after in pairwise(steps))
    titles = {document.id: document.title.split()[0].lower() for document in library.documents()}
    ids, groups = store.document_groups()
    kinds = [{titles[ids[place]] for place in group.members} for group in groups]
    assert sorted(map(len, kinds)) == [1, 1, 1]
    named = {next(iter(kind)): group.terms for kind, group in zip(kinds, groups, strict=True)}
    assert "taxes" in named["tax"]
    assert "baker" in named["bread"]


def test_a_long_document_has_clusters_of_its_chunks(library: Library, storage: Storage, store: HierarchyStore) -> None:
    parts = [text(subject, number, 40) for number, subject in enumerate(SUBJECTS)]
    document = add_text(library, "everything.txt", "\n\n".join(parts))
    list(update(storage))
    groups = store.chunk_groups(document.id)
    held = sorted({int(row) for group in groups for row in group.members})
    assert held == list(range(document.chunk_count))
    assert len(groups) >= 2
    assert all(len(group.members) == len(group.weights) for group in groups)
    assert "ferry" in store.summary(document.id)


def test_nothing_is_made_twice(library: Library, storage: Storage, store: HierarchyStore) -> None:
    fill(library, 2)
    list(update(storage))
    assert store.missing() == 0
    assert [step.stage for step in update(storage)] == ["done"]


def test_a_new_document_joins_the_nearest_cluster(library: Library, storage: Storage, store: HierarchyStore) -> None:
    fill(library, 5)
    list(update(storage))
    before = [group.centroid for group in store.document_groups()[1]]
    new = add_text(library, "another.txt", text("bread", 77))
    list(update(storage))
    ids, groups = store.document_groups()
    assert np.array_equal(np.stack(before), np.stack([group.centroid for group in groups])) or len(before) == len(
        groups
    )
    mine = [group for group in groups if new.id in [ids[place] for place in group.members]]
    assert len(mine) == 1
    assert "baker" in mine[0].terms
    assert store.standing().joined == 1


def test_a_fifth_of_changes_has_all_clustered_again(library: Library, storage: Storage, store: HierarchyStore) -> None:
    fill(library, 5)
    list(update(storage))
    for number in range(3):
        add_text(library, f"new {number}.txt", text("tax", 50 + number))
    list(update(storage))
    standing = store.standing()
    assert (standing.documents, standing.built, standing.joined) == (18, 18, 0)


def test_a_removed_document_is_in_no_cluster(library: Library, storage: Storage, store: HierarchyStore) -> None:
    fill(library, 3)
    list(update(storage))
    gone = library.documents()[0].id
    library.remove(gone)
    assert gone not in store.document_groups()[0]
    assert gone not in store.held().summaries.ids
    storage.settle()
    assert store.chunk_groups(gone) == []
    assert store.standing().remaining == 8


def test_an_update_that_is_stopped_goes_on(library: Library, storage: Storage, store: HierarchyStore) -> None:
    fill(library, 2)
    stops = iter([False, False, True])
    steps = list(update(storage, stopped=lambda: next(stops)))
    assert steps[-1].stage == "cancelled"
    assert store.missing() == 4
    list(update(storage))
    assert store.missing() == 0


def test_a_document_that_is_read_again_is_summarised_again(
    library: Library, storage: Storage, store: HierarchyStore
) -> None:
    document = add_text(library, "one.txt", text("ferry", 1, 3))
    list(update(storage))
    storage.read_again([document.id])
    assert store.summary(document.id) == ""
    list(library.resume())
    assert store.missing() == 1
    list(update(storage))
    assert "ferry" in store.summary(document.id)


def test_what_was_removed_meanwhile_is_not_kept(library: Library, storage: Storage, store: HierarchyStore) -> None:
    document = add_text(library, "one.txt", text("ferry", 1))
    due = store.due("", 10)[0]
    made = Summarised(due, "short", False, np.ones(384, dtype=np.float32), {"ferry": 1}, [])
    library.remove(document.id)
    assert not store.put(made)
    assert store.put(Summarised(StaleSummary("no such", 1, due.profile), "", False, made.vector, {}, [])) is False


def test_a_model_writes_the_summaries(library: Library, storage: Storage, store: HierarchyStore) -> None:
    document = add_text(library, "one.txt", text("ferry", 1))
    own = unit(np.arange(384, dtype=np.float32))
    list(update(storage, write=lambda extract: (f"In short: {len(extract)} characters.", own)))
    assert store.summary(document.id).startswith("In short: ")
    assert np.allclose(store.summaries().vectors, own)


def test_clearing_has_all_of_it_made_again(library: Library, storage: Storage, store: HierarchyStore) -> None:
    fill(library, 2)
    list(update(storage))
    store.clear()
    assert store.missing() == 6
    cluster_documents(store, Plan())
    assert store.document_groups() == ((), [])


def test_a_backup_brings_summaries_and_clusters(
    library: Library, storage: Storage, store: HierarchyStore, tmp_path, new_database
) -> None:
    fill(library, 2)
    list(update(storage))
    library.maintenance.backup(tmp_path / "backup.zip")
    settings = library.settings.model_copy(update={"data_dir": tmp_path / "other", "database_url": None})
    Library.restore(tmp_path / "backup.zip", settings)
    with Library.open(settings) as restored:
        other = HierarchyStore(restored.storage.database)
        assert other.missing() == 0
        assert other.document_groups()[0] == store.document_groups()[0]
