"""Dump files damaged in every way, while the library is closed and while it is open.

Each damage is told of or repaired on opening; a repair makes every file what it was, byte for byte, without embedding
anything; and the stores agree after that. A mapped file that is shortened in place ends the process, which nothing in
the process can prevent: what is shortened while the library is open is a new file in the old one's place.
"""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from accelerator import unsealed
from rag_core import Library, Settings, Upload
from rag_core.embedding import Embedder
from rag_core.services import rechunking
from tests.faults.conftest import ALL
from tests.faults.damages import DAMAGES, ELSE, IN_PLACE, REPLACING, Damage, at_random, by_rename
from tests.faults.journal import Expected
from tests.faults.judge import judge
from tests.faults.lending import lent, opened
from tests.faults.shelf import Item, Shelf, make_shelf
from tests.faults.summary import Tally, seed

pytestmark = pytest.mark.slow

_DOCUMENTS = 60
# Each round damages the large documents in other ways.
_LARGE = 2 if ALL else 1
_LARGE_ROWS = 1100
_WHILE_OPEN: dict[str, Damage] = {
    **IN_PLACE,
    **{f"by rename, {name}": by_rename(damage) for name, damage in {**IN_PLACE, **REPLACING}.items()},
    **ELSE,
}
# Whether short documents, too, are scanned from their files, as large ones are; else they are copied into memory.
_CLOSED = [(0, False), (1, True), (2, False), (3, True)] if ALL else [(0, False)]
_OPEN = [(0, True), (1, False), (2, True), (3, True)] if ALL else [(0, True)]


@dataclass(frozen=True, slots=True)
class Origin:
    """A closed library, what it holds, and a copy of its dumps."""

    settings: Settings
    shelf: Shelf
    large: tuple[str, ...]
    sound: Path

    @property
    def dumps(self) -> Path:
        return self.settings.data_dir / "dumps"

    def path(self, document_id: str) -> Path:
        return self.dumps / f"{document_id}.dump"

    def unsound(self) -> set[str]:
        """The documents whose dump is not what it was."""
        return {item.id for item in self.shelf.items if not _same(self.path(item.id), self.sound)}

    def reset(self) -> None:
        shutil.rmtree(self.dumps)
        shutil.copytree(self.sound, self.dumps)


@pytest.fixture(scope="module")
def origin(new_database: Callable[[], str], model: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Origin:
    folder = tmp_path_factory.mktemp("origin")
    shelf = make_shelf(folder / "documents", _DOCUMENTS, 5)
    settings = Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())
    with opened(settings, model) as library:
        assert all(event.error is None for event in library.add([item.path for item in shelf.items]))
    with opened(settings.changed("chunking", size=60, overlap=0), model) as library:
        large = tuple(_add_large(library, number) for number in range(_LARGE))
        library.storage.settle()
        assert library.maintenance.verify(deep=True).findings == ()
        rechunking.keep(library.storage, settings.chunking.key)  # or it would be told that they are cut otherwise
    shutil.copytree(settings.data_dir / "dumps", folder / "sound")
    whole = Shelf((*shelf.items, *large), shelf.file)
    return Origin(settings, whole, tuple(item.id for item in large), folder / "sound")


def _add_large(library: Library, number: int) -> Item:
    """A document of more rows than are copied into memory. The library that cut it tells its texts, still sound."""
    text = "\n\n".join(f"Part {n} of list {number} is of {n * 7 + number} apples." for n in range(_LARGE_ROWS))
    *_, last = library.add([Upload(f"list-{number}.txt", text.encode())])
    assert last.document is not None
    assert last.document.chunk_count > unsealed.SMALL_ROWS
    return Item(last.source, last.document.id, tuple(chunk.text for chunk in library.chunks(last.document.id)))


@pytest.fixture
def damaged(origin: Origin) -> Iterator[Origin]:
    """The library to damage; the next test finds it sound whatever this one leaves."""
    yield origin
    origin.reset()


@pytest.fixture
def mapped(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan all documents from their files, or the large ones alone."""
    if request.param:
        monkeypatch.setattr(unsealed, "SMALL_ROWS", 2)


@pytest.mark.parametrize(("number", "mapped"), _CLOSED, indirect=["mapped"])
def test_what_is_damaged_while_closed_is_told_and_repaired(
    number: int, mapped: None, damaged: Origin, model: Embedder, tally: Tally
) -> None:
    strikes = _assigned(damaged, DAMAGES, number)
    for document_id, damage in strikes.items():
        DAMAGES[damage](damaged.path(document_id))
    swapped = _swap(damaged, strikes)
    tally.faults += len(strikes) + len(swapped)
    with Library.open(damaged.settings) as library:
        rebuilt = {*strikes, *swapped} - damaged.unsound()
        assert rebuilt >= {key for key, damage in strikes.items() if damage.startswith(("cut", "del", "a "))}
        assert any(
            note.startswith(f"{len(rebuilt)} damaged or missing dump file") for note in library.maintenance.notes()
        )
        told = _told(library)
        assert told | rebuilt == {*strikes, *swapped}, _named(strikes, {*strikes, *swapped} - told - rebuilt)
        _repair(library, damaged)
        _judge(library, damaged, model, tally, number)


@pytest.mark.parametrize(("number", "mapped"), _OPEN, indirect=["mapped"])
def test_what_is_damaged_while_open_is_told_and_repaired(
    number: int, mapped: None, damaged: Origin, model: Embedder, tally: Tally
) -> None:
    with Library.open(damaged.settings) as library:
        assert not library.maintenance.notes()
        with lent(library, model), _Searching(library, damaged, number):
            strikes = _assigned(damaged, _WHILE_OPEN, number)
            for document_id, damage in strikes.items():
                _WHILE_OPEN[damage](damaged.path(document_id))
        tally.faults += len(strikes)
        told = _told(library)
        struck = damaged.unsound()  # a search that came upon a file of other texts has repaired it
        assert struck <= told <= set(strikes), _named(strikes, struck - told)
        _repair(library, damaged)
        _judge(library, damaged, model, tally, number)


@pytest.mark.skipif(not ALL, reason="takes a minute: set ALL_FAULTS=1")
@pytest.mark.parametrize("number", range(4))
def test_bytes_changed_anywhere(number: int, damaged: Origin, model: Embedder, tally: Tally) -> None:
    draw = random.Random(seed() * 100 + number)
    ids = [item.id for item in damaged.shelf.items]
    for document_id in ids:
        at_random(draw)(damaged.path(document_id))
    tally.faults += len(ids)
    with Library.open(damaged.settings) as library:
        rebuilt = set(ids) - damaged.unsound()
        told = _told(library)
        assert told | rebuilt == set(ids)
        _repair(library, damaged)
        _judge(library, damaged, model, tally, number)


def test_a_folder_that_is_lost_is_made_again(damaged: Origin, model: Embedder, tally: Tally) -> None:
    shutil.rmtree(damaged.dumps)
    with Library.open(damaged.settings) as library:
        assert library.maintenance.notes() == (
            f"{len(damaged.shelf.items)} damaged or missing dump files were written anew.",
        )
        assert not damaged.unsound()
        _judge(library, damaged, model, tally, 0)


def _assigned(origin: Origin, damages: Mapping[str, Damage], number: int) -> dict[str, str]:
    """Damages by document: as many as there are short ones, and some, others each round, to the large ones."""
    names = sorted(damages)
    random.Random(seed() + number).shuffle(names)
    ids = [item.id for item in origin.shelf.items if item.id not in origin.large]
    return {**dict(zip(ids, names, strict=False)), **dict(zip(origin.large, names, strict=False))}


def _swap(origin: Origin, strikes: Mapping[str, str]) -> set[str]:
    """Have pairs of sound documents' files change places: two of as many rows, and two of different ones."""
    sound = [item for item in origin.shelf.items if item.id not in strikes]
    by_rows: dict[int, list[Item]] = {}
    for item in sound:
        by_rows.setdefault(len(item.texts), []).append(item)
    alike = next(items for items in by_rows.values() if len(items) >= 2)[:2]
    other = next((item for item in sound if len(item.texts) != len(alike[0].texts)), None)
    pairs: list[Sequence[Item]] = [alike]
    rest = [item for item in sound if item not in alike]
    if other is not None:
        pairs.append((other, next(item for item in rest if item is not other)))
    for one, two in pairs:
        aside = origin.path(one.id).with_name("aside")
        origin.path(one.id).rename(aside)
        origin.path(two.id).rename(origin.path(one.id))
        aside.rename(origin.path(two.id))
    return {item.id for pair in pairs for item in pair}


def _told(library: Library) -> set[str]:
    """The documents whose dumps a comparison complains of; nothing else is wrong."""
    findings = library.maintenance.verify(deep=True).findings
    assert [finding for finding in findings if finding.store != "Dumps"] == []
    return {finding.document_id for finding in findings}


def _repair(library: Library, origin: Origin) -> None:
    """Repair everything, and see that the files are what they were and that no model was loaded for it."""
    assert library.maintenance.repair().findings == ()
    assert not origin.unsound()
    assert library.embedding.embedder is None
    assert {path.name for path in origin.dumps.iterdir()} == {path.name for path in origin.sound.iterdir()}


def _judge(library: Library, origin: Origin, model: Embedder, tally: Tally, number: int) -> None:
    expected = Expected({item.id: "present" for item in origin.shelf.items})
    with lent(library, model):
        verdict = judge(library, origin.shelf, expected, seed() + number)
    wrong = tally.judge(verdict.lost, verdict.disagreeing)
    assert not wrong, "\n".join(wrong)


class _Searching:
    """Searches from another thread: each is answered, whatever happens to the files meanwhile."""

    def __init__(self, library: Library, origin: Origin, number: int) -> None:
        self._library = library
        self._draw = random.Random(number)
        self._texts = [text for item in origin.shelf.items for text in item.texts]
        self._done = threading.Event()
        self._failures: list[BaseException] = []
        self._answers = 0
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        assert not self._failures
        assert self._answers

    def _run(self) -> None:
        try:
            while not self._done.is_set() or not self._answers:
                assert self._library.search(self._draw.choice(self._texts), k=5)
                self._answers += 1
        except BaseException as error:  # noqa: BLE001  told by the test's own thread
            self._failures.append(error)


def _same(path: Path, sound: Path) -> bool:
    return path.is_file() and path.read_bytes() == (sound / path.name).read_bytes()


def _named(strikes: Mapping[str, str], ids: set[str]) -> str:
    return f"not told of: {sorted(strikes.get(key, 'swapped') for key in ids)}"
