"""Conversations: which one is shown (it stands in the address), and what it is narrowed to."""

from __future__ import annotations

import streamlit as st

from pages.parts import collections, formatting, resources
from pages.parts.language import _, server_text
from pages.parts.state import ChatState
from rag_core.domain import Scope
from rag_core.errors import LecternError
from rag_core.library import Library

TITLE_CHARS = 80


def current() -> str | None:
    """The conversation in the address, or the one last shown in this tab; None is one not yet begun."""
    chosen = ChatState.parse().c or st.session_state.get("chat_current") or ""
    ChatState.write(c=chosen)
    st.session_state["chat_current"] = chosen or None
    return chosen or None


def begin() -> str:
    """A name for a conversation that begins now; from here on it stands in the address."""
    conversation = resources.library().history.begin()
    show(conversation)
    return conversation


def show(conversation: str | None) -> None:
    """Turn to a conversation, or to a blank one."""
    st.session_state["chat_current"] = conversation
    st.session_state.pop("chat_passage", None)
    st.session_state.pop("chat_scope", None)
    st.session_state.pop("chat_searched_for", None)
    ChatState.write(c=conversation or "")


def scope(library: Library, conversation: str | None) -> Scope:
    """What a conversation is narrowed to. One that has not begun keeps it in this tab."""
    if conversation is None:
        chosen: Scope = st.session_state.get("chat_scope", collections.scope())
        return chosen
    asking = resources.questions().of(conversation)
    if asking is not None and asking.scope is not None and not asking.finished:
        return asking.scope  # it may not be kept yet
    return library.history.scope(conversation)


def narrow(conversation: str | None, scope: Scope) -> None:
    """Search that and nothing else for this conversation's questions from now on."""
    if conversation is None:
        st.session_state["chat_scope"] = scope
        return
    try:
        resources.library().history.set_scope(conversation, scope)
    except LecternError as error:
        st.toast(
            _("Your choice was not kept: {error}").format(error=formatting.plain(server_text(str(error)))),
            icon=":material/error:",
        )
