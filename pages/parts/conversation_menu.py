"""The conversation shown: its title with a menu, and the dialogs to rename, export and delete it.

Whatever is clicked acts in a callback. A run of the page that draws what a click asked for can be stopped by the next
click; its callback has run by then, and what it noted is drawn by the next run.
"""

from __future__ import annotations

import re
from functools import partial

import streamlit as st

from pages.parts import conversations, formatting, language, resources
from pages.parts.components import component
from pages.parts.conversations import TITLE_CHARS
from pages.parts.language import _, msgid
from rag_core.domain import Conversation
from rag_core.exporting import SUFFIXES, ConversationForm
from rag_core.library import Library

_OPEN = "chat_dialog"
ACTS = {
    "rename": msgid(":material/edit: Rename"),
    "pin": msgid(":material/keep: Pin"),
    "unpin": msgid(":material/keep_off: Unpin"),
    "export": msgid(":material/download: Export"),
    "delete": msgid(":material/delete: Delete"),
}

FORMS: dict[ConversationForm, tuple[str, str]] = {
    "markdown": (msgid("Markdown"), ":material/markdown:"),
    "pdf": (msgid("PDF"), ":material/picture_as_pdf:"),
    "json": (msgid("JSON, with all that is kept"), ":material/data_object:"),
    "bibtex": (msgid("BibTeX of the documents cited"), ":material/format_quote:"),
}


def heading(library: Library, chosen: str | None) -> None:
    """The title of the conversation with its menu; its place is held from the moment a question is sent."""
    conversation = next((item for item in library.conversations() if item.id == chosen), None)
    asking = resources.questions().of(chosen) if chosen else None
    if conversation is None and asking is None:
        return
    title = conversation.title if conversation else asking.question if asking else ""
    with st.container(key="chat_heading", horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(f"# {formatting.plain(formatting.shorten(title, TITLE_CHARS))}")
        if conversation is not None:
            menu(library, conversation, "chat_menu")


def dialog(library: Library) -> None:
    """The dialog that was asked for last, until it is closed."""
    wanted, conversation_id = st.session_state.get(_OPEN, ("", ""))
    conversation = next((item for item in library.conversations() if item.id == conversation_id), None)
    if conversation is None:
        _close()
    elif wanted == "rename":
        _rename(conversation)
    elif wanted == "export":
        _export(library, conversation)
    elif wanted == "delete":
        _delete(conversation)


def menu(library: Library, conversation: Conversation, key: str) -> None:
    """What can be done with a conversation, its collections among that."""
    known = {one.id: one.name for one in library.collections.all()}
    names = {
        f"into {one}": _(":material/folder: Into {name}").format(name=formatting.plain(name))
        for one, name in known.items()
    }
    names.pop(f"into {conversation.collection}", None)
    if conversation.collection:
        names["into "] = _(":material/folder_off: Out of {name}").format(
            name=formatting.plain(known.get(conversation.collection, ""))
        )
    acts = ["rename", "unpin" if conversation.pinned else "pin", "export", *names, "delete"]
    st.menu_button(
        _("More on {title}").format(title=formatting.plain(conversation.title)) if key != "chat_menu" else _("More"),
        acts,
        format_func=lambda act: names.get(act) or _(ACTS[act]),
        icon=":material/more_horiz:",
        type="tertiary",
        key=key,
        on_click=_picked,
        args=(conversation.id, key),
    )


def _picked(conversation_id: str, key: str) -> None:
    act, library = st.session_state[key] or "", resources.library()
    if act in ("pin", "unpin"):
        library.history.pin(conversation_id, act == "pin")
    elif act.startswith("into "):
        library.collections.move(conversation_id, act.removeprefix("into ") or None)
    elif act:
        st.session_state[_OPEN] = (act, conversation_id)


def _close() -> None:
    st.session_state.pop(_OPEN, None)


def _leave_if_done() -> None:
    """What acted in a callback leaves no dialog to draw."""
    if _OPEN not in st.session_state:
        st.rerun()


@language.dialog("Rename conversation", until_closed=_OPEN, fields=True, icon=":material/edit:")
def _rename(conversation: Conversation) -> None:
    _leave_if_done()
    with st.form("chat_rename", border=False):
        st.text_input(_("Title"), value=conversation.title, max_chars=TITLE_CHARS, key="chat_title")
        with st.container(horizontal=True, horizontal_alignment="right"):
            st.form_submit_button(_("Save"), type="primary", on_click=_keep_title, args=(conversation.id,))


def _keep_title(conversation_id: str) -> None:
    if title := " ".join(st.session_state["chat_title"].split()):
        resources.library().history.rename(conversation_id, title)
        _close()


@language.dialog("Export conversation", until_closed=_OPEN, icon=":material/download:")
def _export(library: Library, conversation: Conversation) -> None:
    st.caption(_("Every citation is written as [Title, Section, p. N]."))
    name = re.sub(r"[^\w-]+", "-", conversation.title).strip("-") or "conversation"
    for form, (label, icon) in FORMS.items():
        st.download_button(
            _(label), partial(library.history.export, conversation.id, form), name + SUFFIXES[form],
            icon=icon, key=f"chat_export_{form}", on_click="ignore", width="stretch",
        )  # fmt: skip
    text = library.history.export(conversation.id, "markdown").decode()
    component("copying")(key="chat_copy", data={"text": text, "label": _("Copy all of it")})


@language.dialog("Delete this conversation?", until_closed=_OPEN, icon=":material/delete:")
def _delete(conversation: Conversation) -> None:
    _leave_if_done()
    st.markdown(f"**{formatting.plain(formatting.shorten(conversation.title, TITLE_CHARS))}**")
    st.caption(_("Its questions, answers and citations are deleted. Your documents stay."))
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(_("Keep it"), key="chat_keep", on_click=_close)
        st.button(_("Delete"), type="primary", key="chat_delete", on_click=_delete_it, args=(conversation.id,))


def _delete_it(conversation_id: str) -> None:
    resources.questions().stop(conversation_id)
    resources.library().history.delete(conversation_id)
    if st.session_state.get("chat_current") == conversation_id:
        conversations.show(None)
    _close()
