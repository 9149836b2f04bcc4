"""Every file of Chroma's index, damaged in every way: the process lives, and the index is sound after opening.

Its index files are written early here; Lectern's own settings keep all rows in the database file.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_core import Settings
from rag_core.runtime.low_priority import LowPriorityProcess
from rag_core.storage import Storage
from rag_core.storage.indexes import ChromaIndex, chroma_client
from rag_core.storage.maintenance.doctor import repair, verify
from tests.rag_core.storage.filled import delete, empty, fill, make_unreadable, truncate, zero

FILES = ["chroma.sqlite3", "data_level0.bin", "header.bin", "length.bin", "link_lists.bin", "index_metadata.pickle"]
DAMAGES: dict[str, Callable[[Path], None] | None] = {
    "zeroed": zero,
    "emptied": empty,
    "deleted": delete,
    "unreadable": make_unreadable,
    "cut in half": truncate(0.5),
    "cut at its end": truncate(0.99),
    **{f"bits flipped from {share}": None for share in (0.0, 0.3, 0.6, 0.9)},
}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("ALL_FAULTS"), reason="takes minutes: set ALL_FAULTS=1"),
]


@pytest.fixture(scope="module")
def origin(new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A closed library of 60 documents whose index lies in its files."""
    folder = tmp_path_factory.mktemp("origin") / "library"
    settings = Settings(_env_file=None, data_dir=folder, database_url=new_database())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chroma_client, "_HNSW", {"space": "cosine", "sync_threshold": 3, "batch_size": 2})
        patch.setattr(LowPriorityProcess, "__call__", lambda _, function, *given: function(*given))
        storage = Storage(settings)
        fill(storage, 60, 3)
        chroma_client.close(chroma_client.ChromaPlace(folder / "chroma"))
        storage.close()
    shutil.copytree(folder / "chroma", folder.parent / "sound")
    yield settings


@pytest.mark.parametrize("damage", DAMAGES.keys())
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_index_is_sound_after_repair(origin: Settings, name: str, damage: str) -> None:
    folder = origin.data_dir / "chroma"
    shutil.rmtree(folder)
    shutil.copytree(origin.data_dir.parent / "sound", folder)
    (path,) = folder.rglob(name)
    strike = DAMAGES[damage]
    if strike is not None:
        strike(path)
    else:
        flip_many(path, float(damage.rpartition(" ")[2]))
    storage = Storage(origin)
    try:
        storage.settle()
        assert repair(storage, verify(storage, deep=True)).findings == ()
        assert storage.index(ChromaIndex).store.count(storage.documents.profile()) == 180
    finally:
        storage.close()


def flip_many(path: Path, share: float) -> None:
    """Flip a bit in each of 64 bytes, from a share of the file on."""
    data = bytearray(path.read_bytes())
    first = int(len(data) * share)
    for place in range(first, min(first + 64, len(data))):
        data[place] ^= 0x10
    path.write_bytes(data)
