"""The tables of a sheet: sorted by a column, narrowed by a text, some rows and columns at a time; a row opens where it
stands, and how a table is read is set right."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts import formatting, table_reading
from pages.parts.components import component
from pages.parts.language import _, figure, msgid
from pages.parts.refreshing import REFRESH_S, fragment
from pages.parts.state import LibraryState
from rag_core.domain import ColumnType, Document, TableColumn, TableRows, TableView
from rag_core.library import Library
from rag_core.services.table_views import MOST_COLUMNS

AT_ONCE = 50
KINDS: dict[ColumnType, str] = {
    "number": msgid("Number"), "date": msgid("Date"), "time": msgid("Time of day"), "text": msgid("Text"),
    "yes/no": msgid("Yes/no"), "choice": msgid("Choice"),
}  # fmt: skip
_CELL_CHARS, _NAME_CHARS = 300, 60
_KEY, _CHOSEN, _FILTER = "upload_grid", "upload_grid_table", "upload_grid_filter"
_OF = "upload_grid_of"  # the document that all of these are of
_ORDER, _FIRST, _COLUMNS = "upload_grid_order", "upload_grid_first", "upload_grid_columns"  # of the chosen table


def draw(library: Library, document: Document) -> None:
    """The tables of a document, one at a time. While those of a long one are being made it looks again."""
    if st.session_state.get(_OF) != document.id:
        for key in (_CHOSEN, _FILTER, _ORDER, _FIRST, _COLUMNS):
            st.session_state.pop(key, None)
        st.session_state[_OF] = document.id
    coming = library.table_views.are_coming(document)
    fragment(_draw, REFRESH_S if coming else None)(library, document)


def _draw(library: Library, document: Document) -> None:
    names = library.table_views.names(document.id)
    if not names:
        coming = library.table_views.are_coming(document)
        st.caption(_("Its tables are being made ready.") if coming else _("No tables were found."))
        return
    place = _chosen(names)
    column = st.session_state.get(_COLUMNS) or 0
    view = library.table_views.view(document.id, place, first_column=column)
    with st.container(horizontal=True, vertical_alignment="center"):
        text = st.text_input(
            _("Filter rows"), key=_FILTER, placeholder=_("Rows that contain …"), label_visibility="collapsed",
            on_change=lambda: st.session_state.pop(_FIRST, None),
        )  # fmt: skip
        _columns(view)
        table_reading.draw(library, document, place, view)
    by, descending = st.session_state.get(_ORDER) or (-1, False)
    rows = library.table_views.rows(
        document.id, place, first=st.session_state.get(_FIRST, 0), limit=AT_ONCE, containing=text, by=by,
        descending=descending, first_column=view.first_column,
    )  # fmt: skip
    data = {
        "label": formatting.shorten(view.name or document.title, _NAME_CHARS), "words": _words(view, rows, text),
        "columns": [
            {**_column(one), "sorted": _arrow(by == at, descending)}
            for at, one in enumerate(view.columns, view.first_column)
        ],
        "rows": [[formatting.shorten(cell, _CELL_CHARS) for cell in row.cells] for row in rows.rows],
        "back": rows.first > 0, "on": rows.first + len(rows.rows) < rows.count,
    }  # fmt: skip
    component("grid")(
        key=_KEY, data=data, on_sort_change=lambda: _sort(view.first_column), on_step_change=lambda: _step(rows),
        on_open_change=lambda: _open(rows),
    )  # fmt: skip
    if st.session_state.pop("upload_grid_opened", None) or st.session_state.pop(table_reading.CHANGED, None):
        st.rerun()


def _chosen(names: list[str]) -> int:
    if len(names) == 1:
        return 0
    chosen = st.selectbox(
        _("Table"), range(len(names)), key=_CHOSEN, label_visibility="collapsed", on_change=_begin,
        format_func=lambda at: formatting.shorten(names[at], _NAME_CHARS) or _("Table {number}").format(number=at + 1),
    )  # fmt: skip
    return chosen if chosen is not None and chosen < len(names) else 0


def _columns(view: TableView) -> None:
    """Which columns of a very wide table are shown."""
    if view.width > MOST_COLUMNS:
        st.selectbox(
            _("Columns"),
            range(0, view.width, MOST_COLUMNS),
            key=_COLUMNS,
            label_visibility="collapsed",
            width=260,
            format_func=lambda at: _("Columns {first}–{last}").format(
                first=figure(at + 1), last=figure(min(at + MOST_COLUMNS, view.width))
            ),
        )


def _words(view: TableView, rows: TableRows, text: str) -> str:
    """Which rows are shown, and what is not."""
    if not rows.count:
        return _("No row of {rows} contains that.").format(rows=figure(view.rows))
    told = [_("{first}–{last} of {rows}").format(
        first=figure(rows.first + 1), last=figure(rows.first + len(rows.rows)), rows=formatting.count(rows.count, "row")
    )]  # fmt: skip
    if text.strip():
        told.append(_("of {rows} in all").format(rows=figure(view.rows)))
    if view.width > len(view.columns):
        told.append(_("{some} of {whole} columns").format(some=len(view.columns), whole=figure(view.width)))
    return ", ".join(told)


def _column(column: TableColumn) -> dict[str, Any]:
    """A head, what kind of column it stands over, and what that holds."""
    kind = _(KINDS[column.kind])
    ends = [formatting.shorten(end, _NAME_CHARS) for end in (column.least, column.most)]
    facts = [
        _("{distinct} different").format(distinct=figure(column.distinct)),
        _("{empty} empty").format(empty=figure(column.empty)) if column.empty else "",
        _("{first} to {last}").format(first=ends[0], last=ends[1]) if ends[0] else "",
        _("mean {mean}").format(mean=column.mean) if column.mean else "",
    ]
    return {
        "head": formatting.shorten(column.head, _NAME_CHARS) or "–", "is_number": column.kind == "number",
        "kind": f"{kind}, {column.unit}" if column.unit else kind, "facts": [fact for fact in facts if fact],
    }  # fmt: skip


def _arrow(is_sorted: bool, descending: bool) -> str:
    return ("descending" if descending else "ascending") if is_sorted else "none"


def _begin() -> None:
    for key in (_FILTER, _ORDER, _FIRST, _COLUMNS):
        st.session_state.pop(key, None)


def _sort(first_column: int) -> None:
    """Up at first, then down, then as the rows stand."""
    place = first_column + st.session_state[_KEY]["sort"]
    by, descending = st.session_state.get(_ORDER) or (-1, False)
    st.session_state[_ORDER] = (place, False) if by != place else None if descending else (place, True)
    st.session_state.pop(_FIRST, None)


def _step(rows: TableRows) -> None:
    first = rows.first + (AT_ONCE if st.session_state[_KEY]["step"] == "on" else -AT_ONCE)
    st.session_state[_FIRST] = max(first, 0)


def _open(rows: TableRows) -> None:
    place = st.session_state[_KEY]["open"]
    if 0 <= place < len(rows.rows):
        row = rows.rows[place]
        LibraryState.write(p=str(row.page))
        st.session_state["upload_span"] = (row.page, row.start, row.end)
        st.session_state["upload_grid_opened"] = True
