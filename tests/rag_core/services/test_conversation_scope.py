"""What a question is searched in: given, kept with its conversation, or named after @."""

from __future__ import annotations

import pytest

from rag_core import Library, Upload
from rag_core.domain import Scope
from rag_core.errors import InvalidQuestion, UnreadableDocument
from rag_core.storage.postgres.rows import Accepted
from tests.conftest import PROJECT
from tests.rag_core.samples import TEXTS

PRICE = "What does a loaf of rye bread cost?"


@pytest.fixture
def filled(library: Library) -> Library:
    for event in library.add([Upload(name, text.encode()) for name, text in TEXTS.items()]):
        assert event.error is None
    return library


def only(library: Library, name: str) -> Scope:
    return library.scope_of([name])


def test_a_scope_is_kept_with_its_conversation(filled: Library) -> None:
    chess, bakery = only(filled, "chess"), only(filled, "bakery")
    first = filled.ask(PRICE, scope=chess)
    assert first.abstained
    assert first.trace.searched is not None
    assert (first.trace.searched.scope, first.trace.searched.documents) == (chess, 1)
    assert filled.history.scope(first.conversation) == chess
    assert filled.ask(PRICE, conversation=first.conversation).abstained
    filled.history.set_scope(first.conversation, bakery)
    assert "4.20" in filled.ask(PRICE, conversation=first.conversation).text
    filled.history.set_scope(first.conversation, Scope())
    assert filled.history.scope(first.conversation) == Scope()
    (message, *_) = filled.messages(first.conversation)
    assert message.answer is not None
    assert message.answer.trace.searched == first.trace.searched


def test_every_filter_comes_back_as_it_was_kept(filled: Library) -> None:
    conversation = filled.ask(PRICE).conversation
    scope = Scope(
        documents=("a", "b"), tags=("a \x00 b",), folders=("/x",), sections=("Prices",), years=(2020, 2021),
    )  # fmt: skip
    filled.history.set_scope(conversation, scope)
    assert filled.history.scope(conversation) == Scope(**{**_values(scope), "tags": ("a \ufffd b",)})
    assert filled.history.scope("no such conversation") == Scope()
    filled.history.set_scope("no such conversation", scope)
    assert len(filled.conversations()) == 1


def test_a_name_after_an_at_sets_the_scope(filled: Library) -> None:
    answer = filled.ask(f"@bakery {PRICE}")
    assert "4.20" in answer.text
    assert answer.question == f"@bakery {PRICE}"
    assert (answer.trace.query, answer.trace.restated) == (PRICE, False)
    assert filled.history.scope(answer.conversation) == only(filled, "The bakery")
    assert filled.ask("How does the bishop move?", conversation=answer.conversation).abstained
    second = filled.ask("@chess.txt How does the bishopp move?", conversation=answer.conversation)
    assert "diagonals" in second.text
    assert (second.trace.query, second.trace.restated) == ("How does the bishop move?", True)
    assert filled.history.scope(answer.conversation) == only(filled, "chess")
    assert "@bakery" in filled.messages(answer.conversation)[0].question


def test_tags_are_names_too(filled: Library) -> None:
    (chess,) = only(filled, "chess").documents
    filled.catalogue.tag([chess], add=["Board Games"])
    answer = filled.ask('@"board games" How does the bishop move?')
    assert "diagonals" in answer.text
    assert filled.history.scope(answer.conversation) == Scope(tags=("Board Games",))
    assert filled.scope_of(["board games", "bakery"]).documents == (*only(filled, "bakery").documents, chess)
    with pytest.raises(KeyError):
        filled.scope_of(["chess", "walmart"])


def test_a_name_that_means_nothing_stays_and_is_told(filled: Library) -> None:
    answer = filled.ask(f"@walmart {PRICE}")
    assert "@walmart" in answer.trace.query
    assert any("“walmart”" in note for note in answer.trace.notes)
    assert filled.history.scope(answer.conversation) == Scope()


def test_names_alone_ask_nothing(filled: Library) -> None:
    with pytest.raises(InvalidQuestion) as refused:
        filled.ask("@chess @bakery?")
    assert refused.value.help
    assert filled.conversations() == []


def test_a_scope_that_holds_nothing_is_told(filled: Library) -> None:
    answer = filled.ask(PRICE, scope=Scope(tags=("gone",)))
    assert answer.abstained
    assert any("narrowed to" in note for note in answer.trace.notes)


def test_a_year_is_that_of_the_card(library: Library) -> None:
    *_, last = library.add([PROJECT / "data/samples/storm-report-2019.txt"])
    assert last.document is not None
    assert library.search("How high did the sea rise?", scope=Scope(years=(1850, 2019)))
    assert library.search("How high did the sea rise?", scope=Scope(years=(2018,))) == []


def _values(scope: Scope) -> dict[str, object]:
    return {name: getattr(scope, name) for name in Scope.__dataclass_fields__}


def test_how_many_documents_there_are_is_told_within_the_scope(filled: Library) -> None:
    count = len(filled.documents())
    answer = filled.ask("what documents do I have?")
    assert answer.text.startswith(f"There are {count} documents here: “")
    assert answer.text.endswith("Ask for a summary of one of them by its name.")
    assert filled.ask("@bakery what documents do I have?").text.startswith("There is 1 document here: “The bakery”. ")


def test_a_refusal_says_that_documents_are_still_being_added(filled: Library) -> None:
    """Somebody who asks meanwhile is not told that their documents do not hold it; nor is that kept for later."""

    def notes(scope: Scope | None = None, question: str = "What did the harbour master earn?") -> tuple[str, ...]:
        return filled.ask(question, scope=scope).trace.notes

    data = TEXTS["chess.txt"].encode()
    waiting = [
        Accepted(f"{number:032}", f"{number:064}", f"{number}.txt", "text/plain", len(data)) for number in (1, 2)
    ]
    assert notes() == ()
    filled.storage.documents.accept(waiting[:1])
    assert notes()[-1] == "A document is still being added: what it holds is not searched yet."
    filled.storage.documents.accept(waiting[1:])
    told = "2 documents are still being added: what they hold is not searched yet."
    assert notes()[-1] == told
    assert told not in notes(question=PRICE)
    assert told not in notes(only(filled, "chess"))
    for document in waiting:
        filled.storage.documents.fail(document.document_id, UnreadableDocument("It could not be read."))
    assert notes() == ()
