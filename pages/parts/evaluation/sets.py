"""Question sets: which one is worked with, a new one, and the first one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import resources, samples, words
from pages.parts.evaluation import address
from rag_core.domain import Document, QuestionSet
from rag_core.errors import LecternError
from rag_core.library import Library

NAME_CHARS = 80
SAMPLES = "sample_questions"
FIRST = "My questions"
WAYS = (
    ("draft", "Draft from my documents", ":material/auto_awesome:"),
    ("upload", "Upload a file", ":material/upload_file:"),
    ("asked", "From past questions", ":material/forum:"),
    ("type", "Type one in", ":material/edit:"),
)


def present(library: Library, documents: Sequence[Document]) -> list[QuestionSet]:
    """Every set. That of the sample library is made once, where all of its documents are there."""
    names = {name for document in documents for name in document.sources}
    wanted = {path.name for path in samples.files()}
    if wanted and wanted <= names and library.preferences.get(SAMPLES) is None:
        library.preferences.set(SAMPLES, "made")
        try:
            library.evaluation.create("Sample questions", samples.questions())
        except LecternError:
            library.preferences.set(SAMPLES, None)
            raise
    return library.evaluation.sets()


def chooser(sets: Sequence[QuestionSet], chosen: QuestionSet) -> None:
    """The set in use, a look at its questions, and a new one."""
    labels = {item.id: f"{words.shorten(item.name, 60)} ({item.size:,})" for item in sets}
    st.session_state["evaluation_chosen"] = chosen.id
    with st.container(key="evaluation_sets", horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            "Question set", list(labels), format_func=lambda set_id: labels[set_id], key="evaluation_chosen",
            on_change=_choose,
        )  # fmt: skip
        st.button("Questions", icon=":material/list_alt:", key="evaluation_questions", on_click=address.show_questions)
        if st.button("New set", icon=":material/add:", key="evaluation_new", type="tertiary"):
            _new()


def nothing() -> None:
    """The way to the library, when there is no document yet."""
    with st.container(key="evaluation_nothing", horizontal_alignment="center"):
        st.markdown("## Nothing to measure yet")
        st.markdown("Add a document, or the sample library, which brings questions of its own.")
        if st.button("Go to the library", icon=":material/library_books:", type="primary", key="evaluation_to_library"):
            st.switch_page("pages/upload.py")


def first() -> None:
    """The ways to a first set, where there are documents but no questions."""
    with st.container(key="evaluation_empty", gap="small"):
        st.markdown("## Questions come first")
        st.markdown(
            "A dozen questions about your documents is enough to begin: Lectern can draft them with the page where "
            "each answer stands, and you keep the good ones."
        )
        ways(primary=True)


def ways(*, primary: bool = False) -> None:
    """A button for each way to come by questions. Without a set one is made for them."""
    with st.container(key="evaluation_ways", horizontal=True, gap="small"):
        for way, label, icon in WAYS:
            wanted = "primary" if primary and way == "draft" else "secondary"
            st.button(label, icon=icon, key=f"evaluation_way_{way}", type=wanted, on_click=take, args=(way,))  # type: ignore[arg-type]


def take(way: str) -> None:
    """Turn to the questions of the set, or of a new one, and go that way there."""
    library = resources.library()
    if not library.evaluation.sets():
        address.show_set(library.evaluation.create(FIRST).id)
    address.show_questions()
    st.session_state["evaluation_way"] = way


@st.dialog("Rename this set", icon=":material/edit:")
def rename_form(library: Library, chosen: QuestionSet) -> None:
    """Another name for a set."""
    with st.form("evaluation_rename", border=False):
        name = st.text_input("Name", value=chosen.name, max_chars=NAME_CHARS, key=f"evaluation_name_{chosen.id}")
        with st.container(horizontal=True, horizontal_alignment="right"):
            saved = st.form_submit_button("Save", type="primary")
    if saved and name.strip():
        library.evaluation.rename(chosen.id, " ".join(name.split()))
        st.rerun()


@st.dialog("Delete this question set?", icon=":material/delete:")
def delete_form(library: Library, chosen: QuestionSet) -> None:
    """Delete a set, once that was confirmed."""
    st.markdown(f"**{words.plain(chosen.name)}**, {words.count(chosen.size, 'question')}")
    st.caption("Its questions are deleted, and its runs are no longer listed. Your documents stay.")
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep it", key="evaluation_keep_set"):
            st.rerun()
        if st.button("Delete", type="primary", key="evaluation_delete_set"):
            library.evaluation.delete(chosen.id)
            st.query_params.clear()
            st.rerun()


@st.dialog("New question set", icon=":material/add:")
def _new() -> None:
    with st.form("evaluation_new_set", border=False):
        name = st.text_input("Name", value=FIRST, max_chars=NAME_CHARS, key="evaluation_new_name")
        with st.container(horizontal=True, horizontal_alignment="right"):
            made = st.form_submit_button("Make it", type="primary")
    if made and name.strip():
        address.show_set(resources.library().evaluation.create(" ".join(name.split())).id)
        address.show_questions()
        st.rerun()


def _choose() -> None:
    address.show_set(st.session_state["evaluation_chosen"])
