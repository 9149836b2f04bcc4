"""A page with the passage marked: the picture of a PDF page, or the text of a text document."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.parts import formatting, page_text
from rag_core.domain import Citation, Document, Page, PageImage, ScoreKind, TableAnswer
from rag_core.errors import LecternError
from rag_core.exporting import INSTRUCTS, warning_of
from rag_core.text.pages import printed

if TYPE_CHECKING:
    from rag_core.library import Library

WIDTH_PX = 1400
SCORES: dict[ScoreKind, str] = {
    "cosine": "cosine similarity between question and chunk, at most 1",
    "bm25": "BM25 score: how well the words match",
    "fused": "fused rank of several searches",
    "rerank": "score of the re-ranking model",
}


def sheet(library: Library, document_id: str, page: int, span: tuple[int, int] | None) -> dict[str, Any]:
    """One page as the component takes it: picture with boxes, or blocks of text, or what went wrong."""
    try:
        document = library.document(document_id)
    except KeyError:
        gone = {"message": "This document is no longer in the library.", "help": "What was cited is below."}
        return _frame(None, page) | {"problem": gone}
    except LecternError as error:
        return _frame(None, page) | {"problem": {"message": str(error), "help": error.help}}
    return _frame(document, page) | _content(library, document, page, span)


def _content(library: Library, document: Document, page: int, span: tuple[int, int] | None) -> dict[str, Any]:
    """What stands on the page, or why it cannot be shown."""
    try:
        text = library.page(document.id, page)
        place = {"page": _page_words(text.label, page, document.page_count), "facts": recognised_words(text)}
        if not document.has_page_images:
            return place | {"blocks": page_text.blocks(text, document.sections, span, document.is_code)}
        picture = _picture(library, document.id, page, span, text.recogniser)
    except KeyError:
        return {"problem": {"message": f"There is no page {page}.", "help": ""}}
    except LecternError as error:
        return {"problem": {"message": str(error), "help": error.help}}
    return place | {
        "picture": {
            "png": base64.b64encode(picture.png).decode("ascii"),
            "width": picture.width_px,
            "height": picture.height_px,
            "boxes": [(box.left, box.top, box.right, box.bottom) for box in picture.boxes],
        }
    }


def cited(library: Library, citation: Citation, page: int | None) -> dict[str, Any]:
    """The page of a citation with its passage marked, or another page of the same document."""
    data = _opened(library, citation.document_id, (citation.page, citation.start, citation.end), page)
    facts = [{"words": score_words(citation), "detail": SCORES[citation.score_kind]}, *data["facts"]]
    if citation.section:
        facts.insert(0, {"words": formatting.shorten(citation.section, 40), "detail": citation.section})
    return data | {
        "title": data["title"] or citation.title,
        "number": citation.number,
        "facts": facts,
        "quote": citation.text,
        "warning": "" if data["away"] else _warning(citation),
    }


def of_row(library: Library, table: TableAnswer, place: int, page: int | None) -> dict[str, Any]:
    """The sheet of one of a table's rows with it marked, or another page of the same document."""
    row = table.rows[place]
    data = _opened(library, table.plan.document_id, (row.page, row.start, row.end), page)
    return data | {"title": data["title"] or table.title, "quote": " · ".join(filter(None, row.cells))}


def _opened(library: Library, document_id: str, place: tuple[int, int, int], page: int | None) -> dict[str, Any]:
    """The page of a place with that marked, its number, start and end, or another page."""
    home, start, end = place
    away = page is not None and page != home
    data = sheet(library, document_id, page or home, None if away else (start, end))
    return data | {"closable": True, "away": away, "quote_open": bool(data["problem"])}


def _warning(citation: Citation) -> str:
    return warning_of(citation).replace(INSTRUCTS, f"{INSTRUCTS} To Lectern it is text like any other.")


def recognised_words(page: Page) -> list[dict[str, str]]:
    """That a page's text was read off a picture, and how certain that is, as the component takes it."""
    if not page.recogniser:
        return []
    detail = f"Read off the picture by text recognition ({page.recogniser}): compare it with the page where it matters."
    return [{"words": f"read by OCR, {page.certainty:.0%} certain", "detail": detail}]


def score_words(citation: Citation) -> str:
    """`cosine 0.71`."""
    return f"{citation.score_kind} {citation.score:.2f}"


def _frame(document: Document | None, page: int) -> dict[str, Any]:
    pages = document.page_count if document else 0
    return {
        "title": document.title if document else "",
        "address": document.address if document else "",
        "page": _page_words("", page, pages),
        "has_previous": page > 1 and document is not None,
        "has_next": page < pages,
        "picture": None,
        "blocks": [],
        "problem": None,
        "number": None,
        "closable": False,
        "away": False,
        "facts": [],
        "quote": "",
        "warning": "",
        "quote_open": False,
    }


def _page_words(label: str, page: int, pages: int) -> str:
    return f"Page {page} of {pages}{printed(page, label)}" if pages else f"Page {page}"


@st.cache_data(max_entries=32, show_spinner=False)
def _picture(
    _library: Library, document_id: str, page: int, span: tuple[int, int] | None, recogniser: str
) -> PageImage:
    """Kept for a while, since one passage is drawn anew with every step on the page. Bytes never change under an id,
    and which way up a page stands only once text recognition has read it."""
    return _library.page_image(document_id, page, span=span, width_px=WIDTH_PX)
