"""The tables of a sheet as they are looked at: some rows at a time, each with its place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core import Library, Settings
from rag_core.domain import Document, Scope
from rag_core.storage.indexes.table_index import LONG
from tests.conftest import add_text


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) as opened:
        yield opened


def test_rows_come_a_few_at_a_time_with_their_places(library: Library) -> None:
    sheet = "Parcel,Port,Weight\n" + "\n".join(f"P-{row},{('Riga', 'Turku')[row % 2]},{row}" for row in range(120))
    parcels = add_text(library, "parcels.csv", sheet)
    views = library.table_views
    assert not views.are_coming(parcels)
    assert views.names(parcels.id) == [""]
    view = views.view(parcels.id, 0)
    assert (view.rows, view.width, [column.kind for column in view.columns]) == (120, 3, ["text", "text", "number"])
    found = views.rows(parcels.id, 0, first=50, limit=50, containing="turku", by=2, descending=True)
    assert (found.first, found.count, [row.cells[0] for row in found.rows][:2]) == (50, 60, ["P-19", "P-17"])
    page = library.page(parcels.id, found.rows[0].page)
    assert page.text[found.rows[0].start : found.rows[0].end] == "P-19\tTurku\t19"
    assert views.rows(parcels.id, 0, first=10**9).rows[0].cells[0] == "P-119"
    assert views.rows(parcels.id, 0, containing="nowhere").rows == ()
    for document_id, table in ((parcels.id, 1), ("nowhere", 0)):
        with pytest.raises(KeyError):
            views.view(document_id, table)


WIDE = 1_200


@pytest.fixture(scope="module")
def wide(library: Library) -> Document:
    """Days with a thousand gauges, one of which has words."""
    heads = [
        "Day",
        *(f"Gauge {chr(97 + n // 26 % 26)}{chr(97 + n % 26)}{n // 676} level" for n in range(WIDE)),
        "Keeper",
    ]
    rows = [[f"2024-03-{day:02}", *(str(day * n % 97) for n in range(WIDE)), ("Ida", "Per")[day % 2]]
            for day in range(1, 8)]  # fmt: skip
    document = add_text(library, "wide.csv", "\n".join(map(",".join, [heads, *rows])))
    library.storage.settle()
    return library.document(document.id)


def test_very_wide_tables_are_given_some_columns_at_a_time(library: Library, wide: Document) -> None:
    views = library.table_views
    view = views.view(wide.id, 0)
    assert (view.width, view.first_column, len(view.columns)) == (WIDE + 2, 0, 100)
    assert len(views.rows(wide.id, 0).rows[0].cells) == 100
    last = views.view(wide.id, 0, first_column=WIDE, columns=50)
    assert [column.head for column in last.columns] == ["Gauge ud1 level", "Keeper"]
    found = views.rows(wide.id, 0, first_column=WIDE, by=WIDE + 1, containing="per")
    assert (found.first_column, [row.cells[1] for row in found.rows]) == (WIDE, ["Per"] * 4)
    assert views.view(wide.id, 0, first_column=10**9).first_column == WIDE + 1


def test_a_question_goes_over_the_columns_that_it_names(library: Library, wide: Document) -> None:
    scope = Scope(documents=(wide.id,))
    answer = library.ask("What is the level of gauge cn1 on 2024-03-05?", scope=scope)
    column = 1 + 676 + 2 * 26 + 13
    assert answer.sentences[0].text == f"Gauge cn1 level: {5 * (column - 1) % 97}."
    assert answer.table is not None
    assert answer.table.plan.target == column
    assert [condition.column for condition in answer.table.plan.conditions] == [0]
    again = library.table_plans.ask(answer.table.plan, "The same")
    assert again.sentences[0].text == answer.sentences[0].text
    largest = max(day * (column - 1) % 97 for day in range(1, 8))
    answer = library.ask("What is the largest level of gauge cn1?", scope=scope)
    assert answer.sentences[0].text == f"Largest Gauge cn1 level: {largest}."
    assert wide.notes == (
        f"The table: it has {WIDE + 2:,} columns; a question goes over 60 of them: those whose heads it names, and the"
        " first.",
    )


def test_the_tables_of_a_long_document_come_later(library: Library) -> None:
    lines = "\n".join(f"P-{row},{'a long remark on a parcel ' * 8}{row},{row}" for row in range(3 * LONG))
    document = add_text(library, "long.csv", f"Parcel,Remark,Weight\n{lines}")
    library.storage.settle()
    assert document.chunk_count >= LONG
    assert not library.table_views.are_coming(document)
    assert library.table_views.rows(document.id, 0, by=2, descending=True).rows[0].cells[2] == str(3 * LONG - 1)
