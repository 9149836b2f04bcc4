"""Documents that say the same of different things, and which of them a question means, through the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from rag_core import Library, Settings, Upload

Opened = Callable[[dict[str, str]], Library]
KAYAK = "Kayak {name}\n\nThe {name} weighs {weight} kilos. It holds {load} kilos of load. Its hull is of {hull}."


@pytest.fixture(scope="module")
def library_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Opens a library, with these texts alone, by their files' names."""
    with Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) as opened:

        def filled(texts: dict[str, str]) -> Library:
            for document in opened.documents():
                opened.remove(document.id)
            for event in opened.add([Upload(name, text.encode()) for name, text in texts.items()]):
                assert event.error is None
            opened.storage.settle()
            return opened

        yield filled


@pytest.fixture(scope="module")
def kayaks(library_of: Opened) -> Library:
    """Three alike."""
    made = [("Orca", 21, 130, "polyethylene"), ("Skua", 17, 110, "carbon"), ("Teal", 26, 160, "plywood")]
    return library_of({
        f"{name}.txt": KAYAK.format(name=name, weight=weight, load=load, hull=hull) for name, weight, load, hull in made
    })  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("How many kilos does the Skua weigh?", "What about its hull?"), "carbon"),
        (("How many kilos does the Orca weigh?", "And the Teal?", "What is its hull made of?"), "plywood"),
    ],
)
def test_a_follow_up_is_of_what_was_asked_of_before(kayaks: Library, asked: tuple[str, ...], said: str) -> None:
    conversation = None
    for question in asked:
        answer = kayaks.ask(question, conversation=conversation)
        conversation = answer.conversation
    assert answer.outcome == "answered" and said in answer.sentences[0].text
    assert len({citation.document_id for citation in answer.citations}) == 1
