"""The documents of the library as a table that can be sorted, filtered, opened and tidied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts import naming, resources, words
from pages.parts.components import component
from rag_core.domain import Document
from rag_core.errors import LecternError
from rag_core.jobs import Request

FILTER_FROM = 8
PAGE_SIZE = 100
STATES = {
    "pending": "Waiting",
    "stored": "Finishing",
    "ready": "Ready",
    "failed": "Failed",
    "removing": "Removing",
}


def draw(documents: Sequence[Document], on_their_way: frozenset[str]) -> None:
    """The table. Documents `on_their_way`, by id, have a line of progress and are left out until they are done."""
    shown = [document for document in documents if document.state == "ready" or document.id not in on_their_way]
    known = sorted({tag for document in documents for tag in document.tags}, key=str.casefold)
    found = _tagged(_filtered(shown), known)
    limit = st.session_state.setdefault("upload_limit", PAGE_SIZE)
    if shown and not found:
        st.caption("No document matches.")
    elif found:
        data = {"rows": [row(document) for document in found[:limit]], "tags": known}
        component("shelf")(
            key="upload_shelf", data=data, on_open_change=_open, on_remove_change=_ask, on_retry_change=_retry,
            on_rename_change=lambda: naming.rename(st.session_state["upload_shelf"]["rename"]),
            on_tag_change=lambda: naming.tag(st.session_state["upload_shelf"]["tag"]),
        )  # fmt: skip
    if len(found) > limit:
        st.button(f"Show more of {len(found):,}", key="upload_more", on_click=_more)
    removing = st.session_state.pop("upload_removing", None)
    if document := next((document for document in documents if document.id == removing), None):
        _confirm(document)
    naming.problem()


def row(document: Document) -> dict[str, Any]:
    """One line of the table, as the component takes it."""
    source = next((name for name in document.sources if name != document.title), "")
    failed = document.state == "failed"
    return {
        "id": document.id,
        "title": document.title or source or "Untitled",
        "found": naming.found(document),
        "about": naming.about(document),
        "tags": list(document.tags),
        "source": source if document.title else "",
        "pages": f"{document.page_count:,}" if document.page_count else "",
        "chunks": f"{document.chunk_count:,}" if document.chunk_count else "",
        "size": words.size(document.byte_size),
        "added": words.day(document.added_at),
        "state": f"Ready, OCR: {document.to_recognise:,} left" if document.to_recognise else STATES[document.state],
        "problem": document.error or "" if failed else "",
        "help": document.help if failed else "",
        "openable": document.state == "ready",
        "retryable": failed,
        "sort": {
            "title": document.title.casefold(),
            "pages": document.page_count,
            "chunks": document.chunk_count,
            "size": document.byte_size,
            "added": document.added_at.timestamp() if document.added_at else 0,
            "state": document.state,
        },
    }


def _filtered(documents: Sequence[Document]) -> Sequence[Document]:
    if len(documents) < FILTER_FROM:
        return documents
    wanted = st.text_input(
        "Filter",
        placeholder="Filter by title, author, kind, year, tag or file name",
        key="upload_filter",
        label_visibility="collapsed",
        icon=":material/search:",
    )
    parts = wanted.casefold().split()
    return [document for document in documents if all(part in _words(document) for part in parts)]


def _words(document: Document) -> str:
    """What the filter looks at, in small letters."""
    card = document.card
    known = (card.title, card.organisation, card.authors, card.kind, card.period, str(card.year or "")) if card else ()
    return " ".join((document.title, document.authors, *known, *document.tags, *document.sources)).casefold()


def _tagged(documents: Sequence[Document], known: Sequence[str]) -> Sequence[Document]:
    """Those with one of the tags that are chosen above the table."""
    if not known:
        return documents
    wanted = st.pills("Tags", known, selection_mode="multi", key="upload_tags", label_visibility="collapsed")
    return [document for document in documents if not wanted or set(wanted) & set(document.tags)]


def _open() -> None:
    st.query_params["d"] = st.session_state["upload_shelf"]["open"]


def _ask() -> None:
    st.session_state["upload_removing"] = st.session_state["upload_shelf"]["remove"]


def _retry() -> None:
    wanted = st.session_state["upload_shelf"]["retry"]
    library = resources.library()
    document = next((item for item in library.documents() if item.id == wanted), None)
    if document is not None:
        name = document.sources[0] if document.sources else document.title
        library.jobs.submit_all("add", [Request(name, {"retry": True}, document_id=document.id)])


def _more() -> None:
    st.session_state["upload_limit"] += PAGE_SIZE


@st.dialog("Remove this document?", icon=":material/delete:")
def _confirm(document: Document) -> None:
    st.markdown(f"**{words.plain(document.title)}**")
    st.caption("Its pages, chunks and vectors are deleted from the library. Your own file is not touched.")
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep it", key="upload_keep"):
            st.rerun()
        if st.button("Remove", type="primary", key="upload_remove"):
            try:
                resources.library().remove(document.id)
            except LecternError as error:
                naming.tell(error)
            st.rerun()
