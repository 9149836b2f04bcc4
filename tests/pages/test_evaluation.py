"""The evaluation page: what it draws for results and questions, the boards of runs and drafts, the page as a whole."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import exchange, resources, samples
from pages.parts.evaluation import (
    adopting,
    charting,
    chunking,
    comparing,
    configurations,
    drafting,
    editing,
    exporting,
    history,
    listing,
    looked_up,
    numbers,
    opened,
    places,
    questions,
    results,
    running,
)
from pages.parts.evaluation.board import RunBoard, Step
from pages.parts.evaluation.candidates import CandidateBoard
from pages.parts.tasks import Task
from rag_core.domain import Configuration, Estimate, Gold, ImportReport, Progress, RowProblem
from rag_core.errors import LecternError, ModelUnavailable, StoreUnavailable
from tests.conftest import PROJECT
from tests.made_runs import AS_IT_IS, BEGUN, MORE, a_question, a_result, a_run
from tests.pages.conftest import FakeLibrary, a_document
from tests.pages.fake_evaluation import ANSWER_MS, FIELDS, HIT_RATE, a_difference

BY_KEY = {field.key: field for field in FIELDS}


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)


# Numbers and words


def test_numbers_as_people_read_them() -> None:
    assert numbers.value(HIT_RATE, 0.8333) == "83 %"
    assert [numbers.value(ANSWER_MS, ms) for ms in (3.25, 1234.5)] == ["3.2 ms", "1,234 ms"]
    assert numbers.interval(HIT_RATE, Estimate(0.8, 0.71, 0.954, 20)) == "71 to 95"
    assert numbers.change(a_difference(difference=0.061)) == "+6 points"
    assert numbers.change(a_difference(difference=-0.01)) == "−1 point"
    assert numbers.change(a_difference(difference=0.0, low=0.0, high=0.0)) == "equal"
    assert numbers.change(a_difference(ANSWER_MS, 203.4)) == "+203 ms"
    assert numbers.change_interval(a_difference(difference=0.06)) == "+2 to +10"
    assert [numbers.ordinal(n) for n in (1, 2, 3, 4, 11, 22)] == ["1st", "2nd", "3rd", "4th", "11th", "22nd"]
    assert numbers.better(a_difference()) is True
    assert numbers.better(a_difference(ANSWER_MS, 20.0)) is False


def test_places_of_answers_in_words() -> None:
    documents = [a_document("bridges.txt"), a_document("roads.pdf", title="")]
    titles = places.titles(documents)
    assert places.place(Gold("BRIDGES.TXT", 2), titles) == "Bridges, p.\u00a02"
    assert places.place(Gold("gone.pdf"), titles) == "gone.pdf"
    assert places.summary(a_question(1, gold=(Gold("Bridges", 2), Gold("roads.pdf"))), titles).endswith(
        "and 1 other place"
    )
    assert places.summary(a_question(1, answerable=False), titles) == "not in the library"
    assert places.summary(a_question(1, gold=()), titles) == "an answer, no place"
    assert places.summary(a_question(1, gold=(), references=()), titles) == "nothing known"
    assert places.ids(documents)["bridges"] == "bridges.txt"


def test_excerpts_are_found_whatever_the_white_space() -> None:
    assert places.marks("It is made\nof  steel, of steel.", ["made of steel", "steel,", "gone"]) == [(6, 20)]
    assert places.marks("a (b) c", ["(b)", ""]) == [(2, 5)]


def test_configurations_in_words_and_presets() -> None:
    told = configurations.changes_in_words({"retrieval.k": 10, "answering.prompt": "Say so", "gone": 1}, BY_KEY)
    assert told == ["Passages (k): 10 instead of 6", "Prompt: “Say so” instead of “”", "gone: 1"]
    assert configurations.changes_in_words({"retrieval.k": 6}, BY_KEY) == ["Passages (k): 6, as the library has it"]
    presets = configurations.presets(BY_KEY)
    assert [(choice.configuration.changes, choice.chosen) for choice in presets] == [
        ({"retrieval.k": 10}, True), ({"answering.mmr_lambda": 1.0}, False),
    ]  # fmt: skip
    many = {"retrieval.k": replace(BY_KEY["retrieval.k"], value=80)}
    assert configurations.presets(many)[0].configuration.changes == {"retrieval.k": 100}


def test_kept_configurations_lose_settings_that_are_gone(library: FakeLibrary) -> None:
    rows = [("a", {"retrieval.k": 3, "gone": 1}), ("b", {"gone": 1}), ("c", {})]
    kept = [{"name": name, "changes": changes, "chosen": True} for name, changes in rows]
    library.preferences[configurations.PREFERENCE] = json.dumps(kept)
    found = configurations.load(library, BY_KEY)  # type: ignore[arg-type]
    assert [(item.configuration.name, dict(item.configuration.changes)) for item in found] == [
        ("a", {"retrieval.k": 3}), ("c", {}),
    ]  # fmt: skip


def test_files_are_named_after_their_set() -> None:
    assert exporting.file_name("My questions / 2: ü", "csv") == "my-questions-2-ü.csv"
    assert exporting.file_name("../", "jsonl") == "questions.jsonl"


def test_runs_of_one_name_are_told_apart() -> None:
    runs = [a_run("a"), a_run("b", created_at=BEGUN + timedelta(days=1)), a_run("c", MORE)]
    named = comparing.labels(runs)
    assert named["c"] == "More passages"
    assert named["a"] != named["b"]


def test_better_means_better_in_something_and_worse_in_nothing() -> None:
    up, down, chance = a_difference(), a_difference(difference=-0.1), a_difference(significant=False)
    slower = a_difference(ANSWER_MS, 20.0)
    assert comparing.is_better([up, chance])
    assert not any(comparing.is_better(found) for found in ([chance], [up, down], [up, slower], []))


# Questions of runs


def briefs(*found: Any) -> tuple[looked_up.Brief | None, ...]:
    return tuple(looked_up.brief(result) if result else None for result in found)


def test_how_a_question_went_in_words() -> None:
    told = [
        (a_result(1, at=2), ("right", "passage 2nd", "good")),
        (a_result(1, at=None), ("wrong", "passage not found", "bad")),
        (a_result(1, at=None, abstained=True), ("said “not found”", "passage not found", "bad")),
        (a_result(1, at=3, answers=False), ("3rd", "", "")),
        (a_result(1, at=None, answers=False), ("not found", "", "bad")),
        (a_result(1, error="No model."), ("failed", "", "bad")),
        (None, ("not asked", "", "dim")),
    ]
    for result, expected in told:
        cell = listing.in_words(briefs(result)[0])
        assert (cell["text"], cell["note"], cell["tone"]) == expected
    nowhere = a_result(1, answers=False, found=(), question=a_question(1, gold=(), answerable=False))
    assert listing.in_words(briefs(nowhere)[0])["text"] == "has no answer"


def test_lines_are_filtered_and_sorted() -> None:
    better = listing.Line("1", "b", briefs(a_result(1, at=3, answers=False), a_result(1, at=1, answers=False)))
    worse = listing.Line("2", "a", briefs(a_result(2, at=1, answers=False), a_result(2, at=None, answers=False)))
    failed = listing.Line("3", "c", briefs(a_result(3, error="x"), None))
    assert [line.is_in("better") for line in (better, worse, failed)] == [True, False, False]
    assert [line.is_in("worse") for line in (better, worse, failed)] == [False, True, False]
    assert [line.is_in("missed") for line in (better, worse, failed)] == [False, True, False]
    assert [line.is_in("failed") for line in (better, worse, failed)] == [False, False, True]
    lines = [better, worse, failed]
    assert [line.question for line in listing.ordered(lines, ("question", False))] == ["a", "b", "c"]
    assert [line.question for line in listing.ordered(lines, ("0", True))] == ["a", "b", "c"]
    assert listing.ordered(lines, ("7", False)) == lines
    assert listing.ordered(lines, None) == lines


def test_passages_say_which_hold_the_answer() -> None:
    found = opened.passages(a_result(1, 3, at=2))
    assert [item["verdict"] for item in found] == ["", "holds the answer", ""]
    assert [item["open"] for item in found] == [False, True, False]
    assert found[1]["place"] == "p. 2"
    printed = replace(a_result(1).found[0], page_label="ii")
    assert opened.passages(a_result(1, found=(printed,)))[0]["place"] == "p. 1 (printed ii)"
    assert "Hit rate 100 %" in opened.measured(a_result(1), (HIT_RATE, ANSWER_MS))


def test_a_measured_answer_is_drawn_without_question_and_mark() -> None:
    data = exchange.measured(a_result(1), active=1)
    assert (data["question"], data["rateable"], data["state"], data["active"]) == ("", False, "done", 1)
    assert [source["number"] for source in data["sources"]] == [1]
    assert [run for block in data["blocks"] for run in block["runs"] if run.get("doubt")]
    assert exchange.measured(a_result(1, abstained=True))["state"] == "abstained"


def test_questions_are_filtered_by_words() -> None:
    held = [a_question(1), a_question(2, note="of stone"), a_question(3, references=("Brick",))]
    assert questions.matching(held, "STONE bridge") == [held[1]]
    assert questions.matching(held, "brick") == [held[2]]
    assert len(questions.matching(held, "")) == 3
    line = questions.line(held[0], {"bridges.txt": "Bridges"})
    assert [cell["text"] for cell in line["cells"]] == [held[0].text, "Bridges, p.\u00a02", "typed in"]


def test_what_is_wrong_with_a_question_is_said(library: FakeLibrary) -> None:
    assert editing.fault(library, a_question(1, text="")) == "Write a question."  # type: ignore[arg-type]
    assert editing.fault(library, a_question(1)) == ""  # type: ignore[arg-type]
    library.evaluation.problems = (RowProblem(1, "gold", "There is no page 9."),)
    assert editing.fault(library, a_question(1)) == "There is no page 9."  # type: ignore[arg-type]


def test_charts_take_the_tones_of_the_page() -> None:
    spec = {"height": 260, "width": 560, "background": "transparent", "config": {}, "mark": "bar"}
    assert charting.themed(spec) == {"height": 260 + charting.AROUND_PX, "mark": "bar"}
    assert charting.themed({"height": {"step": 14}}) == {"height": {"step": 14}}


# Runs


def test_how_far_a_run_is() -> None:
    run = a_run(done=5, total=20, state="running")
    now = time.monotonic()
    assert running.measure(run, None, stopping=False) == (0.25, "waiting, 5 of 20 done")
    assert running.measure(run, None, stopping=True) == (0.25, "stopping")
    step = Step(Progress("a", 10, 20, "a"), now - 10, 5)
    assert running.measure(run, step, stopping=False) == (0.5, "10 of 20 questions, about 20 s left")
    step = Step(Progress("a", 0, 20, "a"), now, 0)
    assert running.measure(run, step, stopping=False) == (0.0, "beginning with 20 questions")
    step = Step(Progress("preparing", 1, 3, "a"), now, 0)
    assert running.measure(run, step, stopping=False)[1] == "embedding other chunks: 1 of 3 documents"


def test_a_runs_line_says_how_it_ended(library: FakeLibrary) -> None:
    metrics = {"hit_rate": HIT_RATE}
    done = history.row(a_run(), metrics, ticked=True)
    assert [cell["text"] for cell in done["cells"]][2:] == ["20", "60 %", "Done"]
    assert [act["name"] for act in done["acts"]] == ["delete"]
    stopped = history.row(a_run(state="cancelled", done=3), metrics, ticked=False)
    assert [cell["text"] for cell in stopped["cells"]][2::2] == ["3 of 20", "Stopped"]
    assert [act["name"] for act in stopped["acts"]] == ["go", "delete"]
    left = history.row(a_run(state="running", done=3), metrics, ticked=False)
    assert left["cells"][-1]["text"] == "Stopped"


def test_facts_of_runs() -> None:
    assert results.facts([a_run(), a_run("b", done=12)])[0] == "12 to 20 questions"
    assert results.facts([a_run(answers=False)])[:2] == ["20 questions", "passages only"]
    assert results.facts([a_run(judge="gemini")])[2] == "judged by gemini"


@pytest.fixture
def board(library: FakeLibrary) -> RunBoard:
    return RunBoard(lambda: library)  # type: ignore[arg-type,return-value]


def begun(library: FakeLibrary, *wanted: Configuration, size: int = 3) -> list[str]:
    kept = library.evaluation.create("Bridges", [a_question(n) for n in range(size)])
    return [run.id for run in library.evaluation.begin(kept.id, wanted or [AS_IT_IS])]


def test_runs_go_on_by_themselves(board: RunBoard, library: FakeLibrary) -> None:
    library.evaluation.gate.clear()
    ids = begun(library, AS_IT_IS, MORE)
    board.go(ids)
    assert board.queued() == set(ids)
    library.evaluation.gate.set()
    until(lambda: not board.busy)
    assert [run.state for run in library.evaluation.runs()] == ["done", "done"]
    assert board.finished_count == 1
    board.go([])
    assert not board.busy


def test_one_run_is_stopped_and_gone_on_with(board: RunBoard, library: FakeLibrary) -> None:
    library.evaluation.gate.clear()
    first, second = begun(library, AS_IT_IS, MORE)
    board.go([first, second])
    board.stop(first)
    assert board.stopping(first)
    assert not board.stopping(second)
    library.evaluation.gate.set()
    until(lambda: not board.busy)
    assert library.evaluation.run(first).state == "cancelled"
    assert library.evaluation.run(second).state == "done"
    board.go([first])
    until(lambda: not board.busy)
    assert library.evaluation.run(first).state == "done"


def test_what_a_dead_process_left_goes_on_once(board: RunBoard, library: FakeLibrary) -> None:
    (left,) = begun(library)
    board.resume()
    board.resume()
    until(lambda: library.evaluation.run(left).state == "done" and not board.busy)
    assert board.resumed == (left,)
    assert [call for call in library.evaluation.calls if call[0] == "carry_out"] == [("carry_out", [left])]
    assert "Resumed and ended" in running.resumed_words(library.evaluation.runs())
    assert "2 runs were under way. Resumed: 1 to go." in running.resumed_words([a_run(), a_run(state="running")])
    assert running.resumed_words([]) == ""


def test_a_run_that_fails_says_why(board: RunBoard, library: FakeLibrary, caplog: pytest.LogCaptureFixture) -> None:
    for error, said in ((StoreUnavailable("PostgreSQL is gone."), "PostgreSQL is gone."), (OSError(), "unexpectedly")):
        library.evaluation.fails = error
        board.go(begun(library))
        until(lambda: not board.busy)
        assert said in str(board.error)
    assert "A run ended unexpectedly" in caplog.text


def test_runs_are_looked_for_again_where_the_library_does_not_answer(
    board: RunBoard, library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(set_id: str | None = None) -> None:
        raise StoreUnavailable("PostgreSQL is gone.")

    (left,) = begun(library)
    with monkeypatch.context() as patched:
        patched.setattr(library.evaluation, "runs", broken)
        board.resume()
        until(lambda: not board._looked)
    board.resume()
    until(lambda: library.evaluation.run(left).state == "done")


# Drafts


def test_drafts_wait_to_be_looked_at(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    board = CandidateBoard(lambda: library)  # type: ignore[arg-type,return-value]
    monkeypatch.setattr(resources, "candidates", lambda: board)
    kept = library.evaluation.create("Mine", [a_question(1, text="Drafted before?")])
    library.evaluation.drafts = [a_question(n, id="same", origin="drafted") for n in range(3)]
    board.draft(kept.id, 3, None, None)
    until(lambda: not board.busy)
    first, second, third = board.waiting(kept.id)
    assert len({first.id, second.id, third.id}) == 3
    drafting.accept(library, kept.id, (first,))  # type: ignore[arg-type]
    board.settle(kept.id, second.id)
    assert board.waiting(kept.id) == (third,)
    assert [item.text for item in library.evaluation.questions(kept.id)] == ["Drafted before?", first.text]
    library.evaluation.past = [a_question(1, text="drafted BEFORE?"), a_question(2, text="New?", origin="asked")]
    drafting.take_past(library, kept.id)  # type: ignore[arg-type]
    assert [item.text for item in board.waiting(kept.id)] == [third.text, "New?"]
    board.clear(kept.id)
    assert board.waiting(kept.id) == ()


def test_drafting_is_stopped(library: FakeLibrary) -> None:
    board = CandidateBoard(lambda: library)  # type: ignore[arg-type,return-value]
    kept = library.evaluation.create("Mine")
    library.evaluation.drafts = [a_question(n) for n in range(3)]
    library.evaluation.gate.clear()
    board.draft(kept.id, 3, None, None)
    board.draft("another", 3, None, None)
    until(lambda: (task := board.task(kept.id)) and task.progress)
    board.stop()
    library.evaluation.gate.set()
    until(lambda: not board.busy)
    assert board.waiting(kept.id) == ()
    assert board.task("another") is None


# Adopting


def test_a_configuration_is_adopted_and_taken_back(library: FakeLibrary) -> None:
    adopting.adopt(library, MORE, BY_KEY)  # type: ignore[arg-type]
    kept = json.loads(library.preferences[adopting.BEFORE])
    assert (kept["before"], kept["now"]) == ({"retrieval.k": 6}, {"retrieval.k": 10})
    adopting._take_back(library, kept["before"])  # type: ignore[arg-type]
    assert [call[1] for call in library.evaluation.calls] == [{"retrieval.k": 10}, {"retrieval.k": 6}]
    assert adopting.BEFORE not in library.preferences


def test_other_chunks_are_cut_in_the_background(library: FakeLibrary) -> None:
    library.old_chunks = 1
    adopting.adopt(library, Configuration("Small", {"chunking.size": 300}), BY_KEY)  # type: ignore[arg-type]
    until(lambda: not resources.rechunkings().busy)
    assert library.old_chunks == 0
    task: Task[Progress] = Task("chunk", time.monotonic())
    assert chunking.measure(task) == (0.0, "Cutting documents anew")
    task = replace(task, progress=Progress("chunking", 1, 4), mark=(time.monotonic(), 0))
    assert chunking.measure(task) == (0.25, "Cutting 1 of 4 documents anew")
    assert chunking.measure(replace(task, stopping=True)) == (0.25, "Stopping")


# The page


def draw(**query: str) -> AppTest:
    test = AppTest.from_file(str(PROJECT / "pages" / "evaluation.py"), default_timeout=20)
    for name, value in query.items():
        test.query_params[name] = value
    return again(test)


def again(test: AppTest) -> AppTest:
    test.run()
    assert not test.exception
    return test


def said(test: AppTest) -> str:
    return "\n".join(element.value for element in (*test.markdown, *test.caption, *test.text)).replace("\\", "")


def press(test: AppTest, key: str) -> AppTest:
    test.button(key=key).click()
    return again(test)


def filled(library: FakeLibrary, size: int = 4) -> str:
    library.held = [a_document()]
    return library.evaluation.create("Bridges", [a_question(n) for n in range(size)]).id


def test_without_a_document_the_page_leads_to_the_library(library: FakeLibrary) -> None:
    test = draw()
    assert "Nothing to measure yet" in said(test)
    assert test.button(key="evaluation_to_library")


def test_without_questions_it_says_how_to_come_by_them(library: FakeLibrary) -> None:
    library.held = [a_document()]
    test = draw()
    assert "Questions come first" in said(test)
    press(test, "evaluation_way_asked")
    assert [item.name for item in library.evaluation.sets()] == ["My questions"]
    assert "No past question has a thumb" in said(test)


def test_the_samples_questions_are_made_once(library: FakeLibrary) -> None:
    library.held = [a_document(path.name) for path in samples.files()]
    draw()
    (made,) = library.evaluation.sets()
    assert made.name == "Sample questions"
    assert made.size > 8
    library.evaluation.delete(made.id)
    draw()
    assert library.evaluation.sets() == []


def test_two_configurations_are_compared_by_one_click(library: FakeLibrary) -> None:
    filled(library)
    library.evaluation.differences = (a_difference(), a_difference(ANSWER_MS, 4.0, significant=False))
    test = draw()
    assert test.button(key="evaluation_run").label == "Run 4 questions × 2"
    press(test, "evaluation_run")
    assert library.evaluation.calls[0] == (
        "begin", (["The library as it is", "More passages (k = 10)"], False, ""),
    )  # fmt: skip
    until(lambda: not resources.evaluations().busy)
    again(test)
    assert "“B” finds more" in said(test)
    assert "No difference beyond chance in Answer time." in said(test)
    assert test.button(key="evaluation_adopt_0").label == "Make “More passages (k = 10)” the library's".replace(
        "(k = 10)", "\\(k = 10\\)"
    )
    assert "4 questions · passages only" in said(test)


def test_what_is_ticked_is_tried_and_kept(library: FakeLibrary) -> None:
    filled(library)
    test = draw()
    first, second, third = test.checkbox
    assert [box.value for box in (first, second, third)] == [True, True, False]
    for box in (first, second):
        box.uncheck()
    again(test)
    assert test.button(key="evaluation_run").disabled
    test.checkbox[2].check()
    again(test)
    assert [choice["chosen"] for choice in json.loads(library.preferences[configurations.PREFERENCE])] == [
        False, False, True,
    ]  # fmt: skip
    press(test, "evaluation_run")
    assert library.evaluation.calls[0][1][0] == ["Relevance alone (lambda = 1)"]


def test_a_run_that_cannot_begin_says_why(library: FakeLibrary) -> None:
    filled(library)
    library.evaluation.error = ModelUnavailable("The model is not ready.", help="Choose another.")
    test = press(draw(), "evaluation_run")
    assert "The model is not ready" in said(test)
    assert "Choose another" in said(test)


def test_a_run_under_way_is_watched_and_stopped(library: FakeLibrary) -> None:
    filled(library)
    library.evaluation.gate.clear()
    test = press(draw(), "evaluation_run")
    again(test)
    assert "Result" not in said(test)
    press(test, "evaluation_cancel_r0")
    library.evaluation.gate.set()
    until(lambda: not resources.evaluations().busy)
    again(test)
    assert library.evaluation.run("r0").state == "cancelled"
    assert "4 questions · passages only" in said(test)


def test_three_runs_are_compared_in_pairs(library: FakeLibrary) -> None:
    set_id = filled(library)
    library.evaluation.differences = (a_difference(significant=False, count=12),)
    for number, name in enumerate("abc"):
        run = a_run(name, Configuration(name, {"retrieval.k": number + 1}), [a_result(1)], set_id=set_id)
        library.evaluation.made.append(replace(run, notes=("The library changed.",)))
        library.evaluation.found[name] = [a_result(1)]
    test = draw(set=set_id)
    assert test.selectbox(key="evaluation_first").value == "a"
    test.selectbox(key="evaluation_first").select("c")
    again(test)
    assert test.selectbox(key="evaluation_second").options == ["a", "b"]
    assert "No difference beyond chance between “c” and “b”" in said(test)
    assert "more questions tell smaller ones" in said(test)
    assert "The library changed" in said(test)


def test_a_question_is_opened_with_what_both_runs_made_of_it(library: FakeLibrary) -> None:
    set_id = filled(library)
    for name in "ab":
        library.evaluation.made.append(a_run(name, Configuration(name), [a_result(1)], set_id=set_id))
    library.evaluation.found = {"a": [a_result(1), a_result(2)], "b": [a_result(2, error="No *model*.")]}
    test = draw(set=set_id, question="q2")
    assert "Of what is bridge 2 made?" in said(test)
    assert "Bridges, p." in said(test)
    assert "No *model*." in said(test)
    assert test.button(key="evaluation_next").disabled
    press(test, "evaluation_previous")
    assert "This run has not asked it." in said(test)
    press(test, "evaluation_back_to_results")
    assert "question" not in test.query_params
    assert "have not asked this question" in said(draw(set=set_id, question="gone"))


def test_an_adopted_configuration_has_a_way_back(library: FakeLibrary) -> None:
    filled(library)
    adopting.adopt(library, MORE, BY_KEY)  # type: ignore[arg-type]
    test = draw()
    assert "“More passages” is the library's" in said(test)
    press(test, "evaluation_take_back")
    assert "is the library's" not in said(test)
    adopting.adopt(library, MORE, BY_KEY)  # type: ignore[arg-type]
    library.evaluation.adopt(Configuration("elsewhere", {"retrieval.k": 4}))
    assert "is the library's" not in said(draw())


def test_old_chunks_can_be_left_or_cut_anew(library: FakeLibrary) -> None:
    filled(library)
    library.old_chunks = 2
    test = draw()
    assert "2 documents have other chunks" in said(test)
    press(test, "evaluation_chunk_anew")
    until(lambda: not resources.rechunkings().busy)
    assert "keeps its chunks" in said(again(test))
    library.old_chunks = 1
    press(again(test), "evaluation_chunk_forget")
    assert library.old_chunks == 0


def test_the_questions_of_a_set_are_looked_through(library: FakeLibrary) -> None:
    set_id = filled(library, 60)
    library.evaluation.problems = (RowProblem(2, "gold", "There is no page 9.", kept=True),)
    test = draw(set=set_id, view="questions")
    assert "60 questions" in said(test)
    assert [item.label for item in test.expander] == [":orange[1 place is not in the library]"]
    test.text_input(key="evaluation_filter").set_value("nothing like it")
    assert "No question matches." in said(again(test))
    press(test, "evaluation_back")
    assert "Evaluation" in said(test)


def test_a_removed_question_can_be_taken_back(library: FakeLibrary) -> None:
    set_id = filled(library)
    test = draw(set=set_id, view="questions")
    test.session_state[questions.DROPPED] = (set_id, a_question(9, text="Gone?"))
    assert "Removed: Gone?" in said(again(test))
    press(test, "evaluation_undo_button")
    assert library.evaluation.questions(set_id)[-1].text == "Gone?"


def test_candidates_are_accepted_and_dropped_one_by_one(library: FakeLibrary) -> None:
    set_id = filled(library, 0)
    resources.candidates().add(set_id, [a_question(n, note="Drafted from a *number*.") for n in range(4)])
    test = draw(set=set_id, view="questions")
    assert "4 questions to look at" in said(test)
    assert "Drafted from a *number*." in said(test)
    press(test, "evaluation_accept")
    press(test, "evaluation_drop")
    press(test, "evaluation_accept_all")
    assert [item.text for item in library.evaluation.questions(set_id)] == [a_question(n).text for n in (0, 2, 3)]
    assert "to look at" not in said(test)


# Dialogs, which an AppTest would lose when a button in them is pressed: drawn by themselves


def typing() -> None:
    from pages.parts import resources
    from pages.parts.evaluation import editing

    library = resources.library()
    editing.form(library, None, lambda question: library.evaluation.put("s1", [question]))


def uploading() -> None:
    from pages.parts import resources
    from pages.parts.evaluation import uploading

    uploading.form(resources.library(), "s1")


def drafting_some() -> None:
    from pages.parts import resources
    from pages.parts.evaluation import drafting

    drafting.form(resources.library(), "s1")


def configuring() -> None:
    from pages.parts import resources
    from pages.parts.evaluation import configurations
    from rag_core.domain import Configuration

    fields = {field.key: field for field in resources.library().evaluation.fields()}
    configurations._form(fields, None, Configuration(""))


def changing() -> None:
    from pages.parts import resources
    from pages.parts.evaluation import configurations
    from rag_core.domain import Configuration

    fields = {field.key: field for field in resources.library().evaluation.fields()}
    configurations._form(fields, 1, Configuration("More", {"retrieval.k": 10, "answering.prompt": "Say."}))


def adopting_more() -> None:
    from pages.parts import resources
    from pages.parts.evaluation import adopting
    from rag_core.domain import Configuration

    adopting.form(resources.library(), Configuration("More", {"retrieval.k": 10, "chunking.size": 300}))


def dialog(body: Callable[[], None]) -> AppTest:
    return again(AppTest.from_function(body, default_timeout=20))


def test_questions_are_drafted_in_the_background(library: FakeLibrary) -> None:
    set_id = filled(library, 0)
    library.evaluation.drafts = [a_question(1)]
    press(dialog(drafting_some), "evaluation_draft")
    until(lambda: not resources.candidates().busy)
    test = draw(set=set_id, view="questions")
    assert "1 question to look at" in said(test)
    library.evaluation.drafts = []
    resources.candidates().clear(set_id)
    press(dialog(drafting_some), "evaluation_draft")
    until(lambda: not resources.candidates().busy)
    assert "No question could be drafted" in said(again(test))


def test_a_question_is_typed_in(library: FakeLibrary) -> None:
    set_id = filled(library, 0)
    test = press(dialog(typing), "evaluation_save")
    assert "Write a question." in said(test)
    test.text_area(key="evaluation_text_new").set_value("  Of what\nis it? ")
    test.text_area(key="evaluation_answers_new").set_value("Steel\n\n Iron ")
    test.selectbox(key="evaluation_document_new_0").set_value("bridges.txt")
    test.number_input(key="evaluation_page_new_0").set_value(2)
    press(test, "evaluation_save")
    (kept,) = library.evaluation.questions(set_id)
    assert (kept.text, kept.references, kept.gold, kept.origin) == (
        "Of what is it?", ("Steel", "Iron"), (Gold("bridges.txt", 2),), "typed",
    )  # fmt: skip
    test.checkbox[0].check()
    press(test, "evaluation_save")
    kept = library.evaluation.questions(set_id)[-1]
    assert (kept.answerable, kept.references, kept.gold) == (False, (), ())


def test_a_configuration_is_added_and_changed(library: FakeLibrary) -> None:
    filled(library)
    test = dialog(configuring)
    assert test.button(key="evaluation_save_configuration").disabled
    test.multiselect[0].set_value(["retrieval.k", "retrieval.engine"])
    again(test)
    assert [item.value for item in test.number_input] == [6]
    test.number_input[0].set_value(3)
    press(test, "evaluation_save_configuration")
    made = json.loads(library.preferences[configurations.PREFERENCE])
    assert made[-1] == {
        "name": "Passages (k) 3; Engine auto", "changes": {"retrieval.k": 3, "retrieval.engine": "auto"},
        "chosen": True,
    }  # fmt: skip
    test = dialog(changing)
    test.text_input[0].set_value("Passages (k) 3; Engine auto")
    press(test, "evaluation_save_configuration")
    assert json.loads(library.preferences[configurations.PREFERENCE])[1]["name"].endswith("auto again")
    press(dialog(changing), "evaluation_remove")
    assert len(json.loads(library.preferences[configurations.PREFERENCE])) == len(made) - 1


def test_adopting_says_what_changes_first(library: FakeLibrary) -> None:
    filled(library)
    library.old_chunks = 1
    test = dialog(adopting_more)
    assert "Passages (k): **10** :gray[instead of 6]" in said(test)
    assert "1 document is cut and embedded anew" in said(test)
    assert not library.evaluation.calls
    press(test, "evaluation_adopt_confirmed")
    assert library.evaluation.calls == [("adopt", {"retrieval.k": 10, "chunking.size": 300})]
    until(lambda: not resources.rechunkings().busy)


def test_a_file_says_what_is_wrong_with_it(library: FakeLibrary) -> None:
    set_id = filled(library, 0)
    problems = (RowProblem(3, "page", "“x” is no number.", kept=True), RowProblem(4, "question", "It is empty."))
    library.evaluation.report = ImportReport((a_question(1), a_question(2)), problems, 3, ("Read as UTF-8.",))
    test = dialog(uploading)
    assert "JSON Lines" in said(test)
    test.file_uploader[0].set_value(("q.csv", b"question\n", "text/csv"))
    again(test)
    assert "**2 questions can be used** of 3 rows, 1 left out" in said(test)
    assert "Read as UTF-8" in said(test)
    assert list(test.dataframe[0].value["What is wrong"]) == ["“x” is no number.", "It is empty."]
    press(test, "evaluation_add")
    assert len(library.evaluation.questions(set_id)) == 2


def test_a_store_that_does_not_answer_is_said(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise LecternError("PostgreSQL does not answer.", help="Wait.")

    filled(library)
    monkeypatch.setattr(library.evaluation, "sets", broken)
    assert "PostgreSQL does not answer" in said(draw())
