"""What was read of a document: a page's text line by line, its outline, its tables, and what is to be known of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unicodedata import east_asian_width

import streamlit as st

from pages.parts import formatting, page_text
from pages.parts.components import component
from pages.parts.language import _, server_text
from pages.parts.state import LibraryState
from rag_core.domain import Document, HiddenText, Page, Table
from rag_core.library import Library

Row = dict[str, Any]
MOST_TABLES = 200
_FOUND_CHARS = 60
_LINE_END = re.compile(r"[ \t]*\n[ \t]*")


def text(library: Library, document: Document, page: int) -> None:
    """A page's text as read; a click on a line, or a paragraph that was set in lines, marks it in the picture."""
    shown = library.page(document.id, page)
    empty = _("Nothing of this page is read yet.") if document.to_recognise else _("This page holds no text.")
    lines = list(_lines(shown, document, _marked(page)))
    data = {"empty": server_text(shown.error) if shown.error else empty, "lines": lines}
    if shown.recogniser:
        how = _("Transcribed ({by}), {share} certain") if shown.is_heard else _("Read by OCR ({by}), {share} certain")
        st.caption(how.format(by=formatting.plain(shown.recogniser), share=f"{shown.certainty:.0%}"))
    component("reading")(key="upload_reading", data=data, on_mark_change=lambda: _mark(page))


def places(library: Library, document: Document) -> Callable[[int], str]:
    """What its pages are called, by their numbers."""
    pages = library.pages(document.id) if document.is_recognisable else []
    labels = {page.number: page.label for page in pages}
    return lambda number: formatting.page(number, labels.get(number, ""))


def outline(library: Library, document: Document, page: int, most: int | None = None) -> None:
    """The sections, the first few where there are `most`; a click opens the page with the heading marked."""
    place = places(library, document)
    rows = [
        {
            "name": section.title,
            "level": level,
            "place": place(section.page),
            "page": section.page,
            "here": section.page == page and document.page_count > 1,
            "open": [section.page, section.start, section.start + len(section.title)],
        }
        for section, level in zip(document.sections[:most], page_text.outline_levels(document.sections), strict=False)
    ]
    component("outline")(
        key="upload_outline", data={"rows": rows, "empty": _("No headings were found.")},
        on_open_change=lambda: open_place("upload_outline"),
    )  # fmt: skip


def tables(library: Library, document: Document) -> None:
    """The tables, each with its caption and its page."""
    found = library.tables(document.id)
    place = places(library, document)
    rows = [_table(table, document) | {"place": place(table.page)} for table in found[:MOST_TABLES]]
    data = {"tables": rows, "empty": _("No tables were found.")}
    st.caption(formatting.count(len(found), "table") if found else "")
    if len(found) > MOST_TABLES:
        st.caption(_("The first {most} are shown.").format(most=MOST_TABLES))
    component("tables")(key="upload_tables", data=data, on_open_change=lambda: open_place("upload_tables"))


def notes(library: Library, document: Document) -> list[Row]:
    """What was not read and why, what is hidden on pages, and what was read by text recognition."""
    place = places(library, document)
    rows = [_note(server_text(note)) for note in document.notes]
    for page in library.pages(document.id):
        if page.error:
            rows.append(
                _note(
                    _("Page {page} could not be read: {error}").format(page=page.number, error=server_text(page.error)),
                    page.number,
                    place=place(page.number),
                )
            )
        rows += [
            _note(_hidden(page, span), page.number, (span.start, span.end), place(page.number)) for span in page.hidden
        ]
    for edit in library.chunk_edits.of(document.id):
        if not edit.in_place:
            rows.append(
                _note(_("A correction fits no passage any more: see Passages."), edit.page, place=place(edit.page))
            )
    return rows


def told(rows: Sequence[Row]) -> None:
    """The notes; a click opens the page that one is of."""
    component("outline")(
        key="upload_notes", data={"rows": list(rows), "empty": _("All of it was read.")},
        on_open_change=lambda: open_place("upload_notes"),
    )  # fmt: skip


def _note(name: str, page: int = 0, span: tuple[int, int] = (0, 0), place: str = "") -> Row:
    return {"name": name, "level": 1, "warn": True, "place": place, "page": page, "here": False, "open": [page, *span]}


def _hidden(page: Page, span: HiddenText) -> str:
    found = formatting.shorten(page_text.shown(page.text[span.start : span.end]), _FOUND_CHARS)
    return _("Text that is not to be seen on the page ({why}): “{found}”").format(why=_(span.why), found=found)


def _lines(page: Page, document: Document, marked: tuple[int, int] | None) -> Iterator[Row]:
    begin, stop = page.body or (0, len(page.text))
    for start, end in page_text.lines(page, document.sections):
        if page.text[start:end].strip():
            yield {
                "parts": [(_LINE_END.sub(_between, text), *kind) for text, *kind in page_text.parts(page, start, end)],
                "span": [start, end], "on": marked == (start, end), "outside": end <= begin or start >= stop,
            }  # fmt: skip
        else:
            yield {"gap": True}


def _between(end: re.Match[str]) -> str:
    """What stands between two lines of a paragraph: a blank where words are set apart by blanks."""
    around = f"{end.string[: end.start()][-1:]}{end.string[end.end() :][:1]}"
    return "" if around and all(east_asian_width(one) in "WF" for one in around) else " "


def _table(table: Table, document: Document) -> Row:
    place = (table.page, table.start)
    before = [section.title for section in document.sections if (section.page, section.start) <= place]
    return {
        "caption": table.caption or (_("In “{section}”").format(section=before[-1]) if before else _("Table")),
        "rows": table.rows, "heads": table.heads,
        "open": [table.page, table.start, table.end],
    }  # fmt: skip


def _marked(page: int) -> tuple[int, int] | None:
    number, *span = st.session_state.get("upload_span") or (0,)
    return (span[0], span[1]) if number == page else None


def _mark(page: int) -> None:
    start, end = st.session_state["upload_reading"]["mark"]
    again = _marked(page) == (start, end)
    st.session_state["upload_span"] = None if again else (page, start, end)


def open_place(key: str) -> None:
    """Open the page, with its span marked, that was clicked in a component of this key."""
    page, start, end = st.session_state[key]["open"]
    LibraryState.write(p=str(page))
    st.session_state["upload_span"] = (page, start, end) if start < end else None
