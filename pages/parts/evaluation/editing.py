"""One question with its right answers and the places where they stand: the form to write and to change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from uuid import uuid4

import streamlit as st

from pages.parts import formatting
from pages.parts.evaluation import dialogs, gold
from pages.parts.language import _, dialog, error_text, server_text
from rag_core.domain import Gold, Question
from rag_core.errors import LecternError
from rag_core.library import Library

NOWHERE = ""
PLACES = "evaluation_places"
QUESTION_CHARS = 4_000
Save = Callable[[Question], None]


def form(library: Library, question: Question | None, save: Save) -> None:
    """A dialog with the question, or for a new one. `save` is given what was written."""
    opened = dialogs.wanted()
    if st.session_state.get(PLACES, (None,))[0] is not opened:  # else the page is drawn anew under the dialog
        ids = gold.ids(library.documents())
        given = question.gold if question else ()
        known = [replace(place, document=ids.get(place.document.casefold(), place.document)) for place in given]
        st.session_state[PLACES] = (opened, known or [Gold(NOWHERE)])
    _ask(library, question or Question("", ""), save)


def fault(library: Library, question: Question) -> str:
    """Why a question cannot be kept as it is, or nothing."""
    if not question.text:
        return _("Write a question.")
    if any(place.document == NOWHERE for place in question.gold):
        return _("Choose the document in which the answer stands.")
    try:
        problems = library.evaluation.check([question])
    except LecternError as error:
        return server_text(str(error))
    return server_text(problems[0].message) if problems else ""


@dialog("Question", until_closed=dialogs.WANTED, fields=True, width="medium", icon=":material/edit:")
def _ask(library: Library, question: Question, save: Save) -> None:
    # A form that was left without saving must not lend its words to the next one.
    documents = library.documents()
    titles = gold.titles(documents)
    written = _fields(question, {item.id: titles[item.id] for item in documents}, question.id or "new")
    with st.container(horizontal=True, horizontal_alignment="right"):
        if not st.button(_("Save"), type="primary", icon=":material/check:", key="evaluation_save"):
            return
    if problem := fault(library, written):
        st.markdown(f":red[:material/error:] {formatting.plain(problem)}")
        return
    try:
        save(written)
    except LecternError as error:
        st.markdown(f":red[:material/error:] {formatting.plain(error_text(error))}")
        return
    dialogs.close()


def _fields(question: Question, documents: Mapping[str, str], tag: str) -> Question:
    text = st.text_area(_("Question"), question.text, max_chars=QUESTION_CHARS, height=80, key=f"evaluation_text_{tag}")
    nowhere = st.checkbox(
        _("The library holds no answer: to say so is right"), not question.answerable, key=f"evaluation_nowhere_{tag}"
    )
    whole = replace(question, id=question.id or uuid4().hex[:12], text=" ".join(text.split()))
    if nowhere:
        return replace(whole, answerable=False, references=(), gold=())
    answers = st.text_area(
        _("Right answers, each on a line of its own"), "\n".join(question.references), height=80,
        key=f"evaluation_answers_{tag}",
        placeholder=_("May stay empty: the place alone shows whether the right passage is found"),
    )  # fmt: skip
    references = tuple(line.strip() for line in answers.splitlines() if line.strip())
    return replace(whole, answerable=True, references=references, gold=_places(documents, tag))


def _places(documents: Mapping[str, str], tag: str) -> tuple[Gold, ...]:
    found = []
    for number, place in enumerate(st.session_state[PLACES][1]):
        with st.container(key=f"evaluation_place_{number}", border=True, gap="small"):
            found.append(_place(place, documents, f"{tag}_{number}"))
    st.button(
        _("One more place"), icon=":material/add:", type="tertiary", key="evaluation_more_places", on_click=_add_place
    )
    return tuple(place for place in found if place != Gold(NOWHERE))


def _place(place: Gold, documents: Mapping[str, str], tag: str) -> Gold:
    # A file may name a document by its title or source; that is kept unless another one is chosen.
    known = {NOWHERE: _("No place given"), **documents}
    known.setdefault(place.document, place.document)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        document = st.selectbox(
            _("Where the answer stands"), list(known), index=list(known).index(place.document),
            format_func=lambda key: formatting.shorten(known[key], 70), key=f"evaluation_document_{tag}",
        )  # fmt: skip
        page = st.number_input(_("Page"), 1, value=place.page, key=f"evaluation_page_{tag}", width=110)
    excerpt = st.text_area(
        _("The passage, as it stands there"), place.excerpt, height=80, key=f"evaluation_excerpt_{tag}",
        placeholder=_("May stay empty: any passage of the page is right then"),
    )  # fmt: skip
    return Gold(document or NOWHERE, page, excerpt.strip())


def _add_place() -> None:
    st.session_state[PLACES][1].append(Gold(NOWHERE))
