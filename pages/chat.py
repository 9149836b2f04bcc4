"""The chat page: ask, watch the answer grow, open the passages it stands on."""

from __future__ import annotations

import streamlit as st

from pages.parts import (
    chat_stream,
    collections,
    conversation_list,
    conversation_menu,
    conversations,
    models,
    next_steps,
    question_line,
    resources,
    starting,
)
from pages.parts.language import _
from pages.parts.refreshing import recovering


def main() -> None:
    """Draw the page."""
    library = resources.library()
    next_steps.leave()
    if asks := st.session_state.pop("chat_asks", ""):
        chat_stream.ask(asks)
    chosen = conversations.current()
    with recovering(library):
        collection = collections.current(library)
        with st.sidebar:
            collections.sidebar(library, collection)
            conversation_list.draw(library, chosen, collection)
            model = models.choose(library)
        ready = [document for document in library.documents() if document.state == "ready"]
        with st.container(key="chat_page"):
            with st.container(key="chat_top"):
                conversation_menu.heading(library, chosen)
            latest = chat_stream.exchanges(library, chosen)
            if chosen and not latest:
                st.caption(
                    _(":material/info: This conversation was deleted, or never begun. What you ask now begins it.")
                )
            if not latest and ready:
                starting.suggestions(library, ready, conversations.scope(library, chosen))
            elif not latest:
                starting.nothing_to_ask(library)
        if ready or latest:
            question_line.draw(library, ready, chosen, model, latest)
        conversation_menu.dialog(library)
        collections.dialog(library, ready)
        chat_stream.open_passage(library, chosen)
        chat_stream.what_was_searched(library, chosen)
        chat_stream.change_of_table(library, chosen)


main()
