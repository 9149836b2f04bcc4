"""The evaluation page: question sets, runs of configurations on them, and whether a change made it better."""

from __future__ import annotations

import streamlit as st

from pages.parts import resources
from pages.parts.evaluation import applying, configurations, history, opened, questions, results, running, sets
from pages.parts.language import _, msgid
from pages.parts.refreshing import recovering
from pages.parts.state import EvaluationState
from rag_core.domain import QuestionSet
from rag_core.library import Library

PURPOSE = msgid("See how well Lectern finds and answers on your documents, and whether a change makes it better.")


def main() -> None:
    """Draw the page."""
    library = resources.library()
    with st.container(key="evaluation_page"), recovering(library):
        draw(library)


def draw(library: Library) -> None:
    """The question set that the address names, or the way to a first one."""
    st.markdown(_("# Evaluation"))
    st.caption(_(PURPOSE))
    documents = [document for document in library.documents() if document.state == "ready"]
    found = sets.present(library, documents)
    chosen = sets.chosen(found)
    if chosen is None:
        sets.first() if documents else sets.nothing()
        return
    sets.chooser(library, found, chosen)
    if EvaluationState.parse().view == "questions":
        questions.draw(library, chosen)
    else:
        draw_runs(library, chosen)


def draw_runs(library: Library, chosen: QuestionSet) -> None:
    """The runs of a set, or one question of them."""
    runs = library.evaluation.runs(chosen.id)
    shown, question = results.chosen(runs), EvaluationState.parse().question
    if question and shown:
        opened.draw(library, shown, question)
        return
    # A place of its own, so that nothing below it moves when a run begins.
    with st.container(key="evaluation_applied"):
        if not results.ready(shown):  # with a result it stands beside the buttons that apply
            applying.section(library)
    running.starter(library, chosen, configurations.section(library))
    running.progress(library)
    results.section(library, shown)
    if runs:
        history.section(library, runs, shown)


main()
