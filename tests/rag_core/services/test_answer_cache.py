"""The same question of the same documents is answered at once, and says so, unless what it depended on has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_core import Library, Settings
from rag_core.domain import Answer, Scope
from rag_core.services import answer_cache
from tests.conftest import add_text
from tests.rag_core.samples import TEXTS

QUESTION = "How much does a loaf of rye bread cost?"
NOTHING = "What is the wingspan of an albatross?"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("l") / "library"
    with Library.open(Settings(_env_file=None, data_dir=folder, database_url=new_database())) as library:
        for name, text in TEXTS.items():
            add_text(library, name, text)
        library.storage.settle()
        yield library


def is_again(answer: Answer) -> bool:
    """Whether it was given before, which it then says."""
    said = any("answered before" in note for note in answer.trace.notes)
    assert said == (answer.trace.cached_at is not None)
    return said


def kept(library: Library) -> int:
    row = library.storage.database.row("SELECT count(*) FROM answer_cache")
    return int(row[0]) if row else 0


@pytest.mark.parametrize("question", [QUESTION, NOTHING])
def test_the_same_question_is_answered_as_before(shared: Library, question: str) -> None:
    first, events = shared.ask(question), list(shared.stream(question))
    second = events[-1].answer
    assert second is not None
    assert (is_again(first), is_again(second)) == (False, True)
    same = ("text", "sentences", "citations", "confidence", "abstained", "outcome", "model", "question")
    assert [getattr(second, name) for name in same] == [getattr(first, name) for name in same]
    assert "".join(event.text for event in events) == second.text
    assert second.message_id != first.message_id
    assert second.trace.latency_ms["total"] < first.trace.latency_ms["total"]
    (message,) = shared.messages(second.conversation)
    assert message.answer is not None
    assert (message.answer.text, is_again(message.answer)) == (first.text, True)
    third = shared.ask(question)
    assert third.trace.cached_at == second.trace.cached_at
    assert len([note for note in third.trace.notes if "answered before" in note]) == 1


def test_another_scope_depth_or_model_is_another_question(shared: Library) -> None:
    shared.ask(QUESTION)
    document = next(one for one in shared.documents() if "rye" in shared.pages(one.id)[0].text)
    assert not is_again(shared.ask(QUESTION, scope=Scope(documents=(document.id,))))
    assert is_again(shared.ask(QUESTION, scope=Scope(documents=(document.id,))))
    assert not is_again(shared.ask(QUESTION, k=2))
    assert not is_again(shared.ask(QUESTION, agent=True))
    assert not is_again(shared.ask(QUESTION.lower().replace("loaf", "big loaf")))


def test_another_version_of_the_program_answers_anew(shared: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    shared.ask(QUESTION)
    monkeypatch.setattr(answer_cache, "_code", lambda: "another")
    assert not is_again(shared.ask(QUESTION))
    assert is_again(shared.ask(QUESTION))


def test_what_changes_within_the_scope_is_answered_anew(shared: Library) -> None:
    inside = add_text(shared, "tram.txt", "A ticket for the tram to Veyra costs 3 crowns.")
    outside = add_text(shared, "ferry.txt", "The ferry to Tolsund leaves at nine.")
    shared.storage.settle()
    question, scope = "How much does a ticket for the tram cost?", Scope(documents=(inside.id,))
    shared.ask(question, scope=scope)
    shared.remove(outside.id)
    assert is_again(shared.ask(question, scope=scope)), "what is outside changes nothing"
    shared.catalogue.rename(inside.id, "Trams of Veyra")
    renamed = shared.ask(question, scope=scope)
    assert (is_again(renamed), renamed.citations[0].title) == (False, "Trams of Veyra")
    (chunk,) = shared.chunks(inside.id)
    shared.chunk_edits.correct(f"{inside.id}:{chunk.index}", "A ticket for the tram to Veyra costs 4 crowns.")
    shared.storage.settle()
    assert "4 crowns" in shared.ask(question, scope=scope).text
    everywhere = shared.ask(question)
    shared.remove(inside.id)
    gone = shared.ask(question)
    assert (is_again(gone), gone.text == everywhere.text) == (False, False)


def test_a_conversation_goes_on_from_what_was_said(shared: Library) -> None:
    follow_up = "And how much does that cost?"
    one = shared.ask(QUESTION)
    assert not is_again(shared.ask(follow_up, conversation=one.conversation))
    other = shared.ask("Who was the last keeper of the lighthouse at Cape Varn?")
    assert not is_again(shared.ask(follow_up, conversation=other.conversation))
    same = shared.ask(QUESTION)
    assert is_again(shared.ask(follow_up, conversation=same.conversation)), "its context is equal"


def test_who_asks_for_another_answer_gets_one(shared: Library) -> None:
    shared.ask(QUESTION)
    again = shared.ask(QUESTION)
    assert is_again(again)
    *_, last = shared.stream(QUESTION, conversation=again.conversation, replaces=again.message_id)
    assert last.answer is not None
    assert not is_again(last.answer)
    newest = shared.ask(QUESTION)
    assert newest.trace.cached_at is not None
    assert again.trace.cached_at is not None
    assert newest.trace.cached_at > again.trace.cached_at, "it took the other's place"
    shared.history.rate(newest.message_id, -1)
    assert not is_again(shared.ask(QUESTION)), "an answer that was called bad is not given again"


def test_it_goes_with_its_conversations(shared: Library) -> None:
    question = "What is the bread of the bakery made with?"
    first, second = shared.ask(question), shared.ask(question)
    shared.history.delete(first.conversation)
    assert is_again(shared.ask(question))
    shared.history.delete(second.conversation)
    third = shared.ask(question)
    shared.history.delete(third.conversation)
    assert shared.storage.conversations.messages(first.conversation) == []


def test_what_keeps_nothing_reads_alone(shared: Library) -> None:
    question = "When was the lighthouse at Cape Varn lit?"
    before = kept(shared)
    replied = [event.answer for event in shared.reply(question)][-1]
    assert replied is not None
    assert kept(shared) == before
    shared.ask(question)
    everything = tuple(document.id for document in shared.documents())
    for _ in range(2):
        shared.ask(question, scope=Scope(documents=everything))
    sealed = [one.answer for one in shared.reply(question, scope=Scope(documents=everything, sealed=True))][-1]
    replied = [event.answer for event in shared.reply(question)][-1]
    assert (sealed is not None and is_again(sealed), replied is not None and is_again(replied)) == (False, True)
    greeted = [shared.ask("Hello!") for _ in range(2)]
    assert not any(map(is_again, greeted))


def test_it_is_bounded_and_can_be_switched_off(tmp_path: Path, new_database: Callable[[], str]) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database())
    with Library.open(settings.changed("answering", cached_answers=2)) as library:
        add_text(library, "rye.txt", "A loaf of rye bread costs 4.20 crowns.")
        library.storage.settle()
        for question in (QUESTION, "What costs 4.20 crowns?", NOTHING):
            assert not is_again(library.ask(question))
        assert kept(library) == 2
        assert not is_again(library.ask(QUESTION)), "the oldest went"
        library.preferences.apply({"answering.cached_answers": 0})
        assert not is_again(library.ask(QUESTION))
        assert kept(library) == 2


def test_a_stopped_answer_is_not_given_again(shared: Library) -> None:
    from rag_core.cancellation import Cancellation

    token = Cancellation()
    token.cancel()
    question = "Which bread is made of rye?"
    list(shared.stream(question, cancellation=token))
    assert not is_again(shared.ask(question))


def test_it_has_its_indexes(shared: Library) -> None:
    rows = shared.storage.database.rows("SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()")
    wanted = {"sources_name", "documents_added", "messages_created", "citations_document", "answer_cache_key"}
    assert wanted <= {row[0] for row in rows}


def test_an_index_that_is_not_asked_may_be_behind(shared: Library) -> None:
    question, chroma = "In which year did the last keeper leave?", "chroma"
    first = shared.ask(question)
    cited = first.citations[0].document_id
    shared.storage.stop_following()
    try:
        for name, again in ((chroma, True), ("lexical", False)):
            shared.storage.log.queue([name], [cited])
            assert is_again(shared.ask(question)) == again, name
    finally:
        shared.storage.settle()
