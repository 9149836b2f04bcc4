"""Which language model answers: the choice in the sidebar, and what is missing where one cannot be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import resources, words
from rag_core.domain import ModelStatus
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

PREFERENCE = "model"


def choose(library: Library) -> ModelStatus:
    """Draw the choice and return the model that answers; one that is no longer ready gives way, and that is said."""
    statuses = library.models()
    ready = [status for status in statuses if status.ready]
    wanted = library.preference(PREFERENCE) or ready[0].id
    chosen = next((status for status in ready if status.id == wanted), ready[0])
    st.session_state["chat_model"] = chosen.id
    with st.container(key="chat_models", gap="small"):
        st.radio(
            "Answers by",
            [status.id for status in ready],
            format_func=lambda model_id: words.plain(next(s.label for s in ready if s.id == model_id)),
            key="chat_model",
            on_change=_keep,
        )
        if chosen.id != wanted:
            lost = next((status for status in statuses if status.id == wanted), None)
            st.caption(f":orange[{words.plain(lost.label if lost else wanted)} is not ready; {chosen.label} answers.]")
        _more(statuses)
    return chosen


def remote_line(chosen: ModelStatus, leaving: str = "your question and the passages found for it") -> None:
    """Say on the page that passages leave the machine while a remote model is chosen."""
    if chosen.remote:
        st.caption(
            f":orange[:material/cloud_upload:] {words.plain(chosen.label)} answers: {leaving} leave this machine."
        )


def _keep() -> None:
    resources.library().set_preference(PREFERENCE, st.session_state["chat_model"])


def _more(statuses: Sequence[ModelStatus]) -> None:
    """What is missing for the others, and the way to use Gemini."""
    missing = [status for status in statuses if not status.ready]
    with st.expander("More models", icon=":material/tune:", key="chat_more_models"):
        for status in missing:
            st.markdown(f"**{words.plain(status.label)}**")
            st.caption(words.plain(status.reason))
        gemini = next((status for status in statuses if status.id == "gemini"), None)
        if gemini is not None and gemini.ready:
            st.caption("Gemini has a key, and you confirmed that passages leave this machine.")
            st.button("Forget the key", key="chat_gemini_forget", on_click=_forget)
        elif gemini is not None:
            _gemini_form()


def _gemini_form() -> None:
    with st.form("chat_gemini_form", border=False):
        key = st.text_input("Gemini key", type="password", key="chat_gemini_key", autocomplete="off")
        agreed = st.checkbox("Passages of my documents may leave this machine", key="chat_gemini_agreed")
        keep = st.checkbox("Keep the key in .env", key="chat_gemini_keep")
        used = st.form_submit_button("Use Gemini", icon=":material/cloud_upload:")
    if used:
        _use(key, agreed=agreed, keep=keep)


def _use(key: str, *, agreed: bool, keep: bool) -> None:
    if not key.strip() or not agreed:
        st.caption(":red[Enter a key and tick the first box.]")
        return
    library = resources.library()
    try:
        library.use_gemini(key.strip(), keep=keep)
        library.set_preference(PREFERENCE, "gemini")
    except LecternError as error:
        st.caption(f":red[{words.plain(str(error))}] {words.plain(error.help)}")
        return
    st.rerun()


def _forget() -> None:
    resources.library().forget_gemini()
