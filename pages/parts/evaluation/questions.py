"""The questions of a set: looked through, added to, changed and removed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import formatting, resources, table
from pages.parts.evaluation import dialogs, drafting, editing, files, gold, looked_up, sets
from pages.parts.language import _, ngettext, server_text
from rag_core.domain import Document, Question, QuestionSet
from rag_core.library import Library

CHECKED = 500
DROPPED = "evaluation_dropped"


def draw(library: Library, chosen: QuestionSet) -> None:
    """The whole view."""
    questions = library.evaluation.questions(chosen.id)
    sets.ways(primary=not questions)
    _go(library, chosen.id)
    drafting.section(library, chosen.id)
    if questions:
        documents = library.documents()
        _problems(library, chosen, questions, documents)
        _table(library, chosen.id, questions, documents)
    _undo(library, chosen.id)  # below, where the table's own buttons do not lie over it
    if questions:
        files.questions(library, chosen)


def rows(questions: Sequence[Question], documents: Sequence[Document]) -> dict[str, list[str]]:
    """The table by columns: a question, what answers it, where that stands, and how it came here."""
    titles = gold.titles(documents)
    return {
        "change": [":material/edit:"] * len(questions),
        _("Question"): [table.text(item.text) for item in questions],
        _("Right answer"): [table.text(next(iter(item.references), "")) for item in questions],
        _("Answer stands in"): [table.text(gold.summary(item, titles)) for item in questions],
        _("Made"): [_(gold.ORIGINS[item.origin]) for item in questions],
        "remove": [":material/delete:"] * len(questions),
    }


def _table(library: Library, set_id: str, questions: Sequence[Question], documents: Sequence[Document]) -> None:
    table.draw(
        "evaluation_question_table", _("Questions"), rows(questions, documents),
        {
            "change": table.act("evaluation_change_question", lambda row: _open(questions[row])),
            _("Question"): table.wide(_("Question"), 250), _("Right answer"): table.wide(_("Right answer"), 200),
            _("Answer stands in"): table.wide(_("Answer stands in"), 190),
            "remove": table.act("evaluation_remove_question", lambda row: remove(library, set_id, questions[row])),
        },
    )  # fmt: skip
    kind, opened = dialogs.wanted()
    if question := next((item for item in questions if kind == "question" and item.id == opened), None):
        editing.form(library, question, lambda written: library.evaluation.put(set_id, [written]))


def _open(question: Question) -> None:
    dialogs.want("question", question.id)


def _go(library: Library, set_id: str) -> None:
    """Go the way to more questions that was chosen."""
    if dialogs.is_wanted("type"):
        editing.form(library, None, lambda written: library.evaluation.put(set_id, [written]))
    elif dialogs.is_wanted("upload"):
        files.form(library, set_id)
    elif dialogs.is_wanted("draft") and not resources.candidates().busy:
        drafting.form(library, set_id)
    elif dialogs.is_wanted("draft"):
        dialogs.forget()
    elif dialogs.is_wanted("asked"):
        dialogs.forget()
        drafting.take_past(library, set_id)
    if told := st.session_state.pop("evaluation_told", ""):
        st.caption(f":material/info: {told}")


def _problems(
    library: Library, chosen: QuestionSet, questions: Sequence[Question], documents: Sequence[Document]
) -> None:
    """Places that are not in the library (any more); of a large set each run tells them."""
    if len(questions) > CHECKED:
        return
    ready = tuple(item.id for item in documents if item.state == "ready")
    problems = looked_up.problems(chosen.id, (chosen.updated_at, ready))
    if problems:
        label = ngettext(
            "{number} place is not in the library", "{number} places are not in the library", len(problems)
        )
        with st.expander(f":orange[{label}]", icon=":material/warning:", key="evaluation_problems"):
            texts = [questions[item.row - 1].text for item in problems]
            told = [server_text(item.message) for item in problems]
            st.dataframe({_("Question"): texts, _("What is wrong"): told}, hide_index=True)


def remove(library: Library, set_id: str, question: Question) -> None:
    """Take a question out of a set; for as long as this tab stays, it can be taken back."""
    library.evaluation.drop(set_id, [question.id])
    st.session_state[DROPPED] = (set_id, question)


def _undo(library: Library, set_id: str) -> None:
    of, question = st.session_state.get(DROPPED, ("", None))
    if of != set_id or question is None:
        return
    with st.container(key="evaluation_undo", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(_("Removed: {text}").format(text=formatting.plain(formatting.shorten(question.text, 60))))
        st.button(
            _("Undo"), icon=":material/undo:", type="tertiary", key="evaluation_undo_button",
            on_click=_take_back, args=(library, set_id, question),
        )  # fmt: skip


def _take_back(library: Library, set_id: str, question: Question) -> None:
    library.evaluation.put(set_id, [question])
    st.session_state.pop(DROPPED, None)
