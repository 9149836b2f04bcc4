"""The page of a hit beside the list, with its passage marked, and the way to ask about its document."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts import conversations, formatting, passage
from pages.parts.components import component
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
        component("passage")(
            key="search_page_view", data=_sheet(library, chosen), height="stretch", on_act_change=_turn
        )


def _sheet(library: Library, chosen: dict[str, Any]) -> dict[str, Any]:
    away = chosen["shown"] != chosen["page"]
    span = None if away else (chosen["start"], chosen["end"])
    facts = (
        [{"words": formatting.shorten(chosen["section"], 40), "detail": chosen["section"]}] if chosen["section"] else []
    )
    sheet = passage.sheet(library, chosen["document"], chosen["shown"], span)
    return sheet | {"closable": True, "away": away, "facts": facts}


def _ask_about(document_id: str) -> None:
    """A new conversation over that document alone."""
    conversations.show(None)
    conversations.narrow(None, Scope(documents=(document_id,)))
    st.session_state["chat_searched_for"] = st.session_state.get("search_question", "").strip()
    st.switch_page("pages/chat.py")


def _turn() -> None:
    act, chosen = st.session_state["search_page_view"]["act"], st.session_state.get("search_opened")
    if chosen is None:
        return
    if act == "close":
        del st.session_state["search_opened"]
    else:
        step = {"next": 1, "previous": -1}.get(act)
        chosen["shown"] = chosen["page"] if step is None else max(chosen["shown"] + step, 1)
