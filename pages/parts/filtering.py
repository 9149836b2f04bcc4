"""Which documents of the library page are shown, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import streamlit as st

from pages.parts import formatting
from pages.parts.language import _, msgid
from pages.parts.state import LibraryState
from rag_core.domain import Document

FILTER_FROM = 8
STATES = {
    "pending": msgid("Waiting"),
    "stored": msgid("Finishing"),
    "ready": msgid("Ready"),
    "failed": msgid("Failed"),
    "removing": msgid("Removing"),
}
# By the beginning of the media type; the first that fits.
KINDS = (
    ("application/pdf", msgid("PDF")),
    ("image/", msgid("Image")),
    ("text/html", msgid("Web page")),
    ("text/markdown", msgid("Markdown")),
    ("text/csv", msgid("Sheet")),
    ("message/", msgid("Mail")),
    ("application/vnd.ms-outlook", msgid("Mail")),
    ("application/epub", msgid("Book")),
    ("application/x-ipynb", msgid("Notebook")),
    ("application/rtf", msgid("Text document")),
    ("application/vnd.openxmlformats-officedocument.word", msgid("Word document")),
    ("application/msword", msgid("Word document")),
    ("application/vnd.oasis.opendocument.text", msgid("Text document")),
    ("application/vnd.openxmlformats-officedocument.spreadsheet", msgid("Sheet")),
    ("application/vnd.oasis.opendocument.spreadsheet", msgid("Sheet")),
    ("application/vnd.ms-excel", msgid("Sheet")),
    ("application/vnd.openxmlformats-officedocument.presentation", msgid("Slides")),
    ("application/vnd.oasis.opendocument.presentation", msgid("Slides")),
    ("application/vnd.ms-powerpoint", msgid("Slides")),
    ("audio/", msgid("Recording")),
    ("video/", msgid("Recording")),
    ("text/x-source", msgid("Source code")),
    ("text/", msgid("Text")),
)
_SORTS: Mapping[str, Callable[[Document], Any]] = {
    "title": lambda document: document.title.casefold(),
    "pages": lambda document: document.page_count,
    "size": lambda document: document.byte_size,
    "added": lambda document: document.added_at.timestamp() if document.added_at else 0,
    "state": lambda document: document.state,
}


def chosen(documents: Sequence[Document], tags: Sequence[str]) -> list[Document]:
    """What is left of documents by the filters above the table, which are there once there are some documents."""
    found = list(documents)
    if len(documents) >= FILTER_FROM:
        with st.container(key="upload_filters", horizontal=True, gap="small"):
            found = _worded(found)
            found = _one_of("state", _("All states"), found, lambda document: {STATES[document.state]})
            found = _one_of("kind", _("All kinds"), found, lambda document: {kind_of(document)})
            found = _one_of("folder", _("All folders"), found, folders_of)
    return _in_order(_tagged(found, tags))


def only(state: str) -> None:
    """Narrow the table to the documents of a state."""
    st.session_state["upload_filter_state"] = STATES[state]


def order() -> tuple[str, bool] | None:
    """The column that the table is sorted by, and whether downwards; None for the newest first."""
    kept = st.session_state.get("upload_order")
    return (kept[0], kept[1]) if kept else None


def kind_of(document: Document) -> str:
    """What a document is, in a word."""
    return next((kind for begins, kind in KINDS if document.media_type.startswith(begins)), _("Other"))


def folders_of(document: Document) -> set[str]:
    """The folders, and hosts of the web, that a document came from."""
    web = {source.split("/")[2] for source in document.sources if source.startswith(("http://", "https://"))}
    paths = (PurePath(source).parent for source in document.sources if "://" not in source)
    return web | {str(path) for path in paths if path != PurePath()}


def _worded(documents: list[Document]) -> list[Document]:
    st.session_state.setdefault("upload_filter", LibraryState.parse().q)
    wanted = st.text_input(
        _("Filter"),
        placeholder=_("Filter by title, author, kind, year, tag or file name"),
        key="upload_filter",
        label_visibility="collapsed",
        icon=":material/search:",
        live=True,
    )
    LibraryState.write(q=wanted.strip())
    parts = wanted.casefold().split()
    return [document for document in documents if all(part in _words(document) for part in parts)]


def _words(document: Document) -> str:
    """What the filter looks at, in small letters."""
    card = document.card
    known = (card.title, card.organisation, card.kind, card.period) if card else ()
    about = (document.title, document.authors, str(document.year or ""))
    return " ".join((*about, *known, *document.tags, *document.sources)).casefold()


def _one_of(
    name: str, everything: str, documents: list[Document], values: Callable[[Document], set[str]]
) -> list[Document]:
    """Those with the value that is chosen; nothing is asked where all have the same."""
    key = f"upload_filter_{name}"
    known = sorted({value for document in documents for value in values(document)})
    kept = st.session_state.get(key) or getattr(LibraryState.parse(), name) or None
    if len(known) < 2 and kept in (None, everything):
        return documents
    options = [everything, *known, *([kept] if kept and kept not in (everything, *known) else [])]
    st.session_state.setdefault(key, kept or everything)
    wanted = st.selectbox(
        everything, options, key=key, label_visibility="collapsed", width=150,
        format_func=lambda value: value if name == "folder" and value != everything else _(value),
    )  # fmt: skip
    LibraryState.write(**{name: "" if wanted == everything else wanted})
    return [document for document in documents if wanted == everything or wanted in values(document)]


def _tagged(documents: list[Document], known: Sequence[str]) -> list[Document]:
    """Those with one of the tags that are chosen above the table."""
    if not known:
        return documents
    wanted = st.pills(
        _("Tags"), known, selection_mode="multi", format_func=formatting.plain, key="upload_tags",
        label_visibility="collapsed",
    )  # fmt: skip
    return [document for document in documents if not wanted or set(wanted) & set(document.tags)]


def _in_order(documents: list[Document]) -> list[Document]:
    """By the column that was chosen; else the newest first, before them what failed, as it needs somebody."""
    wanted = order()
    if wanted is None:
        return sorted(documents, key=lambda document: document.state != "failed")
    return sorted(documents, key=_SORTS[wanted[0]], reverse=wanted[1])
