"""What the evaluation page shows: a question set, its questions, some runs, a question. It stands in the address."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rag_core.domain import QuestionSet

SET, VIEW, RUNS, QUESTION, ASKED = "set", "view", "runs", "question", "measured"
KEPT = "evaluation_set"


def chosen(sets: Sequence[QuestionSet]) -> QuestionSet | None:
    """The set in the address, the one last shown in this tab, or the first."""
    by_id = {item.id: item for item in sets}
    asked = (st.query_params.get(SET), st.session_state.get(KEPT))
    found = next((by_id[name] for name in asked if name in by_id), next(iter(sets), None))
    if found is not None:
        st.session_state[KEPT] = st.query_params[SET] = found.id
    return found


def editing() -> bool:
    """Whether the set's questions are shown, to be looked through and changed."""
    return st.query_params.get(VIEW) == "questions"


def runs() -> list[str]:
    """The runs that are to be looked at; none where nobody chose any."""
    return [run_id for run_id in st.query_params.get(RUNS, "").split(",") if run_id]


def answers() -> bool:
    """Whether runs are to be begun with answers."""
    return st.query_params.get(ASKED) == "answers"


def keep_answers(answers: bool) -> None:
    """Keep whether runs are to be begun with answers."""
    if answers:
        st.query_params[ASKED] = "answers"
    else:
        st.query_params.pop(ASKED, None)


def question() -> str | None:
    """The question of a run that is opened."""
    return st.query_params.get(QUESTION)


def show_set(set_id: str) -> None:
    """Turn to a set, and to nothing else."""
    kept = answers()
    st.query_params.clear()
    keep_answers(kept)
    st.session_state[KEPT] = st.query_params[SET] = set_id


def show_questions() -> None:
    """Turn to the questions of the set."""
    st.query_params.pop(QUESTION, None)
    st.query_params[VIEW] = "questions"


def show_results() -> None:
    """Turn back to the set and its runs."""
    for name in (VIEW, QUESTION):
        st.query_params.pop(name, None)


def show_runs(run_ids: Sequence[str]) -> None:
    """Look at these runs."""
    st.query_params.pop(QUESTION, None)
    if run_ids:
        st.query_params[RUNS] = ",".join(run_ids)
    else:
        st.query_params.pop(RUNS, None)


def open_question(question_id: str | None) -> None:
    """Open a question of the runs, or none."""
    if question_id is None:
        st.query_params.pop(QUESTION, None)
    else:
        st.query_params[QUESTION] = question_id
