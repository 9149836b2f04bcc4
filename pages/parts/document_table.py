"""The documents of the library as a table that can be sorted, filtered, opened and tidied."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts import adding, asking_of, collections, filtering, formatting, naming, resources
from pages.parts.components import component
from pages.parts.language import _, figure, ngettext, server_text
from pages.parts.state import LibraryState
from rag_core.domain import Document
from rag_core.errors import LecternError
from rag_core.jobs import Request

PAGE_SIZE = 100
UNDO_S = 60.0


def draw(documents: Sequence[Document], on_their_way: frozenset[str]) -> None:
    """The table. Documents `on_their_way`, by id, have a line of progress and are left out until they are done."""
    shown = [document for document in documents if document.state == "ready" or document.id not in on_their_way]
    known = sorted({tag for document in documents for tag in document.tags}, key=str.casefold)
    _undoing()
    here = collections.tags()
    found = filtering.chosen(shown, [tag for tag in known if tag not in here])
    known = sorted({*known, *(one.name for one in resources.library().collections.all())}, key=str.casefold)
    limit = st.session_state.setdefault("upload_limit", PAGE_SIZE)
    if shown and not found:
        st.caption(_("No document matches."))
    elif found:
        data = {"rows": [row(document) for document in found[:limit]], "tags": known, "order": filtering.order()}
        component("shelf")(
            key="upload_shelf", data=data, on_open_change=_open, on_remove_change=lambda: _away([_told("remove")]),
            on_retry_change=lambda: _retry(_told("retry")), on_ask_change=lambda: asking_of.want(_told("ask")),
            on_sort_change=_sort, on_away_change=lambda: _away(_told("away")),
            on_again_change=lambda: _retry(*_told("again")),
            on_unlock_change=lambda: _retry(_told("unlock")["id"], password=_told("unlock")["password"]),
            on_rename_change=lambda: naming.rename(st.session_state["upload_shelf"]["rename"]),
            on_tag_change=lambda: naming.tag(st.session_state["upload_shelf"]["tag"]),
        )  # fmt: skip
    if len(found) > limit:
        st.button(_("Show more of {count}").format(count=figure(len(found))), key="upload_more", on_click=_more)
    naming.problem()


def row(document: Document) -> dict[str, Any]:
    """One line of the table, as the component takes it."""
    source = next((name for name in document.sources if name != document.title), "")
    failed = document.state == "failed"
    return {
        "id": document.id,
        "title": document.title or source or _("Untitled"),
        "found": naming.found(document),
        "about": naming.about(document),
        "tags": list(document.tags),
        "source": source if document.title else "",
        "pages": figure(document.page_count) if document.page_count else "",
        "size": formatting.size(document.byte_size),
        "added": formatting.day(document.added_at),
        "state": _state(document),
        "problem": server_text(document.error or "") if failed else "",
        "help": server_text(document.help) if failed and not document.is_locked else "",
        "openable": document.state == "ready",
        "retryable": failed and not document.is_locked and not document.is_lasting,
        "locked": document.is_locked,
        "sort": {
            "pages": document.page_count,
            "state": document.state,
        },
    }


def _state(document: Document) -> str:
    if document.is_locked:
        return _("Locked")
    left = document.to_recognise
    recognised = _("Ready, speech: {left} left") if document.is_recording else _("Ready, OCR: {left} left")
    return recognised.format(left=figure(left)) if left else _(filtering.STATES[document.state])


def _open() -> None:
    LibraryState.write(d=st.session_state["upload_shelf"]["open"])


def _told(event: str) -> Any:
    return st.session_state["upload_shelf"][event]


def _retry(*wanted: str, password: str | None = None) -> None:
    """Read some again."""
    library = resources.library()
    failed = [item for item in library.documents() if item.id in wanted and item.state == "failed"]
    for job in library.jobs.all(adding.KIND):
        if job.finished and job.document_id in wanted:
            library.jobs.dismiss(job.id)
    names = [document.sources[0] if document.sources else document.title for document in failed]
    asked = [
        Request(name, {"retry": True}, document_id=document.id, private=password)
        for name, document in zip(names, failed, strict=True)
    ]
    try:
        library.jobs.submit_all(adding.KIND, asked)
    except LecternError as error:  # of somebody else's document
        naming.tell(error)


def _sort() -> None:
    st.session_state["upload_order"] = tuple(_told("sort"))


def _away(ids: Sequence[str]) -> None:
    """Remove some: what is ready can be taken back for a while, what failed had nothing yet."""
    wanted = set(ids)
    library = resources.library()
    try:
        others = [item.id for item in library.documents() if item.id in wanted and item.state != "ready"]
        gone = library.catalogue.set_aside(wanted - set(others), undo_s=UNDO_S)
        for document_id in others:
            library.remove(document_id)
    except LecternError as error:
        naming.tell(error)
        return
    st.session_state["upload_away"] = (gone, len(gone) + len(others), time.monotonic() + UNDO_S)


def _undoing() -> None:
    """That documents were removed, and a button to take them back as long as that is possible."""
    gone, count, until = st.session_state.get("upload_away") or ((), 0, 0.0)
    if time.monotonic() < until:
        with st.container(key="upload_away_line", horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                ngettext(
                    ":material/delete: {number} document removed", ":material/delete: {number} documents removed", count
                )
            )
            if gone:
                st.button(_("Undo"), icon=":material/undo:", type="tertiary", key="upload_undo", on_click=_take_back)


def _take_back() -> None:
    gone, _, _ = st.session_state.pop("upload_away")
    try:
        back = resources.library().catalogue.take_back(gone)
    except LecternError as error:
        naming.tell(error)
        return
    if len(back) < len(gone):
        st.session_state["upload_problem"] = ngettext(
            "{number} document could not be brought back.",
            "{number} documents could not be brought back.",
            len(gone) - len(back),
        )


def _more() -> None:
    st.session_state["upload_limit"] += PAGE_SIZE
