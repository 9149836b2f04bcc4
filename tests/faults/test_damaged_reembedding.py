"""Dumps of an unfinished re-embedding, damaged before it goes on: none of the damage ends in the library unseen."""

from __future__ import annotations

import random

import pytest

from rag_core import Library, Settings
from rag_core.errors import StoreUnavailable
from rag_core.settings import EmbeddingSettings
from rag_core.storage.cutover import Cutover
from tests.faults.conftest import ALL
from tests.faults.damages import DAMAGES
from tests.faults.journal import Expected
from tests.faults.judge import judge
from tests.faults.shelf import Shelf
from tests.faults.summary import Tally, seed

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not ALL, reason="embeds everything anew: set ALL_FAULTS=1")
@pytest.mark.parametrize("number", range(2))
def test_damaged_dumps_of_an_unfinished_re_embedding(
    number: int, settings: Settings, shelf: Shelf, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library.open(settings) as library:
        assert all(event.error is None for event in library.add([item.path for item in shelf.items]))
        profile = library.storage.documents.profile()
        assert profile is not None
        wanted = EmbeddingSettings(precision="bf16" if profile.precision == "float32" else "float32")
        with monkeypatch.context() as patch, pytest.raises(StoreUnavailable):
            patch.setattr(Cutover, "run", _refuse)
            list(library.maintenance.reembed(wanted))
    names = random.Random(seed() + number).sample(sorted(DAMAGES), len(shelf.items))
    for item, name in zip(shelf.items, names, strict=True):
        DAMAGES[name](settings.data_dir / "dumps-new" / f"{item.id}.dump")
    tally.faults += len(names)
    with Library.open(settings) as library:
        *_, last = library.maintenance.reembed(wanted)
        assert last.stage == "done"
        library.storage.settle()
        assert library.maintenance.repair().findings == ()
        verdict = judge(library, shelf, Expected({item.id: "present" for item in shelf.items}), seed())
    wrong = tally.judge(verdict.lost, verdict.disagreeing)
    assert not wrong, "\n".join(wrong)


def _refuse(*_: object) -> None:
    raise StoreUnavailable("A test says so.")
