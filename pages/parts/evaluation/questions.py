"""The questions of a set: looked through, added to, changed and removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts import resources, words
from pages.parts.evaluation import address, drafting, editing, exporting, grid, looked_up, places, sets, uploading
from rag_core.domain import Question, QuestionSet
from rag_core.library import Library

FILTER_FROM = 12
CHECKED = 500
DROPPED = "evaluation_dropped"


def draw(library: Library, chosen: QuestionSet) -> None:
    """The whole view."""
    st.button(
        "Evaluation", icon=":material/arrow_back:", type="tertiary", key="evaluation_back",
        on_click=address.show_results,
    )  # fmt: skip
    _heading(library, chosen)
    questions = library.evaluation.questions(chosen.id)
    sets.ways(primary=not questions)
    _go(library, chosen.id)
    drafting.section(library, chosen.id)
    _undo(library, chosen.id)
    if questions:
        _problems(library, chosen, questions)
        _table(library, chosen.id, questions)


def matching(questions: Sequence[Question], wanted: str) -> list[Question]:
    """Those that hold all words of a filter, in question, answers or note."""
    parts = wanted.casefold().split()
    texts = ((item, " ".join((item.text, *item.references, item.note)).casefold()) for item in questions)
    return [item for item, text in texts if all(part in text for part in parts)]


def line(question: Question, titles: dict[str, str]) -> dict[str, Any]:
    """A question's line in the table."""
    answer = words.shorten(question.references[0], 120) if question.references else ""
    cells = [
        grid.cell(question.text, answer, opens=True),
        grid.cell(places.summary(question, titles)),
        grid.cell(places.ORIGINS[question.origin], tone="dim"),
    ]
    name = words.shorten(question.text, 60)
    return grid.row(question.id, name, cells, [grid.act("remove", "Remove", "bin")])


def _heading(library: Library, chosen: QuestionSet) -> None:
    with st.container(key="evaluation_heading", horizontal=True, vertical_alignment="center"):
        st.markdown(f"# {words.plain(chosen.name)}")
        exporting.questions(library, chosen)
        picked = st.menu_button(
            "More", ["rename", "delete"], icon=":material/more_horiz:", type="tertiary", key="evaluation_set_menu",
            format_func=lambda act: {"rename": ":material/edit: Rename", "delete": ":material/delete: Delete"}[act],
        )  # fmt: skip
    if picked == "rename":
        sets.rename_form(library, chosen)
    elif picked == "delete":
        sets.delete_form(library, chosen)
    st.caption(words.count(chosen.size, "question"))


def _go(library: Library, set_id: str) -> None:
    """Go the way to more questions that was chosen."""
    way = st.session_state.pop("evaluation_way", None)
    if way == "type":
        editing.form(library, None, lambda written: library.evaluation.put(set_id, [written]))
    elif way == "upload":
        uploading.form(library, set_id)
    elif way == "draft" and not resources.candidates().busy:
        drafting.form(library, set_id)
    elif way == "asked":
        drafting.take_past(library, set_id)
    if told := st.session_state.pop("evaluation_told", ""):
        st.caption(f":material/info: {told}")


def _table(library: Library, set_id: str, questions: Sequence[Question]) -> None:
    found = questions
    if len(questions) >= FILTER_FROM:
        wanted = st.text_input(
            "Filter", placeholder="Filter by words of the question or answer", key="evaluation_filter",
            label_visibility="collapsed", icon=":material/search:",
        )  # fmt: skip
        found = matching(questions, wanted)
    if not found:
        st.caption("No question matches.")
        return
    titles = places.titles(library.documents())
    columns = [grid.column("Question", title=True), grid.column("Answer stands in"), grid.column("Made")]
    rows = [line(question, titles) for question in grid.page_of("evaluation_page_of_questions", found)]
    key = "evaluation_question_table"
    grid.draw(key, "Questions", columns, rows, on_open=_open, on_act=lambda: _remove(library, set_id))
    grid.pager("evaluation_page_of_questions", found)
    opened = st.session_state.pop("evaluation_opened", None)
    if question := next((item for item in questions if item.id == opened), None):
        editing.form(library, question, lambda written: library.evaluation.put(set_id, [written]))


def _problems(library: Library, chosen: QuestionSet, questions: Sequence[Question]) -> None:
    """Places that are not in the library (any more); of a large set each run tells them."""
    if len(questions) > CHECKED:
        return
    documents = tuple(item.id for item in library.documents() if item.state == "ready")
    problems = looked_up.problems(chosen.id, (chosen.updated_at, documents))
    if problems:
        label = f"{words.count(len(problems), 'place is', 'places are')} not in the library"
        with st.expander(f":orange[{label}]", icon=":material/warning:", key="evaluation_problems"):
            st.dataframe(
                {
                    "Question": [questions[item.row - 1].text for item in problems],
                    "What is wrong": [item.message for item in problems],
                },
                hide_index=True,
            )


def _open() -> None:
    st.session_state["evaluation_opened"] = st.session_state["evaluation_question_table"]["open"]


def _remove(library: Library, set_id: str) -> None:
    wanted = st.session_state["evaluation_question_table"]["act"]["id"]
    question = next((item for item in library.evaluation.questions(set_id) if item.id == wanted), None)
    if question is not None:
        library.evaluation.drop(set_id, [wanted])
        st.session_state[DROPPED] = (set_id, question)


def _undo(library: Library, set_id: str) -> None:
    of, question = st.session_state.get(DROPPED, ("", None))
    if of != set_id or question is None:
        return
    with st.container(key="evaluation_undo", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Removed: {words.plain(words.shorten(question.text, 60))}")
        st.button(
            "Undo", icon=":material/undo:", type="tertiary", key="evaluation_undo_button",
            on_click=_take_back, args=(library, set_id, question),
        )  # fmt: skip


def _take_back(library: Library, set_id: str, question: Question) -> None:
    library.evaluation.put(set_id, [question])
    st.session_state.pop(DROPPED, None)
