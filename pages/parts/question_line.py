"""The foot of the chat page: the line to ask on, a stop while an answer grows, what is searched, what is to come."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.parts import agent_choice, chat_stream, conversations, models, resources, scoping
from pages.parts.components import component
from pages.parts.language import _, ngettext
from pages.parts.refreshing import anew, fragment
from pages.parts.running_answers import RunningAnswer
from rag_core.domain import Document, ModelStatus
from rag_core.errors import LecternError
from rag_core.library import Library

LOOK_AGAIN_S = 1.5


def draw(
    library: Library, documents: Sequence[Document], conversation: str | None, chosen: ModelStatus, latest: str
) -> None:
    """A question, or a stop while one is being answered. `latest` is the exchange shown last.

    The cursor is in the line again when another exchange is the last and nothing is being answered.
    """
    asking = resources.questions().of(conversation) if conversation else None
    under_way = asking is not None and not asking.finished
    with st.bottom.container(key="chat_foot", gap="xsmall"):
        models.remote_line(chosen)
        with st.container(key="chat_scope_line", horizontal=True, vertical_alignment="center", gap="small"):
            if documents:
                scope, narrow = conversations.scope(library, conversation), partial(conversations.narrow, conversation)
                scoping.choose(library, documents, "chat", scope, narrow, type="tertiary")
            agent_choice.draw(library, conversation)
            coming(library)
            data = {"selector": ".st-key-chat_question textarea", "busy": under_way, "turn": latest, "mentions": True}
            component("keys")(key="chat_keys", data=data)
        with st.container(horizontal=True, vertical_alignment="center", wrap=False, key="chat_ask", gap="small"):
            placeholder = _("Lectern is answering") if under_way else _("Ask your documents")
            st.chat_input(placeholder, key="chat_question", disabled=under_way, on_submit=_submit)
            if asking is not None and under_way:
                _stop_button(asking)


def coming(library: Library) -> None:
    """How many documents can be searched while others are still to come; it looks again by itself, also for a first."""
    ready, to_come = intake(library)
    fragment(_coming, LOOK_AGAIN_S if to_come or not ready else None)(library, ready, to_come)


def intake(library: Library) -> tuple[int, int]:
    """How many documents can be searched, and how many are on their way to that, the library's doorstep included."""
    ready, to_come = library.intake()
    return ready, max(to_come, sum(not job.finished for job in library.jobs.all("add")))


def _coming(library: Library, ready_before: int, to_come_before: int) -> None:
    try:
        ready, to_come = intake(library)
    except LecternError:
        return  # the rest of the page says so
    if to_come:
        st.caption(f":material/hourglass_top: {coming_words(ready, to_come)}")
    # All are there, or the first one is: the page is another then.
    if (to_come_before and not to_come) or bool(ready) != bool(ready_before):
        anew()


def coming_words(ready: int, to_come: int) -> str:
    """`12 documents can be searched, 28 more are coming in`."""
    if not ready:
        coming = ngettext("{number} is coming in", "{number} are coming in", to_come)
        return f"{_('No document can be searched yet')}, {coming}"
    searchable = ngettext("{number} document can be searched", "{number} documents can be searched", ready)
    return f"{searchable}, {ngettext('{number} more is coming in', '{number} more are coming in', to_come)}"


def _stop_button(asking: RunningAnswer) -> None:
    st.button(
        _("Stopping") if asking.stopping else _("Stop"),
        icon=":material/stop_circle:",
        key="chat_stop",
        disabled=asking.stopping,
        on_click=resources.questions().stop,
        args=(asking.conversation,),
    )


def _submit() -> None:
    question = st.session_state["chat_question"]
    if question:
        chat_stream.ask(question)
