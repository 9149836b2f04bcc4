"""Piece vectors and context on their way: from adding through the tables to re-embedding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag_core import Library, Settings
from rag_core.embedding.pieces import unit_rows
from rag_core.storage.postgres.passages import PassageRow, Passages
from rag_core.storage.postgres.pieces import pieces_of
from rag_core.text.context import context_of
from tests.conftest import PROJECT

QUESTION = "How is the water of the reservoir kept clean?"


def add(library: Library, *paths: Path) -> None:
    for event in library.add(paths):
        assert event.error is None


@pytest.fixture
def guide() -> Path:
    return PROJECT / "data" / "samples" / "water-works-guide.md"


def held(library: Library) -> dict[tuple[str, int], PassageRow]:
    return Passages(library.storage.database).rows(
        [(item.id, index) for item in library.documents() for index in range(item.chunk_count)]
    )


def assert_as_made(library: Library) -> None:
    """Vectors and pieces in the tables are those that the library's model makes of the texts."""
    embedder = library.embedding.get()
    (document,) = library.documents()
    found = held(library)
    assert len(found) == document.chunk_count > 3
    texts = [found[document.id, index].text for index in range(document.chunk_count)]
    contexts = [context_of(document.title, found[document.id, i].section) for i in range(document.chunk_count)]
    vectors, pieces = embedder.encode_with_pieces(texts, contexts)
    kept, _ = library.storage.documents.vectors.of(document.id)
    assert (kept * vectors).sum(axis=1).min() > 0.999
    for chunk, made in zip(library.chunks(document.id), pieces, strict=True):
        candidate = found[document.id, chunk.index]
        assert (candidate.text, candidate.section, candidate.page) == (chunk.text, chunk.section, chunk.page)
        held_pieces = pieces_of(candidate.pieces, vectors.shape[1])
        assert held_pieces.shape == made.shape
        assert len(made) == max(1, round(chunk.token_count / 48))
        assert (unit_rows(held_pieces) * unit_rows(made)).sum(axis=1).min() > 0.99


@pytest.mark.parametrize("context", [True, False], ids=["context", "text alone"])
def test_pieces_are_kept_beside_their_chunks(settings: Settings, guide: Path, context: bool) -> None:
    with Library.open(settings.changed("embedding", context=context)) as library:
        add(library, guide)
        assert library.embedding.get().profile.in_context is context
        assert_as_made(library)
        assert library.search(QUESTION, k=1)[0].document.title == library.documents()[0].title


def test_places_that_are_not_there_are_left_out(library: Library, guide: Path) -> None:
    add(library, guide)
    (document,) = library.documents()
    passages = Passages(library.storage.database)
    found = passages.rows([("none", 0), (document.id, 0), (document.id, 9_999)])
    assert list(found) == [(document.id, 0)]
    assert passages.rows([]) == {}


def test_an_older_library_goes_on_without_context_until_it_is_embedded_anew(settings: Settings, guide: Path) -> None:
    with Library.open(settings.changed("embedding", context=False)) as library:
        add(library, guide)
        library.storage.database.execute("UPDATE chunks SET pieces = NULL")
        assert all(item.pieces is None for item in held(library).values())
        old = library.storage.documents.profile()
    with Library.open(settings.changed("embedding", context=True)) as library:
        assert library.search(QUESTION)
        add(library, PROJECT / "data" / "samples" / "storm-report-2019.txt")
        assert library.storage.documents.profile() == old
        target = library.maintenance.status().target
        assert target is not None
        assert "titles and sections" in target.wanted
        library.remove(library.documents()[0].id)
        assert [step.stage for step in library.maintenance.reembed()][-1] == "done"
        assert library.embedding.get().profile.in_context
        assert library.maintenance.status().target is None
        assert_as_made(library)
        assert library.maintenance.verify(deep=True).findings == ()


def test_pieces_pass_backup_and_restore(settings: Settings, guide: Path, tmp_path: Path, new_database) -> None:
    with Library.open(settings) as library:
        add(library, guide)
        library.maintenance.backup(tmp_path / "kept.zip")
        before = held(library)
    other = Settings(_env_file=None, data_dir=tmp_path / "other", database_url=new_database())
    Library.restore(tmp_path / "kept.zip", other)
    with Library.open(other) as library:
        after = held(library)
        assert before.keys() == after.keys()
        assert all(np.array_equal(before[key].pieces, after[key].pieces) for key in before)
