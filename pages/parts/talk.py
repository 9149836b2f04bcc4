"""The conversation itself: its exchanges, the one that is growing, the passage that is open, the line to ask on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import conversations, exchange, models, passage, resources, samples, words
from pages.parts.asking import Asking
from pages.parts.components import component
from rag_core.domain import Citation, Document, Message, ModelStatus

if TYPE_CHECKING:
    from rag_core.library import Library

REFRESH_S = 0.15


def exchanges(library: Library, conversation: str | None) -> bool:
    """Draw all exchanges; the last one refreshes by itself while it grows. False when there is nothing yet."""
    asking = resources.questions().of(conversation) if conversation else None
    messages = settled(library.messages(conversation) if conversation else [], asking)
    for index, message in enumerate(messages):
        _draw_message(conversation or "", index, message)
    if asking is not None and conversation is not None:
        every = None if asking.finished else REFRESH_S
        st.fragment(_follow, run_every=every)(conversation, len(messages))
    return bool(messages) or asking is not None


def settled(messages: Sequence[Message], asking: Asking | None) -> list[Message]:
    """The kept messages without the one that is being answered, which the library keeps from its beginning."""
    shown = list(messages)
    if (
        asking is not None
        and shown
        and shown[-1].answer is None
        and shown[-1].question.strip() == asking.question.strip()
    ):
        shown.pop()
    return shown


def suggestions(documents: Sequence[Document]) -> None:
    """Questions to begin with, each one click away."""
    with st.container(key="chat_suggestions", gap="small"):
        st.markdown("## What would you like to know?")
        st.caption(
            f"Lectern reads {words.count(len(documents), 'document')} and shows the passage behind each sentence."
        )
        for number, question in enumerate(samples.suggestions(documents)):
            st.button(
                words.plain(question),
                key=f"chat_suggestion_{number}",
                icon=":material/north_east:",
                width="stretch",
                on_click=ask,
                args=(question,),
            )


def ask_line(conversation: str | None, chosen: ModelStatus) -> None:
    """The line at the foot: a question, or a stop while one is being answered."""
    asking = resources.questions().of(conversation) if conversation else None
    under_way = asking is not None and not asking.finished
    with st.bottom.container(key="chat_foot", gap="xsmall"):
        models.remote_line(chosen)
        with st.container(horizontal=True, vertical_alignment="center", wrap=False, key="chat_ask", gap="small"):
            placeholder = "Lectern is answering" if under_way else "Ask your documents"
            st.chat_input(placeholder, key="chat_question", disabled=under_way, on_submit=_submit)
            if under_way and conversation is not None:
                stop = resources.questions().stop
                st.button("Stop", icon=":material/stop_circle:", key="chat_stop", on_click=stop, args=(conversation,))


def open_passage(library: Library, conversation: str | None) -> None:
    """The passage that was clicked, beside the conversation."""
    chosen = st.session_state.get("chat_passage")
    citation = _find(library, conversation, chosen) if chosen else None
    if citation is None:
        st.session_state.pop("chat_passage", None)
        return
    with st.container(key="chat_passage"):
        data = passage.cited(library, citation, chosen["page"])
        act = partial(_turn, citation.page)
        component("passage")(key="chat_page_view", data=data, height="stretch", on_act_change=act)


def ask(question: str) -> None:
    """Begin to answer a question in the conversation shown, or in a new one."""
    conversation = conversations.current() or conversations.begin()
    resources.questions().ask(conversation, question, st.session_state.get("chat_model"))


def _submit() -> None:
    question = st.session_state["chat_question"]
    if question:
        ask(question)


def _draw_message(conversation: str, index: int, message: Message) -> None:
    key = _key(conversation, index)
    chosen = st.session_state.get("chat_passage")
    active = chosen["number"] if chosen and chosen["index"] == index else None
    exchange.draw(
        key, exchange.kept(message, active), on_open=_opener(key, index), on_retry=partial(ask, message.question)
    )


def _follow(conversation: str, index: int) -> None:
    """Draw the exchange that grows. Once it is whole the page is drawn anew, with the answer as the library kept it."""
    board = resources.questions()
    asking = board.of(conversation)
    if asking is None:
        return
    key = _key(conversation, index)
    exchange.draw(key, exchange.growing(asking), on_open=_opener(key, index), on_retry=partial(ask, asking.question))
    if asking.answer is not None:
        board.dismiss(conversation)
    seen = st.session_state.get("chat_ended") == asking.id
    if asking.finished and not seen:
        st.session_state["chat_ended"] = asking.id
        st.rerun()


def _key(conversation: str, index: int) -> str:
    """The same for the growing and the whole answer, so that the browser keeps the very same element."""
    return f"chat_exchange_{conversation}_{index}"


def _opener(key: str, index: int) -> Callable[[], None]:
    def open_number() -> None:
        number = st.session_state[key]["open"]
        st.session_state["chat_passage"] = {"index": index, "number": number, "page": None}

    return open_number


def _turn(home: int) -> None:
    """Close the passage, or turn a page."""
    act = st.session_state["chat_page_view"]["act"]
    chosen = st.session_state.get("chat_passage")
    if chosen is None:
        return
    if act == "close":
        del st.session_state["chat_passage"]
    else:
        page = chosen["page"] or home
        chosen["page"] = {"next": page + 1, "previous": max(page - 1, 1)}.get(act)


def _find(library: Library, conversation: str | None, chosen: dict[str, int]) -> Citation | None:
    messages = library.messages(conversation) if conversation else []
    answer = messages[chosen["index"]].answer if chosen["index"] < len(messages) else None
    citations = answer.citations if answer else ()
    return next((citation for citation in citations if citation.number == chosen["number"]), None)
