"""The tables of a sheet as they are looked at: some rows at a time, each with its place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core import Library, Settings
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


def test_very_wide_tables_are_given_in_part(library: Library) -> None:
    heads = ",".join(f"Head {chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(300))
    wide = add_text(library, "wide.csv", f"{heads}\n" + "\n".join([",".join(map(str, range(300)))] * 2))
    view = library.table_views.view(wide.id, 0)
    assert (view.width, len(view.columns)) == (300, 100)
    assert len(library.table_views.rows(wide.id, 0).rows[0].cells) == 100


def test_the_tables_of_a_long_document_come_later(library: Library) -> None:
    lines = "\n".join(f"P-{row},{'a long remark on a parcel ' * 8}{row},{row}" for row in range(3 * LONG))
    document = add_text(library, "long.csv", f"Parcel,Remark,Weight\n{lines}")
    library.storage.settle()
    assert document.chunk_count >= LONG
    assert not library.table_views.are_coming(document)
    assert library.table_views.rows(document.id, 0, by=2, descending=True).rows[0].cells[2] == str(3 * LONG - 1)
