"""What goes on at the same time: reading and embedding of one document, of many, and a change of the model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_core import AddEvent, Library, Settings
from rag_core.domain import Chunk, Document
from rag_core.embedding import Embedder, open_embedder
from rag_core.errors import Cancelled
from rag_core.ingest import Ingest, batches
from rag_core.ingest.stages import LocalStages
from rag_core.ingest.work import Work
from rag_core.reading import Reader, reader
from tests.conftest import PROJECT
from tests.rag_core.ingest.test_pieces import assert_as_made

PDF = next((PROJECT / "data" / "samples").glob("*.pdf"))


def test_a_long_document_is_embedded_while_it_is_read(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BUNDLE_PAGES", 2)
    monkeypatch.setattr(batches, "BEGUN_PAGES", 4)
    made: list[int] = []
    encode = Embedder.encode_with_pieces

    def counted(self: Embedder, texts: Sequence[str], contexts: Sequence[str], **named: Any) -> Any:
        made.append(len(texts))
        return encode(self, texts, contexts, **named)

    monkeypatch.setattr(Embedder, "encode_with_pieces", counted)
    told = [event.stage for event in library.add([PDF])]
    assert list(dict.fromkeys(told)) == ["reading", "embedding", "storing", "ready"]
    (document,) = library.documents()
    assert len(made) >= 2
    assert 0 < made[-1] < document.chunk_count
    assert_as_made(library)
    assert library.maintenance.verify(deep=True).findings == ()


def test_one_that_is_cancelled_while_it_is_read_takes_no_other_along(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = Embedder.encode_with_pieces

    def stopped(self: Embedder, texts: Sequence[str], contexts: Sequence[str], **named: Any) -> Any:
        if texts == ["begun"]:
            raise Cancelled("Embedding was stopped")
        return encode(self, texts, contexts, **named)

    monkeypatch.setattr(Embedder, "encode_with_pieces", stopped)
    run = library.ingest._new(None, None)
    begun, whole = (
        Work(name, Document(name, name, "text/plain", 1, "pending"), chunks=[Chunk(name, 0, 1, 0, 5, name, "")])
        for name in ("begun", "whole")
    )
    assert run.lease("whole")
    assert batches.embed(run, [replace(begun, whole=False), whole]) == [whole]
    assert len(whole.known) == 1
    assert begun.known == {}


def test_a_file_that_hangs_holds_up_no_other(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reached, go_on = threading.Event(), threading.Event()
    read = Reader.read

    def hanging(self: Reader, path: Path, name: str, **named: Any) -> Any:
        if name == "0.pdf":
            reached.set()
            go_on.wait(30)
        return read(self, path, name, **named)

    monkeypatch.setattr(Reader, "read", hanging)
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.pdf").write_bytes(PDF.read_bytes() + b"\n%" + b"%d" % number)
    library.reader.processes = 2
    ready = []
    for event in library.add([folder]):
        if event.stage == "ready":
            ready.append(event.source)
            if len(ready) == 3:
                assert reached.is_set()
                go_on.set()
    assert sorted(ready[:3]) == ["1.pdf", "2.pdf", "3.pdf"]
    assert ready[3] == "0.pdf"


def test_what_was_embedded_before_a_cut_over_is_embedded_by_the_new_model(settings: Settings, tmp_path: Path) -> None:
    with (
        Library.open(settings) as library,
        open_embedder(settings.changed("embedding", context=True).embedding, settings.models_dir) as old,
        open_embedder(settings.changed("embedding", context=False).embedding, settings.models_dir) as new,
    ):
        in_use = [old]
        ingest = Ingest(lambda: settings, library.storage, LocalStages(library.reader), lambda: in_use[0])
        path = tmp_path / "a.txt"
        path.write_text("The ferry leaves at nine.")
        last = _with_lock(ingest, lambda event: in_use.__setitem__(0, new), path)
        assert last.stage == "ready"
        assert library.storage.documents.profile() == new.profile


def _with_lock(ingest: Ingest, storing: Callable[[AddEvent], None], path: Path) -> AddEvent:
    """Add a file while nothing may be committed, until it is to be stored. Returns its last event."""
    held = ingest.committing
    held.__enter__()
    last = None
    for event in ingest.run([path]):
        last = event
        if event.stage == "storing":
            storing(event)
            held.__exit__(None, None, None)
    assert last
    return last
