"""The page of a hit beside the list, with its passage marked, and the way to ask about its document."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts import conversations, formatting, passage
from rag_core.domain import Scope
from rag_core.library import Library


def draw(library: Library) -> None:
    """The page that was opened, if one was; or off to the chat, if that was clicked."""
    if document := st.session_state.pop("search_ask", None):
        _ask_about(document)
    chosen = st.session_state.get("search_opened")
    if chosen is None:
        return
    with st.container(key="search_passage"):
        passage.draw("search_page_view", _sheet(library, chosen), on_close=_close)


def _sheet(library: Library, chosen: dict[str, Any]) -> dict[str, Any]:
    facts = (
        [{"words": formatting.shorten(chosen["section"], 40), "detail": chosen["section"]}] if chosen["section"] else []
    )
    sheet = passage.sheet(library, chosen["document"], chosen["page"], (chosen["start"], chosen["end"]))
    return sheet | {"closable": True, "facts": [*facts, *sheet["facts"]]}


def _ask_about(document_id: str) -> None:
    """A new conversation over that document alone."""
    conversations.show(None)
    conversations.narrow(None, Scope(documents=(document_id,)))
    st.session_state["chat_searched_for"] = st.session_state.get("search_question", "").strip()
    st.switch_page("pages/chat.py")


def _close() -> None:
    st.session_state.pop("search_opened", None)
