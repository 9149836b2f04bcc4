"""Drafted and past questions, looked through one by one: accepted, changed or dropped."""

from __future__ import annotations

import streamlit as st

from pages.parts import formatting, models, resources
from pages.parts.evaluation import dialogs, editing, gold
from pages.parts.evaluation.candidates import CandidateBoard
from pages.parts.language import _, dialog, figure, msgid, ngettext, server_text
from pages.parts.refreshing import REFRESH_S, failure, fragment, refreshed, working
from rag_core.domain import Question
from rag_core.library import Library

COUNT, MOST = 20, 500
WITHOUT = ""


@dialog("Draft questions", until_closed=dialogs.WANTED, fields=True, icon=":material/auto_awesome:")
def form(library: Library, set_id: str) -> None:
    """A dialog that says how many questions to draft, of which documents, and by what."""
    documents = {item.id: item.title for item in library.documents() if item.state == "ready"}
    ready = {item.id: item for item in library.language_models.statuses() if item.ready and item.id != "extractive"}
    st.caption(_("Lectern reads your documents and notes the page where each answer stands. You keep the good ones."))
    count = st.number_input(_("How many"), 1, MOST, COUNT, key="evaluation_draft_count")
    chosen = st.multiselect(
        _("From"), list(documents), format_func=lambda key: formatting.shorten(documents[key], 60),
        placeholder=_("All documents"), key="evaluation_draft_documents",
    )  # fmt: skip
    model = WITHOUT
    if ready:
        names = {WITHOUT: _("the texts themselves"), **{key: server_text(item.label) for key, item in ready.items()}}
        model = st.selectbox(_("Written by"), list(names), format_func=names.__getitem__, key="evaluation_draft_model")
    if model in ready:
        models.remote_line(ready[model], msgid("the passages that questions are drafted from"))
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Draft"), type="primary", icon=":material/auto_awesome:", key="evaluation_draft"):
            resources.candidates().draft(set_id, int(count), chosen or None, model or None)
            dialogs.close()


def take_past(library: Library, set_id: str) -> None:
    """Put the past questions that were marked with a thumb on the board, save for those the set has already."""
    there = {question.text.casefold() for question in library.evaluation.questions(set_id)}
    there |= {question.text.casefold() for question in resources.candidates().waiting(set_id)}
    asked = library.evaluation.asked()
    found = [question for question in asked if question.text.casefold() not in there]
    resources.candidates().add(set_id, found)
    if found:
        here = _("; {number} are here already").format(number=figure(len(asked) - len(found)))
        new = ngettext("{number} past question to look at", "{number} past questions to look at", len(found))
        st.session_state["evaluation_told"] = f"{new}{here if len(asked) > len(found) else ''}."
    else:
        st.session_state["evaluation_told"] = _(
            "No past question has a thumb that is not here yet. Mark answers on the chat page with "
            ":material/thumb_up: or :material/thumb_down:, and they can be taken from there."
        )


def section(library: Library, set_id: str) -> None:
    """The drafting under way, and the candidate that is to be looked at."""
    board = resources.candidates()
    seen = (board.busy, bool(board.waiting(set_id)))
    fragment(refreshed, REFRESH_S if board.busy else None)(
        lambda: _progress(board, set_id), lambda: seen != (board.busy, bool(board.waiting(set_id)))
    )
    waiting = board.waiting(set_id)
    if waiting:
        _card(library, set_id, waiting[0], len(waiting))


def accept(library: Library, set_id: str, questions: tuple[Question, ...]) -> None:
    """Put candidates into the set, and take them off the board."""
    library.evaluation.put(set_id, questions)
    for question in questions:
        resources.candidates().settle(question.id)


def _progress(board: CandidateBoard, set_id: str) -> None:
    job = board.job(set_id)
    if job is None:
        return
    if job.error is not None:
        failure(job.error)
    elif job.state == "done" and not job.result:
        st.caption(
            _(":material/info: No question could be drafted from these documents. Type some in, or upload a file.")
        )
    elif not job.finished and job.progress.total:
        done, total = job.progress.done, job.progress.total
        text = (
            _("Stopping")
            if job.stopping
            else _("Drafting questions: {done} of {total}").format(done=figure(done), total=figure(total))
        )
        line, key = "evaluation_drafting_line", "evaluation_draft_stop"
        working(resources.library().jobs, job, done / total, text, line=line, key=key)


def _card(library: Library, set_id: str, question: Question, left: int) -> None:
    with st.container(key="evaluation_card", border=True, gap="small"):
        st.caption(ngettext("{number} question to look at", "{number} questions to look at", left))
        st.markdown(f"**{formatting.plain(question.text)}**")
        gold.reference(question, gold.titles(library.documents()))
        if question.note:
            st.caption(formatting.plain(server_text(question.note)))
        with st.container(horizontal=True, gap="small", key="evaluation_card_buttons"):
            args = (library, set_id, (question,))
            st.button(
                _("Accept"),
                type="primary",
                icon=":material/check:",
                key="evaluation_accept",
                on_click=accept,
                args=args,
            )
            st.button(
                _("Change"), icon=":material/edit:", key="evaluation_change", on_click=dialogs.want,
                args=("candidate", question.id),
            )  # fmt: skip
            if dialogs.wanted() == ("candidate", question.id):
                editing.form(library, question, lambda written: accept(library, set_id, (written,)))
            st.button(
                _("Drop"), icon=":material/close:", key="evaluation_drop", on_click=resources.candidates().settle,
                args=(question.id,),
            )  # fmt: skip
            if left > 1:
                _rest(library, set_id)


def _rest(library: Library, set_id: str) -> None:
    board = resources.candidates()
    st.button(
        _("Accept all"), type="tertiary", key="evaluation_accept_all",
        on_click=lambda: accept(library, set_id, board.waiting(set_id)),
    )  # fmt: skip
    st.button(_("Drop all"), type="tertiary", key="evaluation_drop_all", on_click=board.clear, args=(set_id,))
