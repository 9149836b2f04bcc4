"""Tables with boxes to tick, names to open and buttons on their lines; texts reach the browser as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import streamlit as st

from pages.parts.components import component

Tone = Literal["", "good", "bad", "dim", "strong"]
PAGE_SIZE = 50


def column(
    label: str, key: str = "", *, number: bool = False, title: bool = False, sort: bool = False
) -> dict[str, Any]:
    """A column. The title is the first line where a line does not fit side by side."""
    kind = "title" if title else "number" if number else "text"
    return {"key": key or label, "label": label, "kind": kind, "sort": sort}


def cell(
    text: str, note: str = "", tone: Tone = "", *, opens: bool = False, badge: bool = False, help: str = ""
) -> dict[str, Any]:
    """A cell, with a smaller note below. One that `opens` is a button."""
    return {"text": text, "note": note, "tone": tone, "open": opens, "badge": badge, "help": help}


def act(name: str, label: str, icon: str, word: str = "") -> dict[str, str]:
    """A button at the end of a line: its icon, and a word beside it where the icon would not say enough."""
    return {"name": name, "label": label, "icon": icon, "word": word}


def row(
    row_id: str,
    name: str,
    cells: Sequence[dict[str, Any]],
    acts: Sequence[dict[str, str]] = (),
    *,
    ticked: bool = False,
) -> dict[str, Any]:
    """A line; `name` is what its buttons call it."""
    return {"id": row_id, "name": name, "cells": list(cells), "acts": list(acts), "ticked": ticked}


def draw(
    key: str,
    label: str,
    columns: Sequence[dict[str, Any]],
    rows: Sequence[dict[str, Any]],
    *,
    kind: Literal["list", "matrix"] = "list",
    ticks: bool = False,
    sort: tuple[str, bool] | None = None,
    on_open: Callable[[], None] | None = None,
    on_act: Callable[[], None] | None = None,
    on_tick: Callable[[], None] | None = None,
    on_sort: Callable[[], None] | None = None,
) -> None:
    """Mount the table. What was clicked is in session state under its key: `open`, `act`, `tick` or `sort`."""
    data = {"label": label, "kind": kind, "columns": list(columns), "rows": list(rows), "ticks": ticks, "sort": sort}
    component("table")(
        key=key, data=data, on_open_change=on_open or _nothing, on_act_change=on_act or _nothing,
        on_tick_change=on_tick or _nothing, on_sort_change=on_sort or _nothing,
    )  # fmt: skip


def page_of(key: str, items: Sequence[Any]) -> Sequence[Any]:
    """The items of the page that is chosen below the table by `pager`."""
    pages = max(1, -(-len(items) // PAGE_SIZE))
    page = min(st.session_state.get(key, 1), pages)
    return items[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]


def pager(key: str, items: Sequence[Any]) -> None:
    """The choice of a page, where there is more than one."""
    pages = -(-len(items) // PAGE_SIZE)
    if pages > 1:
        if st.session_state.get(key, 1) > pages:
            st.session_state[key] = pages
        st.pagination(pages, key=key)


def turn_order(key: str, column_key: str) -> None:
    """Sort by a column, or the other way round."""
    now = st.session_state.get(key)
    st.session_state[key] = (column_key, not now[1]) if now and now[0] == column_key else (column_key, False)


def _nothing() -> None:
    """Nobody listens."""
