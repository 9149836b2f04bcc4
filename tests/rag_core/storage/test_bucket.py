"""A library whose originals are in a bucket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rag_core import Library, Settings, Upload
from rag_core.errors import StoreUnavailable
from rag_core.storage.maintenance.backup import back_up_beside
from tests.conftest import add_text, denied
from tests.rag_core.samples import TEXTS
from tests.rag_core.scans import scanned_pdf


@pytest.fixture
def away(bucket: str, settings: Settings) -> Settings:
    return settings.changed("storage", originals=bucket)


def test_a_library_lives_by_a_bucket(away: Settings, tmp_path: Path, new_database: Callable[[], str]) -> None:
    uploads = [Upload("chess.txt", TEXTS["chess.txt"].encode()), Upload("one.pdf", scanned_pdf(["A pier of stone."]))]
    with Library.open(away) as library:
        assert [event.error for event in library.add(uploads) if event.error] == []
        drawn, chess = sorted(library.documents(), key=lambda one: one.media_type)
        assert library.page_image(drawn.id, 1).png.startswith(b"\x89PNG")
        assert library.original(chess.id).read_text() == TEXTS["chess.txt"]
        assert library.maintenance.verify(deep=True).findings == ()
        assert library.maintenance.backup(tmp_path / "own.lectern").files == 2
        assert back_up_beside(away, tmp_path / "beside.lectern").files == 2
        assert not (away.data_dir / "files").exists()
        library.remove(chess.id)
        assert set(library.storage.files.listing()) == {drawn.id}

    # From there into a folder, and into another bucket.
    for name, place in (("own", None), ("beside", f"{away.storage.originals}-again")):
        settings = Settings(_env_file=None, data_dir=tmp_path / name, database_url=new_database())
        settings = settings.changed("storage", originals=place)
        Library.restore(tmp_path / f"{name}.lectern", settings)
        with Library.open(settings) as library:
            assert set(library.storage.files.listing()) == {drawn.id, chess.id}
            assert library.storage.files.keys("note-") == []
            assert library.original(drawn.id).read_bytes() == uploads[1].data


def test_where_the_bucket_lets_nobody_in_it_is_searched_and_nothing_is_lost(away: Settings, s3: str) -> None:
    with Library.open(away) as library:
        chess = add_text(library, "chess.txt", TEXTS["chess.txt"])
        bakery = add_text(library, "bakery.md", TEXTS["bakery.md"])
        with denied(s3):
            with pytest.raises(StoreUnavailable, match=r"not removed yet.*may not be used"):
                library.remove(chess.id)
            assert [hit.document.id for hit in library.search("bread", k=5)] == [bakery.id]
            library.original(bakery.id).unlink()  # the copy that it was read from
            with pytest.raises(StoreUnavailable, match="may not be used"):
                library.original(bakery.id)
            (failed,) = [event.error for event in library.add([Upload("a.txt", b"One more.")]) if event.error]
            assert "may not be used" in str(failed)
        assert len(library.documents()) == 1
        library.storage.settle()
        assert set(library.storage.files.listing()) == {bakery.id}


def test_a_bucket_that_is_not_there_is_said_on_opening(away: Settings) -> None:
    with pytest.raises(StoreUnavailable, match="There is no bucket"):
        Library.open(away.changed("storage", originals="s3://none-such/originals"))
