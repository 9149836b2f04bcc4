"""The period, the scope and the chart that the insights page shows. They stand in the address."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.parts import scoping, signing_in
from pages.parts.insights import looked_up
from pages.parts.language import _, msgid
from pages.parts.state import InsightsState
from rag_core.domain import Document, Scope
from rag_core.library import Library

PERIODS = {"7": msgid("7 days"), "30": msgid("30 days"), "90": msgid("90 days"), "all": msgid("All time")}
VIEWS = {
    "asked": msgid("Questions"),
    "not_found": msgid("Not found"),
    "documents": msgid("Documents"),
    "map": msgid("Map"),
    "times": msgid("Times"),
    "trust": msgid("Confidence"),
    "tokens": msgid("Tokens"),
    "jobs": msgid("Jobs"),
}
_SCOPE = "insights_scope"


def draw(library: Library, documents: Sequence[Document]) -> looked_up.Asked:
    """The choices and the export; returns what is asked for."""
    with st.container(key="insights_choices", horizontal=True, vertical_alignment="center", gap="small"):
        period = _choice(_("Period"), PERIODS, "days", "30")
        scope = InsightsState.parse().scope(documents) or st.session_state.get(_SCOPE, Scope())
        narrow(scope)
        scoping.choose(library, documents, "insights", scope, narrow, type="tertiary")
        asked = looked_up.now(None if period == "all" else int(period), scope)
        with st.popover(_("Export"), icon=":material/download:", type="tertiary", key="insights_export"):
            st.download_button(
                _("All numbers (JSON)"), partial(_whole, library, asked), f"insights-{period}.json", "application/json",
                key="insights_json", on_click="ignore", type="tertiary",
            )  # fmt: skip
            st.caption(_("The numbers of one chart, as CSV, stand below it."))
    return asked


def narrow(scope: Scope) -> None:
    """Count that and nothing else from now on."""
    st.session_state[_SCOPE] = scope
    InsightsState.narrow(scope)


def view() -> str:
    """The chart to be looked at; the map is of the library as a whole."""
    views = {name: told for name, told in VIEWS.items() if not (name == "map" and signing_in.is_apart())}
    return _choice(_("Chart"), views, "view", "asked")


def _choice(label: str, options: dict[str, str], name: str, first: str) -> str:
    """One of several values side by side: that of the address, or the one last chosen in this tab."""
    key = f"insights_{name}"
    there = getattr(InsightsState.parse(), name) or st.session_state.get(f"{key}_kept")
    st.session_state[key] = there if there in options else first
    chosen = st.segmented_control(
        label,
        list(options),
        format_func=lambda option: _(options[option]),
        key=key,
        required=True,
        label_visibility="collapsed",
        on_change=lambda: InsightsState.write(**{name: st.session_state[key]}),
        wrap=True,
    )
    st.session_state[f"{key}_kept"] = chosen = chosen or first
    InsightsState.write(**{name: chosen})
    return chosen


def _whole(library: Library, asked: looked_up.Asked) -> bytes:
    return library.insights.as_json(looked_up.insights(asked), looked_up.groups(asked))
