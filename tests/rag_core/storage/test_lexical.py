"""The lexical index: what it finds, that it follows, and that what happens to its files is noticed and put right."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import tantivy

from rag_core import Settings
from rag_core.domain import Chunk, Finding, Page, ParsedDocument, Report
from rag_core.storage import Accepted, Storage, Stored
from rag_core.storage import storage as storage_module
from rag_core.storage.indexes import LexicalIndex, lexical, lexical_files
from rag_core.storage.indexes.base import IndexUnavailable
from rag_core.storage.indexes.sync import Sync
from rag_core.storage.maintenance.doctor import repair, verify
from rag_core.storage.postgres.contents import IndexedChunk, IndexedDocument
from rag_core.text.terms import terms
from tests.rag_core.storage.filled import (
    PROFILE,
    WITHOUT_CHROMA,
    cut_to,
    delete,
    empty,
    fill,
    flip,
    make_unreadable,
    stored,
    truncate,
    zero,
)

TEXTS = {
    "Northern ferries": ["The ferry to Tolsund costs 1,577 crowns.", "Cattle are shipped first, fares come later."],
    "Annual report": ["Net sales were 4.2 million in 2023.", "The ferry was sold. Bank of the river, rye bread."],
    "Recipes": ["Rye bread with rye flour and rye seeds.", "北京 is far away from the river bank."],
}


@pytest.fixture(scope="module", autouse=True)
def without_chroma() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage_module, "INDEXES", WITHOUT_CHROMA)
        yield


@pytest.fixture
def storage(settings: Settings) -> Iterator[Storage]:
    opened = without_followers(settings)
    yield opened
    opened.close()


@pytest.fixture
def ids(storage: Storage) -> list[str]:
    """Three documents of two chunks each, in the order of TEXTS."""
    ids = [add(storage, number, title, texts) for number, (title, texts) in enumerate(TEXTS.items())]
    follow(storage)
    return ids


def without_followers(settings: Settings) -> Storage:
    """A storage whose lexical index follows when a test says so, not at once after opening."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sync, "follow", lambda *_: None)
        opened = Storage(settings)
        opened.stop_following()
    return opened


def follow(storage: Storage) -> None:
    """Have the lexical index follow, and no other."""
    storage.sync.retry_now()
    storage.sync.follow(storage.lexical)


def add(storage: Storage, number: int, title: str, texts: list[str]) -> str:
    base = stored(storage, number, len(texts))
    chunks = [
        Chunk(base.document_id, chunk.index, 1, 0, 5, text, hash_of(text), f"Section {chunk.index}")
        for chunk, text in zip(base.chunks, texts, strict=True)
    ]
    parsed = ParsedDocument("text/plain", (Page(1, "text"),), title=title)
    storage.commit([Stored(base.document_id, parsed, chunks, base.vectors)], PROFILE)
    return base.document_id


def hash_of(text: str) -> str:
    import hashlib

    return hashlib.md5(text.encode()).hexdigest()


def own(report: Report) -> list[Finding]:
    return [item for item in report.findings if item.store == "Lexical index"]


def places(found: list[lexical.Found]) -> list[tuple[str, int]]:
    return [place[:2] for place in found]


def found(storage: Storage, question: str, **options: object) -> list[tuple[str, int]]:
    return places(storage.lexical.search(terms(question), 10, **options))  # type: ignore[arg-type]


def test_a_reader_may_look_while_it_is_opened(
    storage: Storage, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tantivy refuses to be searched while it is set up."""
    described: list[str] = []
    index = tantivy.Index

    class Opened:
        def __init__(self, *given: object) -> None:
            self._index = index(*given)

        def config_reader(self, policy: str) -> None:
            described.append(storage.lexical.describe())
            self._index.config_reader(policy)

        def __getattr__(self, name: str) -> object:
            return getattr(self._index, name)

    storage.lexical.close()
    monkeypatch.setattr(lexical.tantivy, "Index", Opened)
    assert storage.lexical.count() == 6
    assert described == ["tantivy, not opened yet"]


def test_chunks_are_ranked_by_their_terms(storage: Storage, ids: list[str]) -> None:
    ferries, report, recipes = ids
    assert found(storage, "What are the fares to Tolsund?")[0] == (ferries, 0)
    assert found(storage, "1,577") == [(ferries, 0)]
    assert found(storage, "4.2 million") == [(report, 0)]
    assert found(storage, "北京") == [(recipes, 1)]
    assert found(storage, "rye bread") == [(recipes, 0), (report, 1)]
    assert found(storage, "nothing of this kind") == []
    scores = [score for *_, score in storage.lexical.search(terms("ferry to Tolsund"), 10)]
    assert scores == sorted(scores, reverse=True)
    assert len(storage.lexical.search(terms("ferry"), 1)) == 1


def test_terms_have_weights_and_titles_and_sections_are_searched(storage: Storage, ids: list[str]) -> None:
    ferries, _, recipes = ids
    (flour,) = terms("flour")
    (cattle,) = terms("cattle")
    for heavy, light, first in ((flour, cattle, (recipes, 0)), (cattle, flour, (ferries, 1))):
        weighted = storage.lexical.search({frozenset({heavy}): 3.0, frozenset({light}): 0.1}, 5)
        assert weighted[0][:2] == first
    assert len(places(storage.lexical.search(terms("recipes"), 5))) == 2  # its title
    assert len(storage.lexical.search(terms("section"), 10)) == 6


def test_phrases_and_required_and_excluded_terms(storage: Storage, ids: list[str]) -> None:
    ferries, report, recipes = ids
    assert found(storage, "river", phrases=[terms("river bank")]) == [(recipes, 1)]
    assert set(found(storage, "", phrases=[terms("rye bread")])) == {(report, 1), (recipes, 0)}
    assert found(storage, "ferry", required=terms("river")) == [(report, 1), (recipes, 1)]
    assert set(found(storage, "cattle", required=terms("bread"))) == {(report, 1), (recipes, 0)}
    assert (report, 1) not in found(storage, "ferry", excluded=terms("river"))
    assert found(storage, "ferry", excluded=terms("river"))[0][0] == ferries
    assert found(storage, "", excluded=terms("river")) == []


def test_a_scope_leaves_its_documents_alone(storage: Storage, ids: list[str]) -> None:
    ferries, report, _ = ids
    assert found(storage, "ferry", within=[report]) == [(report, 1)]
    assert {place[0] for place in found(storage, "ferry", within=[ferries, "f" * 32])} == {ferries}
    assert found(storage, "ferry", within=[]) == []
    assert storage.lexical.search([], 5, phrases=[[]]) == []
    assert storage.lexical.search({}, 5) == storage.lexical.search(["ferry"], 0) == []


def test_rare_terms_weigh_more(storage: Storage, ids: list[str]) -> None:
    weights = storage.lexical.idf([*terms("ferry tolsund"), "unheard"])
    assert list(weights) == [*terms("ferry tolsund"), "unheard"]
    (ferry, tolsund, unheard) = weights.values()
    assert ferry < tolsund < unheard
    assert tolsund == pytest.approx(math.log(1 + 5.5 / 1.5))


def test_ids_of_every_bit_come_back(storage: Storage) -> None:
    for number, key in enumerate(("f" * 32, "0" * 32, "8" + "0" * 15 + "7" + "f" * 15)):
        storage.documents.accept([Accepted(key, f"{number:064x}", f"{number}.txt", "text/plain", 4)])
        text = f"wordnumber{chr(97 + number)}"
        chunk = Chunk(key, 0, 1, 0, 5, text, hash_of(text))
        parsed = ParsedDocument("text/plain", (Page(1, text),))
        storage.commit([Stored(key, parsed, [chunk], np.eye(1, 8, dtype=np.float32))], PROFILE)
    follow(storage)
    for number, key in enumerate(("f" * 32, "0" * 32, "8" + "0" * 15 + "7" + "f" * 15)):
        assert found(storage, f"wordnumber{chr(97 + number)}") == [(key, 0)]


def test_it_follows_what_is_removed_and_added_again(storage: Storage, ids: list[str]) -> None:
    storage.remove(ids[0])
    follow(storage)
    assert storage.lexical.count() == 4
    assert found(storage, "Tolsund") == []
    add(storage, 0, "Northern ferries", ["One chunk, of Tolsund still."])
    assert "1 document behind" in storage.describe()["lexical"] or storage.lexical.waiting() == 0
    follow(storage)
    assert found(storage, "Tolsund") == [(ids[0], 0)]
    assert storage.lexical.count() == 5
    assert storage.describe()["lexical"] == "tantivy, 5 chunks"
    assert own(verify(storage, deep=True)) == []


def test_one_that_was_given_nothing_yet_is_not_wrong(storage: Storage) -> None:
    storage.commit([stored(storage, 1, 2)], PROFILE)
    assert own(verify(storage)) == []
    with pytest.raises(IndexUnavailable):
        storage.lexical.search(["chunk"], 5)
    follow(storage)
    shutil.rmtree(storage.folder / "lexical")
    assert [item.document_id for item in own(verify(storage))] == [""]


def test_nothing_else_is_in_use_once_it_has_followed(storage: Storage, ids: list[str]) -> None:
    assert storage.lexical._writer is None
    assert found(storage, "Tolsund")


def test_changed_terms_rebuild_it(settings: Settings, storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(storage)
    storage.close()
    monkeypatch.setattr(lexical_files, "stamp", lambda: {"version": 1})
    monkeypatch.setattr(lexical, "stamp", lexical_files.stamp)
    again = without_followers(settings)
    try:
        with pytest.raises(IndexUnavailable, match="another version"):
            again.lexical.search(["chunk"], 5)
        follow(again)
        assert again.lexical.count() == 12
        assert any("has been rebuilt" in note for note in again.notes)
    finally:
        again.close()


DAMAGES: dict[str, Callable[[Path], None]] = {
    "cut in half": truncate(0.5),
    "cut by a byte": lambda path: cut_to(path.stat().st_size - 1)(path),
    "first bit": flip(0),
    "bit in the middle": lambda path: flip(path.stat().st_size // 2)(path),
    "zeroed": zero,
    "emptied": empty,
    "deleted": delete,
    "unreadable": make_unreadable,
}


@pytest.fixture(scope="module")
def origin(new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A closed library, its sound index kept aside."""
    folder = tmp_path_factory.mktemp("origin") / "library"
    settings = Settings(_env_file=None, data_dir=folder, database_url=new_database())
    storage = Storage(settings)
    fill(storage)
    storage.close()
    shutil.copytree(folder / "lexical", folder.parent / "sound")
    yield settings


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("part", ["idx", "meta.json"])
def test_an_index_damaged_while_closed_is_rebuilt(origin: Settings, part: str, damage: str) -> None:
    folder = origin.data_dir / "lexical"
    shutil.rmtree(folder)
    shutil.copytree(origin.data_dir.parent / "sound", folder)
    DAMAGES[damage](next(path for path in folder.iterdir() if path.name.endswith(part)))
    storage = Storage(origin)
    storage.stop_following()
    try:
        follow(storage)
        assert storage.lexical.count() == 12
        assert own(verify(storage, deep=True)) == []
        assert len(storage.lexical.search(terms("chunk of document"), 20)) == 12
    finally:
        storage.close()


@pytest.mark.parametrize("damage", ["deleted", "bit in the middle"])
def test_files_damaged_while_open_are_found_and_rebuilt(storage: Storage, damage: str) -> None:
    fill(storage)
    (path, *_) = (storage.folder / "lexical").glob("*.term")
    data = path.read_bytes()
    path.unlink()  # whoever has it mapped keeps it
    path.write_bytes(data)
    DAMAGES[damage](path)
    report = verify(storage)
    assert [(item.store, item.document_id) for item in report.findings] == [("Lexical index", "")]
    after = repair(storage, report)
    assert (after.findings, after.repaired) == ((), report.findings)
    assert storage.lexical.count() == 12


def test_missing_wrong_and_stray_rows_are_found_and_repaired(storage: Storage, ids: list[str]) -> None:
    index = storage.lexical
    contents = {item.id: item for item in storage.sync._contents.of(ids, texts=True, vectors=False)}
    index.remove([ids[0]])
    other = contents[ids[1]]
    chunks = (other.chunks[0], IndexedChunk(1, 1, "", "", "another text", hash_of("another text")))
    stray = IndexedDocument("e" * 32, "", "", "en", chunks, np.empty((0, 0), np.float32))
    index.put([IndexedDocument(ids[1], other.title, "", "en", chunks, other.vectors), stray])
    index.tidy()
    report = verify(storage)
    assert {item.document_id: item.message for item in own(report)} == {
        ids[0]: "It holds 0 chunks instead of 2.",
        ids[1]: "The text of chunk 2 is another.",
        "e" * 32: "It holds chunks of a document that is gone.",
    }
    after = repair(storage, report)
    assert own(after) == []
    assert storage.lexical.count() == 6


def test_one_that_lost_chunks_is_rebuilt_on_opening(settings: Settings, storage: Storage) -> None:
    ids = fill(storage)
    storage.lexical.remove(ids[:1])
    storage.lexical.tidy()
    storage.close()
    again = Storage(settings)
    try:
        follow(again)
        assert again.lexical.count() == 12
        assert again.notes == ("The lexical index was damaged or of another version, and has been rebuilt.",)
    finally:
        again.close()


def test_a_failure_while_writing_backs_off_and_is_made_good(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(storage, 2)

    def refuse(*_: object) -> None:
        raise ValueError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(lexical, "entry", refuse)
        storage.commit([stored(storage, 7, 3)], PROFILE)
        follow(storage)
    waiting = storage.sync.waiting("lexical")
    assert (waiting.documents, waiting.dead) == (1, 0)
    assert "No space left" in (waiting.reason or "")
    assert storage.lexical.count() == 6  # it answers with what it holds
    follow(storage)
    assert storage.lexical.count() == 9
    assert storage.index(LexicalIndex) is storage.lexical
