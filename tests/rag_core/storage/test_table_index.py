"""The tables of long documents: made into files in the background, compared, repaired, made anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag_core import Library, Settings
from rag_core.domain import Page
from rag_core.retrieval import tables as cached
from rag_core.storage.indexes import TableIndex
from rag_core.storage.indexes.table_index import begin_tables, read_tables, write_tables
from rag_core.storage.postgres import documents as stored
from rag_core.tables.table import whole_tables
from tests.conftest import add_text

ROWS = 4_000
TOWNS = ("Voss", "Alta", "Moss")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    rows = [f"L-{7 * row},{TOWNS[row % 3]},{row % 90}.50,2024-{1 + row % 12:02}-03" for row in range(ROWS)]
    with Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) as opened:
        add_text(opened, "loans.csv", "\n".join(["Loan,Town,Fee,Day", *rows]))
        opened.storage.settle()
        yield opened


def index_of(library: Library) -> TableIndex:
    return library.storage.index(TableIndex)


def path_of(library: Library) -> Path:
    (path,) = (Path(library.settings.data_dir) / "tables").glob("*.arrow")
    return path


def faults_of(library: Library) -> list[str]:
    return [finding.message for finding in library.maintenance.verify(deep=True).findings]


def test_a_file_has_what_the_pages_say(library: Library) -> None:
    (document,) = library.documents()
    (kept,), (made,) = (
        index_of(library).tables(document.id) or (), whole_tables(library.storage.documents.pages(document.id)),
    )  # fmt: skip
    assert len(kept) == ROWS
    assert (kept.name, kept.pages.tolist(), kept.starts.tolist()) == (
        made.name,
        *map(np.ndarray.tolist, (made.pages, made.starts)),
    )
    for one, other in zip(kept.columns, made.columns, strict=True):
        assert (one.head, one.kind, one.unit, one.blank, list(one.texts)) == (
            other.head, other.kind, other.unit, other.blank, list(other.texts),
        )  # fmt: skip
        assert np.array_equal(one.values, other.values, equal_nan=True)
        assert {key: codes.tolist() for key, codes in one.by_text.items()} == {
            key: codes.tolist() for key, codes in other.by_text.items()
        }
        assert list(one.by_word) == list(other.by_word)


def test_pages_are_read_some_at_a_time(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    (document,) = library.documents()
    every = library.storage.documents.pages(document.id)
    monkeypatch.setattr(stored, "_PAGES_TOGETHER", 3)
    parts = list(library.storage.documents.pages_by_parts(document.id))
    assert [page for part in parts for page in part] == every
    assert {len(part) for part in parts[:-1]} == {3}


def test_it_is_asked(library: Library) -> None:
    assert "25.50" in library.ask("What is the fee of L-9625?").text
    assert library.ask("How many loans are from Voss?").sentences[0].text.startswith("1334 ")
    assert library.maintenance.status().indexes["tables"] == "those of 1 long documents"


@pytest.mark.parametrize("damage", ["cut", "changed", "removed", "stray"])
def test_damages_are_found_and_repaired(library: Library, damage: str) -> None:
    path = path_of(library)
    whole = path.read_bytes()
    if damage == "stray":
        path.with_name("gone.arrow").write_bytes(whole)
    elif damage == "removed":
        path.unlink()
    else:
        path.write_bytes(whole[:-999] if damage == "cut" else whole[:900] + bytes(8) + whole[908:])
    assert len(faults_of(library)) == 1
    library.maintenance.repair()
    library.storage.settle()
    assert faults_of(library) == []
    assert path_of(library).read_bytes() == whole


def test_a_damaged_file_is_not_answered_from(library: Library) -> None:
    path = path_of(library)
    path.write_bytes(path.read_bytes()[:-999])
    (document,) = library.documents()
    assert index_of(library).tables(document.id) is None
    assert "25.50" in library.ask("What is the fee of L-9625?").text
    library.storage.settle()
    assert index_of(library).tables(document.id)


def test_a_long_table_that_is_not_made_yet_says_so(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached, "_MADE_AT_ONCE", 10)
    path = path_of(library)
    kept = path.rename(path.with_suffix(".away"))
    answer = library.ask("How many loans are from Alta?")
    assert (answer.outcome, answer.text) == (
        "not found", "The table of “loans” is still being made ready. Ask again in a moment.",
    )  # fmt: skip
    kept.rename(path)
    assert library.ask("How many loans are from Alta?").outcome == "answered"


def test_a_document_takes_its_file_along(library: Library) -> None:
    path = path_of(library)
    library.remove(library.documents()[0].id)
    library.storage.settle()
    assert not path.exists()


def test_tables_that_were_not_begun_in_a_process_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "one.arrow"
    begin_tables(tmp_path / "other.arrow")
    with pytest.raises(OSError, match="started anew"):
        read_tables(path, [])
    begin_tables(path)
    read_tables(path, [Page(1, "Loan\tFee\nA\t1\nB\t2")])
    assert write_tables(path) == []
    with pytest.raises(OSError, match="started anew"):
        write_tables(path)
