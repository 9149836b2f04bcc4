"""What the evaluation page draws for results, questions, places and configurations."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

from pages.parts import chat_widget
from pages.parts.evaluation import (
    charting,
    comparing,
    configurations,
    editing,
    files,
    gold,
    history,
    looked_up,
    numbers,
    opened,
    outcomes,
    questions,
    results,
    running,
)
from rag_core.domain import Estimate, Gold, Job, Progress, RowProblem
from rag_core.evaluation.seeds import SEEDS
from tests.made_runs import BEGUN, MORE, a_question, a_result, a_run
from tests.pages.conftest import FakeLibrary, a_document
from tests.pages.fake_evaluation import ANSWER_MS, FIELDS, HIT_RATE, a_difference

BY_KEY = {field.key: field for field in FIELDS}


def test_numbers_as_people_read_them() -> None:
    assert numbers.value(HIT_RATE, 0.8333) == "83 %"
    assert [numbers.value(ANSWER_MS, ms) for ms in (3.25, 1234.5)] == ["3.2 ms", "1,234 ms"]
    assert numbers.interval(HIT_RATE, Estimate(0.8, 0.71, 0.954, 20)) == "71 to 95"
    assert numbers.change(a_difference(difference=0.061)) == "+6 points"
    assert numbers.change(a_difference(difference=-0.01)) == "−1 point"
    assert numbers.change(a_difference(difference=0.0, low=0.0, high=0.0)) == "equal"
    assert numbers.change(a_difference(ANSWER_MS, 203.4)) == "+203 ms"
    assert numbers.change_interval(a_difference(difference=0.06)) == "+2 to +10"
    assert numbers.better(a_difference()) is True
    assert numbers.better(a_difference(ANSWER_MS, 20.0)) is False


def test_places_of_answers_in_words() -> None:
    documents = [a_document("bridges.txt"), a_document("roads.pdf", title="")]
    titles = gold.titles(documents)
    assert gold.place(Gold("BRIDGES.TXT", 2), titles) == "Bridges, p.\u00a02"
    assert gold.place(Gold("gone.pdf"), titles) == "gone.pdf"
    assert gold.summary(a_question(1, gold=(Gold("Bridges", 2), Gold("roads.pdf"))), titles).endswith(
        "and 1 other place"
    )
    assert gold.summary(a_question(1, answerable=False), titles) == "not in the library"
    assert gold.summary(a_question(1, gold=()), titles) == "an answer, no place"
    assert gold.summary(a_question(1, gold=(), references=()), titles) == "nothing known"
    assert gold.ids(documents)["bridges"] == "bridges.txt"


def test_excerpts_are_found_whatever_the_white_space() -> None:
    assert gold.marks("It is made\nof  steel, of steel.", ["made of steel", "steel,", "gone"]) == [(6, 20)]
    assert gold.marks("a (b) c", ["(b)", ""]) == [(2, 5)]


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


def test_the_seeds_are_ticked_beside_the_library_as_it_is() -> None:
    choices = [configurations.Choice(configurations.AS_IT_IS, chosen=False), *configurations.presets(BY_KEY)]
    found = configurations.with_seeds(configurations.with_seeds(choices, SEEDS), SEEDS)
    assert [one.configuration.name for one in found if one.chosen] == [
        configurations.AS_IT_IS.name, *(seed.name for seed in SEEDS),
    ]  # fmt: skip
    assert len(found) == len(choices) + len(SEEDS)


def test_kept_configurations_lose_settings_that_are_gone(library: FakeLibrary) -> None:
    rows = [("a", {"retrieval.k": 3, "gone": 1}), ("b", {"gone": 1}), ("c", {})]
    kept = [{"name": name, "changes": changes, "chosen": True} for name, changes in rows]
    library.preferences[configurations.PREFERENCE] = json.dumps(kept)
    found = configurations.load(library, BY_KEY)  # type: ignore[arg-type]
    assert [(item.configuration.name, dict(item.configuration.changes)) for item in found] == [
        ("a", {"retrieval.k": 3}), ("c", {}),
    ]  # fmt: skip


def test_files_are_named_after_their_set() -> None:
    assert files.file_name("My questions / 2: ü", "csv") == "my-questions-2-ü.csv"
    assert files.file_name("../", "jsonl") == "questions.jsonl"


def test_runs_of_one_name_are_told_apart() -> None:
    runs = [a_run("a"), a_run("b", created_at=BEGUN + timedelta(days=1)), a_run("c", MORE)]
    named = comparing.labels(runs)
    assert named["c"] == "More passages"
    assert named["a"] != named["b"]
    assert len(set(comparing.labels([a_run("a"), a_run("b"), a_run("c")]).values())) == 3


def test_better_means_better_in_something_and_worse_in_nothing() -> None:
    up, down, chance = a_difference(), a_difference(difference=-0.1), a_difference(significant=False)
    slower = a_difference(ANSWER_MS, 20.0)
    assert comparing.is_better([up, chance])
    assert not any(comparing.is_better(found) for found in ([chance], [up, down], [up, slower], []))


def briefs(*found: Any) -> tuple[looked_up.Brief | None, ...]:
    return tuple(looked_up.brief(result) if result else None for result in found)


def test_how_a_question_went_in_words() -> None:
    told = [
        (a_result(1, at=2), "✓ right, passage  2"),
        (a_result(1, at=None), "✗ wrong, passage not found"),
        (a_result(1, at=None, abstained=True, sentences=()), "✗ said “not found”, passage not found"),
        (a_result(1, at=None, abstained=True), "✗ said “perhaps”, passage not found"),
        (a_result(1, at=3, answers=False), "✓ passage  3"),
        (a_result(1, at=None, answers=False), "✗ passage not found"),
        (a_result(1, error="No model."), "✗ failed"),
        (None, "not asked"),
    ]
    for result, expected in told:
        assert outcomes.in_words(briefs(result)[0]) == expected
    nowhere = a_result(1, answers=False, found=(), question=a_question(1, gold=(), answerable=False))
    assert outcomes.in_words(briefs(nowhere)[0]) == "has no answer"
    ranks = [outcomes.in_words(replace(briefs(a_result(1))[0], rank=rank)) for rank in (1, 2, 10)]  # type: ignore[type-var]
    assert sorted(ranks) == ranks, "tables sort by these words"


def test_lines_are_filtered() -> None:
    better = outcomes.Line("1", "b", briefs(a_result(1, at=3, answers=False), a_result(1, at=1, answers=False)))
    worse = outcomes.Line("2", "a", briefs(a_result(2, at=1, answers=False), a_result(2, at=None, answers=False)))
    failed = outcomes.Line("3", "c", briefs(a_result(3, error="x"), None))
    assert [line.is_in("better") for line in (better, worse, failed)] == [True, False, False]
    assert [line.is_in("worse") for line in (better, worse, failed)] == [False, True, False]
    assert [line.is_in("missed") for line in (better, worse, failed)] == [False, True, False]
    assert [line.is_in("failed") for line in (better, worse, failed)] == [False, False, True]


def test_passages_say_which_hold_the_answer() -> None:
    found = opened.passages(a_result(1, 3, at=2))
    assert [item["verdict"] for item in found] == ["", "holds the answer", ""]
    assert [item["open"] for item in found] == [False, True, False]
    assert found[1]["place"] == "p. 2"
    printed = replace(a_result(1).found[0], page_label="ii")
    assert opened.passages(a_result(1, found=(printed,)))[0]["place"] == "p. ii"
    assert "Hit rate 100 %" in opened.measured(a_result(1), (HIT_RATE, ANSWER_MS))


def test_a_measured_answer_is_drawn_without_question_and_mark() -> None:
    data = chat_widget.measured(a_result(1), active=1)
    assert (data["question"], data["rateable"], data["state"], data["active"]) == ("", False, "done", 1)
    assert [source["number"] for source in data["sources"]] == [1]
    assert [run for block in data["blocks"] for run in block["runs"] if run.get("doubt")]
    assert chat_widget.measured(a_result(1, abstained=True))["state"] == "perhaps"
    assert chat_widget.measured(a_result(1, abstained=True, sentences=()))["state"] == "abstained"


def test_questions_are_a_table_without_what_nobody_sees() -> None:
    rows = questions.rows([a_question(1, text="Of what\u202e is it?"), a_question(2, references=())], [a_document()])
    assert rows["Question"] == ["Of what is it?", a_question(2).text]
    assert (rows["Right answer"][1], rows["Answer stands in"][0], rows["Made"][0]) == (
        "", "Bridges, p. 2", "typed in",
    )  # fmt: skip


def test_what_is_wrong_with_a_question_is_said(library: FakeLibrary) -> None:
    assert editing.fault(library, a_question(1, text="")) == "Write a question."  # type: ignore[arg-type]
    assert editing.fault(library, a_question(1)) == ""  # type: ignore[arg-type]
    library.evaluation.problems = (RowProblem(1, "gold", "There is no page 9."),)
    assert editing.fault(library, a_question(1)) == "There is no page 9."  # type: ignore[arg-type]


def test_charts_take_the_tones_of_the_page() -> None:
    spec = {"height": 260, "width": 560, "background": "transparent", "config": {}, "mark": "bar"}
    drawn = charting.themed(spec)
    assert drawn.pop("config")["axis"]["labelColor"] == "#5d6268", "as the text of the page, where its theme is light"
    assert drawn == {"height": 260 + charting.AROUND_PX, "mark": "bar"}
    assert charting.themed({"height": {"step": 14}})["height"] == {"step": 14}


def test_how_far_a_run_is() -> None:
    run = a_run(done=5, total=20, state="running")
    now = time.monotonic()
    job = Job("1", "evaluate")
    assert running.measure(run, job) == (0.25, "waiting, 5 of 20 done")
    assert running.measure(run, replace(job, stopping=True)) == (0.25, "stopping")
    job = replace(job, state="running", progress=Progress("a", 10, 20, "a"), mark=(now - 10, 5))
    assert running.measure(run, job) == (0.5, "10 of 20 questions, about 20 s left")
    job = replace(job, progress=Progress("a", 0, 20, "a"), mark=(now, 0))
    assert running.measure(run, job) == (0.0, "beginning with 20 questions")
    job = replace(job, progress=Progress("preparing", 1, 3, "a"))
    assert running.measure(run, job)[1] == "embedding other chunks: 1 of 3 documents"


def test_a_runs_line_says_how_it_ended() -> None:
    metrics = {"hit_rate": HIT_RATE}
    done = history.row(a_run(), metrics, ())
    assert (done["Asked"], done["Result"], done["State"]) == ("20", "Hit rate 60 %", "Done")
    assert (done["resume"], done["delete"]) == ("", ":material/delete:")
    stopped = history.row(a_run(state="cancelled", done=3), metrics, ())
    assert (stopped["Asked"], stopped["State"]) == ("3 of 20", "Stopped")
    assert stopped["Result"] == "Hit rate 60 %, of those asked"
    assert stopped["resume"]
    running = a_run(state="running", done=3)
    assert history.row(running, metrics, ())["State"] == "Stopped", "by a server that ended"
    assert history.row(running, metrics, {running.id})["Asked"] == "of 20"


def test_facts_of_runs() -> None:
    assert results.facts([a_run(), a_run("b", done=12)])[0] == "12 to 20 questions"
    assert results.facts([a_run(answers=False)])[:2] == ["20 questions", "passages only"]
    assert results.facts([a_run(judge="gemini")])[2] == "judged by gemini"
