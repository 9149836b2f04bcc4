"""Any order of adding, removing, adding again, searching, breaking off and opening anew, against a model: a dict."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from rag_core import Library, Settings, Upload
from rag_core.embedding import Embedder
from tests.faults.conftest import ALL
from tests.faults.journal import Expected
from tests.faults.judge import judge, search_fault
from tests.faults.lending import opened
from tests.faults.shelf import Item, Shelf
from tests.faults.summary import Tally, seed

pytestmark = pytest.mark.slow

_EXAMPLES, _STEPS = (25, 30) if ALL else (4, 15)
_PLACES = st.integers(0, 5)
# Fewer names than documents, so that a name comes with other bytes, and bytes come under another name.
_NAMES = st.sampled_from(["a.txt", "b.txt", "c.txt", "folder/a.txt"])
_UPLOADS = st.lists(st.tuples(_NAMES, _PLACES), min_size=1, max_size=3, unique_by=lambda upload: upload[0])
_ENGINES = st.sampled_from(["auto", "pgvector", "chroma"])


class LibraryMachine(RuleBasedStateMachine):
    """A library, and the names under which each of its documents came."""

    def __init__(self, settings: Settings, items: tuple[Item, ...], model: Embedder, tally: Tally) -> None:
        super().__init__()
        self._settings = settings
        self._items = items
        self._embedder = model
        self._tally = tally
        self._data = [Path(item.path).read_bytes() for item in items]
        self._held: dict[str, set[str]] = {}
        self._open()

    @rule(uploads=_UPLOADS)
    def add(self, uploads: list[tuple[str, int]]) -> None:
        last = {event.source: event for event in self._library.add(self._uploads(uploads))}
        for name, place in uploads:
            key = self._items[place].id
            assert last[name].stage == "ready", last[name]
            assert last[name].document is not None and last[name].document.id == key
            self._held.setdefault(key, set()).add(name)

    @rule(uploads=_UPLOADS, events=st.integers(1, 6))
    def break_off(self, uploads: list[tuple[str, int]], events: int) -> None:
        """Stop listening amid adding: what was accepted is resumed, the rest is not there."""
        steps = self._library.add(self._uploads(uploads))
        for _ in zip(range(events), steps, strict=False):
            pass
        steps.close()  # type: ignore[attr-defined]
        self._tally.faults += 1
        assert all(event.error is None for event in self._library.resume())
        names = {self._items[place].id: {name for name, at in uploads if at == place} for _, place in uploads}
        for document in self._library.documents():
            if document.id in names:
                before = self._held.get(document.id, set())
                assert before <= set(document.sources) <= before | names[document.id]
                self._held[document.id] = set(document.sources)

    # No rule has a precondition: what is held after breaking off depends on chance, and drawing must not.

    @rule(place=_PLACES)
    def remove(self, place: int) -> None:
        """One that is there, where there is any; one that is not is no error."""
        self._remove(self._one_held(place))

    @rule(place=_PLACES, name=_NAMES)
    def remove_and_add_again(self, place: int, name: str) -> None:
        key = self._one_held(place)
        self._remove(key)
        self.add([(name, [item.id for item in self._items].index(key))])

    @rule(place=_PLACES)
    def remove_what_may_be_there(self, place: int) -> None:
        self._remove(self._items[place].id)

    @rule(place=_PLACES, index=st.integers(0, 20), engine=_ENGINES)
    def search(self, place: int, index: int, engine: str) -> None:
        item = self._items[place]
        assert not search_fault(self._library, item, index % len(item.texts), set(self._held), engine)

    @rule()
    def restart(self) -> None:
        self._stack.close()
        self._tally.faults += 1
        self._open()
        assert not list(self._library.resume())
        assert not self._library.maintenance.notes()

    @rule(settled=st.booleans())
    def verify(self, settled: bool) -> None:
        if settled:
            self._library.storage.settle()
        assert self._library.maintenance.verify().findings == ()

    @invariant()
    def the_documents_are_those_of_the_model(self) -> None:
        documents = {document.id: document for document in self._library.documents()}
        assert {key: set(document.sources) for key, document in documents.items()} == self._held
        assert all(document.state == "ready" for document in documents.values())

    def teardown(self) -> None:
        try:
            states = {item.id: "present" if item.id in self._held else "absent" for item in self._items}
            verdict = judge(self._library, Shelf(self._items, Path()), Expected(states), seed())
        finally:
            self._stack.close()
        wrong = self._tally.judge(verdict.lost, verdict.disagreeing)
        assert not wrong, "\n".join(wrong)

    def _open(self) -> None:
        self._stack = ExitStack()
        self._library: Library = self._stack.enter_context(opened(self._settings, self._embedder))

    def _one_held(self, place: int) -> str:
        return sorted(self._held)[place % len(self._held)] if self._held else self._items[place].id

    def _remove(self, key: str) -> None:
        self._library.remove(key)
        self._held.pop(key, None)

    def _uploads(self, uploads: list[tuple[str, int]]) -> list[Upload]:
        return [Upload(name, self._data[place]) for name, place in uploads]


@pytest.mark.timeout(1200)
def test_a_library_does_what_its_model_does(
    shelf: Shelf, new_database: Callable[[], str], model: Embedder, tmp_path: Path, tally: Tally
) -> None:
    items = tuple(item for item in shelf.items if item.path.endswith(".txt"))[:6]
    folders = (tmp_path / f"library-{number}" for number in range(10_000))

    def make() -> LibraryMachine:
        settings = Settings(_env_file=None, data_dir=next(folders), database_url=new_database())
        return LibraryMachine(settings, items, model, tally)

    run_state_machine_as_test(
        hypothesis.seed(seed())(functools.partial(make)),
        settings=hypothesis.settings(
            max_examples=_EXAMPLES, stateful_step_count=_STEPS, deadline=None, database=None,
            phases=[Phase.generate], suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
