"""One document opened: its pages as they look, beside what was read of them, section by section and chunk by chunk."""

from __future__ import annotations

import streamlit as st

from pages.parts import asking_of, chunk_list, formatting, guide, naming, passage, reading, recognising, sheet
from pages.parts.language import _, msgid, ngettext, server_text
from pages.parts.state import LibraryState
from rag_core.domain import Document
from rag_core.errors import LecternError
from rag_core.library import Library

VIEWS = (msgid("Guide"), msgid("Text"), msgid("Passages"), msgid("Outline"), msgid("Tables"), msgid("Notes"))
SHOWN_NOTES = 2


def draw(library: Library, document_id: str) -> None:
    """The document of this id, page by page."""
    st.button(_("All documents"), icon=":material/arrow_back:", type="tertiary", key="upload_back", on_click=_close)
    try:
        try:
            document = library.document(document_id)
        except KeyError:
            st.markdown(_("**This document is no longer in the library.**"))
            return
        notes = reading.notes(library, document)
        _heading(library, document, notes)
        page = _page_of(document)
        with st.container(key="upload_document"):
            _sheet(library, document, page)
            with st.container(key="upload_beside"):
                _beside(library, document, page, notes)
    except LecternError as error:
        st.markdown(f"**{formatting.plain(server_text(str(error)))}**")
        st.caption(formatting.plain(server_text(error.help)))


def _heading(library: Library, document: Document, notes: list[reading.Row]) -> None:
    naming.heading(document, [name for name, _ in library.catalogue.tags()])
    facts = [
        formatting.plain(document.authors),
        formatting.plain(naming.organisation(document)),
        formatting.plain(naming.about(document)),
        _doi(document),
        formatting.count(document.page_count, "page"),
        formatting.size(document.byte_size),
        ", ".join(formatting.link(source) for source in document.sources),
    ]
    st.caption(" · ".join(fact for fact in facts if fact))
    asking_of.button([document.id], _("Ask this document"), "upload_ask_this")
    if document.card and document.card.abstract:
        with st.expander(_("Abstract"), key="upload_abstract"):
            st.markdown(formatting.plain(document.card.abstract))
    if document.to_recognise:
        st.caption(
            f":material/document_scanner: {recognising.left_words(document.to_recognise, document.is_recording)}"
        )
    for note in notes[:SHOWN_NOTES]:
        st.caption(f":orange[:material/warning:] {formatting.plain(note['name'])}")
    if len(notes) > SHOWN_NOTES:
        st.caption(
            ngettext(
                "{number} more note on how it was read: see Notes.",
                "{number} more notes on how it was read: see Notes.",
                len(notes) - SHOWN_NOTES,
            )
        )


def _doi(document: Document) -> str:
    doi = document.card.doi if document.card else ""
    return _("DOI {doi}").format(doi=formatting.plain(doi)) if doi else ""


def _beside(library: Library, document: Document, page: int, notes: list[reading.Row]) -> None:
    """What was read, in the view that is chosen."""
    st.segmented_control(
        _("What was read"), views(document), key="upload_view", default=_view(document), label_visibility="collapsed",
        format_func=lambda name: f"{_(name)} {len(notes)}" if name == "Notes" and notes else _(name),
    )  # fmt: skip
    match _view(document):
        case "Guide":
            guide.draw(library, document, page)
        case "Text":
            reading.text(library, document, page)
        case "Outline":
            reading.outline(library, document, page)
        case "Tables" if document.is_sheet:
            sheet.draw(library, document)
        case "Tables":
            reading.tables(library, document)
        case "Notes":
            reading.told(notes)
        case _:
            chunk_list.draw(library, document, page)


def views(document: Document) -> list[str]:
    """What can be looked at beside the page; a page without a picture is its text already, a sheet is its tables."""
    names = [name for name in VIEWS if name != "Text" or document.has_page_images]
    return sorted(names, key=lambda name: name != "Tables") if document.is_sheet else names


def _view(document: Document) -> str:
    chosen = st.session_state.get("upload_view")
    if chosen in views(document):
        return str(chosen)
    return "Passages" if st.session_state.get("upload_marked") is not None else views(document)[0]


def _page_of(document: Document) -> int:
    """The page shown, from the address, within the document."""
    return min(LibraryState.parse().page, max(document.page_count, 1))


def _sheet(library: Library, document: Document, page: int) -> None:
    data = passage.sheet(library, document.id, page, _marked(library, document, page)) | {"follows": True}
    with st.container(key="upload_sheet"):
        passage.draw("upload_page", data, on_page=_turn)


def _marked(library: Library, document: Document, page: int) -> tuple[int, int] | None:
    """The span of the page that is marked: of a line that was clicked, else of a chunk."""
    number, *span = st.session_state.get("upload_span") or (0,)
    if number == page:
        return span[0], span[1]
    index = st.session_state.get("upload_marked")
    found = library.chunks(document.id, first=index, limit=1) if index is not None else []
    return next(((chunk.start, chunk.end) for chunk in found if chunk.page == page), None)


def _turn() -> None:
    """What stands beside the page is of the page that is looked at."""
    LibraryState.write(p=str(int(st.session_state["upload_page"]["page"])))


def _close() -> None:
    LibraryState.write(d="", p="1")
    for name in ("upload_marked", "upload_span", "upload_view"):
        st.session_state.pop(name, None)
