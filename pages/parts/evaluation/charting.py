"""The charts of the runs shown: one at a time, each with its numbers as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts.evaluation import looked_up
from pages.parts.language import _, msgid, server_text
from rag_core.domain import Drawing, Run

AROUND_PX = 150  # on the page the height is that of the whole: legend, axis and all
TABS = {
    "metrics_retrieval": msgid("Passages"),
    "metrics_answer": msgid("Answers"),
    "over_k": msgid("Over k"),
    "questions": msgid("Better and worse"),
    "reliability": msgid("Confidence"),
    "latency": msgid("Time"),
    "history": msgid("History"),
}


def section(runs: Sequence[Run]) -> None:
    """The choice of a chart, the chart and its table."""
    found = {drawing.key: drawing for drawing in looked_up.drawings(tuple(run.id for run in runs), _stamp(runs))}
    if not found:
        return
    st.markdown(_("## Charts"))
    with st.container(key="evaluation_charts", gap="small"):
        chosen = st.segmented_control(
            _("Chart"),
            list(found),
            format_func=lambda key: _(TABS.get(key, found[key].title)),
            default=next(iter(found)),
            required=True,
            key=f"evaluation_chart_{'_'.join(found)}",
            label_visibility="collapsed",
        )
        drawing = found[chosen or next(iter(found))]
        st.markdown(f"**{server_text(drawing.title)}**")
        # Without its own tones a chart takes those of the theme in use.
        st.vega_lite_chart(spec=themed(drawing.spec), key=f"evaluation_chart_of_{drawing.key}", alt=drawing.caption)
        st.caption(server_text(drawing.caption))
        with st.expander(_("The numbers"), icon=":material/table_rows:", key=f"evaluation_numbers_{drawing.key}"):
            st.dataframe(columns_of(drawing), hide_index=True)


def themed(spec: Mapping[str, object]) -> dict[str, Any]:
    """A specification for the page: as wide as its place, in the theme's tones, its words in the theme's grey."""
    kept: dict[str, Any] = worded(
        {key: value for key, value in spec.items() if key not in ("config", "background", "width")}
    )
    # That of Streamlit's charts is too faint for small words on a light page.
    grey = st.get_option(f"theme.{st.context.theme.type or 'light'}.grayColor")
    kept["config"] = {part: {"labelColor": grey, "titleColor": grey} for part in ("axis", "legend", "header")}
    if isinstance(height := kept.get("height"), int):
        kept["height"] = height + AROUND_PX
    return kept


def worded(part: Any, key: str = "") -> Any:
    """A part of a specification that stands at a key, with what the library calls things in the language that is read.

    Titles, and what charts of every library have in common: outcomes, stages, kinds of work. Names of somebody's own
    stay.
    """
    if isinstance(part, Mapping):
        own = part.get("field", "title") not in _WORDED
        return {name: value if own and name == "scale" else worded(value, name) for name, value in part.items()}
    if isinstance(part, list):
        return [worded(value, key) for value in part]
    return server_text(part) if isinstance(part, str) and key in _WORDED else part


_WORDED = frozenset(("title", "domain", "outcome", "thumb", "part", "ended", "stage", "job"))


def columns_of(drawing: Drawing) -> dict[str, list[object]]:
    """A drawing's table by columns."""
    return {server_text(name): [row[place] for row in drawing.rows] for place, name in enumerate(drawing.columns)}


def _stamp(runs: Sequence[Run]) -> looked_up.Stamp:
    return looked_up.stamp_of(runs)
