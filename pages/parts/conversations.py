"""Conversations: which one is shown (it stands in the address), the list in the sidebar, renaming and deleting."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import resources, words
from rag_core.domain import Conversation, Scope
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

LISTED = 10
TITLE_CHARS = 80


def current() -> str | None:
    """The conversation in the address, or the one last shown in this tab; None is one not yet begun."""
    asked = st.query_params.get("c")
    if asked is None and "chat_current" in st.session_state and st.session_state["chat_current"]:
        st.query_params["c"] = st.session_state["chat_current"]
    chosen = st.query_params.get("c")
    st.session_state["chat_current"] = chosen
    return chosen


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
    if conversation is None:
        st.query_params.pop("c", None)
    else:
        st.query_params["c"] = conversation


def scope(library: Library, conversation: str | None) -> Scope:
    """What a conversation is narrowed to. One that has not begun keeps it in this tab."""
    if conversation is None:
        chosen: Scope = st.session_state.get("chat_scope", Scope())
        return chosen
    asking = resources.questions().of(conversation)
    if asking is not None and asking.scope is not None and not asking.finished:
        return asking.scope  # it may not be kept yet
    return library.scope(conversation)


def narrow(conversation: str | None, scope: Scope) -> None:
    """Search that and nothing else for this conversation's questions from now on."""
    if conversation is None:
        st.session_state["chat_scope"] = scope
        return
    try:
        resources.library().set_scope(conversation, scope)
    except LecternError as error:
        st.toast(f"Your choice was not kept: {words.plain(str(error))}", icon=":material/error:")


def sidebar(library: Library, chosen: str | None) -> None:
    """The list, newest first, with a button for a new one."""
    conversations = library.conversations()
    st.button(
        "New conversation", icon=":material/edit_square:", key="chat_new", width="stretch", on_click=show, args=(None,)
    )
    shown = conversations if st.session_state.get("chat_all") else conversations[:LISTED]
    with st.container(key="chat_list", gap=None):
        for conversation in shown:
            _entry(conversation, conversation.id == chosen)
    if len(conversations) > len(shown):
        st.button(f"Show all {len(conversations):,}", key="chat_more", type="tertiary", on_click=_show_all)


def heading(conversations: Sequence[Conversation], chosen: str | None) -> None:
    """The title of the conversation with its menu; its place is held from the moment a question is sent."""
    conversation = next((item for item in conversations if item.id == chosen), None)
    asking = resources.questions().of(chosen) if chosen else None
    if conversation is None and asking is None:
        return
    title = conversation.title if conversation else asking.question if asking else ""
    with st.container(key="chat_heading", horizontal=True, vertical_alignment="center", wrap=False):
        st.caption(words.plain(words.shorten(title, TITLE_CHARS)))
        if conversation is not None:
            _menu(conversation)


def _menu(conversation: Conversation) -> None:
    picked = st.menu_button(
        "More",
        ["rename", "delete"],
        format_func=lambda act: {"rename": ":material/edit: Rename", "delete": ":material/delete: Delete"}[act],
        icon=":material/more_horiz:",
        type="tertiary",
        key="chat_menu",
    )
    if picked == "rename":
        _rename(conversation)
    elif picked == "delete":
        _delete(conversation)


def _entry(conversation: Conversation, is_current: bool) -> None:
    st.button(
        words.plain(words.shorten(conversation.title, TITLE_CHARS)) or "Untitled",
        key=f"chat_entry{'_current' if is_current else ''}_{conversation.id}",
        type="tertiary",
        width="stretch",
        on_click=show,
        args=(conversation.id,),
    )


def _show_all() -> None:
    st.session_state["chat_all"] = True


@st.dialog("Rename conversation", icon=":material/edit:")
def _rename(conversation: Conversation) -> None:
    with st.form("chat_rename", border=False):
        title = st.text_input("Title", value=conversation.title, max_chars=TITLE_CHARS, key="chat_title")
        with st.container(horizontal=True, horizontal_alignment="right"):
            saved = st.form_submit_button("Save", type="primary")
    if saved and title.strip():
        resources.library().rename_conversation(conversation.id, " ".join(title.split()))
        st.rerun()


@st.dialog("Delete this conversation?", icon=":material/delete:")
def _delete(conversation: Conversation) -> None:
    st.markdown(f"**{words.plain(words.shorten(conversation.title, TITLE_CHARS))}**")
    st.caption("Its questions, answers and citations are deleted. Your documents stay.")
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep it", key="chat_keep"):
            st.rerun()
        if st.button("Delete", type="primary", key="chat_delete"):
            resources.questions().stop(conversation.id)
            resources.library().delete_conversation(conversation.id)
            show(None)
            st.rerun()
