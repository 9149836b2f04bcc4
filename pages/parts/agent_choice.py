"""Whether an agent answers: chosen for each conversation, in one not yet begun for this tab."""

from __future__ import annotations

import streamlit as st

from pages.parts.language import _
from rag_core.library import Library

_CHOSEN = "chat_agents"  # by conversation, None for one not yet begun; what is kept stands there no more


def draw(library: Library, conversation: str | None) -> None:
    """The switch; it stands as was chosen in this conversation, else as the settings say."""
    st.session_state["chat_agent"] = _kept(library, conversation)
    st.toggle(
        _("Agent"), key="chat_agent", on_change=_choose, args=(conversation,),
        help=_("Plans several searches for a question, reads, and searches again where something is missing."),
    )  # fmt: skip


def begin(conversation: str) -> None:
    """What was chosen is of the conversation that begins now."""
    chosen = st.session_state.get(_CHOSEN, {})
    if None in chosen:
        chosen[conversation] = chosen.pop(None)


def _kept(library: Library, conversation: str | None) -> bool:
    chosen: dict[str | None, bool] = st.session_state.setdefault(_CHOSEN, {})
    if conversation in chosen:
        agent = chosen[conversation]
        if conversation is not None and library.history.set_agent(conversation, agent):
            del chosen[conversation]
        return agent
    kept = library.history.agent(conversation) if conversation is not None else None
    return library.settings.answering.agent if kept is None else kept


def _choose(conversation: str | None) -> None:
    st.session_state[_CHOSEN][conversation] = st.session_state["chat_agent"]
