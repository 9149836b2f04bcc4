"""The chat page: ask, watch the answer grow, open the passages it stands on."""

from __future__ import annotations

import streamlit as st

from pages.parts import conversations, frame, models, resources, talk, words
from rag_core.errors import LecternError


def main() -> None:
    """Draw the page."""
    frame.insist()
    library = resources.library()
    chosen = conversations.current()
    try:
        with st.sidebar:
            conversations.sidebar(library, chosen)
            model = models.choose(library)
        ready = [document for document in library.documents() if document.state == "ready"]
        with st.container(key="chat_page"):
            with st.container(key="chat_top"):
                conversations.heading(library.conversations(), chosen)
            begun = talk.exchanges(library, chosen)
            if not begun and ready:
                talk.suggestions(ready, conversations.scope(library, chosen))
            elif not begun:
                nothing_to_ask()
        if ready or begun:
            talk.ask_line(library, ready, chosen, model)
        talk.open_passage(library, chosen)
        talk.what_was_searched(library, chosen)
    except LecternError as error:
        st.markdown(f"**{words.plain(str(error))}**")
        st.caption(words.plain(error.help))


def nothing_to_ask() -> None:
    """The way to the library, when there is no document to ask yet."""
    with st.container(key="chat_empty", horizontal_alignment="center"):
        st.markdown("## Nothing to read yet")
        st.markdown("Add a document, or the sample library, and ask away.")
        if st.button("Go to the library", icon=":material/library_books:", type="primary", key="chat_to_library"):
            st.switch_page("pages/upload.py")


main()
