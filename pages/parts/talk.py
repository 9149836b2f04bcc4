"""The conversation itself: its exchanges, the one that is growing, the passage that is open, the line to ask on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.parts import conversations, exchange, models, passage, resources, samples, scoping, searched, words
from pages.parts.asking import Asking
from pages.parts.components import component
from rag_core.domain import Citation, Document, Message, ModelStatus, Scope, Trace
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

REFRESH_S = 0.15
SUGGESTIONS = 4
WAIT_S = 0.5  # as long as a click may have to wait


def exchanges(library: Library, conversation: str | None) -> bool:
    """Draw all exchanges; the last one refreshes by itself while it grows. False when there is nothing yet."""
    if conversation is None:
        return False
    asking = resources.questions().of(conversation)
    if asking is not None and asking.answer is not None:
        resources.questions().dismiss(conversation)
        asking = None
    messages = settled(library.messages(conversation), asking)
    st.session_state.pop("chat_whole_page", None)
    with st.container(key="chat_exchanges", gap="large"):
        kept = messages if asking is not None else messages[:-1]
        for index, message in enumerate(kept):
            _draw_message(conversation, index, message)
        last = None if asking is not None or not messages else messages[-1]
        under_way = asking is not None and not asking.finished
        # Always a fragment: the browser then keeps the very same element when the answer is whole.
        st.fragment(_last, run_every=REFRESH_S if under_way else None)(conversation, len(kept), last, under_way)
    return bool(messages) or asking is not None


def settled(messages: Sequence[Message], asking: Asking | None) -> list[Message]:
    """The kept messages, without what is being answered now and without failures that were asked again."""
    shown = list(messages)
    if asking is not None and shown and _repeated(shown[-1], asking.question):
        shown.pop()
    later = [*(message.question for message in shown[1:]), asking.question if asking else ""]
    return [message for message, question in zip(shown, later, strict=False) if not _repeated(message, question)]


def suggestions(documents: Sequence[Document], scope: Scope) -> None:
    """Questions to begin with, each one click away; first of all what was searched for before."""
    inside = [document for document in documents if document.id in scope.documents] or documents
    searched_for = st.session_state.get("chat_searched_for")
    questions = [*([searched_for] if searched_for else []), *samples.suggestions(inside)]
    with st.container(key="chat_suggestions", gap="small"):
        st.markdown("## What would you like to know?")
        st.caption(f"Lectern reads {words.count(len(inside), 'document')} and shows the passage behind each sentence.")
        for number, question in enumerate(questions[:SUGGESTIONS]):
            st.button(
                words.plain(question),
                key=f"chat_suggestion_{number}",
                icon=":material/north_east:",
                width="stretch",
                on_click=ask,
                args=(question,),
            )


def ask_line(library: Library, documents: Sequence[Document], conversation: str | None, chosen: ModelStatus) -> None:
    """The line at the foot: a question, or a stop while one is being answered; above it what is searched."""
    asking = resources.questions().of(conversation) if conversation else None
    under_way = asking is not None and not asking.finished
    with st.bottom.container(key="chat_foot", gap="xsmall"):
        models.remote_line(chosen)
        if documents:
            _scope_line(library, documents, conversation)
        with st.container(horizontal=True, vertical_alignment="center", wrap=False, key="chat_ask", gap="small"):
            placeholder = "Lectern is answering" if under_way else "Ask your documents"
            st.chat_input(placeholder, key="chat_question", disabled=under_way, on_submit=_submit)
            if asking is not None and under_way:
                _stop_button(asking)


def open_passage(library: Library, conversation: str | None) -> None:
    """The passage that was clicked, beside the conversation."""
    chosen = st.session_state.get("chat_passage")
    citation = _find(library, conversation, chosen) if chosen else None
    if chosen is None or citation is None:
        st.session_state.pop("chat_passage", None)
        return
    with st.container(key="chat_passage"):
        data = passage.cited(library, citation, chosen["page"])
        act = partial(_turn, citation.page)
        component("passage")(key="chat_page_view", data=data, height="stretch", on_act_change=act)


def ask(question: str) -> None:
    """Begin to answer a question in the conversation shown, or in a new one."""
    conversation, scope = conversations.current(), None
    if conversation is None:
        scope = st.session_state.get("chat_scope")
        conversation = conversations.begin()
    resources.questions().ask(conversation, question, st.session_state.get("chat_model"), scope)
    st.session_state["chat_whole_page"] = True


def what_was_searched(library: Library, conversation: str | None) -> None:
    """The dialog behind an answer, if it was just asked for."""
    asked_for = st.session_state.pop("chat_searched", None)
    messages = library.messages(conversation) if asked_for and conversation else []
    answer = next((message.answer for message in messages if message.id == asked_for), None)
    if answer is not None and answer.trace.searched is not None:
        _searched_dialog(answer.trace, library.documents())


@st.dialog("What was searched", width="medium", icon=":material/manage_search:")
def _searched_dialog(trace: Trace, documents: Sequence[Document]) -> None:
    searched.draw(trace, documents, "chat")


def _scope_line(library: Library, documents: Sequence[Document], conversation: str | None) -> None:
    with st.container(key="chat_scope_line", horizontal=True, vertical_alignment="center", gap="small"):
        scope = conversations.scope(library, conversation)
        scoping.choose(library, documents, "chat", scope, partial(conversations.narrow, conversation), type="tertiary")
        component("keys")(key="chat_keys", data={"selector": ".st-key-chat_question textarea"})


def _stop_button(asking: Asking) -> None:
    st.button(
        "Stopping" if asking.stopping else "Stop",
        icon=":material/stop_circle:",
        key="chat_stop",
        disabled=asking.stopping,
        on_click=resources.questions().stop,
        args=(asking.conversation,),
    )


def _submit() -> None:
    question = st.session_state["chat_question"]
    if question:
        ask(question)


def _draw_message(conversation: str, index: int, message: Message, *, latest: bool = False) -> None:
    key = _key(conversation, index)
    chosen = st.session_state.get("chat_passage")
    active = chosen["number"] if chosen and chosen["message"] == message.id else None
    data = exchange.kept(message, active) | {"latest": latest}
    exchange.draw(
        key, data, on_open=_opener(key, message.id), on_retry=partial(ask, message.question),
        on_rate=_rater(key, message.id), on_searched=partial(_show_searched, message.id),
    )  # fmt: skip


def _last(conversation: str, index: int, message: Message | None, under_way: bool) -> None:
    """Draw the last exchange, kept or growing. When it is whole the page is drawn anew, from what the library kept."""
    board = resources.questions()
    if under_way:
        board.await_change(conversation, st.session_state.get("chat_seen"), WAIT_S)
    asking = st.session_state["chat_seen"] = board.of(conversation)
    key, latest = _key(conversation, index), index > 0  # the only exchange stands where it is looked for already
    # Drawn before the page is: what a fragment leaves undrawn is taken off the page for a moment.
    if asking is not None:
        data, retry = exchange.growing(asking) | {"latest": latest}, partial(ask, asking.question)
        exchange.draw(
            key, data, on_open=_opener(key, asking.answer.message_id if asking.answer else ""), on_retry=retry
        )
    elif message is not None:
        _draw_message(conversation, index, message, latest=latest)
    asked_for_more = st.session_state.pop("chat_whole_page", False)
    if asked_for_more or (under_way and (asking is None or asking.finished)):
        st.rerun()


def _repeated(message: Message, question: str) -> bool:
    return message.answer is None and message.question.strip() == question.strip()


def _key(conversation: str, index: int) -> str:
    """The same for the growing and the whole answer, so that the browser keeps the very same element."""
    return f"chat_exchange_{conversation}_{index}"


def _opener(key: str, message_id: str) -> Callable[[], None]:
    def open_number() -> None:
        number = st.session_state[key]["open"]
        st.session_state["chat_passage"] = {"message": message_id, "number": number, "page": None}
        st.session_state["chat_whole_page"] = True  # a click inside a fragment redraws that fragment alone

    return open_number


def _show_searched(message_id: str) -> None:
    st.session_state["chat_searched"] = message_id
    st.session_state["chat_whole_page"] = True


def _rater(key: str, message_id: str) -> Callable[[], None]:
    def rate() -> None:
        """Keep the mark, or take it back; it is drawn as the library then has it."""
        try:
            resources.library().rate(message_id, exchange.RATINGS[st.session_state[key]["rate"]])
        except LecternError as error:
            st.toast(f"Your mark was not kept: {words.plain(str(error))}", icon=":material/error:")
        st.session_state["chat_whole_page"] = True

    return rate


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


def _find(library: Library, conversation: str | None, chosen: dict[str, Any]) -> Citation | None:
    messages = library.messages(conversation) if conversation else []
    answers = (message.answer for message in messages if message.id == chosen["message"])
    citations = [citation for answer in answers if answer for citation in answer.citations]
    return next((citation for citation in citations if citation.number == chosen["number"]), None)
