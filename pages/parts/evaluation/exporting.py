"""Downloads: a question set, or runs as CSV, JSON or one HTML report. They are made when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import streamlit as st

from rag_core.domain import QuestionSet, Run
from rag_core.library import Library

QUESTIONS = (("csv", "CSV", "text/csv"), ("jsonl", "JSON Lines", "application/jsonl"))
RUNS = (
    ("html", "Report (HTML)", "text/html"),
    ("csv", "CSV, a row for each question", "text/csv"),
    ("json", "JSON, everything", "application/json"),
)


def questions(library: Library, chosen: QuestionSet) -> None:
    """The downloads of a question set."""
    if not chosen.size:
        return
    with st.popover("Export", icon=":material/download:", type="tertiary", key="evaluation_export_questions"):
        for form, label, kind in QUESTIONS:
            st.download_button(
                label, partial(library.evaluation.export_questions, chosen.id, form),  # type: ignore[arg-type]
                file_name(chosen.name, form), kind, key=f"evaluation_questions_{form}", on_click="ignore",
                type="tertiary",
            )  # fmt: skip


def runs(library: Library, shown: Sequence[Run]) -> None:
    """The downloads of some runs."""
    ids = [run.id for run in shown]
    with st.popover("Export", icon=":material/download:", type="tertiary", key="evaluation_export_runs"):
        for form, label, kind in RUNS:
            st.download_button(
                label, partial(library.evaluation.export, ids, form),  # type: ignore[arg-type]
                file_name(f"evaluation {shown[0].set_name}", form), kind, key=f"evaluation_runs_{form}",
                on_click="ignore", type="tertiary",
            )  # fmt: skip


def file_name(name: str, form: str) -> str:
    """A name that every system takes: letters, digits and hyphens."""
    plain = re.sub(r"[^\w]+", "-", name.casefold()).strip("-")[:60]
    return f"{plain or 'questions'}.{form}"
