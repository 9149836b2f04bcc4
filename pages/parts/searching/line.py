"""The search line with its filters. What is asked for stands in the address, so that it can be kept and shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import scoping
from rag_core.domain import Document, Scope, SearchMode

if TYPE_CHECKING:
    from rag_core.library import Library

MODES: dict[SearchMode, str] = {
    "auto": "Best of all",
    "hybrid": "Words and meaning",
    "dense": "Meaning",
    "lexical": "Words",
    "scaler": "Clusters first",
}
SORTS = {"rank": "Best first", "document": "By document", "newest": "Newest first"}
HITS = (10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for. `compare`: all modes side by side. `sort` is a key of SORTS."""

    question: str
    scope: Scope
    mode: SearchMode
    compare: bool
    sort: str
    k: int


def draw(library: Library, documents: Sequence[Document]) -> Wanted:
    """The line, its filters, and what they say."""
    _take_address()
    with st.container(key="search_line", gap="small"):
        question = st.text_input(
            "Search", key="search_question", placeholder="Search your documents", icon=":material/search:",
            label_visibility="collapsed", on_change=_to_address,
        )  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="center", key="search_filters", gap="small"):
            scope = scoping.choose(library, documents, "search")
            with st.popover(_mode_words(), icon=":material/tune:", key="search_how"):
                mode, compare, sort, k = _how()
    return Wanted(question.strip(), scope, mode, compare, sort, k)


def _how() -> tuple[SearchMode, bool, str, int]:
    mode = st.radio("Find by", list(MODES), format_func=MODES.__getitem__, key="search_mode", on_change=_to_address)
    compare = st.toggle("Modes side by side", key="search_compare", help="Shows what each way of searching finds.")
    sort = st.radio("Order", list(SORTS), format_func=SORTS.__getitem__, key="search_sort")
    k = st.select_slider("Passages", HITS, key="search_k")
    return mode, compare, sort, k


def _mode_words() -> str:
    return MODES[st.session_state.get("search_mode", "auto")]


def _take_address() -> None:
    """Begin with what the address says, the first time this tab shows the page."""
    if "search_question" not in st.session_state:
        st.session_state["search_question"] = st.query_params.get("q", st.session_state.get("search_last", ""))
        asked = st.query_params.get("by", "auto")
        st.session_state.setdefault("search_mode", asked if asked in MODES else "auto")
    st.session_state["search_last"] = st.session_state["search_question"]


def _to_address() -> None:
    st.session_state.pop("search_opened", None)
    for name, key, idle in (("q", "search_question", ""), ("by", "search_mode", "auto")):
        value = st.session_state.get(key, idle)
        if value == idle:
            st.query_params.pop(name, None)
        else:
            st.query_params[name] = value
