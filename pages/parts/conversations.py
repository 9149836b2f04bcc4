"""Conversations: which one is shown (it stands in the address), and the list in the sidebar, with a search."""

from __future__ import annotations

import uuid

import streamlit as st

from pages.parts import formatting, resources
from pages.parts.state import ChatState
from rag_core.domain import Conversation, Scope
from rag_core.errors import LecternError
from rag_core.library import Library

LISTED = 10
TITLE_CHARS = 80


def current() -> str | None:
    """The conversation in the address, or the one last shown in this tab; None is one not yet begun."""
    chosen = ChatState.parse().c or st.session_state.get("chat_current") or ""
    ChatState.write(c=chosen)
    st.session_state["chat_current"] = chosen or None
    return chosen or None


def begin() -> str:
    """A name for a conversation that begins now; from here on it stands in the address."""
    conversation = str(uuid.uuid4())
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
        chosen: Scope = st.session_state.get("chat_scope", Scope())
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
        st.toast(f"Your choice was not kept: {formatting.plain(str(error))}", icon=":material/error:")


def sidebar(library: Library, chosen: str | None) -> None:
    """The list, pinned ones first, then the newest, with a button for a new one and a search in titles and texts.

    Single questions of the command line and of other programs are found by the search alone.
    """
    known = library.conversations()
    conversations = [one for one in known if one.listed or one.id == chosen]
    st.button(
        "New conversation", icon=":material/edit_square:", key="chat_new", width="stretch", on_click=show, args=(None,)
    )
    if known:
        wanted = st.text_input(
            "Search conversations", key="chat_find", placeholder="Search conversations", icon=":material/search:",
            label_visibility="collapsed", live=True,
        )  # fmt: skip
        if wanted.strip():
            conversations = library.conversations(wanted)
            if not conversations:
                st.caption("No conversation holds these words.")
    shown = conversations if st.session_state.get("chat_all") else conversations[:LISTED]
    with st.container(key="chat_list", gap=None):
        for conversation in shown:
            _entry(conversation, conversation.id == chosen)
    if len(conversations) > len(shown):
        st.button(f"Show all {len(conversations):,}", key="chat_more", type="tertiary", on_click=_show_all)


def _entry(conversation: Conversation, is_current: bool) -> None:
    st.button(
        formatting.plain(formatting.shorten(conversation.title, TITLE_CHARS)) or "Untitled",
        icon=":material/keep:" if conversation.pinned else None,
        key=f"chat_entry{'_current' if is_current else ''}_{conversation.id}",
        type="tertiary",
        width="stretch",
        on_click=show,
        args=(conversation.id,),
    )


def _show_all() -> None:
    st.session_state["chat_all"] = True
