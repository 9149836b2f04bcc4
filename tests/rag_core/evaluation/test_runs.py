"""Runs on a real library: what they find, and that nothing is lost or done twice however they end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rag_core import Cancellation, Library, Settings, Upload
from rag_core.domain import Configuration, Gold, Progress, Question, Result, Run
from rag_core.errors import ConfigurationError, LecternError, ModelUnavailable
from rag_core.evaluation import Evaluation
from rag_core.settings import GenerationSettings
from tests.conftest import PROJECT, add_text
from tests.rag_core.models.gemini_server import Script, gemini_server
from tests.rag_core.samples import TEXTS

AS_IT_IS = Configuration("As it is")
FEW = Configuration("Few", {"retrieval.k": 2})
SMALL = Configuration("Small chunks", {"chunking.size": 120, "chunking.overlap": 20})
BREAD = Question(
    "bread", "What does a loaf of rye bread cost?", ("4.20 euros",),
    (Gold("bakery.md", 1, "A loaf of rye bread costs 4.20 euros."),),
)  # fmt: skip
KEEPER = Question(
    "keeper", "Who was the last keeper at Cape Varn?", ("Ada Holm",), (Gold("lighthouse", 1, "Ada Holm"),)
)
GLACIER = Question(
    "glacier", "How much thickness did the Norden glacier lose?", ("eleven metres",), (Gold("glacier.txt"),)
)
CUP = Question("cup", "Who won the football world cup in Brazil?", answerable=False)
QUESTIONS = (BREAD, KEEPER, GLACIER, CUP)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("runs")
    settings = Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())
    with Library.open(settings) as opened:
        guide = PROJECT / "data" / "samples" / "water-works-guide.md"
        for event in opened.add([guide, *(Upload(name, text.encode()) for name, text in TEXTS.items())]):
            assert event.error is None
        opened.storage.settle()  # what the index of words lacks still has another score
        yield opened


@pytest.fixture
def evaluation(library: Library) -> Iterator[Evaluation]:
    """The library's evaluation, without sets and runs before and after."""
    yield library.evaluation
    for run in library.evaluation.runs():
        library.evaluation.delete_run(run.id)
    for found in library.evaluation.sets():
        library.evaluation.delete(found.id)


@pytest.fixture
def set_id(evaluation: Evaluation) -> str:
    return evaluation.create("Basics", QUESTIONS).id


@pytest.fixture
def script() -> Iterator[Script]:
    with gemini_server() as running:
        yield running


@pytest.fixture
def remote(library: Library, script: Script) -> Iterator[Script]:
    """The library with a Gemini that does as the script says."""
    before = library.settings
    generation = GenerationSettings(gemini_endpoint=script.url, timeout_s=5)
    library.preferences.settings = before.with_key("key").model_copy(
        update={"generation": generation, "allow_remote": True}
    )
    yield script
    library.preferences.settings = before


GEMINI = Configuration("Written", {"generation.model": "gemini"})


def begin(evaluation: Evaluation, set_id: str, *configurations: Configuration, **values: Any) -> list[str]:
    return [run.id for run in evaluation.begin(set_id, configurations or (AS_IT_IS,), **values)]


def finished(evaluation: Evaluation, set_id: str, *configurations: Configuration, **values: Any) -> list[Run]:
    """Runs begun and carried out."""
    ids = begin(evaluation, set_id, *configurations, **values)
    list(evaluation.steps(ids))
    return [evaluation.run(run_id) for run_id in ids]


def lasting(results: Sequence[Result]) -> list[Result]:
    """Results without what differs from one time to the next, as do the last digits of what is read in one batch."""
    costs = {"search_ms", "answer_ms"}
    return [
        replace(
            one, latency_ms={}, metrics={key: value for key, value in one.metrics.items() if key not in costs},
            confidence=None if one.confidence is None else round(one.confidence, 6),
        )
        for one in results
    ]  # fmt: skip


def test_passages_are_those_that_answers_get_with_the_gold_they_hold(
    library: Library, evaluation: Evaluation, set_id: str
) -> None:
    (run,) = finished(evaluation, set_id)
    assert (run.state, run.done, run.total, run.error, run.notes) == ("done", 4, 4, "", ())
    assert run.finished_at is not None
    assert run.finished_at > run.created_at
    results = evaluation.results(run.id)
    assert [result.question for result in results] == list(QUESTIONS)
    for result in results:
        hits = library.asking.passages(result.question.text).hits
        # Some processors compute a batch of questions otherwise than one question, in 16 bits: what fits
        # equally well may then change places.
        scores = {(h.document.id, h.start, h.end, h.text): h.score for h in hits}
        assert {(f.document_id, f.start, f.end, f.text): f.score for f in result.found} == pytest.approx(
            scores, abs=0.03
        )
        assert [found.rank for found in result.found] == [1, 2, 3, 4, 5, 6]
        assert (result.answer, result.abstained, result.error, result.notes) == ("", None, "", ())
    assert [result.found[0].relevant for result in results] == [True, True, True, None]
    assert [result.metrics["hit_rate"] for result in results] == [1.0, 1.0, 1.0, None]
    assert [result.metrics["span_recall"] for result in results] == [1.0, 1.0, None, None]
    assert run.metrics["mrr"].count == 3
    assert "search_ms" not in run.metrics


def test_a_run_tells_what_it_was_made_with(library: Library, evaluation: Evaluation, set_id: str) -> None:
    run, other = finished(evaluation, set_id, FEW, AS_IT_IS, seed=5)
    assert (run.configuration, run.set_id, run.set_name, run.seed, run.answers) == (FEW, set_id, "Basics", 5, False)
    assert (run.settings["retrieval.k"], other.settings["retrieval.k"]) == (2, 6)
    assert run.group == other.group
    assert run.id != other.id
    assert {"numpy", "ir-measures", "rouge-score"} <= set(run.versions)
    assert (run.library["documents"], run.library["chunks"]) == (5, library.maintenance.status().chunks)
    assert [len(result.found) for result in evaluation.results(run.id)] == [2] * 4
    assert "gemini_endpoint" not in str(run.settings)


def test_answers_are_those_of_the_chat_and_are_measured(library: Library, evaluation: Evaluation, set_id: str) -> None:
    (run,) = finished(evaluation, set_id, answers=True)
    results = evaluation.results(run.id)
    for result in results:
        answer = library.ask(result.question.text)
        library.history.delete(answer.conversation)
        assert (result.answer, result.abstained) == (answer.text, answer.abstained)
        assert result.confidence == pytest.approx(answer.confidence)
        assert [found.text for found in result.found] == [hit.text for hit in answer.hits]
        for sentence in result.sentences:
            assert all(1 <= rank <= len(result.found) for rank in sentence.citations)
        laps = result.latency_ms
        assert sum(laps[name] for name in ("prepare", "embed", "search", "generate")) <= laps["total"] + 1
        assert result.metrics["search_ms"] == laps["embed"] + laps["search"]
    assert [result.metrics["correct"] for result in results] == [1.0, 1.0, 1.0, 1.0]
    assert [result.metrics["abstention"] for result in results] == [1.0, 1.0, 1.0, 1.0]
    assert results[0].metrics["citation_validity"] == 1.0
    assert results[0].found[results[0].sentences[0].citations[0] - 1].relevant
    assert (results[3].metrics["rouge_1"], results[3].metrics["faithfulness"]) == (None, None)
    assert run.metrics["correct"].mean == 1.0
    assert library.conversations() == []
    assert evaluation.calibration(run.id).count == 4


def test_runs_begun_together_take_turns(evaluation: Evaluation, set_id: str) -> None:
    ids = begin(evaluation, set_id, AS_IT_IS, FEW, answers=True)
    steps = [step.note for step in evaluation.steps()]
    assert sorted(steps) == sorted(ids * 5)
    assert all({steps[i], steps[i + 1]} == set(ids) for i in range(0, 10, 2))
    assert all(evaluation.run(run_id).state == "done" for run_id in ids)


def test_other_chunks_are_embedded_document_by_document(library: Library, evaluation: Evaluation, set_id: str) -> None:
    (run_id,) = begin(evaluation, set_id, SMALL)
    steps = list(evaluation.steps())
    prepared = [(step.done, step.total) for step in steps if step.stage == "preparing"]
    assert prepared == [(number, 5) for number in range(1, 6)]
    assert {step.stage for step in steps} == {"preparing", "Small chunks"}
    results = evaluation.results(run_id)
    assert all(len(found.text) <= 120 for result in results for found in result.found)
    assert [result.metrics["hit_rate"] for result in results[:3]] == [1.0, 1.0, 1.0]
    answers = finished(evaluation, set_id, SMALL, answers=True)[0]
    assert answers.metrics["correct"].mean == 1.0
    assert library.maintenance.status().chunks == library.evaluation.run(run_id).library["chunks"]


def test_many_chunkings_are_tried_at_once_and_again(evaluation: Evaluation, set_id: str) -> None:
    sizes = [Configuration(f"{size}", {"chunking.size": size, "chunking.overlap": 10}) for size in range(60, 130, 10)]
    first = finished(evaluation, set_id, *sizes)
    again = finished(evaluation, set_id, *sizes)
    assert [(run.state, run.error) for run in (*first, *again)] == [("done", "")] * 14
    for one, other in zip(first, again, strict=True):
        assert lasting(evaluation.results(one.id)) == lasting(evaluation.results(other.id))


@pytest.mark.parametrize(
    ("configuration", "values", "error"),
    [
        (Configuration("k", {"retrieval.k": 0}), {}, ConfigurationError),
        (Configuration("typo", {"retrieval.kk": 3}), {}, ConfigurationError),
        (Configuration("private", {"generation.gemini_endpoint": "http://127.0.0.1:9"}), {}, ConfigurationError),
        (Configuration("model", {"generation.model": "gguf:none.gguf"}), {"answers": True}, ModelUnavailable),
        (Configuration("model", {"generation.model": "\ud800"}), {"answers": True}, ModelUnavailable),
        (AS_IT_IS, {"answers": True, "judge": "gguf:none.gguf"}, ModelUnavailable),
        (AS_IT_IS, {"answers": True, "judge": "extractive"}, ModelUnavailable),
        (AS_IT_IS, {"seed": -1}, ConfigurationError),
        (AS_IT_IS, {"seed": 2**70}, ConfigurationError),
    ],
)
def test_what_cannot_be_run_is_refused_and_nothing_is_noted(
    evaluation: Evaluation, set_id: str, configuration: Configuration, values: dict[str, Any], error: type[LecternError]
) -> None:
    with pytest.raises(error) as refused:
        evaluation.begin(set_id, [AS_IT_IS, configuration], **values)
    assert str(refused.value)
    assert evaluation.runs() == []


def test_an_empty_set_is_refused_and_one_that_is_gone(evaluation: Evaluation) -> None:
    empty = evaluation.create("Empty")
    with pytest.raises(LecternError, match="no questions"):
        evaluation.begin(empty.id, [AS_IT_IS])
    with pytest.raises(KeyError):
        evaluation.begin("gone", [AS_IT_IS])
    assert begin(evaluation, evaluation.create("One", [BREAD]).id) != []
    assert evaluation.begin(evaluation.sets()[0].id, []) == []


@pytest.mark.parametrize(
    "question",
    [Question("a", ""), Question("a", " \n"), Question("", "Who?"), Question(" ", "Who?"), Question("a" * 201, "Who?")],
)
def test_a_question_without_a_text_or_an_id_is_refused(evaluation: Evaluation, question: Question) -> None:
    found = evaluation.create("Set", [BREAD])
    with pytest.raises(LecternError):
        evaluation.put(found.id, [KEEPER, question])
    with pytest.raises(LecternError):
        evaluation.create("Other", [KEEPER, question])
    assert evaluation.questions(found.id) == [BREAD]
    assert len(evaluation.sets()) == 1


def test_what_is_gone_is_said(evaluation: Evaluation) -> None:
    calls: list[Callable[[], object]] = [
        lambda: evaluation.set("gone"),
        lambda: evaluation.put("gone", [BREAD]),
        lambda: evaluation.drop("gone", ["bread"]),
        lambda: evaluation.rename("gone", "name"),
        lambda: evaluation.run("gone"),
        lambda: evaluation.cancel("gone"),
        lambda: evaluation.compare("gone", "gone"),
        lambda: evaluation.drawings(["gone"]),
        lambda: evaluation.export(["gone"], "csv"),
    ]
    for call in calls:
        with pytest.raises(KeyError):
            call()
    evaluation.delete("gone")
    evaluation.delete_run("gone")
    assert evaluation.results("gone") == evaluation.questions("gone") == []
    assert list(evaluation.steps(["gone"])) == []


def test_a_cancel_stops_all_and_each_goes_on_where_it_was(evaluation: Evaluation, set_id: str) -> None:
    whole = lasting(evaluation.results(finished(evaluation, set_id, answers=True)[0].id))
    first, second = begin(evaluation, set_id, AS_IT_IS, FEW, answers=True)
    (waiting,) = begin(evaluation, set_id, answers=True)
    token = Cancellation()
    for step in evaluation.steps(cancellation=token):
        if step.note == first and step.done == 2:
            token.cancel()
    states = {run.id: (run.state, run.done) for run in evaluation.runs()}
    assert states[first] == ("cancelled", 2)
    assert states[second][0] == states[waiting][0] == "cancelled"
    assert states[waiting][1] == 0
    assert list(evaluation.steps()) == []
    kept = evaluation.results(first)
    steps = [(step.done, step.total) for step in evaluation.steps([first])]
    assert steps == [(2, 4), (3, 4), (4, 4)]
    assert evaluation.results(first)[:2] == kept  # not asked again
    assert lasting(evaluation.results(first)) == whole
    assert [evaluation.run(run_id).state for run_id in (first, second)] == ["done", "cancelled"]


def test_one_run_is_cancelled_and_the_others_go_on(evaluation: Evaluation, set_id: str) -> None:
    first, second = begin(evaluation, set_id, AS_IT_IS, FEW, answers=True)
    token = Cancellation()
    for step in evaluation.steps(cancellation=token):
        if (step.note, step.done) == (first, 1):
            token.cancel(first)
    assert (evaluation.run(first).state, evaluation.run(second).state) == ("cancelled", "done")
    assert evaluation.run(first).done == evaluation.run(first).metrics["correct"].count == 1


def test_a_cancel_amid_other_chunks_and_before_the_first_step(evaluation: Evaluation, set_id: str) -> None:
    other = Configuration("Tiny", {"chunking.size": 55, "chunking.overlap": 5})
    (run_id,) = begin(evaluation, set_id, other)
    token = Cancellation()
    for step in evaluation.steps(cancellation=token):
        if (step.stage, step.done) == ("preparing", 2):
            token.cancel()
    assert (evaluation.run(run_id).state, evaluation.run(run_id).done) == ("cancelled", 0)
    assert list(evaluation.steps([run_id], cancellation=token)) == []
    assert evaluation.run(run_id).state == "cancelled"
    list(evaluation.steps([run_id]))
    assert evaluation.run(run_id).state == "done"


def test_a_listener_who_leaves_has_the_run_go_on_the_next_time(evaluation: Evaluation, set_id: str) -> None:
    first, second = begin(evaluation, set_id, AS_IT_IS, FEW, answers=True)
    steps = evaluation.steps()
    for step in steps:
        if step.done == 2:
            break
    steps.close()  # type: ignore[attr-defined]
    assert {evaluation.run(run_id).state for run_id in (first, second)} == {"running"}
    done = evaluation.run(first).done + evaluation.run(second).done
    assert 2 <= done <= 4
    again = [step for step in evaluation.steps() if step.done > 0]
    assert again[-1].done == 4
    assert {evaluation.run(run_id).state for run_id in (first, second)} == {"done"}
    for run_id in (first, second):
        results = evaluation.results(run_id)
        assert [result.question.id for result in results] == [question.id for question in QUESTIONS]
    assert list(evaluation.steps()) == []


def test_questions_are_kept_in_portions_and_a_stop_falls_between_them(evaluation: Evaluation) -> None:
    many = [replace(BREAD, id=f"q{number}", text=f"What does loaf {number} cost?") for number in range(300)]
    set_id = evaluation.create("Many", many).id
    (run_id,) = begin(evaluation, set_id)
    token = Cancellation()
    seen = []
    for step in evaluation.steps(cancellation=token):
        seen.append(step.done)
        if step.done == 128:
            token.cancel()
    assert seen == [0, 128]
    assert (evaluation.run(run_id).state, evaluation.run(run_id).done) == ("cancelled", 128)
    assert [step.done for step in evaluation.steps([run_id])] == [128, 256, 300]
    results = evaluation.results(run_id)
    assert [result.question for result in results] == many
    (whole,) = finished(evaluation, set_id)
    assert lasting(results) == lasting(evaluation.results(whole.id))
    assert evaluation.run(run_id).metrics == whole.metrics


def test_two_calls_at_once_do_nothing_twice(evaluation: Evaluation, set_id: str) -> None:
    first, second = begin(evaluation, set_id, AS_IT_IS, answers=True), begin(evaluation, set_id, FEW, answers=True)
    steps: list[list[Progress]] = [[], [], []]

    def work(number: int) -> None:
        steps[number].extend(evaluation.steps())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    told = [(step.note, step.done) for some in steps for step in some if step.note]
    assert sorted(told) == sorted((run_id, done) for run_id in (*first, *second) for done in range(5))
    assert sum(bool(some) and any(step.note for step in some) for some in steps) == 1
    assert {run.state for run in evaluation.runs()} == {"done"}


def test_runs_as_jobs_wait_for_one_another_and_end_with_whoever_listens(evaluation: Evaluation, set_id: str) -> None:
    (first,), (second,) = begin(evaluation, set_id, answers=True), begin(evaluation, set_id, answers=True)
    listening = evaluation.carry_out([first])
    next(listening)
    token = Cancellation()
    token.cancel()
    assert list(evaluation.carry_out(["gone", second], cancellation=token)) == []
    assert evaluation.run(second).state == "cancelled"
    listening.close()  # type: ignore[attr-defined]
    assert evaluation.run(first).state in ("cancelled", "done")
    steps = list(evaluation.carry_out([first, second]))
    assert {step.note for step in steps} <= {first, second}
    assert {evaluation.run(run_id).state for run_id in (first, second)} == {"done"}
    assert list(evaluation.carry_out()) == []


def test_a_run_or_set_deleted_in_the_middle_does_no_harm(evaluation: Evaluation, set_id: str) -> None:
    first, second = begin(evaluation, set_id, AS_IT_IS, FEW, answers=True)
    for step in evaluation.steps():
        if (step.note, step.done) == (first, 1):
            evaluation.delete_run(first)
            evaluation.delete(set_id)
    assert [run.id for run in evaluation.runs()] == [second]
    assert (evaluation.run(second).state, evaluation.run(second).done) == ("done", 4)
    assert evaluation.results(first) == []
    assert evaluation.run(second).set_name == "Basics"


def test_a_run_asks_the_questions_as_they_were(evaluation: Evaluation, set_id: str) -> None:
    (run_id,) = begin(evaluation, set_id, answers=True)
    evaluation.put(set_id, [replace(BREAD, text="How does the bishop move?"), Question("new", "A new one?")])
    evaluation.drop(set_id, ["cup"])
    list(evaluation.steps())
    assert [result.question for result in evaluation.results(run_id)] == list(QUESTIONS)
    (other,) = finished(evaluation, set_id, answers=True)
    pairs = {difference.metric.key: difference.count for difference in evaluation.compare(run_id, other.id)}
    assert pairs["correct"] == 2  # what was asked in another way is another question


def test_runs_of_two_sets_are_not_taken_for_one_another(evaluation: Evaluation, set_id: str) -> None:
    other = evaluation.create("Other", [replace(question, text=f"{question.text} Really?") for question in QUESTIONS])
    (one,), (two,) = finished(evaluation, set_id), finished(evaluation, other.id)
    assert all(difference.count == 0 for difference in evaluation.compare(one.id, two.id))
    assert all(difference.count == 0 for difference in evaluation.compare(two.id, one.id))


def test_a_run_keeps_the_settings_it_was_begun_with(evaluation: Evaluation, set_id: str) -> None:
    (run_id,) = begin(evaluation, set_id, Configuration("Words", {"answering.max_sentences": 1}), answers=True)
    steps = evaluation.steps()
    while next(steps).done < 1:
        pass
    evaluation.apply(Configuration("more", {"retrieval.k": 3, "answering.max_sentences": 2}))
    try:
        list(steps)
        (begun,) = begin(evaluation, set_id, answers=True)
        assert evaluation.run(begun).settings["retrieval.k"] == 3
    finally:
        evaluation.apply(Configuration("back", {"retrieval.k": 6, "answering.max_sentences": 3}))
    list(evaluation.steps())
    assert [len(result.found) for result in evaluation.results(run_id)] == [6] * 4
    answered = [result for result in evaluation.results(run_id) if not result.abstained]
    assert answered and all(len(result.sentences) <= 1 for result in answered)
    assert [len(result.found) for result in evaluation.results(begun)] == [3] * 4


def test_a_model_that_fails_ends_its_run_which_goes_on_later(
    evaluation: Evaluation, set_id: str, remote: Script
) -> None:
    remote.texts = ("A loaf of rye bread costs 4.20 euros [1][9].",)
    quoted, written = begin(evaluation, set_id, AS_IT_IS, GEMINI, answers=True)
    for step in evaluation.steps():
        if (step.note, step.done) == (written, 2):
            remote.status, remote.message = 500, "overloaded"
    assert evaluation.run(quoted).state == "done"
    failed = evaluation.run(written)
    assert (failed.state, failed.done) == ("failed", 2)
    assert failed.error
    assert failed.metrics["correct"].count == 2
    remote.status = 200
    asked = len(remote.requests)
    list(evaluation.steps([written]))
    assert len(remote.requests) == asked + 2
    run = evaluation.run(written)
    assert (run.state, run.done, run.error) == ("done", 4, "")
    result = evaluation.results(written, ["bread"])[0]
    assert result.tokens["prompt"] > result.tokens["answer"] > 0
    assert result.metrics["tokens"] == sum(result.tokens.values())
    assert result.metrics["citation_validity"] == 0.5
    assert result.metrics["judged_faithfulness"] is None


def test_a_judge_s_verdict_is_a_column_of_its_own(evaluation: Evaluation, set_id: str, remote: Script) -> None:
    remote.texts = ("Yes.",)
    (run,) = finished(evaluation, set_id, answers=True, judge="gemini")
    results = evaluation.results(run.id)
    assert run.judge == "gemini"
    assert results[0].metrics["judged_faithfulness"] == 1.0
    assert results[3].metrics["judged_faithfulness"] is None
    remote.texts = ("Hard to say.",)
    (run,) = finished(evaluation, set_id, answers=True, judge="gemini")
    assert "judged_faithfulness" not in run.metrics


def test_what_goes_wrong_unexpectedly_marks_its_run_and_no_other(
    library: Library, evaluation: Evaluation, set_id: str
) -> None:
    def broken(question: str, *rest: Any) -> Any:
        raise ZeroDivisionError("a bug")

    first, second = begin(evaluation, set_id, AS_IT_IS, FEW, answers=True)
    host = replace(evaluation.host, answer=broken)
    list(Evaluation(library.storage, host).steps([first]))
    list(evaluation.steps())
    assert evaluation.run(first).state == "failed"
    assert "a bug" in evaluation.run(first).error
    assert evaluation.run(second).state == "done"
    list(evaluation.steps([first]))
    assert evaluation.run(first).state == "done"


def test_a_question_that_cannot_be_asked_has_an_error_and_the_others_a_result(evaluation: Evaluation) -> None:
    odd = [Question("marks", "?!?"), Question("long", "word " * 2000), BREAD]
    set_id = evaluation.create("Odd", odd).id
    (run,) = finished(evaluation, set_id, answers=True)
    assert run.state == "done"
    errors = [bool(result.error) for result in evaluation.results(run.id)]
    assert errors == [True, True, False]
    assert run.metrics["correct"].count == 1
    (passages,) = finished(evaluation, set_id)
    assert passages.state == "done"


def test_gold_that_is_not_in_the_library_is_told_and_counts_for_nothing(
    library: Library, evaluation: Evaluation
) -> None:
    text = "The ferry to Oreby leaves at nine and at noon."
    gone = add_text(library, "ferry.txt", text)
    twins = [add_text(library, "twin.txt", f"A twin text, number {number}.") for number in (1, 2)]
    questions = [
        Question("gone", "When does the ferry to Oreby leave?", gold=(Gold("ferry.txt", 1, "at nine"),)),
        Question("half", "When does the ferry leave?", gold=(Gold("ferry.txt"), Gold("bakery.md", 1))),
        Question("twin", "Which twin?", gold=(Gold("twin.txt"),)),
        Question("page", "Which page?", gold=(Gold("bakery.md", 77),)),
        Question("words", "Which words?", gold=(Gold("bakery.md", 1, "never written there"),)),
    ]
    set_id = evaluation.create("Gone", questions).id
    (before,) = finished(evaluation, set_id)
    assert evaluation.results(before.id)[0].metrics["hit_rate"] == 1.0
    (amid,) = begin(evaluation, set_id)
    library.remove(gone.id)
    list(evaluation.steps())
    try:
        results = {result.question.id: result for result in evaluation.results(amid)}
        assert {key: result.metrics["hit_rate"] is None for key, result in results.items()} == {
            "gone": True, "half": False, "twin": True, "page": True, "words": True,
        }  # fmt: skip
        assert all(result.notes for result in results.values())
        assert all(found.document_id != gone.id for result in results.values() for found in result.found)
        assert "changed" in " ".join(evaluation.run(amid).notes)
        assert before.notes == ()
        # What was found of a document that is gone can still be read.
        assert evaluation.results(before.id)[0].found[0].text == text
        told = evaluation.check(questions)
        assert [problem.row for problem in told] == [1, 2, 3, 4, 5]
    finally:
        for twin in twins:
            library.remove(twin.id)


def test_a_file_s_problems_have_the_rows_of_the_file(evaluation: Evaluation) -> None:
    rows = [
        "question,document,page,excerpt",
        "What does bread cost?,bakery.md,1,rye bread",
        ",bakery.md,1,",
        "Gone?,gone.pdf,1,",
        "Page?,bakery.md,x,",
        "Where?,bakery.md,9,",
    ]
    report = evaluation.read("q.csv", "\n".join(rows).encode())
    assert len(report.questions) == 3
    assert sorted((problem.row, problem.kept) for problem in report.problems) == [
        (3, False), (4, True), (5, False), (6, True),
    ]  # fmt: skip
    assert evaluation.sets() == []


def test_rated_answers_become_questions(library: Library, evaluation: Evaluation) -> None:
    good = library.ask(BREAD.text)
    bad = library.ask(KEEPER.text, conversation=good.conversation)
    none = library.ask(CUP.text, conversation=good.conversation)
    library.history.rate(good.message_id, 1)
    library.history.rate(bad.message_id, -1)
    library.history.rate(none.message_id, 1)
    try:
        asked = evaluation.asked()
        assert [question.text for question in asked] == [BREAD.text, KEEPER.text, CUP.text]
        assert [question.answerable for question in asked] == [True, True, False]
        assert "4.20" in asked[0].references[0]
        assert evaluation.check(asked) == ()
        (run,) = finished(evaluation, evaluation.create("Asked", asked).id, answers=True)
        assert run.metrics["correct"].mean == 1.0
        assert [message.rating for message in library.messages(good.conversation)] == [1, -1, 1]
        library.history.rate(bad.message_id, None)
        assert len(evaluation.asked()) == 2
        with pytest.raises(ValueError):
            library.history.rate(good.message_id, 2)
        library.history.rate("gone", 1)
    finally:
        library.history.delete(good.conversation)
    assert evaluation.asked() == []


def test_runs_are_compared_drawn_and_written_out(evaluation: Evaluation, set_id: str) -> None:
    first, second = finished(evaluation, set_id, AS_IT_IS, FEW, answers=True)
    differences = evaluation.compare(first.id, second.id)
    assert {difference.metric.key for difference in differences} >= {"hit_rate", "correct", "search_ms"}
    assert not any(difference.significant for difference in differences)
    assert evaluation.drawings([first.id, second.id])
    assert evaluation.export([first.id, second.id], "html").startswith(b"<!")
    assert len(evaluation.export([first.id, second.id], "csv").splitlines()) >= 9
    assert json.loads(evaluation.export([first.id], "json"))
    for form in ("csv", "jsonl"):
        data = evaluation.export_questions(set_id, form)  # type: ignore[arg-type]
        report = evaluation.read(f"q.{form}", data)
        assert [replace(question, origin="typed") for question in report.questions] == list(QUESTIONS)
        assert report.problems == ()


def test_what_was_applied_is_there_after_a_restart_and_can_be_taken_back(settings: Settings) -> None:
    with Library.open(settings) as library:
        plain = library.settings
        evaluation = library.evaluation
        old = {field.key: field.value for field in evaluation.fields()}
        assert evaluation.apply(Configuration("none", {})) == ()
        assert evaluation.apply(Configuration("better", {"retrieval.k": 9, "answering.mmr_lambda": 0.7})) == ()
        assert evaluation.apply(Configuration("cut", {"chunking.size": 400, "chunking.overlap": 50})) != ()
        with pytest.raises(ConfigurationError):
            evaluation.apply(Configuration("wrong", {"retrieval.k": 0}))
        with pytest.raises(ConfigurationError):
            evaluation.apply(Configuration("elsewhere", {"generation.gemini_endpoint": "https://example.org"}))
    with Library.open(settings) as library:
        assert (library.settings.retrieval.k, library.settings.answering.mmr_lambda) == (9, 0.7)
        assert (library.settings.chunking.size, library.settings.chunking.overlap) == (400, 50)
        fields = {field.key: field.value for field in library.evaluation.fields()}
        assert fields["retrieval.k"] == 9
        library.evaluation.apply(Configuration("back", {key: old[key] for key in fields if fields[key] != old[key]}))
        assert library.settings == plain
    with Library.open(settings) as library:
        assert library.settings == plain
        assert {field.key: field.value for field in library.evaluation.fields()} == old


def test_settings_of_a_library_that_fit_no_longer_are_left_out(settings: Settings) -> None:
    with Library.open(settings) as library:
        hostile = {"retrieval.k": 9, "retrieval.gone": 1, "answering.mmr_lambda": 7}
        hostile |= {"generation.gemini_endpoint": "https://example.org", "embedding.model": "/tmp/x", "data_dir": "/"}
        library.preferences.set("settings", json.dumps(hostile))
    with Library.open(settings) as library:
        assert library.settings == settings.changed("retrieval", k=9)
        library.preferences.set("settings", json.dumps({"retrieval.engine": "pgvector", "retrieval.mode": "exact"}))
    with Library.open(settings) as library:
        assert library.settings == settings.changed("retrieval", index="pgvector", scan="exact")
        library.preferences.set("settings", "nonsense")
    with Library.open(settings) as library:
        assert library.settings == settings
        library.preferences.set("settings", "[3]")
    with Library.open(settings) as library:
        assert library.settings == settings


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Settings:
    """Those of a closed library with the small texts in it."""
    folder = tmp_path_factory.mktemp("own")
    settings = Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())
    with Library.open(settings) as library:
        for event in library.add([Upload(name, text.encode()) for name, text in TEXTS.items()]):
            assert event.error is None
    return settings


WORKER = """
import sys
from rag_core import Library, Settings
settings = Settings(_env_file=None, data_dir=sys.argv[1], database_url=sys.argv[2])
with Library.open(settings) as library:
    for step in library.evaluation.steps():
        print(step.stage, step.done, flush=True)
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(own: Settings) -> None:
    small = Configuration("Small", {"chunking.size": 100, "chunking.overlap": 10})
    with Library.open(own) as library:
        many = [replace(question, id=f"{question.id}{n}") for n in range(2) for question in QUESTIONS]
        set_id = library.evaluation.create("Many", many).id
        ids = begin(library.evaluation, set_id, AS_IT_IS, small, answers=True)
    assert own.database_url is not None
    arguments = [sys.executable, "-c", WORKER, str(own.data_dir), own.database_url.get_secret_value()]
    with subprocess.Popen(arguments, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        for line in worker.stdout:
            if line.strip() == "Small 2":
                worker.send_signal(signal.SIGKILL)
                break
    with Library.open(own) as library:
        evaluation = library.evaluation
        left = {run_id: evaluation.run(run_id) for run_id in ids}
        assert {run.state for run in left.values()} == {"running"}
        assert all(0 < run.done < 8 for run in left.values())
        kept = {run_id: evaluation.results(run_id) for run_id in ids}
        before = sum(run.done for run in left.values())
        steps = [step for step in evaluation.steps() if step.stage != "preparing"]
        assert len(steps) == 2 + 16 - before
        for run_id in ids:
            run = evaluation.run(run_id)
            assert (run.state, run.done) == ("done", 8)
            assert [note for note in run.notes if "went on later" in note] == list(run.notes)
            results = evaluation.results(run_id)
            assert [result.question for result in results] == many
            assert results[: left[run_id].done] == kept[run_id]
        wholes = finished(evaluation, set_id, AS_IT_IS, small, answers=True)
        for run_id, whole in zip(ids, wholes, strict=True):
            assert lasting(evaluation.results(whole.id)) == lasting(evaluation.results(run_id))
            assert whole.metrics["correct"] == evaluation.run(run_id).metrics["correct"]


def test_closing_the_library_ends_a_run_quietly_and_it_goes_on_later(own: Settings) -> None:
    left = 3
    with Library.open(own) as library:
        many = [replace(question, id=f"{question.id}{n}") for n in range(60) for question in QUESTIONS]
        begin(library.evaluation, library.evaluation.create("Many", many).id, answers=True)
    while left:
        left -= 1
        library = Library.open(own)
        ended: list[str] = []
        threads = [threading.Thread(target=_work, args=(library, ended)) for _ in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(0.2 * (3 - left))
        library.close()
        for thread in threads:
            thread.join(30)
        assert ended == ["ended", "ended"]
    with Library.open(own) as library:
        run = library.evaluation.runs()[0]
        assert (run.state, run.error) == ("running", "")
        assert all(not result.error for result in library.evaluation.results(run.id))


def _work(library: Library, ended: list[str]) -> None:
    for _ in library.evaluation.steps():
        pass
    ended.append("ended")
