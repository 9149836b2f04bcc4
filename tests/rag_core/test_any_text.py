"""Whatever characters come in, as questions, names, titles, tags or files: an answer, or an error that was foreseen.

`make fuzz` tries many more; `LECTERN_FUZZ_TEXTS` says how many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core import AddEvent, Library, Settings, Upload
from rag_core.domain import Scope
from rag_core.errors import LecternError, UnexpectedFailure
from tests.rag_core.any_text import EXAMPLES, NAMES, TEXTS, contents, tried
from tests.rag_core.samples import TEXTS as SAMPLES

pytestmark = pytest.mark.timeout(120 + 2 * EXAMPLES)
MODES = ("auto", "hybrid", "dense", "lexical", "clusters", "scaler")
TABLE = "Region,Year,Sales,Share\nNorth,2019,1000,5 %\nSouth,2019,2000,12 %\nNorth,2020,1500,7 %\nSouth,2020,,9 %\n"
ODD = (
    "# Report ツ\n\nThe price of bread ¯\\_(ツ)_/¯ was ½ euro in 2019.\n\n"
    "| Item | 2019 | 2020 |\n|---|---|---|\n| Revenue | ² | 1,000 |\n| Sales ツ | 3.5 | −5 |\n| Total | ١٢٣ | 12 |\n"
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("any") / "library"
    files = {**SAMPLES, "sales.csv": TABLE, "odd.md": ODD}
    with Library.open(Settings(_env_file=None, data_dir=folder, database_url=new_database())) as opened:
        events = list(opened.add(Upload(name, text.encode()) for name, text in files.items()))
        assert not [event.error for event in events if event.error]
        yield opened


def foreseen(call: Callable[[], object], *refusals: type[Exception]) -> None:
    """Call; what is refused is refused by an error of the house, or by those that the call is documented to raise."""
    try:
        call()
    except UnexpectedFailure:
        raise
    except LecternError as error:
        assert str(error)
    except refusals as error:
        assert not isinstance(error, UnicodeError)


@tried(0.3)
@given(TEXTS, st.booleans(), st.sampled_from(MODES))
def test_a_question(library: Library, question: str, goes_on: bool, mode: str) -> None:
    conversation = "one for all" if goes_on else None
    foreseen(lambda: library.search(question, mode=mode))
    foreseen(lambda: library.ask(question, conversation=conversation))
    foreseen(lambda: list(library.reply(question, history=[(question, question)])))


@tried(0.14)
@given(NAMES, NAMES)
def test_a_name(library: Library, name: str, other: str) -> None:
    document = library.documents()[-1]
    answer = library.ask("What does a loaf of rye bread cost?", conversation="named")
    everything = Scope(documents=(other,), tags=(name,), sections=(name,))
    foreseen(lambda: library.catalogue.rename(document.id, name))
    foreseen(lambda: library.catalogue.tag([document.id], add=[name], remove=[other]), ValueError)
    foreseen(lambda: library.scope_of([name]), KeyError)
    foreseen(lambda: library.search("bread", scope=everything))
    foreseen(lambda: library.ask(f"bread? @{name}", conversation=name, model=other))
    foreseen(lambda: library.history.rename(answer.conversation, name))
    foreseen(lambda: library.conversations(name))
    foreseen(lambda: library.history.rate(answer.message_id, 1, name))
    for form in ("markdown", "pdf", "json", "bibtex"):
        foreseen(lambda: library.history.export("named", form))  # type: ignore[arg-type]  # noqa: B023
    library.history.delete("named")
    foreseen(lambda: library.access.create(name), ValueError)
    foreseen(lambda: library.evaluation.create(name, []))
    foreseen(lambda: library.preferences.set(name, other))


@tried(0.2)
@given(NAMES)
def test_a_place(library: Library, name: str) -> None:
    if name.startswith(("http:", "https:")):
        return
    foreseen(lambda: library.sources.watch(f"/nowhere/{name}"))
    foreseen(lambda: library.sources.unwatch(name), KeyError)
    assert_foreseen(library.sources.update([name]))
    assert_foreseen(library.add([f"/nowhere/{name}"]))


@tried(0.06)
@given(st.lists(st.tuples(NAMES, contents()), min_size=4, max_size=8))
def test_a_file(library: Library, files: list[tuple[str, tuple[str, bytes]]]) -> None:
    uploads = [Upload(f"{name}.{ending}", data) for name, (ending, data) in files]
    plain = Upload("plain.txt", ascii(uploads).encode())
    told = assert_foreseen(library.add([*uploads, plain]))
    assert plain.name in {event.source for event in told if event.stage == "ready"}
    for event in told:
        if event.document is not None and (chunks := library.chunks(event.document.id, limit=1)):
            question = chunks[0].text[:200]
            foreseen(lambda: library.ask(question))  # noqa: B023


def assert_foreseen(events: Iterator[AddEvent]) -> list[AddEvent]:
    """How each source ended; what failed did so for a reason that was foreseen."""
    told = [event for event in events if event.stage in ("ready", "failed")]
    for event in told:
        assert not isinstance(event.error, UnexpectedFailure), event
        assert event.error is None or isinstance(event.error, LecternError)
    return told


def test_what_was_added_is_found_and_clustered(library: Library) -> None:
    library.storage.settle()
    assert list(library.clusters.update())[-1].note == ""
    assert library.maintenance.verify(deep=True).findings == ()
