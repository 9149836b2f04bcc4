"""The search line with its filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.parts import collections, scoping
from pages.parts.components import component
from pages.parts.language import _, msgid
from pages.parts.state import SearchState
from rag_core.domain import Document, Scope, SearchMode
from rag_core.library import Library

MODES: dict[SearchMode, str] = {
    "auto": msgid("Automatic"),
    "hybrid": msgid("Words and meaning"),
    "dense": msgid("Meaning"),
    "lexical": msgid("Words"),
    "clusters": msgid("Words, meaning and topics"),
    "scaler": msgid("Topics first"),
}
SORTS = {"rank": msgid("Best first"), "document": msgid("By document"), "newest": msgid("Newest first")}
HITS = (10, 20, 50, 100)
# Values that outlive a change of page, with those they begin with; the widgets' own keys do not.
_KEPT = {"search_mode": "auto", "search_compare": False, "search_sort": "rank", "search_k": 10}


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
    words = _begin(documents)
    with st.container(key="search_line", gap="xsmall"):
        question = st.text_input(
            _("Search"), words, key="search_question", placeholder=_("Search your documents"), icon=":material/search:",
            label_visibility="collapsed", on_change=_asked_anew,
        )  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="center", key="search_filters", gap="small"):
            scope = st.session_state["search_scope"]
            scoping.choose(library, documents, "search", scope, narrow, type="tertiary")
            with st.popover(_how_words(), icon=":material/tune:", key="search_how", type="tertiary"):
                mode, compare, sort, k = _how()
    component("keys")(key="search_keys", data={"selector": ".st-key-search_question input"})
    for name in ("search_question", *_KEPT):
        st.session_state[f"{name}_kept"] = st.session_state[name]
    SearchState.write(q=question or "", by=mode)
    SearchState.narrow(scope)
    return Wanted((question or "").strip(), scope, mode, compare, sort, k)


def narrow(scope: Scope) -> None:
    """Search that and nothing else from now on."""
    st.session_state["search_scope"] = scope
    _asked_anew()


def _how() -> tuple[SearchMode, bool, str, int]:
    mode = st.radio(_("Find by"), list(MODES), format_func=lambda mode: _(MODES[mode]), key="search_mode")
    compare = st.toggle(
        _("Modes side by side"), key="search_compare", help=_("Shows what each way of searching finds.")
    )
    sort = st.radio(_("Order"), list(SORTS), format_func=lambda sort: _(SORTS[sort]), key="search_sort")
    k = st.select_slider(_("Passages"), HITS, key="search_k")
    return mode, compare, sort, k


def _how_words() -> str:
    chosen = st.session_state
    words = [_("All modes side by side") if chosen["search_compare"] else _(MODES[chosen["search_mode"]])]
    return " · ".join([*words, *([_(SORTS[chosen["search_sort"]])] if chosen["search_sort"] != "rank" else [])])


def _begin(documents: Sequence[Document]) -> str:
    """Begin with what the address says, or with the search last shown in this tab.

    Returns the words the box begins with. They are its default in every run: a tab that misses the only run in which
    they were set draws an empty box, and sends that with the next click.
    """
    state, there = st.session_state, SearchState.parse()
    set_anew = False
    if "search_scope" not in state or there.q not in ("", state.get("search_question_kept", "")):
        state["search_question_kept"] = there.q
        state["search_mode_kept"] = there.by if there.by in MODES else "auto"
        state["search_scope"] = there.scope(documents) or collections.scope()
        set_anew = "search_question" in state
    for name, first in _KEPT.items():
        if name not in state:
            state[name] = state.get(f"{name}_kept", first)
    if set_anew:
        state["search_question"] = there.q
    return "" if set_anew else state["search_question_kept"]


def _asked_anew() -> None:
    """Another search: the page that was opened from the last one is closed."""
    st.session_state.pop("search_opened", None)
