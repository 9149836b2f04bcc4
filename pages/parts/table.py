"""What tables of texts have in common: texts as they are seen, and a button on each line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.elements.lib.column_types import ButtonColumnResult, ColumnConfig

from pages.parts import formatting
from rag_core.text.invisible import visible

ROW_PX, HEIGHT_PX, MOST_CHARS = 66, 560, 160  # of such rows Streamlit wraps the texts


def text(value: str) -> str:
    """A text for a cell, without what nobody sees."""
    return visible(formatting.shorten(value, MOST_CHARS))


def draw(key: str, label: str, columns: Mapping[str, Sequence[object]], config: Mapping[str, Any]) -> None:
    """A table of texts; it scrolls within itself where there is more than fits a screen."""
    height = min(40 + ROW_PX * len(next(iter(columns.values()))), HEIGHT_PX)
    with st.container(key=key):
        st.dataframe(
            columns,
            hide_index=True,
            alt=label,
            row_height=ROW_PX,
            height=height,
            placeholder="–",
            column_config=dict(config),
        )


def wide(label: str, width: int) -> ColumnConfig:
    """A column of texts, at least so wide."""
    return st.column_config.TextColumn(label, width=width)


def act(key: str, act: Callable[[int], None]) -> ButtonColumnResult:
    """A column of buttons; `act` is given the number of the row, from 0 on and whatever the order shown."""

    def clicked() -> None:
        click = st.session_state[key]
        if click["label"]:
            act(click["row"])

    return st.column_config.ButtonColumn("", type="tertiary", width=44, pinned=True, key=key, on_click=clicked)
