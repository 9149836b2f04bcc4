"""Question sets: which one is worked with, a new one, and the first one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import formatting, resources, samples
from pages.parts.evaluation import dialogs
from pages.parts.language import _, dialog, figure, msgid
from pages.parts.state import EvaluationState
from rag_core.domain import Document, QuestionSet
from rag_core.errors import LecternError
from rag_core.library import Library

NAME_CHARS = 80
VIEWS = {"runs": msgid("Runs"), "questions": msgid("Questions")}
SAMPLES, KEPT = "sample_questions", "evaluation_set"
FIRST = msgid("My questions")
SAMPLE = msgid("Sample questions")  # kept by this name, whoever comes first and whatever they read
WAYS = (
    ("draft", msgid("Draft from my documents"), ":material/auto_awesome:"),
    ("upload", msgid("Upload a file"), ":material/upload_file:"),
    ("asked", msgid("From past questions"), ":material/forum:"),
    ("type", msgid("Type one in"), ":material/edit:"),
)
ACTS = {
    "new": msgid(":material/add: New set"),
    "rename": msgid(":material/edit: Rename"),
    "delete": msgid(":material/delete: Delete"),
}


def present(library: Library, documents: Sequence[Document]) -> list[QuestionSet]:
    """Every set. That of the sample library is made once, where all of its documents are there."""
    names = {name for document in documents for name in document.sources}
    wanted = {path.name for path in samples.files()}
    if wanted and wanted <= names and library.preferences.get(SAMPLES) is None:
        library.preferences.set(SAMPLES, "made")
        try:
            library.evaluation.create(SAMPLE, samples.questions())
        except LecternError:
            library.preferences.set(SAMPLES, None)
            raise
    return library.evaluation.sets()


def chosen(sets: Sequence[QuestionSet]) -> QuestionSet | None:
    """The set in the address, the one last shown in this tab, or the first."""
    by_id = {item.id: item for item in sets}
    asked = (EvaluationState.parse().set, st.session_state.get(KEPT))
    found = next((by_id[name] for name in asked if name in by_id), next(iter(sets), None))
    if found is not None:
        st.session_state[KEPT] = found.id
        EvaluationState.write(set=found.id)
    return found


def show(set_id: str) -> None:
    """Turn to a set, and to nothing else."""
    st.session_state[KEPT] = set_id
    EvaluationState.write(set=set_id, view="runs", runs="", question="")


def chooser(library: Library, sets: Sequence[QuestionSet], chosen: QuestionSet) -> None:
    """The set in use, what can be done with it, and whether its runs or its questions are shown."""
    labels = {
        item.id: f"{formatting.shorten(_(SAMPLE) if item.name == SAMPLE else item.name, 60)} ({figure(item.size)})"
        for item in sets
    }
    st.session_state["evaluation_chosen"] = chosen.id
    st.session_state["evaluation_view"] = EvaluationState.parse().view
    with st.container(key="evaluation_sets", horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            _("Question set"), list(labels), format_func=labels.__getitem__, key="evaluation_chosen",
            on_change=lambda: show(st.session_state["evaluation_chosen"]),
        )  # fmt: skip
        st.segmented_control(
            _("Shown"),
            ["runs", "questions"],
            key="evaluation_view",
            format_func=lambda view: _(VIEWS[view]),
            required=True,
            label_visibility="collapsed",
            on_change=lambda: EvaluationState.write(view=st.session_state["evaluation_view"], question=""),
        )
        act = st.menu_button(
            _("More"), list(ACTS), icon=":material/more_horiz:", type="tertiary", key="evaluation_set_menu",
            format_func=lambda act: _(ACTS[act]),
        )  # fmt: skip
    if act is not None:
        dialogs.want(act)
    if dialogs.is_wanted("delete"):
        delete_form(library, chosen)
    elif dialogs.is_wanted("rename") or dialogs.is_wanted("new"):
        name_form(library, chosen if dialogs.is_wanted("rename") else None)


def nothing() -> None:
    """The way to the library, when there is no document yet."""
    with st.container(key="evaluation_nothing", horizontal_alignment="center"):
        st.markdown(_("## Nothing to measure yet"))
        st.markdown(_("Add a document, or the sample library, which brings questions of its own."))
        if st.button(
            _("Go to the library"), icon=":material/library_books:", type="primary", key="evaluation_to_library"
        ):
            st.switch_page("pages/upload.py")


def first() -> None:
    """The ways to a first set, where there are documents but no questions."""
    with st.container(key="evaluation_empty", gap="small"):
        st.markdown(_("## Questions come first"))
        st.markdown(
            _(
                "A dozen questions about your documents is enough to begin: Lectern can draft them with the page where "
                "each answer stands, and you keep the good ones."
            )
        )
        ways(primary=True)


def ways(*, primary: bool = False) -> None:
    """A button for each way to come by questions. Without a set one is made for them."""
    with st.container(key="evaluation_ways", horizontal=True, gap="small"):
        for way, label, icon in WAYS:
            wanted = "primary" if primary and way == "draft" else "secondary"
            st.button(_(label), icon=icon, key=f"evaluation_way_{way}", type=wanted, on_click=take, args=(way,))  # type: ignore[arg-type]


def take(way: str) -> None:
    """Turn to the questions of the set, or of a new one, and go that way there."""
    library = resources.library()
    if not library.evaluation.sets():
        show(library.evaluation.create(_(FIRST)).id)
    EvaluationState.write(view="questions", question="")
    dialogs.want(way)


@dialog("Name of the question set", until_closed=dialogs.WANTED, fields=True, icon=":material/edit:")
def name_form(library: Library, chosen: QuestionSet | None) -> None:
    """Another name for a set, or a new set under a name."""
    with st.form("evaluation_naming", border=False):
        before = chosen.name if chosen else _(FIRST)
        name = st.text_input(
            _("Name"), value=before, max_chars=NAME_CHARS, key=f"evaluation_name_{chosen and chosen.id}"
        )
        with st.container(horizontal=True, horizontal_alignment="right"):
            saved = st.form_submit_button(_("Save"), type="primary")
    if not saved or not (name := " ".join(name.split())):
        return
    if chosen:
        library.evaluation.rename(chosen.id, name)
    else:
        show(library.evaluation.create(name).id)
        EvaluationState.write(view="questions")
    dialogs.close()


@dialog("Delete this question set?", until_closed=dialogs.WANTED, icon=":material/delete:")
def delete_form(library: Library, chosen: QuestionSet) -> None:
    """Delete a set, once that was confirmed."""
    st.markdown(f"**{formatting.plain(chosen.name)}**, {formatting.count(chosen.size, 'question')}")
    st.caption(_("Its questions are deleted, and its runs are no longer listed. Your documents stay."))
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Keep it"), key="evaluation_keep_set"):
            dialogs.close()
        if st.button(_("Delete"), type="primary", key="evaluation_delete_set"):
            library.evaluation.delete(chosen.id)
            show("")
            dialogs.close()
