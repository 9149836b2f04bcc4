"""How a table is read, set right by hand: it counts at once, outlives what is made anew, and can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core import Library, Settings
from rag_core.domain import Answer, Document, TableReading
from rag_core.retrieval import tables as retrieval_tables
from rag_core.storage.indexes import table_index
from tests.conftest import add_text

PORTS = ("Riga", "Turku", "Gdynia")
TITLES = ["Harbour,Ledger,Draft,Internal", "Office,North,Desk,Copy"]
HEAD = "Parcel,Port,Weight,Paid"


def lines(count: int = 30, titles: list[str] | None = None, head: str = HEAD) -> str:
    """Parcels whose codes are figures, below two rows that look like heads."""
    rows = [f"{1000 + row},{PORTS[row % 3]},{row * 7 % 50},{row % 2}" for row in range(count)]
    return "\n".join([*(TITLES if titles is None else titles), head, *rows])


def first(answer: Answer) -> str:
    return answer.sentences[0].text


def columns(library: Library, document: Document) -> list[tuple[str, str]]:
    return [(one.head, one.kind) for one in library.table_views.view(document.id, 0).columns]


def notes(library: Library, document: Document) -> tuple[str, ...]:
    library.storage.settle()
    return library.document(document.id).notes


AS_READ = [("Harbour", "number"), ("Ledger", "text"), ("Draft", "number"), ("Internal", "number")]
RIGHT = [("Parcel", "text"), ("Port", "text"), ("Weight", "number"), ("Paid", "yes/no")]


def test_a_head_and_columns_are_set_right_asked_restarted_and_undone(settings: Settings) -> None:
    with Library.open(settings) as library:
        ledger = add_text(library, "ledger.csv", lines())
        view = library.table_views.view(ledger.id, 0)
        assert (columns(library, ledger), view.head, view.top[2][:2]) == (AS_READ, 1, ("Parcel", "Port"))
        assert "The table: row 2 may be its head, not row 1." in notes(library, ledger)
        library.table_views.correct(ledger.id, 0, head=3, columns={0: "text", 3: "yes/no"})
        assert (columns(library, ledger), library.table_views.view(ledger.id, 0).rows) == (RIGHT, 30)
        assert not notes(library, ledger)
        asked(library)
    with Library.open(settings) as library:
        assert (columns(library, ledger), notes(library, ledger)) == (RIGHT, ())
        asked(library)
        (reading,) = library.table_views.readings(ledger.id)
        assert (reading.head, reading.heads, len(reading.columns)) == (3, ("Parcel", "Port", "Weight", "Paid"), 2)
        library.table_views.undo(ledger.id, 0)
        assert (columns(library, ledger), library.table_views.readings(ledger.id)) == (AS_READ, [])
        assert notes(library, ledger)


def asked(library: Library) -> None:
    """What is asked of the table goes by its head, its codes, and what is paid."""
    assert first(library.ask("What is the weight of parcel 1003?")) == "Weight: 21."
    assert first(library.ask("How many parcels are paid?")) == "15 parcels are paid."
    assert first(library.ask("What is the total weight in Riga?")) == f"Sum of Weight where Port is “Riga”: {riga()}."


def riga() -> int:
    return sum(row * 7 % 50 for row in range(0, 30, 3))


def test_the_tables_of_a_long_document_are_made_anew_with_it(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    for room in (table_index, retrieval_tables):
        monkeypatch.setattr(room, "LONG", 5)
    rows = "\n".join(f"{1000 + row},{'a long remark on it ' * 12}{row},{row % 50}" for row in range(60))
    document = add_text(library, "long.csv", f"Harbour,Ledger,Draft\nOffice,North,Desk\nParcel,Remark,Weight\n{rows}")
    library.storage.settle()
    assert document.chunk_count >= table_index.LONG
    library.table_views.correct(document.id, 0, head=3, columns={0: "text"})
    right = [("Parcel", "text"), ("Remark", "text"), ("Weight", "number")]
    assert columns(library, document) == right
    library.storage.settle()
    assert columns(library, document) == right
    assert first(library.ask("What is the weight of parcel 1003?")) == "Weight: 3."
    library.table_views.undo(document.id, 0)
    library.storage.settle()
    assert columns(library, document)[0] == ("Harbour", "number")


def test_a_new_version_keeps_what_it_still_has_and_tells_of_the_rest(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "ledger.csv"

    def written(text: str) -> Document:
        file.write_text(text)
        *_, last = library.add([file])
        assert last.document is not None
        library.storage.settle()
        return library.document(last.document.id)

    ledger = written(lines())
    library.table_views.correct(ledger.id, 0, head=3, columns={0: "text", 3: "yes/no"})
    moved = written(lines(20, ["Harbour,Ledger,2,Internal", *TITLES], "Parcel,Weight,Port,Paid,Day"))
    assert moved.id != ledger.id
    view = library.table_views.view(moved.id, 0)
    assert (view.head, [(one.head, one.kind) for one in view.columns][:4:3]) == (
        4,
        [("Parcel", "text"), ("Paid", "yes/no")],
    )
    gone = written(lines(20, None, "Parcel,Port,Mass,Due"))
    assert library.table_views.view(gone.id, 0).columns[0].head == "Harbour"
    assert (
        "The table has no longer what was set right by hand: its head and what “Parcel” holds and what “Paid” holds is"
        " as read." in gone.notes
    )
    library.table_views.undo(gone.id, 0)
    assert not any("by hand" in note for note in notes(library, gone))


def test_what_there_is_not_is_refused(library: Library) -> None:
    ledger = add_text(library, "ledger.csv", lines())
    views = library.table_views
    for wrong in ({"head": 99}, {"head": -1}, {"columns": {9: "text"}}, {"columns": {0: "colour"}}):
        with pytest.raises(ValueError, match=r"row|column"):
            views.correct(ledger.id, 0, **wrong)  # type: ignore[arg-type]
    for document_id, table in ((ledger.id, 7), ("nowhere", 0)):
        with pytest.raises(KeyError):
            views.correct(document_id, table, head=2)
    views.correct(ledger.id, 0, head=3)
    views.correct(ledger.id, 0)
    assert views.readings(ledger.id) == []


def test_doubtful_tables_are_told_of(library: Library) -> None:
    mixed = "\n".join(f"K{row},{row if row % 3 else 'open'},{row if row % 10 else 'n.k.'}" for row in range(60))
    document = add_text(library, "mixed.csv", f"Key,Amount,Fee\n{mixed}")
    assert notes(library, document) == (
        "The table: 20 of 60 cells of “Amount” are not numbers; it is read as text.",
        "The table: 6 of 60 cells of “Fee” are not numbers, and are in no sum or comparison.",
    )
    library.table_views.correct(document.id, 0, columns={1: "number", 2: "text"})
    assert first(library.ask("What is the total amount?")) == f"Sum of Amount: {sum(r for r in range(60) if r % 3)}."
    assert notes(library, document) == (
        "The table: 20 of 60 cells of “Amount” are not numbers, and are in no sum or comparison.",
    )


def test_a_backup_has_them(library: Library, settings: Settings, tmp_path: Path, new_database: object) -> None:
    ledger = add_text(library, "ledger.csv", lines())
    library.table_views.correct(ledger.id, 0, head=3)
    library.maintenance.backup(tmp_path / "all.backup")
    library.close()
    other = settings.model_copy(update={"data_dir": tmp_path / "other", "database_url": None})
    Library.restore(tmp_path / "all.backup", other)
    with Library.open(other) as again:
        assert again.table_views.readings(ledger.id) == [
            TableReading(0, "", 3, ("Parcel", "Port", "Weight", "Paid"))
        ]  # fmt: skip
