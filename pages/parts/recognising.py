"""How far text recognition is, while it goes on in the background."""

from __future__ import annotations

import streamlit as st

from pages.parts.language import _, ngettext
from pages.parts.refreshing import fragment, refreshed
from rag_core.library import Library

REFRESH_S = 3.0


def progress(library: Library) -> None:
    """A line while pages are left; it refreshes by itself, and the page with it once none is."""
    if library.recognition.left():
        fragment(refreshed, REFRESH_S)(lambda: _line(library), lambda: not library.recognition.left())


def left_words(pages: int, is_recording: bool = False) -> str:
    """`Text recognition (OCR): 12 pages to go.`"""
    if is_recording:
        return ngettext(
            "Speech recognition: {number} minute to go.", "Speech recognition: {number} minutes to go.", pages
        )
    return ngettext(
        "Text recognition (OCR): {number} page to go.", "Text recognition (OCR): {number} pages to go.", pages
    )


def _line(library: Library) -> None:
    if left := library.recognition.left():
        st.caption(f":material/document_scanner: {left_words(left)} {_('Documents can be asked about meanwhile.')}")
