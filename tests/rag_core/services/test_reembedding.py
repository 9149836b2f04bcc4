from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import psycopg
import pytest

from accelerator.dump import Dump
from rag_core import Cancellation, Library, Settings, Upload
from rag_core.cli import main
from rag_core.domain import Profile
from rag_core.embedding import Embedder
from rag_core.errors import LecternError, LimitExceeded, ModelUnavailable
from rag_core.settings import EmbeddingSettings
from rag_core.storage import Storage
from rag_core.storage.cutover import Cutover
from rag_core.storage.indexes import ChromaIndex
from rag_core.storage.indexes.dumps import DumpStore
from rag_core.storage.postgres.new_vectors import NewVectors
from rag_core.text.context import context_of
from tests.conftest import add_text
from tests.rag_core.samples import TEXTS

QUESTION = "How does the bishop move in chess?"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.services.reembedding._BATCH", 1)


@pytest.fixture
def filled(library: Library) -> Library:
    for event in library.add([Upload(name, text.encode()) for name, text in TEXTS.items()]):
        assert event.error is None
    return library


def profile(library: Library) -> Profile:
    found = library.storage.documents.profile()
    assert found is not None
    return found


def other(library: Library) -> EmbeddingSettings:
    """The packaged model with another precision than the library's."""
    return EmbeddingSettings(precision="bf16" if profile(library).precision == "float32" else "float32")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real model of 32 dimensions with random weights, as sentence-transformers saves one."""
    from sentence_transformers import SentenceTransformer, models
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("model") / "tiny"
    words = sorted({word.strip(".,#").lower() for text in TEXTS.values() for word in text.split()} - {""})
    vocabulary = folder.parent / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    config = BertConfig(
        vocab_size=len(words) + 5, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config).save_pretrained(folder.parent / "bert")
    BertTokenizerFast(str(vocabulary)).save_pretrained(folder.parent / "bert")
    transformer = models.Transformer(str(folder.parent / "bert"), max_seq_length=128)
    SentenceTransformer(modules=[transformer, models.Pooling(32)], device="cpu").save(str(folder))
    return folder


def assert_stores_agree(library: Library, wanted: str) -> None:
    """PostgreSQL, dumps and Chroma hold the same vectors, all of one profile, and nothing else is left."""
    storage = library.storage
    storage.settle()
    present = profile(library)
    assert present.id == wanted
    documents = library.documents()
    for document in documents:
        assert document.state == "ready"
        kept, sums = storage.documents.vectors.of(document.id)
        assert kept.shape == (document.chunk_count, present.dimensions)
        chunks = library.chunks(document.id)
        contexts = [context_of(document.title, chunk.section) for chunk in chunks]
        with_model, _ = library.embedding.get().encode_with_pieces([chunk.text for chunk in chunks], contexts)
        assert (kept * with_model).sum(axis=1).min() > 0.999
        dump = Dump.open(storage.folder / "dumps" / f"{document.id}.dump", profile=wanted)
        dump.verify()
        assert dump.vectors.tobytes() == kept.tobytes()
        assert [row.tobytes().hex() for row in dump.hashes] == sums
        rows = storage.index(ChromaIndex).store.rows(
            present, [f"{document.id}:{index}" for index in range(document.chunk_count)]
        )
        assert rows.vectors is not None
        order = np.argsort([int(key.rpartition(":")[2]) for key in rows.ids])
        assert np.allclose(rows.vectors[order], kept, atol=1e-6)
    assert storage.index(ChromaIndex).store.count(present) == sum(document.chunk_count for document in documents)
    for stale in storage.new_vectors.stale():
        assert storage.index(ChromaIndex).store.count(stale) == 0
    assert storage.dumps.held() == storage.dumps.searched() == {document.id for document in documents}
    assert not (storage.folder / "dumps-new").exists()
    with storage.database.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM new_vectors").fetchone() == (0,)
        assert connection.execute("SELECT id FROM embedding_profiles").fetchall() == [(wanted,)]


def test_answers_go_on_and_then_the_new_model_answers(filled: Library) -> None:
    filled.storage.settle()
    old, failures, searches = profile(filled), [], 0
    stop = threading.Event()

    def ask() -> None:
        nonlocal searches
        while not stop.is_set():
            for engine in ("dumps", "pgvector"):
                try:
                    hits = filled.search(QUESTION, index=engine)
                    searches += 1
                    if len(hits) != 4 or hits[0].document.title != "chess":
                        failures.append(hits)
                except Exception as error:  # noqa: BLE001  told by the test's own thread
                    failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        steps = list(filled.maintenance.reembed(other(filled)))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert searches > 10
    assert [step.stage for step in steps][-1] == "done"
    assert {"embedding", "writing", "cutting over"} <= {step.stage for step in steps}
    assert (steps[-1].done, steps[-1].total) == (4, 4)
    assert profile(filled).id != old.id
    assert_stores_agree(filled, profile(filled).id)
    assert filled.maintenance.verify(deep=True).findings == ()
    assert filled.ask(QUESTION).citations[0].title == "chess"


def test_the_new_model_answers_after_a_restart_whatever_the_settings_say(filled: Library, settings: Settings) -> None:
    wanted = other(filled)
    list(filled.maintenance.reembed(wanted))
    made_with = profile(filled)
    filled.close()
    for chosen in (settings, settings.model_copy(update={"embedding": wanted})):
        with Library.open(chosen) as library:
            assert not library.maintenance.notes()
            assert library.search(QUESTION)[0].document.title == "chess"
            assert library.embedding.get().profile == made_with
            assert_stores_agree(library, made_with.id)


@pytest.mark.slow
def test_vectors_of_another_width(filled: Library, settings: Settings, tiny: Path) -> None:
    wanted = EmbeddingSettings(model=str(tiny), backend="torch")
    hits: list[int] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            for engine in ("dumps", "pgvector", "chroma"):
                hits.append(len(filled.search(QUESTION, index=engine)))

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        assert [step.stage for step in filled.maintenance.reembed(wanted)][-1] == "done"
    finally:
        stop.set()
        thread.join()
    assert set(hits) == {4}
    assert (profile(filled).name, profile(filled).dimensions) == ("tiny", 32)
    assert_stores_agree(filled, profile(filled).id)
    filled.close()
    asking_for_the_packaged_one = settings.changed("embedding", backend="torch")
    with Library.open(asking_for_the_packaged_one) as library:
        (note,) = library.maintenance.notes()
        assert "reembed" in note
        assert library.search(QUESTION)  # with the tiny one, whose folder was noted
        assert library.embedding.get().profile.name == "tiny"
        assert add_text(library, "more.txt", "A bishop of the church lives in Varn.").state == "ready"
    gone = tiny.rename(tiny.with_name("elsewhere"))
    try:
        with Library.open(settings) as library:
            with pytest.raises(ModelUnavailable, match="tiny") as refused:
                library.search(QUESTION)
            assert "reembed" in refused.value.help
            assert [step.stage for step in library.maintenance.reembed()][-1] == "done"
            assert library.search(QUESTION)[0].document.title == "chess"
            assert_stores_agree(library, profile(library).id)
    finally:
        gone.rename(tiny)


def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is embedded from now on."""
    texts: list[str] = []
    encode = Embedder.encode_with_pieces

    def spy(self: Embedder, given: list[str], contexts: list[str], **more: object) -> object:
        texts.extend(given)
        return encode(self, given, contexts, **more)

    monkeypatch.setattr(Embedder, "encode_with_pieces", spy)
    return texts


@pytest.mark.parametrize("way", ["cancelled", "left", "closed"])
def test_a_stopped_run_goes_on_where_it_was(
    filled: Library, settings: Settings, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    token, old, wanted = Cancellation(), profile(filled), other(filled)
    texts = encoded(monkeypatch)
    steps = filled.maintenance.reembed(wanted, cancellation=token)
    for step in steps:
        if step.done == 2:
            if way == "left":
                steps.close()
                break
            token.cancel() if way == "cancelled" else filled.close()
            if way == "closed":
                break
    assert step.stage == ("cancelled" if way == "cancelled" else "embedding")
    assert len(texts) == 2
    if way != "closed":
        assert profile(filled) == old
        assert filled.search(QUESTION)[0].document.title == "chess"
        filled.close()
    with Library.open(settings) as library:
        assert any("2 of 4" in note for note in library.maintenance.notes())
        assert library.search(QUESTION)[0].document.title == "chess"
        assert [step.stage for step in library.maintenance.reembed()][-1] == "done"
        assert len(texts) == 4
        assert profile(library).precision == wanted.precision
        assert_stores_agree(library, profile(library).id)


def test_what_is_added_and_removed_meanwhile_is_taken_along(filled: Library) -> None:
    (bakery, glacier) = (d for d in filled.documents() if d.title in ("The bakery", "glacier"))
    steps = filled.maintenance.reembed(other(filled))
    numbers = iter(range(100))
    added = []
    for step in steps:
        if step.stage in ("embedding", "writing") and len(added) < 6:
            number = next(numbers)
            added.append(
                add_text(filled, f"{number}.txt", f"Number {number} of the herd is a cow called Bella{number}.")
            )
        if step.stage == "embedding" and step.done == 2:
            filled.remove(bakery.id)
        if step.stage == "cutting over":
            filled.remove(glacier.id)
            added.append(add_text(filled, "last.txt", "The last cow is called Zita."))
            added.append(add_text(filled, "bakery.md", TEXTS["bakery.md"]))
    titles = {document.title for document in filled.documents()}
    assert {document.title for document in added} <= titles
    assert "glacier" not in titles
    assert filled.search("cow called Zita")[0].document.title == "last"
    assert_stores_agree(filled, profile(filled).id)


def test_documents_come_in_from_other_threads_all_the_while(filled: Library) -> None:
    failures: list[object] = []
    stop = threading.Event()

    def churn(name: str) -> None:
        number = 0
        while not stop.is_set():
            *_, last = filled.add([Upload(f"{name}{number}.txt", f"{name} has number {number}, a cow.".encode())])
            if last.stage != "ready" or last.document is None:
                failures.append(last)
            elif number % 2:
                filled.remove(last.document.id)
            number += 1

    threads = [threading.Thread(target=churn, args=(name,)) for name in ("Anna", "Berta")]
    for thread in threads:
        thread.start()
    try:
        assert [step.stage for step in filled.maintenance.reembed(other(filled))][-1] == "done"
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert_stores_agree(filled, profile(filled).id)


def test_a_document_may_go_while_its_new_dump_is_written(filled: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    going, read = filled.documents()[0].id, NewVectors.of

    def of(vectors: NewVectors, document_id: str) -> tuple[np.ndarray, list[str]]:
        if document_id == going:
            filled.remove(going)
        return read(vectors, document_id)

    monkeypatch.setattr(NewVectors, "of", of)
    assert [step.stage for step in filled.maintenance.reembed(other(filled))][-1] == "done"
    assert going not in {document.id for document in filled.documents()}
    assert_stores_agree(filled, profile(filled).id)


KILLS: dict[str, tuple[type, str, int]] = {
    "amid embedding": (NewVectors, "put", 2),
    "amid the dumps": (DumpStore, "write", 2),
    "before the commit": (Cutover, "_commit", 0),
    "after the commit": (DumpStore, "cut_over", 0),
    "before the files": (DumpStore, "take_files", 0),
    "after the files": (Storage, "wake", 0),
}


@pytest.mark.parametrize("point", KILLS)
def test_a_killed_run_goes_on_or_is_done(filled: Library, settings: Settings, point: str) -> None:
    wanted, old = other(filled), profile(filled)
    filled.close()
    child = os.fork()
    if child == 0:
        kind, name, spared = KILLS[point]
        step, calls = getattr(kind, name), iter(range(1000))

        def kill(*arguments: object) -> object:
            if next(calls) >= spared:
                os.kill(os.getpid(), signal.SIGKILL)
            return step(*arguments)

        with Library.open(settings) as library:
            setattr(kind, name, kill)
            list(library.maintenance.reembed(wanted))
        os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    with Library.open(settings) as library:
        cut = profile(library) != old
        assert cut == (list(KILLS).index(point) > 2)
        assert not any("dump" in note for note in library.maintenance.notes())
        assert len(library.search(QUESTION)) == 4
        assert library.search(QUESTION)[0].document.title == "chess"
        if cut:
            assert not library.maintenance.notes()
        else:
            assert [step.stage for step in library.maintenance.reembed()][-1] == "done"
        assert profile(library).precision == wanted.precision
        assert_stores_agree(library, profile(library).id)


def test_a_commit_that_is_not_acknowledged_is_looked_up(filled: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unacknowledged:
        def __init__(self, connection: psycopg.Connection) -> None:
            self._connection = connection

        def commit(self) -> None:
            self._connection.commit()
            self._connection.close()
            raise psycopg.OperationalError("the connection was lost")

    commit = Cutover._commit
    monkeypatch.setattr(
        Cutover, "_commit", lambda self, connection, wanted: commit(self, Unacknowledged(connection), wanted)
    )
    assert [step.stage for step in filled.maintenance.reembed(other(filled))][-1] == "done"
    assert_stores_agree(filled, profile(filled).id)


def test_one_run_at_a_time(filled: Library) -> None:
    steps = filled.maintenance.reembed(other(filled))
    next(steps)
    with pytest.raises(LecternError) as refused:
        next(filled.maintenance.reembed(other(filled)))
    assert refused.value.help
    steps.close()
    assert [step.stage for step in filled.maintenance.reembed(other(filled))][-1] == "done"


def test_asking_for_the_librarys_own_model_gives_up_an_unfinished_run(filled: Library) -> None:
    steps = filled.maintenance.reembed(other(filled))
    for step in steps:
        if step.done == 2:
            break
    steps.close()
    own = profile(filled)
    (last,) = filled.maintenance.reembed(EmbeddingSettings(precision=own.precision))
    assert last.stage == "done"
    assert not filled.maintenance.notes()
    assert_stores_agree(filled, own.id)


def test_an_empty_library_only_changes_its_model(library: Library) -> None:
    (last,) = library.maintenance.reembed(EmbeddingSettings(precision="float32"))
    assert last.stage == "done"
    add_text(library, "chess.txt", TEXTS["chess.txt"])
    assert profile(library).precision == "float32"


def test_a_disk_without_room_is_said_first(filled: Library) -> None:
    filled.preferences.settings = filled.settings.changed("storage", min_free_bytes=2**60)
    with pytest.raises(LimitExceeded):
        list(filled.maintenance.reembed(other(filled)))
    assert filled.search(QUESTION)


def test_a_model_that_is_not_there_is_said(filled: Library, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable):
        list(filled.maintenance.reembed(EmbeddingSettings(model=str(tmp_path / "nothing"))))
    assert filled.search(QUESTION)


def test_the_command(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with Library.open(settings) as library:
        add_text(library, "chess.txt", TEXTS["chess.txt"])
        wanted = other(library).precision
    assert settings.database_url is not None
    monkeypatch.setenv("DATABASE_URL", settings.database_url.get_secret_value())
    assert main(["reembed", "--precision", wanted, "--data-dir", str(settings.data_dir)]) == 0
    assert "done 1 of 1 chunks" in capsys.readouterr().out
    assert main(["reembed", "--json", "--data-dir", str(settings.data_dir)]) == 0
    assert '"stage": "done"' in capsys.readouterr().out
