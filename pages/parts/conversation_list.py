"""The conversations in the side bar: pinned ones, then by day, with a search as one types and a menu on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

import streamlit as st

from pages.parts import conversation_menu, conversations, formatting
from pages.parts.conversations import TITLE_CHARS
from pages.parts.language import _, figure
from rag_core.domain import Collection, Conversation
from rag_core.library import Library

LISTED = 20
_WEEK_DAYS = 7


def draw(library: Library, chosen: str | None, collection: Collection | None) -> None:
    """The list, of a collection or of all, with a button for a new one and a search in titles and texts.

    Single questions of the command line and of other programs are found by the search alone.
    """
    known = library.conversations()
    listed = [one for one in known if one.listed or one.id == chosen]
    st.button(
        _("New conversation"), icon=":material/edit_square:", key="chat_new", width="stretch",
        on_click=conversations.show, args=(None,),
    )  # fmt: skip
    if known:
        wanted = st.text_input(
            _("Search conversations"), key="chat_find", placeholder=_("Search conversations"), icon=":material/search:",
            label_visibility="collapsed", live=True,
        )  # fmt: skip
        if wanted.strip():
            listed = library.conversations(wanted)
            if not listed:
                st.caption(_("No conversation holds these words."))
    if collection:
        listed = [one for one in listed if one.collection == collection.id]
    shown = listed if st.session_state.get("chat_all") else listed[:LISTED]
    with st.container(key="chat_list", gap=None):
        for day, group in grouped(shown):
            st.caption(day)
            for one in group:
                _entry(library, one, one.id == chosen)
    if len(listed) > len(shown):
        st.button(
            _("Show all {count}").format(count=figure(len(listed))),
            key="chat_more",
            type="tertiary",
            on_click=_show_all,
        )


def grouped(listed: Sequence[Conversation], now: datetime | None = None) -> Iterator[tuple[str, list[Conversation]]]:
    """Conversations by when they were gone on with, each group with its name."""
    today = (now or datetime.now()).astimezone()
    for day, group in groupby(listed, lambda one: _("Pinned") if one.pinned else _day(one.updated_at, today)):
        yield day, list(group)


def _day(moment: datetime, today: datetime) -> str:
    local = moment.astimezone()
    days = (today.date() - local.date()).days
    if days < _WEEK_DAYS:
        return (_("Today"), _("Yesterday"))[days] if 0 <= days < 2 else _("Last 7 days") if days > 0 else _("Today")
    return formatting.month(local, with_year=local.year != today.year)


def _entry(library: Library, one: Conversation, is_current: bool) -> None:
    current = "_current" if is_current else ""
    with st.container(key=f"chat_row{current}_{one.id}", horizontal=True, wrap=False, gap=None):
        st.button(
            formatting.plain(formatting.shorten(one.title, TITLE_CHARS)) or _("Untitled"),
            icon=":material/keep:" if one.pinned else None, key=f"chat_entry{current}_{one.id}", type="tertiary",
            width="stretch", on_click=conversations.show, args=(one.id,),
        )  # fmt: skip
        conversation_menu.menu(library, one, f"chat_menu_{one.id}")


def _show_all() -> None:
    st.session_state["chat_all"] = True
