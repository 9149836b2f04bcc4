"""The insights page: what was asked and what came of it, which documents are used, how fast everything is."""

from __future__ import annotations

import streamlit as st

from pages.parts import resources
from pages.parts.insights import cards, choosing, corpus_map, looked_up, views
from pages.parts.language import _, msgid
from pages.parts.refreshing import recovering
from rag_core.library import Library

PURPOSE = msgid("What you asked, what was not found, which documents answer, and how long everything takes.")


def main() -> None:
    """Draw the page."""
    library = resources.library()
    with st.container(key="insights_page"), recovering(library):
        draw(library)


def draw(library: Library) -> None:
    """The numbers of the period and the scope that the address names, and one chart of them."""
    st.query_params.pop("d", None)  # the document that was opened from here, when one comes back
    st.markdown(_("# Insights"))
    st.caption(_(PURPOSE))
    documents = [document for document in library.documents() if document.state == "ready"]
    asked = choosing.draw(library, documents)
    insights = looked_up.insights(asked)
    cards.draw(insights, documents)
    view = choosing.view()
    if view == "map":
        corpus_map.draw(asked)
    else:
        views.draw(library, asked, insights, view)


main()
