"""From documents to a question: the chat, narrowed to them."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from pages.parts import conversations
from rag_core.domain import Scope

_WANTED = "ask_of"


def want(ids: Iterable[str], question: str = "") -> None:
    """Have some documents asked with the next run of the page; a question is asked at once."""
    st.session_state[_WANTED] = (tuple(ids), question)


def button(ids: Iterable[str], label: str, key: str) -> None:
    """A button that leads there."""
    st.button(label, icon=":material/forum:", key=key, type="tertiary", on_click=want, args=(tuple(ids),))


def is_wanted() -> bool:
    """Whether some were just chosen: what refreshes by itself asks for the whole page then."""
    return _WANTED in st.session_state


def leave() -> None:
    """Off to a new conversation about the documents that were just chosen, if any."""
    if wanted := st.session_state.pop(_WANTED, None):
        ids, question = wanted
        conversations.show(None)
        st.session_state["chat_scope"] = Scope(documents=ids)
        if question:
            st.session_state["chat_asks"] = question
        st.switch_page("pages/chat.py")
