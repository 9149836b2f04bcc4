"""The conversation itself: its exchanges, the one that is growing, the passage that is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

import streamlit as st

from pages.parts import (
    agent_choice,
    chat_widget,
    conversations,
    formatting,
    next_steps,
    passage,
    resources,
    searched,
    table_plan,
)
from pages.parts.language import _, dialog, server_text
from pages.parts.refreshing import anew, fragment
from pages.parts.running_answers import RunningAnswer
from rag_core.domain import Answer, Document, Message, Trace
from rag_core.errors import InvalidQuestion, LecternError
from rag_core.library import Library

REFRESH_S = 0.15
LOOK_AGAIN_S = 1.0
WAIT_S = 0.5  # as long as a click may have to wait
_SEARCHED = "chat_searched"


class _Last(NamedTuple):
    """What the last exchange waits for: the rest of its answer, the questions to ask next."""

    under_way: bool
    looking: bool


def exchanges(library: Library, conversation: str | None) -> str:
    """Draw all exchanges; the last one refreshes by itself while it grows. Returns its id, "" when there is none."""
    if conversation is None:
        return ""
    asking = resources.questions().of(conversation)
    if asking is not None and asking.answer is not None:
        resources.questions().dismiss(conversation)
        asking = None
    messages = settled(library.messages(conversation), asking)
    st.session_state.pop("chat_whole_page", None)
    with st.container(key="chat_exchanges", gap="large"):
        kept = messages if asking is not None else messages[:-1]
        # All are fragments, in the same places: a click on what was last a moment ago is for one that is still there,
        # and the browser keeps the very same element when the answer is whole.
        for index, message in enumerate(kept):
            fragment(_exchange)(conversation, index, message)
        last = None if asking is not None or not messages else messages[-1]
        under_way = asking is not None and not asking.finished
        looking = last is not None and last.answer is not None and _looking(library, conversation, last.answer)
        every_s = REFRESH_S if under_way else LOOK_AGAIN_S if looking else None
        fragment(_exchange, every_s)(conversation, len(kept), last, _Last(under_way, looking))
    return asking.id if asking is not None else last.id if last is not None else ""


def settled(messages: Sequence[Message], asking: RunningAnswer | None) -> list[Message]:
    """The kept messages, without what is being answered now, what that replaces, and failures that were asked again."""
    replaced = asking.replaces if asking is not None and asking.error is None else None
    shown = list(takewhile(lambda message: message.id != replaced, messages))
    if asking is not None and shown and _repeated(shown[-1], asking.question):
        shown.pop()
    later = [*(message.question for message in shown[1:]), asking.question if asking else ""]
    return [message for message, question in zip(shown, later, strict=False) if not _repeated(message, question)]


def open_passage(library: Library, conversation: str | None) -> None:
    """The passage that was clicked, beside the conversation."""
    chosen = st.session_state.get("chat_passage")
    answer = _answer(library, conversation, chosen["message"]) if chosen else None
    data = _opened(library, answer, chosen) if chosen and answer else None
    if data is None:
        st.session_state.pop("chat_passage", None)
        return
    with st.container(key="chat_passage"):
        passage.draw("chat_page_view", data, on_close=_close, on_cite=_step)


def ask(question: str, replaces: str | None = None) -> None:
    """Begin to answer a question in the conversation shown, perhaps in the place of a message, or in a new one."""
    conversation, scope = conversations.current(), None
    if conversation is None:
        scope = conversations.scope(resources.library(), None) or None
        conversation = conversations.begin()
        agent_choice.begin(conversation)
    model, agent = st.session_state.get("chat_model"), st.session_state.get("chat_agent")
    resources.questions().ask(conversation, question, model, scope, replaces, agent)
    st.session_state["chat_whole_page"] = True


def _go_on(conversation: str, message: Message) -> None:
    """Begin to go on with an answer that was cut."""
    resources.questions().ask(conversation, message.question, None, replaces=message.id, before=message.answer)
    st.session_state.pop("chat_passage", None)


def change_of_table(library: Library, conversation: str | None) -> None:
    """The dialog on a table's rows or on one of its conditions, if it was asked for, until it is closed."""
    asked_for = st.session_state.get(table_plan.OPENED)
    messages = library.messages(conversation) if asked_for and conversation else []
    message = next((one for one in messages if asked_for and one.id == asked_for["message"]), None)
    if message is None or asked_for is None or conversation is None:
        st.session_state.pop(table_plan.OPENED, None)
    elif asked_for["act"] == "change":
        table_plan.change(library, message, asked_for["at"], partial(_ask_table, conversation))
    else:
        table_plan.rows(library, message)


def what_was_searched(library: Library, conversation: str | None) -> None:
    """The dialog behind an answer, if it was asked for, until it is closed."""
    asked_for = st.session_state.get(_SEARCHED)
    messages = library.messages(conversation) if asked_for and conversation else []
    answer = next((message.answer for message in messages if message.id == asked_for), None)
    if answer is not None and answer.trace.searched is not None:
        _searched_dialog(answer.trace, library.documents())
    else:
        st.session_state.pop(_SEARCHED, None)


@dialog("What was searched", until_closed=_SEARCHED, width="large", icon=":material/manage_search:")
def _searched_dialog(trace: Trace, documents: Sequence[Document]) -> None:
    searched.draw(trace, documents, "chat")


def _draw_message(conversation: str, index: int, message: Message, *, last: bool = False, latest: bool = False) -> None:
    key = _key(conversation, index)
    chosen = st.session_state.get("chat_passage")
    is_open = chosen is not None and chosen["message"] == message.id
    active, row = (chosen["number"], chosen.get("row")) if chosen and is_open else (None, None)
    data = chat_widget.kept(message, active, row) | {"latest": latest}
    if last and message.answer is not None:
        data["next"] = next_steps.offered(resources.library(), conversation, message.answer)
        data["continues"] = message.answer.cut
    # An unfinished answer in the midst of a conversation stays where it is; the last one gives way.
    unfinished = message.answer is None or (message.answer.stopped and not message.answer.cut)
    chat_widget.draw(
        key, data, on_open=partial(_open_number, key, message.id),
        on_retry=partial(ask, message.question, message.id if last and unfinished else None),
        on_rate=partial(_rate, key, message), on_searched=partial(_show_searched, message.id),
        on_edit=partial(_ask_again, key, message.id), on_back=partial(_bring_back, message.id),
        on_next=partial(_take_step, key, conversation, message),
        on_table=partial(_act_on_table, key, conversation, message),
    )  # fmt: skip


def _again(asking: RunningAnswer) -> None:
    """Ask once more what failed."""
    if asking.before is None:
        ask(asking.question, asking.replaces)
    else:
        resources.questions().ask(
            asking.conversation, asking.question, None, replaces=asking.replaces, before=asking.before
        )
        st.session_state["chat_whole_page"] = True


def _looking(library: Library, conversation: str, answer: Answer) -> bool:
    """Whether questions that can be asked next are still looked for."""
    return next_steps.questions(library, conversation, answer) is None


def _exchange(conversation: str, index: int, message: Message | None, last: _Last | None = None) -> None:
    """Draw an exchange; the last one kept or growing. The page is drawn anew, from what the library kept, when that is
    whole, or when a click asked for it."""
    under_way = last is not None and last.under_way
    asking = None
    if last is not None:
        board = resources.questions()
        if under_way:
            board.await_change(conversation, st.session_state.get("chat_seen"), WAIT_S)
        asking = st.session_state["chat_seen"] = board.of(conversation)
    key = _key(conversation, index)
    latest = last is not None and index > 0  # the only exchange stands where it is looked for already
    # Drawn before the page is: what a fragment leaves undrawn is taken off the page for a moment.
    if asking is not None:
        data, own = chat_widget.growing(asking) | {"latest": latest}, asking.answer.message_id if asking.answer else ""
        chat_widget.draw(key, data, on_open=partial(_open_number, key, own), on_retry=partial(_again, asking))
    elif message is not None:
        _draw_message(conversation, index, message, last=last is not None, latest=latest)
    if st.session_state.pop("chat_whole_page", False):
        st.rerun()
    if (under_way and (asking is None or asking.finished)) or _is_found(conversation, message, last):
        anew()


def _is_found(conversation: str, message: Message | None, last: _Last | None) -> bool:
    """Whether questions that were looked for are there now."""
    if last is None or not last.looking or message is None or message.answer is None:
        return False
    return not _looking(resources.library(), conversation, message.answer)


def _repeated(message: Message, question: str) -> bool:
    return message.answer is None and message.question.strip() == question.strip()


def _key(conversation: str, index: int) -> str:
    """The same for the growing and the whole answer, so that the browser keeps the very same element."""
    return f"chat_exchange_{conversation}_{index}"


def _open_number(key: str, message_id: str) -> None:
    number = st.session_state[key]["open"]
    st.session_state["chat_passage"] = {"message": message_id, "number": number}
    st.session_state["chat_whole_page"] = True  # a click inside a fragment redraws that fragment alone


def _show_searched(message_id: str) -> None:
    st.session_state.pop(table_plan.OPENED, None)  # one dialog at a time
    st.session_state[_SEARCHED] = message_id
    st.session_state["chat_whole_page"] = True


def _rate(key: str, message: Message) -> None:
    """Keep the mark with its reason, or take it back; it is drawn as the library then has it."""
    clicked = st.session_state[key]
    mark, reason = clicked.get("rate"), clicked.get("reason")
    with _told(_("Your mark was not kept")):
        if mark is not None:
            resources.library().history.rate(message.id, chat_widget.RATINGS[mark])
        elif reason is not None:
            resources.library().history.rate(message.id, message.rating, reason)
    st.session_state["chat_whole_page"] = True


def _ask_again(key: str, message_id: str) -> None:
    if question := st.session_state[key]["edit"].strip():
        ask(question, message_id)


def _take_step(key: str, conversation: str, message: Message) -> None:
    act = st.session_state[key]["next"]
    if act == next_steps.CONTINUE and message.answer:
        _go_on(conversation, message)
    elif act.startswith("ask "):
        ask(act.removeprefix("ask "))
    elif question := next_steps.take(act, conversation, message):
        ask(question, message.id)
    st.session_state["chat_whole_page"] = True


def _act_on_table(key: str, conversation: str, message: Message) -> None:
    """Open a row in its sheet, leave a condition out, or have a dialog opened for the rest."""
    clicked, table = st.session_state[key]["table"], message.answer.table if message.answer else None
    if clicked["act"] == "row":
        row = {"message": message.id, "number": None, "row": clicked["at"]}
        st.session_state["chat_passage"] = row
    elif clicked["act"] == "remove" and table is not None and clicked["at"] < len(table.plan.conditions):
        _ask_table(conversation, table_plan.without(message, table, clicked["at"]))
    else:
        st.session_state.pop(_SEARCHED, None)
        st.session_state[table_plan.OPENED] = {**clicked, "message": message.id}
    st.session_state["chat_whole_page"] = True


def _ask_table(conversation: str, changed: table_plan.Change) -> None:
    """Run a changed plan as a question of the conversation."""
    plan, question, query = changed
    with _told(_("The table was not asked")):
        try:
            resources.library().table_plans.ask(plan, question, conversation=conversation, query=query)
        except KeyError:
            raise InvalidQuestion(table_plan.GONE) from None


def _bring_back(message_id: str) -> None:
    with _told(_("The earlier question was not brought back")):
        resources.library().history.bring_back(message_id)
    st.session_state.pop("chat_passage", None)
    st.session_state["chat_whole_page"] = True


@contextmanager
def _told(failure: str) -> Iterator[None]:
    """Say in a toast why something was not done."""
    try:
        yield
    except LecternError as error:
        st.toast(f"{failure}: {formatting.plain(server_text(str(error)))}", icon=":material/error:")


def _close() -> None:
    st.session_state.pop("chat_passage", None)


def _step() -> None:
    """Open another citation of the same answer."""
    if chosen := st.session_state.get("chat_passage"):
        chosen["number"] = int(st.session_state["chat_page_view"]["cite"])


def _opened(library: Library, answer: Answer, chosen: dict[str, Any]) -> dict[str, Any] | None:
    """What was clicked, as the viewer takes it; None where the answer has it no more."""
    table, row = answer.table, chosen.get("row")
    if table is not None and row is not None and row < len(table.rows):
        return passage.of_row(library, table, row)
    citation = next((one for one in answer.citations if one.number == chosen["number"]), None)
    return passage.cited(library, citation, [one.number for one in answer.citations]) if citation else None


def _answer(library: Library, conversation: str | None, message_id: str) -> Answer | None:
    messages = library.messages(conversation) if conversation else []
    return next((message.answer for message in messages if message.id == message_id), None)
