"""How a table is read, set right by hand: which row is its head, what a column holds."""

from __future__ import annotations

import streamlit as st

from pages.parts import formatting, naming
from pages.parts.language import _, msgid, server_text
from rag_core.domain import ColumnType, Document, TableView
from rag_core.errors import LecternError
from rag_core.library import Library

CHANGED = "upload_grid_changed"
_HEAD, _COLUMN, _HOLDS = "upload_grid_head", "upload_grid_column", "upload_grid_holds"
_ROW_CHARS, _NAME_CHARS = 80, 40
_WORDS: dict[ColumnType, str] = {
    "number": msgid("Numbers"),
    "date": msgid("Dates"),
    "time": msgid("Times of the day"),
    "text": msgid("Text, codes too"),
    "yes/no": msgid("Yes or no"),
    "choice": msgid("One of a few"),
}


def draw(library: Library, document: Document, table: int, view: TableView) -> None:
    """A menu that sets right how a table is read; a change counts at once."""
    kinds = {one.column: one.kind for one in view.reading.columns} if view.reading else {}
    head = view.reading.head if view.reading else 0

    def changed(head: int, kinds: dict[int, ColumnType]) -> None:
        _change(library, document, table, head, kinds)

    with st.popover(_("Correct"), icon=":material/table_edit:", type="tertiary", key="upload_grid_reading"):
        st.session_state[_HEAD] = view.head if 0 < view.head < len(view.top) else None
        st.selectbox(
            _("Head row"), range(1, len(view.top)), key=_HEAD, placeholder=_("No row"),
            format_func=lambda row: _row(view, row),
            on_change=lambda: changed(st.session_state[_HEAD] or 0, kinds),
        )  # fmt: skip
        last = view.first_column + len(view.columns)
        column = st.selectbox(
            _("Column"), range(view.first_column, last), key=_COLUMN, format_func=lambda at: _name(view, at)
        )  # fmt: skip
        if column is None or not view.first_column <= column < last:
            column = view.first_column
        st.session_state[_HOLDS] = view.columns[column - view.first_column].kind
        st.selectbox(
            _("It holds"), list(_WORDS), key=_HOLDS, format_func=lambda kind: _(_WORDS[kind]),
            on_change=lambda: changed(head, {**kinds, column: st.session_state[_HOLDS]}),
        )  # fmt: skip
        if view.reading:
            st.button(_("As read"), icon=":material/undo:", key="upload_grid_as_read", on_click=lambda: changed(0, {}))
        naming.problem()


def _row(view: TableView, row: int) -> str:
    return formatting.shorten(f"{row}: {' | '.join(filter(None, view.top[row - 1]))}", _ROW_CHARS)


def _name(view: TableView, column: int) -> str:
    name = formatting.shorten(view.columns[column - view.first_column].head, _NAME_CHARS)
    return name or _("Column {number}").format(number=column + 1)


def _change(library: Library, document: Document, table: int, head: int, kinds: dict[int, ColumnType]) -> None:
    try:
        library.table_views.correct(document.id, table, head=head, columns=kinds)
        st.session_state[CHANGED] = True
    except KeyError:
        st.session_state["upload_problem"] = _("This table is no longer there.")
    except ValueError as error:
        st.session_state["upload_problem"] = server_text(str(error))
    except LecternError as error:
        naming.tell(error)
