"""The evaluation page as a whole, drawn by AppTest over a played library."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pages.parts import formatting, resources, samples
from pages.parts.evaluation import (
    applying,
    configurations,
    questions,
)
from rag_core.domain import Configuration, RowProblem
from rag_core.errors import LecternError, ModelUnavailable
from rag_core.evaluation.configurations import fields as real_fields
from rag_core.evaluation.seeds import SEEDS
from rag_core.settings import Settings
from tests.made_runs import MORE, a_question, a_result, a_run
from tests.pages.conftest import FakeLibrary, a_document
from tests.pages.evaluation_page import again, draw, filled, press, said
from tests.pages.fake_evaluation import ANSWER_MS, FIELDS, a_difference
from tests.until import until

BY_KEY = {field.key: field for field in FIELDS}


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
        "begin", (["The library as it is", "More passages (10)"], False, ""),
    )  # fmt: skip
    until(lambda: not resources.library().jobs.busy("evaluate"))
    again(test)
    assert "“B” finds more" in said(test)
    assert "No difference beyond chance in Answer time." in said(test)
    assert test.button(key="evaluation_apply_0").label == "Make “More passages (10)” the library's".replace(
        "(10)", "\\(10\\)"
    )
    assert "4 questions · passages only" in said(test)


def test_what_is_worse_is_not_offered(library: FakeLibrary) -> None:
    filled(library)
    library.evaluation.differences = (a_difference(difference=-0.06),)
    test = draw()
    press(test, "evaluation_run")
    until(lambda: not resources.library().jobs.busy("evaluate"))
    assert "Nothing measured says that" in said(again(test))
    assert not [one for one in test.button if str(one.key).startswith("evaluation_apply_")]


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
    assert library.evaluation.calls[0][1][0] == ["Relevance alone"]


def test_the_seeds_are_set_beside_the_library_by_one_click(library: FakeLibrary) -> None:
    library.evaluation.own = real_fields(Settings(_env_file=None), ())
    filled(library)
    test = draw()
    press(test, "evaluation_seeds")
    again(test)
    assert [box.label for box in test.checkbox if box.value] == [
        "The library as it is", *(formatting.plain(seed.name) for seed in SEEDS),
    ]  # fmt: skip
    told = said(test).replace("\u2060", "")
    assert "Chunk size (tokens): 220" in test.checkbox[0].help.replace("\\", "").replace("\u2060", "")
    assert "Chunk size (characters): 1000, as" in told


def test_what_is_measured_stays_in_the_address(library: FakeLibrary) -> None:
    filled(library)
    test = draw()
    assert "measured" not in test.query_params
    test.button_group(key="evaluation_answers_too").set_value(True)
    again(test)
    assert test.query_params["measured"] == "answers"
    assert "Asks every question as the chat does" in said(test)
    assert "Asks every question as the chat does" in said(draw(measured="answers"))


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
    until(lambda: not resources.library().jobs.busy("evaluate"))
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


def test_an_applied_configuration_has_a_way_back(library: FakeLibrary) -> None:
    filled(library)
    applying.apply(library, MORE, BY_KEY)  # type: ignore[arg-type]
    test = draw()
    assert "“More passages” is the library's" in said(test)
    press(test, "evaluation_take_back")
    assert "is the library's" not in said(test)
    applying.apply(library, MORE, BY_KEY)  # type: ignore[arg-type]
    library.evaluation.apply(Configuration("elsewhere", {"retrieval.k": 4}))
    assert "is the library's" not in said(draw())


def test_old_chunks_can_be_left_or_cut_anew(library: FakeLibrary) -> None:
    filled(library)
    library.old_chunks = 2
    test = draw()
    assert "2 documents have other chunks" in said(test)
    press(test, "evaluation_rechunk")
    until(lambda: not resources.library().jobs.busy("rechunk"))
    assert "keeps its chunks" in said(again(test))
    library.old_chunks = 1
    press(again(test), "evaluation_chunk_forget")
    assert library.old_chunks == 0


def test_another_default_of_chunking_is_offered(library: FakeLibrary) -> None:
    filled(library)
    library.chunked_otherwise = True
    test = draw()
    assert "found better when they are re-chunked" in said(test)
    press(test, "evaluation_rechunk")
    until(lambda: not resources.library().jobs.busy("rechunk"))
    assert not library.chunked_otherwise


def test_the_questions_of_a_set_are_looked_through(library: FakeLibrary) -> None:
    set_id = filled(library, 60)
    library.evaluation.problems = (RowProblem(2, "gold", "There is no page 9.", kept=True),)
    test = draw(set=set_id, view="questions")
    assert [item.label for item in test.expander] == [":orange[1 place is not in the library]"]
    table = test.dataframe[-1].value
    assert list(table["Question"])[:2] == [a_question(0).text, a_question(1).text]
    assert len(table) == 60
    test.button_group(key="evaluation_view").set_value("runs")
    assert again(test).button(key="evaluation_run")
    assert "view" not in test.query_params


def test_a_removed_question_can_be_taken_back(library: FakeLibrary) -> None:
    set_id = filled(library)
    gone = a_question(9, text="Gone?")
    library.evaluation.put(set_id, [gone])
    test = draw(set=set_id, view="questions")
    library.evaluation.drop(set_id, [gone.id])
    test.session_state[questions.DROPPED] = (set_id, gone)
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


def test_a_store_that_does_not_answer_is_said(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise LecternError("PostgreSQL does not answer.", help="Wait.")

    filled(library)
    monkeypatch.setattr(library.evaluation, "sets", broken)
    assert "PostgreSQL does not answer" in said(draw())
