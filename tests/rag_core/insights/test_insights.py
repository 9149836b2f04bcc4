"""What was asked of a real library, counted, grouped, drawn and exported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from rag_core import Library, Settings, Upload
from rag_core.domain import Answer, Insights, Scope
from rag_core.jobs import Request
from tests.rag_core.samples import TEXTS
from tests.until import until

PRICE = "What does a loaf of rye bread cost?"
LAMP = "How often does the lighthouse's lamp turn?"
UNKNOWN = ("Who painted the lighthouse?", "Who was the keeper of the lighthouse in 1999?", "Who painted the Mona Lisa?")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    """A library that was asked: three questions answered, one of them long ago, two perhaps, one not found, one
    stopped."""
    folder = tmp_path_factory.mktemp("insights") / "library"
    with Library.open(Settings(_env_file=None, data_dir=folder, database_url=new_database())) as library:
        list(library.add([Upload(name, text.encode()) for name, text in TEXTS.items()]))
        first = library.ask(PRICE)
        library.history.rate(first.message_id, 1)
        library.history.rate(library.ask(LAMP).message_id, -1)
        for question in UNKNOWN:
            assert library.ask(question).abstained
        _kept_before_outcomes(library)
        library.ask("Good morning!")
        stopped = library.stream("When did the last keeper leave?")
        next(stopped)
        stopped.close()
        _written_by_a_model(library, first)
        _long_ago(library, library.ask(PRICE).message_id)
        yield library


def _written_by_a_model(library: Library, like: Answer) -> None:
    """An answer as a model's is kept: no model is needed to count its tokens."""
    store = library.storage.conversations
    conversation, message = store.ask(None, PRICE)
    tokens = {"prompt": 900, "answer": 20}
    written = replace(
        like, model="gguf:small.gguf", message_id=message, conversation=conversation,
        trace=replace(like.trace, tokens=tokens),
    )  # fmt: skip
    store.answer(message, written)


def _long_ago(library: Library, message: str) -> None:
    library.storage.database.execute(
        "UPDATE messages SET created_at = created_at - interval '100 days' WHERE id = %s", (message,)
    )


def _kept_before_outcomes(library: Library) -> None:
    """Answers of earlier versions do not say what became of the question."""
    library.storage.database.execute("UPDATE messages SET answer = answer - 'outcome'")


def document(library: Library, word: str) -> str:
    return next(one.id for one in library.documents() if word in one.sources[0])


def outcomes(insights: Insights) -> tuple[int, int, int, int, int]:
    total = insights.total
    return total.answered, total.perhaps, total.not_found, total.stopped, total.failed


def test_questions_are_counted_by_what_came_of_them(asked: Library) -> None:
    month, always = asked.insights.of(30), asked.insights.of(None)
    assert outcomes(month) == (3, 2, 1, 1, 0)
    assert outcomes(always) == (4, 2, 1, 1, 0)
    assert (month.step, len(month.asked), month.asked[-1].asked) == ("day", 30, 7)
    assert (always.step, always.asked[0].asked) == ("week", 1)
    assert {question.question for question in month.not_found} == set(UNKNOWN)


def test_documents_times_trust_and_tokens(asked: Library) -> None:
    month = asked.insights.of(30)
    bakery, lighthouse = document(asked, "bakery"), document(asked, "lighthouse")
    assert [(use.document_id, use.answers, use.there) for use in month.used] == [
        (bakery, 2, True),
        (lighthouse, 1, True),
    ]
    assert {one.document_id for one in month.unused} == {document(asked, "glacier"), document(asked, "chess")}
    times = {time.stage: time for time in month.times}
    assert times["total"].count == 6
    assert 0 < times["embed"].p50 <= times["embed"].p99 <= times["total"].p99
    assert [sum(column) for column in zip(*[(one.up, one.down, one.unrated) for one in month.trust], strict=True)] == [
        1, 1, 1,
    ]  # fmt: skip
    assert [(one.model, one.answers, one.prompt, one.answer) for one in month.tokens] == [
        ("gguf:small.gguf", 1, 900, 20)
    ]


def test_a_scope_leaves_the_questions_that_touch_it(asked: Library) -> None:
    asked.catalogue.tag([document(asked, "bakery")], add=["bread"])
    within = asked.insights.of(30, Scope(tags=("bread",)))
    assert within.total.answered == 2
    assert [use.document_id for use in within.used] == [document(asked, "bakery")]
    assert within.unused == ()
    section = asked.insights.of(30, Scope(sections=("PRICES",)))
    assert section.total.answered == 2
    assert asked.insights.of(30, Scope(tags=("no such tag",))).total.asked == 0
    parts = [asked.insights.of(30, Scope(documents=(one.id,))) for one in asked.documents()]
    assert sum(part.total.perhaps + part.total.not_found for part in parts) == 3, "each came nearest to one document"


def test_what_was_not_found_is_grouped_by_meaning(asked: Library) -> None:
    groups = asked.insights.groups(asked.insights.of().not_found)
    assert [group.times for group in groups] == [2, 1]
    assert {question.question for question in groups[0].questions} == set(UNKNOWN[:2])
    assert asked.insights.groups(()) == ()


def test_every_chart_has_its_numbers_and_is_exported(asked: Library) -> None:
    insights = asked.insights.of()
    groups = asked.insights.groups(insights.not_found)
    drawn = {drawing.key: drawing for drawing in asked.insights.drawings(insights, groups)}
    assert list(drawn) == ["asked", "not_found", "documents", "times", "trust", "tokens"]
    assert all(len(row) == len(drawing.columns) for drawing in drawn.values() for row in drawing.rows)
    risky = replace(drawn["documents"], rows=(("=1+1", 1, 1, None, "yes"),))
    assert asked.insights.as_csv(risky).decode("utf-8-sig").splitlines()[1] == "'=1+1,1,1,,yes"
    whole = json.loads(asked.insights.as_json(insights, groups))
    assert whole["insights"]["not_found_count"] == 3
    assert len(whole["not_found_groups"]) == 2


def test_the_state_changes_with_every_question(asked: Library) -> None:
    before = asked.insights.state()
    assert asked.insights.state() == before
    message = asked.ask("How does a knight move in chess?").message_id
    after = asked.insights.state()
    assert after != before
    asked.history.rate(message, 1)
    assert asked.insights.state() != after
    asked.history.delete(asked.conversations()[0].id)


def test_jobs_are_counted_and_failures_told(library: Library) -> None:
    assert library.insights.of().jobs == ()
    private = Upload("a.exe", b"\x7fELF" + bytes(200))
    jobs = [library.jobs.submit("verify"), *library.jobs.submit_all("add", [Request("a.exe", private=private)])]
    until(lambda: all(library.jobs.get(job.id).finished for job in jobs))
    until(lambda: sum(count.done + count.failed for count in library.insights.of(7).jobs) == 2)  # kept a moment later
    library.jobs.clear()
    assert library.jobs.past() == [], "what was cleared is counted, and listed no longer"
    insights = library.insights.of(7)
    counts = {count.kind: count for count in insights.jobs}
    assert (counts["verify"].done, counts["add"].failed) == (1, 1)
    assert counts["verify"].p95_s is not None
    assert [failure.name for failure in insights.failures] == ["a.exe"]
    assert [drawing.key for drawing in library.insights.drawings(insights)] == ["jobs"]
