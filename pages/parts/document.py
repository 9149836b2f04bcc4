"""One document opened: its pages as they look, beside the chunks that were made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import naming, passage, recognising, words
from pages.parts.components import component
from rag_core.domain import Chunk, Document
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.library import Library


def draw(library: Library, document_id: str) -> None:
    """The document of this id, page by page."""
    st.button("All documents", icon=":material/arrow_back:", type="tertiary", key="upload_back", on_click=_close)
    try:
        try:
            document = library.document(document_id)
        except KeyError:
            st.markdown("**This document is no longer in the library.**")
            return
        _heading(library, document)
        page = _page_of(document)
        chunks = [chunk for chunk in library.chunks(document_id) if chunk.page == page]
        with st.container(key="upload_document"):
            _sheet(library, document, page, chunks)
            _chunks(library, document, page, chunks)
    except LecternError as error:
        st.markdown(f"**{words.plain(str(error))}**")
        st.caption(words.plain(error.help))


def _heading(library: Library, document: Document) -> None:
    naming.heading(document, [name for name, _ in library.tags()])
    authors = document.card.authors if document.card else document.authors
    facts = [
        words.plain(authors),
        words.plain(naming.about(document)),
        words.count(document.page_count, "page"),
        words.count(document.chunk_count, "chunk"),
        words.size(document.byte_size),
        ", ".join(words.link(source) for source in document.sources),
    ]
    st.caption(" · ".join(fact for fact in facts if fact))
    if document.to_recognise:
        st.caption(f":material/document_scanner: {recognising.left_words(document.to_recognise)}")
    unread = [page for page in library.pages(document.id) if page.error]
    for note in (*document.notes, *(f"Page {page.number} could not be read: {page.error}" for page in unread)):
        st.caption(f":orange[:material/warning:] {words.plain(note)}")


def _page_of(document: Document) -> int:
    """The page shown, from the address, within the document."""
    asked = st.query_params.get("p", "1")
    return min(max(int(asked), 1), max(document.page_count, 1)) if asked.isdigit() else 1


def _sheet(library: Library, document: Document, page: int, chunks: list[Chunk]) -> None:
    marked = next((chunk for chunk in chunks if chunk.index == st.session_state.get("upload_marked")), None)
    data = passage.sheet(library, document.id, page, (marked.start, marked.end) if marked else None)
    with st.container(key="upload_sheet"):
        component("passage")(key="upload_page", data=data, height="stretch", on_act_change=_turn)


def _chunks(library: Library, document: Document, page: int, chunks: list[Chunk]) -> None:
    data = {
        "title": f"{words.count(len(chunks), 'chunk')} on this page",
        "empty": library.page(document.id, page).error or _empty(document),
        "marked": st.session_state.get("upload_marked"),
        "chunks": [
            {
                "index": chunk.index,
                "head": f"Chunk {chunk.index + 1}",
                "facts": words.count(len(chunk.text), "character"),
                "section": chunk.section,
                "text": chunk.text,
            }
            for chunk in chunks
        ],
    }
    component("chunks")(key="upload_chunks", data=data, on_mark_change=_mark)


def _empty(document: Document) -> str:
    return "Nothing of this page is read yet." if document.to_recognise else "This page holds no text."


def _turn() -> None:
    step = {"next": 1, "previous": -1}.get(st.session_state["upload_page"]["act"], 0)
    asked = st.query_params.get("p", "1")
    st.query_params["p"] = str(max((int(asked) if asked.isdigit() else 1) + step, 1))


def _mark() -> None:
    chosen = st.session_state["upload_chunks"]["mark"]
    again = st.session_state.get("upload_marked") == chosen
    st.session_state["upload_marked"] = None if again else chosen


def _close() -> None:
    st.query_params.clear()
    st.session_state.pop("upload_marked", None)
