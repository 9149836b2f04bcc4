"""What each way of searching finds for one question, in columns, for those who want to see why."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import formatting
from pages.parts.components import component
from pages.parts.language import _, figure, server_text
from pages.parts.searching.line import MODES, Wanted
from pages.parts.searching.results import act_on, rows

if TYPE_CHECKING:
    from rag_core.domain import SearchMode
    from rag_core.library import Library

SHOWN: tuple[SearchMode, ...] = ("lexical", "dense", "hybrid", "scaler")


def draw(library: Library, wanted: Wanted) -> None:
    """A column for each mode, best first."""
    with st.container(key="search_side_by_side"):
        for mode in SHOWN:
            found = library.retrieve(wanted.question, k=wanted.k, scope=wanted.scope, mode=mode)
            with st.container(key=f"search_column_{mode}", gap="xsmall"):
                st.markdown(f"**{_(MODES[mode])}**")
                st.caption(
                    f"{formatting.count(len(found.hits), 'passage')}, "
                    f"{figure(sum(found.trace.latency_ms.values()), ',.0f')} ms"
                )
                key = f"search_results_{mode}"
                act = partial(act_on, key, found.hits)
                component("results")(
                    key=key,
                    data={"rows": rows(found.hits, compact=True)},
                    on_open_change=act,
                    on_ask_change=act,
                    on_only_change=act,
                )
                for note in found.trace.notes:
                    st.caption(f":material/info: {formatting.plain(server_text(note))}")
