"""The search page: the passages that fit best, ranked, with the page behind each one click away."""

from __future__ import annotations

import streamlit as st

from pages.parts import collections, question_line, resources, starting
from pages.parts.language import _
from pages.parts.refreshing import recovering
from pages.parts.searching import line, opened, results, side_by_side
from rag_core.library import Library


def main() -> None:
    """Draw the page."""
    library = resources.library()
    with recovering(library):
        with st.sidebar:
            collections.sidebar(library, collections.current(library))
        with st.container(key="search_page"):
            st.markdown(_("# Search"))
            documents = [document for document in library.documents() if document.state == "ready"]
            if not documents:
                nothing_to_search(library)
                return
            wanted = line.draw(library, documents)
            if not wanted.question:
                st.caption(
                    _(
                        "Words or a whole question. Words in quotation marks must stand so, and one "
                        "behind a plus; a minus"
                        " leaves a word out: “net sales” +2020 -warehouse"
                    )
                )
                return
            if wanted.compare:
                side_by_side.draw(library, wanted)
            else:
                results.draw(library, documents, wanted)
        collections.dialog(library, documents)
        opened.draw(library)


def nothing_to_search(library: Library) -> None:
    """The way to the library, when there is no document to search yet."""
    with st.container(key="search_empty", horizontal_alignment="center"):
        st.markdown(_("## Nothing to search yet"))
        st.markdown(_("Add a document, or the sample library, and look for what you need."))
        starting.unread(library)
        question_line.coming(library)
        if st.button(_("Go to the library"), icon=":material/library_books:", type="primary", key="search_to_library"):
            st.switch_page("pages/upload.py")


main()
