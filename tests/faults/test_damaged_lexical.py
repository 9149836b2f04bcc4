"""Every file of the lexical index, damaged in every way, while it is closed or open: what is found is right again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_core import Settings
from rag_core.storage import Storage
from rag_core.storage import storage as storage_module
from rag_core.storage.maintenance.doctor import repair, verify
from rag_core.text.terms import terms
from tests.faults.conftest import ALL
from tests.faults.damages import by_rename
from tests.rag_core.storage.filled import (
    WITHOUT_CHROMA,
    cut_to,
    delete,
    empty,
    fill,
    flip,
    make_unreadable,
    truncate,
    zero,
)

pytestmark = pytest.mark.slow

_DOCUMENTS, _CHUNKS = 40, 3
FILES = ["meta.json", ".managed.json", "lectern.json", "idx", "pos", "term", "store", "fast", "fieldnorm", "del"]


def _flip_at(share: float) -> Callable[[Path], None]:
    return lambda path: flip(int((path.stat().st_size - 1) * share))(path)


IN_PLACE: dict[str, Callable[[Path], None]] = {
    "zeroed": zero,
    **{f"a bit flipped at {share}": _flip_at(share) for share in (0.0, 0.2, 0.5, 0.8, 0.95, 1.0)},
}
DAMAGES: dict[str, Callable[[Path], None]] = {
    **IN_PLACE,
    "emptied": empty,
    "deleted": delete,
    "unreadable": make_unreadable,
    "cut to a byte": cut_to(1),
    "cut in half": truncate(0.5),
    "cut at its end": truncate(0.99),
}
_SAMPLE = {
    "idx": ["zeroed"],
    "meta.json": ["cut in half"],
    "del": ["a bit flipped at 0.5"],
    "lectern.json": ["deleted"],
}
CASES = [(name, how) for name in FILES for how in (DAMAGES if ALL else _SAMPLE.get(name, []))]


@pytest.fixture(scope="module", autouse=True)
def without_chroma() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage_module, "INDEXES", WITHOUT_CHROMA)
        yield


@pytest.fixture(scope="module")
def origin(new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A closed library, of which some documents were removed, and its index kept aside."""
    folder = tmp_path_factory.mktemp("origin") / "library"
    settings = Settings(_env_file=None, data_dir=folder, database_url=new_database())
    storage = Storage(settings)
    ids = fill(storage, _DOCUMENTS, _CHUNKS)
    storage.remove(ids[0])
    storage.settle()
    storage.close()
    shutil.copytree(folder / "lexical", folder.parent / "sound")
    yield settings


@pytest.fixture
def restored(origin: Settings) -> Settings:
    shutil.rmtree(origin.data_dir / "lexical", ignore_errors=True)
    shutil.copytree(origin.data_dir.parent / "sound", origin.data_dir / "lexical")
    return origin


@pytest.mark.parametrize(("name", "how"), CASES)
def test_one_damaged_while_closed_is_right_after_opening(restored: Settings, name: str, how: str) -> None:
    _damage(restored, name, DAMAGES[how])
    storage = _opened(restored)
    try:
        _assert_right(storage)
    finally:
        storage.close()


@pytest.mark.parametrize(("name", "how"), CASES)
def test_one_damaged_while_open_is_found_and_repaired(restored: Settings, name: str, how: str) -> None:
    storage = _opened(restored)
    try:
        storage.sync.follow(storage.lexical)
        # A shorter file in the place of one that is mapped would end the process.
        _damage(restored, name, DAMAGES[how] if how in IN_PLACE else _replacing(how))
        report = verify(storage, deep=True)
        assert {item.store for item in report.findings} <= {"Lexical index"}
        assert repair(storage, report).findings == ()
        _assert_right(storage)
    finally:
        storage.close()


def _replacing(how: str) -> Callable[[Path], None]:
    """A damage done to a file in the old one's place, which lives on for whoever has it mapped."""
    return DAMAGES[how] if how in ("deleted", "unreadable") else by_rename(DAMAGES[how])


def _damage(settings: Settings, name: str, damage: Callable[[Path], None]) -> None:
    paths = [path for path in (settings.data_dir / "lexical").iterdir() if path.name.endswith(name)]
    assert paths, name
    damage(paths[0])


def _opened(settings: Settings) -> Storage:
    storage = Storage(settings)
    storage.stop_following()
    return storage


def _assert_right(storage: Storage) -> None:
    storage.sync.follow(storage.lexical)
    chunks = (_DOCUMENTS - 1) * _CHUNKS
    assert storage.lexical.count() == chunks
    assert len(storage.lexical.search(terms("chunk"), 2 * chunks)) == chunks
    assert [item for item in verify(storage, deep=True).findings if item.store == "Lexical index"] == []
