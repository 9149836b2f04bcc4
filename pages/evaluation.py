"""The evaluation page: question sets, runs of configurations on them, and whether a change made it better."""

from __future__ import annotations

import streamlit as st

from pages.parts import resources
from pages.parts.evaluation import (
    address,
    applying,
    configurations,
    history,
    opened,
    questions,
    results,
    running,
    sets,
)
from pages.parts.refreshing import recovering
from rag_core.library import Library

PURPOSE = "See how well Lectern finds and answers on your documents, and whether a change makes it better."


def main() -> None:
    """Draw the page."""
    library = resources.library()
    with st.container(key="evaluation_page"), recovering(library):
        draw(library)


def draw(library: Library) -> None:
    """The view that the address asks for."""
    documents = [document for document in library.documents() if document.state == "ready"]
    found = sets.present(library, documents)
    chosen = address.chosen(found)
    if chosen is not None and address.editing():
        questions.draw(library, chosen)
        return
    runs = library.evaluation.runs(chosen.id) if chosen else []
    shown, question = results.chosen(runs), address.question()
    if question is not None and shown:
        opened.draw(library, shown, question)
        return
    st.markdown("# Evaluation")
    st.caption(PURPOSE)
    if chosen is None:
        sets.first() if documents else sets.nothing()
        return
    sets.chooser(found, chosen)
    if not results.ready(shown):  # with a result it stands beside the buttons that apply
        applying.section(library)
    running.starter(library, chosen, configurations.section(library))
    running.progress(library)
    results.section(library, shown)
    if runs:
        history.section(library, runs, shown)


main()
