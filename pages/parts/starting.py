"""A conversation that has not begun: what to ask, or why nothing can be asked yet."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import chat_stream, conversations, formatting, question_line, resources, samples
from pages.parts.language import _, ngettext
from pages.parts.refreshing import anew, fragment
from rag_core.domain import Document, Scope
from rag_core.library import Library

LOOK_AGAIN_S = 0.5
SHOWN = 4


def suggestions(library: Library, documents: Sequence[Document], scope: Scope) -> None:
    """Questions to begin with, each one click away; first of all what was searched for before.

    Others are only questions that the documents answer; while some are still to come, none are looked for.
    """
    inside = [one for one in documents if one.id in scope.documents or not set(one.tags).isdisjoint(scope.tags)]
    inside = inside or list(documents)
    with st.container(key="chat_suggestions", gap="small"):
        st.markdown(_("# What would you like to know?"))
        st.caption(
            _("Lectern reads {documents} and shows the passage behind each sentence.").format(
                documents=formatting.count(len(inside), "document")
            )
        )
        settled = question_line.intake(library)[1] == 0
        looking = settled and _answered(inside, scope) is None
        fragment(_buttons, LOOK_AGAIN_S if looking else None)(inside, scope, settled, looking)


def nothing_to_ask(library: Library) -> None:
    """The way to the library, when there is no document to ask yet."""
    with st.container(key="chat_empty", horizontal_alignment="center"):
        if question_line.intake(library)[1]:
            st.markdown(_("# Your documents are coming in"))
            st.markdown(_("You can ask as soon as the first one can be searched."))
        else:
            st.markdown(_("# Nothing to read yet"))
            st.markdown(_("Add a document, or the sample library, and ask away."))
            unread(library)
        question_line.coming(library)
        st.button(
            _("Go to the library"), icon=":material/library_books:", type="primary", key="chat_to_library",
            on_click=st.switch_page, args=("pages/upload.py",),
        )  # fmt: skip


def unread(library: Library) -> None:
    """How many documents there are that cannot be asked, as they could not be read."""
    failed = sum(document.state == "failed" for document in library.documents())
    if failed:
        st.caption(
            ngettext(
                "{number} document could not be read: the library says why.",
                "{number} documents could not be read: the library says why.",
                failed,
            )
        )


def _answered(documents: Sequence[Document], scope: Scope) -> list[str] | None:
    return resources.suggestions().of(documents, scope, samples.questions_of(documents))


def _buttons(documents: Sequence[Document], scope: Scope, settled: bool, looking: bool) -> None:
    found = _answered(documents, scope) if settled else []
    searched_for = st.session_state.get("chat_searched_for")
    questions = [*([searched_for] if searched_for else []), *(found or [])]
    for number, question in enumerate(questions[:SHOWN]):
        st.button(
            formatting.plain(question),
            key=f"chat_suggestion_{number}",
            icon=":material/north_east:",
            width="stretch",
            on_click=_ask,
            args=(question,),
        )
    if looking and found is None:
        for _ in range(len(questions), SHOWN):  # hold the place, so that nothing jumps
            st.html('<div class="lectern-to-come"></div>')
    if st.session_state.pop("chat_whole_page", False):
        st.rerun()
    if looking and found is not None:
        anew()


def _ask(question: str) -> None:
    """Begin a conversation; a click that comes twice, before the first one's answer is drawn, asks once."""
    chosen = conversations.current()
    if chosen is None or not (resources.questions().of(chosen) or resources.library().messages(chosen)):
        chat_stream.ask(question)
