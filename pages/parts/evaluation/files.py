"""Files: questions taken from one, and downloads of a question set or of runs, made when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.parts import formatting
from pages.parts.evaluation import dialogs
from pages.parts.language import _, dialog, error_text, figure, msgid, ngettext, server_text
from rag_core.domain import ImportReport, QuestionSet, RowProblem, Run
from rag_core.errors import LecternError
from rag_core.library import Library

SHOWN = 1_000
MOST_MB = 32
REPORT = "evaluation_report"
HELP = msgid(
    "CSV or JSON Lines with a question on each row; right answers and the places where they stand are welcome."
)
QUESTIONS = (("csv", msgid("CSV"), "text/csv"), ("jsonl", msgid("JSON Lines"), "application/jsonl"))
RUNS = (
    ("html", msgid("Report (HTML)"), "text/html"),
    ("csv", msgid("CSV, a row for each question"), "text/csv"),
    ("json", msgid("JSON, everything"), "application/json"),
)


def questions(library: Library, chosen: QuestionSet) -> None:
    """The downloads of a question set."""
    if not chosen.size:
        return
    with st.popover(_("Export"), icon=":material/download:", type="tertiary", key="evaluation_export_questions"):
        for form, label, kind in QUESTIONS:
            st.download_button(
                label, partial(library.evaluation.export_questions, chosen.id, form),  # type: ignore[arg-type]
                file_name(chosen.name, form), kind, key=f"evaluation_questions_{form}", on_click="ignore",
                type="tertiary",
            )  # fmt: skip


def runs(library: Library, shown: Sequence[Run]) -> None:
    """The downloads of some runs."""
    ids = [run.id for run in shown]
    with st.popover(_("Export"), icon=":material/download:", type="tertiary", key="evaluation_export_runs"):
        for form, label, kind in RUNS:
            st.download_button(
                _(label), partial(library.evaluation.export, ids, form),  # type: ignore[arg-type]
                file_name(f"evaluation {shown[0].set_name}", form), kind, key=f"evaluation_runs_{form}",
                on_click="ignore", type="tertiary",
            )  # fmt: skip


def file_name(name: str, form: str) -> str:
    """A name that every system takes: letters, digits and hyphens."""
    plain = re.sub(r"[^\w]+", "-", name.casefold()).strip("-")[:60]
    return f"{plain or 'questions'}.{form}"


@dialog("Upload questions", until_closed=dialogs.WANTED, fields=True, width="medium", icon=":material/upload_file:")
def form(library: Library, set_id: str) -> None:
    """A dialog that takes a file, says what it holds, and adds its questions to a set."""
    file = st.file_uploader(
        _("A file of questions"), type=["csv", "tsv", "jsonl", "json", "txt"], key="evaluation_file",
        label_visibility="collapsed", max_upload_size=MOST_MB,
    )  # fmt: skip
    if file is None:
        st.caption(_(HELP))
        with st.expander(_("Columns"), icon=":material/table_rows:", key="evaluation_columns"):
            st.markdown(library.evaluation.file_help())
        return
    kept_id, report = st.session_state.get(REPORT, ("", None))
    if kept_id != file.file_id or report is None:
        with st.spinner(_("Reading the file")):
            report = library.evaluation.read(file.name, file.getvalue())
        st.session_state[REPORT] = (file.file_id, report)
    _report(report)
    label = ngettext("Add {number} question", "Add {number} questions", len(report.questions))
    with st.container(horizontal=True, horizontal_alignment="right"):
        added = st.button(label, type="primary", key="evaluation_add", disabled=not report.questions)
    if added and _add(library, set_id, report):
        st.session_state.pop(REPORT)
        dialogs.close()


def problem_table(problems: Sequence[RowProblem]) -> None:
    """Row by row what is wrong; texts are data and read as such."""
    shown = problems[:SHOWN]
    st.dataframe(
        {
            _("Row"): [item.row or None for item in shown],
            _("Column"): [item.column for item in shown],
            _("What is wrong"): [server_text(item.message) for item in shown],
            "": [_("kept") if item.kept else _("left out") for item in shown],
        },
        hide_index=True,
    )
    if len(problems) > SHOWN:
        st.caption(_("and {number} more").format(number=figure(len(problems) - SHOWN)))


def _report(report: ImportReport) -> None:
    usable, lost = len(report.questions), report.rows - len(report.questions)
    of = f" {_('of {rows}').format(rows=formatting.count(report.rows, 'row'))}" if report.rows else ""
    mark = ":green[:material/check_circle:]" if usable else ":red[:material/error:]"
    left = f", {_('{number} left out').format(number=figure(lost))}" if lost > 0 else ""
    can = ngettext("{number} question can be used", "{number} questions can be used", usable)
    st.markdown(f"{mark} **{can}**{of}{left}")
    for note in report.notes:
        st.caption(formatting.plain(server_text(note)))
    if report.problems:
        problem_table(report.problems)


def _add(library: Library, set_id: str, report: ImportReport) -> bool:
    try:
        library.evaluation.put(set_id, report.questions)
    except LecternError as error:
        st.markdown(f":red[:material/error:] {formatting.plain(error_text(error))}")
        return False
    return True
