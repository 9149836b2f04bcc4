"""The dialogs of the evaluation page, drawn by themselves: an AppTest loses one when a button in it is pressed."""

from __future__ import annotations

import json
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from pages.parts import resources
from pages.parts.evaluation.configurations import PREFERENCE
from rag_core.domain import Gold, ImportReport, RowProblem
from tests.made_runs import a_question
from tests.pages.conftest import FakeLibrary
from tests.pages.evaluation_page import again, draw, filled, press, said
from tests.until import until

# These are run as scripts of their own, so they import what they need.


def type_one() -> None:
    from pages.parts.evaluation import editing
    from pages.parts.resources import library

    editing.form(library(), None, lambda question: library().evaluation.put("s1", [question]))


def upload() -> None:
    from pages.parts.evaluation import files
    from pages.parts.resources import library

    files.form(library(), "s1")


def draft() -> None:
    from pages.parts.evaluation import drafting
    from pages.parts.resources import library

    drafting.form(library(), "s1")


def configure() -> None:
    from pages.parts.evaluation import configurations
    from pages.parts.resources import library
    from rag_core.domain import Configuration

    fields = {field.key: field for field in library().evaluation.fields()}
    configurations.form(library(), fields, None, Configuration(""))


def change() -> None:
    from pages.parts.evaluation import configurations
    from pages.parts.resources import library
    from rag_core.domain import Configuration

    fields = {field.key: field for field in library().evaluation.fields()}
    more = Configuration("More", {"retrieval.k": 10, "answering.prompt": "Say."})
    configurations.form(library(), fields, 1, more)


def follow() -> None:
    from pages.parts.evaluation import configurations
    from pages.parts.resources import library
    from rag_core.domain import Configuration

    fields = {field.key: field for field in library().evaluation.fields()}
    configurations.form(library(), fields, 1, Configuration("Passages (k) 10", {"retrieval.k": 10}))


def refuse() -> None:
    from pages.parts.evaluation import configurations
    from pages.parts.resources import library
    from rag_core.domain import Configuration

    fields = {field.key: field for field in library().evaluation.fields()}
    small = Configuration("Small", {"chunking.size": 150, "retrieval.k": 3})
    configurations.form(library(), fields, 1, small)


def apply() -> None:
    from pages.parts.evaluation import applying
    from pages.parts.resources import library
    from rag_core.domain import Configuration

    applying.form(library(), Configuration("More", {"retrieval.k": 10, "chunking.size": 300}))


def dialog(body: Callable[[], None]) -> AppTest:
    return again(AppTest.from_function(body, default_timeout=20))


def test_questions_are_drafted_in_the_background(library: FakeLibrary) -> None:
    set_id = filled(library, 0)
    library.evaluation.drafts = [a_question(1)]
    press(dialog(draft), "evaluation_draft")
    until(lambda: not resources.candidates().busy)
    test = draw(set=set_id, view="questions")
    assert "1 question to look at" in said(test)
    library.evaluation.drafts = []
    resources.candidates().clear(set_id)
    press(dialog(draft), "evaluation_draft")
    until(lambda: not resources.candidates().busy)
    assert "No question could be drafted" in said(again(test))


def test_a_question_is_typed_in(library: FakeLibrary) -> None:
    set_id = filled(library, 0)
    test = press(dialog(type_one), "evaluation_save")
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
    test = dialog(configure)
    assert test.button(key="evaluation_save_configuration").disabled
    test.multiselect[0].set_value(["retrieval.k", "retrieval.index"])
    again(test)
    assert [item.value for item in test.number_input] == [6]
    test.number_input[0].set_value(3)
    press(test, "evaluation_save_configuration")
    made = json.loads(library.preferences[PREFERENCE])
    assert made[-1] == {
        "name": "Passages (k) 3; Index auto", "changes": {"retrieval.k": 3, "retrieval.index": "auto"},
        "chosen": True,
    }  # fmt: skip
    test = dialog(change)
    test.text_input[0].set_value("Passages (k) 3; Index auto")
    press(test, "evaluation_save_configuration")
    assert json.loads(library.preferences[PREFERENCE])[1]["name"].endswith("auto again")
    press(dialog(change), "evaluation_remove")
    assert len(json.loads(library.preferences[PREFERENCE])) == len(made) - 1


def test_applying_says_what_changes_first(library: FakeLibrary) -> None:
    filled(library)
    library.old_chunks = 1
    test = dialog(apply)
    assert "Passages (k): **10** :gray[instead of 6]" in said(test)
    assert "1 document is re-chunked" in said(test)
    assert not library.evaluation.calls
    press(test, "evaluation_apply_confirmed")
    assert library.evaluation.calls == [("apply", {"retrieval.k": 10, "chunking.size": 300})]
    until(lambda: not resources.library().jobs.busy("rechunk"))


def test_a_file_says_what_is_wrong_with_it(library: FakeLibrary) -> None:
    set_id = filled(library, 0)
    problems = (RowProblem(3, "page", "“x” is no number.", kept=True), RowProblem(4, "question", "It is empty."))
    library.evaluation.report = ImportReport((a_question(1), a_question(2)), problems, 3, ("Read as UTF-8.",))
    test = dialog(upload)
    assert "A column `question` is needed." in said(test)
    test.file_uploader[0].set_value(("q.csv", b"question\n", "text/csv"))
    again(test)
    assert "**2 questions can be used** of 3 rows, 1 left out" in said(test)
    assert "Read as UTF-8" in said(test)
    assert list(test.dataframe[0].value["What is wrong"]) == ["“x” is no number.", "It is empty."]
    press(test, "evaluation_add")
    assert len(library.evaluation.questions(set_id)) == 2


def test_a_name_that_nobody_typed_follows_the_values_and_what_cannot_be_is_said(library: FakeLibrary) -> None:
    filled(library)
    test = dialog(follow)
    assert test.text_input[0].value == ""
    test.number_input[0].set_value(4)
    press(test, "evaluation_save_configuration")
    assert json.loads(library.preferences[PREFERENCE])[1]["name"] == "Passages (k) 4"
    test = dialog(refuse)
    press(test, "evaluation_save_configuration")
    assert any("overlap must be smaller" in item.value for item in test.markdown)
    assert json.loads(library.preferences[PREFERENCE])[1]["name"] == "Passages (k) 4"
