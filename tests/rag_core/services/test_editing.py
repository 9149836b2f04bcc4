"""Chunks corrected by hand and left out of search: found so in every store, undone, and kept over a new cutting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rag_core import Library, Settings
from rag_core.domain import Chunk, Configuration
from rag_core.errors import LecternError
from tests.conftest import add_text

LINES = [f"Chapter {n} tells of river {n}, which is {n}0 km long and runs into lake {n}. " * 4 for n in range(1, 6)]
TEXT = "\n\n".join(LINES)


@pytest.fixture
def library(tmp_path: Path, new_database: Callable[[], str]) -> Library:
    settings = Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database())
    with Library.open(settings.changed("chunking", size=320, overlap=0)) as opened:
        yield opened


def found(library: Library, question: str, mode: str, index: str = "dumps") -> list[str]:
    return [hit.text for hit in library.search(question, k=3, mode=mode, index=index)]


def check(library: Library) -> None:
    library.storage.settle()
    assert library.maintenance.verify(deep=True).findings == ()


def test_a_correction_reaches_every_index_and_is_undone(library: Library) -> None:
    document = add_text(library, "rivers.txt", TEXT)
    chunk = library.chunks(document.id)[2]
    was = chunk.text
    library.chunk_edits.correct(f"{document.id}:2", "The volcano Etna stands on Sicily.")
    check(library)
    now = library.chunks(document.id)[2]
    assert (now.text, now.corrected, now.start, now.end) == (
        "The volcano Etna stands on Sicily.", True, chunk.start, chunk.end,
    )  # fmt: skip
    for mode, index in (("dense", "dumps"), ("dense", "chroma"), ("dense", "pgvector"), ("lexical", "auto")):
        assert found(library, "Where does the volcano Etna stand?", mode, index)[0] == now.text, (mode, index)
    answer = library.ask("Where does the volcano Etna stand?")
    assert answer.citations[0].corrected
    assert (answer.citations[0].start, answer.citations[0].end) == (chunk.start, chunk.end)
    (edit,) = library.chunk_edits.of(document.id)
    assert (edit.original, edit.corrected, edit.left_out) == (was, True, False)
    library.chunk_edits.undo(document.id, edit.page, edit.start, edit.end)
    assert library.chunk_edits.of(document.id) == []
    assert library.chunks(document.id)[2] == chunk
    check(library)


def test_what_is_left_out_is_not_found_and_comes_back(library: Library) -> None:
    document = add_text(library, "rivers.txt", TEXT)
    before = library.chunks(document.id)
    library.chunk_edits.correct(f"{document.id}:1", "The glacier Aletsch is in Valais.")
    library.chunk_edits.leave_out(f"{document.id}:1")
    assert not any("Aletsch" in text for text in found(library, "Which glacier is in Valais?", "auto"))
    assert [chunk.text for chunk in library.chunks(document.id)] == [c.text for c in before if c.index != 1]
    assert library.document(document.id).chunk_count == len(before) - 1
    check(library)
    (edit,) = library.chunk_edits.of(document.id)
    assert (edit.left_out, edit.corrected) == (True, True)
    place = (edit.page, edit.start, edit.end)
    library.chunk_edits.undo(document.id, *place)
    assert "Aletsch" in found(library, "Which glacier is in Valais?", "auto")[0]
    library.chunk_edits.undo(document.id, *place)
    assert library.chunks(document.id) == before
    check(library)
    for _ in before:
        library.chunk_edits.leave_out(f"{document.id}:0")
    assert library.document(document.id).chunk_count == 0
    assert found(library, "river", "auto") == []
    check(library)


def test_edits_go_over_to_the_chunks_of_another_cutting_and_of_a_new_version(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "rivers.txt"
    path.write_text(TEXT)
    *_, added = library.add([path])
    assert added.document
    first = library.chunks(added.document.id)
    library.chunk_edits.correct(f"{added.document.id}:3", "The desert Gobi is in Asia.")
    library.chunk_edits.leave_out(f"{added.document.id}:0")
    path.write_text(TEXT + "\n\nChapter 6 is new and tells of nothing at all.")
    *_, last = library.add([path])
    assert last.document and last.document.id != added.document.id
    document_id = last.document.id
    assert [one.id for one in library.documents()] == [document_id]
    assert found(library, "In which continent is the Gobi desert?", "auto")[0] == "The desert Gobi is in Asia."
    assert first[0].text not in texts(library.chunks(document_id))
    assert [edit.in_place for edit in library.chunk_edits.of(document_id)] == [True, True]
    check(library)
    library.evaluation.apply(Configuration("small", {"chunking.size": 120, "chunking.overlap": 0}))
    list(library.maintenance.rechunk())
    assert not any(chunk.corrected for chunk in library.chunks(document_id))
    edits = library.chunk_edits.of(document_id)
    assert [(edit.in_place, edit.corrected, edit.left_out) for edit in edits] == [
        (False, False, True), (False, True, False),
    ]  # fmt: skip
    library.chunk_edits.undo(document_id, edits[0].page, edits[0].start, edits[0].end)
    library.evaluation.apply(Configuration("as before", {"chunking.size": 320, "chunking.overlap": 0}))
    list(library.maintenance.rechunk())
    assert [edit.in_place for edit in library.chunk_edits.of(document_id)] == [True]
    assert found(library, "In which continent is the Gobi desert?", "auto")[0] == "The desert Gobi is in Asia."
    check(library)


def test_an_edit_outlives_a_backup_and_re_embedding(
    library: Library, tmp_path: Path, new_database: Callable[[], str]
) -> None:
    document = add_text(library, "rivers.txt", TEXT)
    library.chunk_edits.correct(f"{document.id}:0", "The bridge of Millau is in France.")
    library.chunk_edits.leave_out(f"{document.id}:4")
    steps = list(library.maintenance.reembed(library.settings.embedding.model_copy(update={"precision": "float32"})))
    assert steps[-1].stage == "done"
    check(library)
    library.maintenance.backup(tmp_path / "a.backup")
    settings = Settings(_env_file=None, data_dir=tmp_path / "other", database_url=new_database())
    Library.restore(tmp_path / "a.backup", settings)
    with Library.open(settings) as other:
        assert other.chunk_edits.of(document.id) == library.chunk_edits.of(document.id)
        assert found(other, "Where is the bridge of Millau?", "auto")[0] == "The bridge of Millau is in France."
        check(other)


def test_what_was_set_aside_comes_back_or_goes_for_good(library: Library) -> None:
    kept, gone = (add_text(library, f"{name}.txt", TEXT + name) for name in ("one", "two"))
    assert sorted(library.catalogue.set_aside([kept.id, gone.id, "nothing"])) == sorted([kept.id, gone.id])
    assert library.documents() == []
    assert library.search("river") == []
    check(library)
    assert library.catalogue.take_back([kept.id]) == [kept.id]
    assert library.document(kept.id).state == "ready"
    check(library)
    assert {hit.document.id for hit in library.search("river", mode="lexical")} == {kept.id}
    library.storage.database.execute("UPDATE documents SET kept_until = now() WHERE id = %s", (gone.id,))
    library.storage.finish([])
    assert library.catalogue.take_back([gone.id]) == []
    assert not library.storage.files.path(gone.id).exists()
    library.catalogue.set_aside([kept.id])
    again = add_text(library, "one.txt", TEXT + "one")
    assert again.id == kept.id and again.state == "ready"
    check(library)


def test_what_cannot_be_edited_is_refused(library: Library) -> None:
    document = add_text(library, "rivers.txt", TEXT)
    for chunk_id in ("nothing", "nothing:0", f"{document.id}:99", f"{document.id}:x"):
        with pytest.raises(KeyError):
            library.chunk_edits.correct(chunk_id, "Text")
    for text in ("  ", "x" * 20_001):
        with pytest.raises(ValueError, match="characters"):
            library.chunk_edits.correct(f"{document.id}:0", text)
    with pytest.raises(KeyError):
        library.chunk_edits.undo(document.id, 1, 0, 1)
    library.storage.database.execute("UPDATE documents SET state = 'stored' WHERE id = %s", (document.id,))
    with pytest.raises(LecternError):
        library.chunk_edits.leave_out(f"{document.id}:0")


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]
