"""A document opened at a place: what the viewer is told of it, which asks for the pages themselves (see `viewer`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pages.parts.components import component
from pages.parts.language import _, figure, msgid, server_text
from rag_core.domain import Citation, Document, Page, ScoreKind, TableAnswer
from rag_core.errors import LecternError
from rag_core.exporting import INSTRUCTS, quotation, warning_of

if TYPE_CHECKING:
    from rag_core.library import Library

Span = tuple[int, int]
SCORES: dict[ScoreKind, str] = {
    "cosine": msgid("cosine similarity between question and passage, at most 1"),
    "bm25": msgid("BM25 score: how well the words match"),
    "fused": msgid("fused rank of several searches"),
    "rerank": msgid("score of the re-ranking model"),
}


def draw(
    key: str,
    data: dict[str, Any],
    *,
    on_close: Callable[[], None] | None = None,
    on_page: Callable[[], None] | None = None,
    on_cite: Callable[[], None] | None = None,
) -> None:
    """Mount the viewer. `on_page` hears which page is looked at, `on_cite` which citation is stepped to."""
    component("passage")(
        key=key, data=data, height="stretch", on_close_change=on_close or _nothing, on_page_change=on_page or _nothing,
        on_cite_change=on_cite or _nothing,
    )  # fmt: skip


def _nothing() -> None:
    """Not every panel can be closed, or has citations to step through."""


def sheet(library: Library, document_id: str, page: int, span: Span | None, near: Span | None = None) -> dict[str, Any]:
    """A document as the viewer takes it, opened at a page with a span marked and lightly what stands around it; or what
    went wrong."""
    try:
        document = library.document(document_id)
        shown = library.page(document_id, page)
    except KeyError:
        gone = {"message": _("This document is no longer in the library."), "help": _("What was cited is below.")}
        return _frame(document_id, None, page) | {"problem": gone}
    except LecternError as error:
        return _frame(document_id, None, page) | {
            "problem": {"message": server_text(str(error)), "help": server_text(error.help)}
        }
    return _frame(document_id, document, page) | {"facts": recognised_words(shown, span), "cited": span, "near": near}


def cited(library: Library, citation: Citation, numbers: Sequence[int] = ()) -> dict[str, Any]:
    """The document of a citation opened at its passage; `numbers` are those of all of the answer, in their order."""
    span = (citation.start, citation.end)
    data = _opened(library, citation.document_id, citation.page, span, _chunk_of(library, citation))
    if citation.section:
        data["facts"].insert(0, {"words": citation.section, "detail": citation.section})
    return data | {
        "title": data["title"] or citation.title,
        "number": citation.number,
        "numbers": list(numbers),
        "quote": citation.text,
        "copy": quotation(citation),
        "score": f"{score_words(citation)}: {_(SCORES[citation.score_kind])}",
        "warning": _warning(citation),
    }


def _warning(citation: Citation) -> str:
    said = warning_of(citation)
    return (
        f"{server_text(said)} {_('To Lectern it is text like any other.')}" if said == INSTRUCTS else server_text(said)
    )


def of_row(library: Library, table: TableAnswer, place: int) -> dict[str, Any]:
    """The sheet of one of a table's rows with it marked."""
    row = table.rows[place]
    data = _opened(library, table.plan.document_id, row.page, (row.start, row.end))
    return data | {"title": data["title"] or table.title, "quote": " · ".join(filter(None, row.cells))}


def _opened(library: Library, document_id: str, page: int, span: Span, near: Span | None = None) -> dict[str, Any]:
    """The panel that a click opened."""
    data = sheet(library, document_id, page, span, near)
    return data | {"closable": True, "quote_open": bool(data["problem"])}


def _chunk_of(library: Library, citation: Citation) -> Span | None:
    """The span of the chunk that a citation is of, on the same page."""
    document_id, _, index = citation.chunk_id.rpartition(":")
    try:
        found = library.chunks(document_id, first=int(index), limit=1) if index.isdecimal() else []
    except LecternError:  # the mark alone is enough
        return None
    span = next(((chunk.start, chunk.end) for chunk in found if chunk.page == citation.page), None)
    return span if span and span[0] <= citation.start and citation.end <= span[1] else None


def recognised_words(page: Page, span: Span | None) -> list[dict[str, str]]:
    """That a page's text, or a span within one of its pictures, was read off a picture or heard, and of a page how
    certain that is, as the component takes it."""
    if not page.recogniser:
        return [_in_picture()] if span and any(figure.says(*span) for figure in page.figures) else []
    if page.is_heard:
        detail = _("Written down by speech recognition ({recogniser}): listen to it where it matters.").format(
            recogniser=page.recogniser
        )
        return [
            {"words": _("transcribed, {certainty} certain").format(certainty=f"{page.certainty:.0%}"), "detail": detail}
        ]
    detail = _(
        "Read off the picture by text recognition ({recogniser}): compare it with the page where it matters."
    ).format(recogniser=page.recogniser)
    return [
        {"words": _("read by OCR, {certainty} certain").format(certainty=f"{page.certainty:.0%}"), "detail": detail}
    ]


def _in_picture() -> dict[str, str]:
    detail = _("Read off a picture on this page by text recognition: compare it with the picture where it matters.")
    return {"words": _("read by OCR in a picture"), "detail": detail}


def score_words(citation: Citation) -> str:
    """`cosine 0.71`."""
    return f"{citation.score_kind} {figure(citation.score, '.2f')}"


def _frame(document_id: str, document: Document | None, page: int) -> dict[str, Any]:
    return {
        "document": document_id,
        "title": document.title if document else "",
        "address": document.address if document else "",
        "sound": document.media_type.partition("/")[0] if document and document.is_recording else "",
        "drawn": document.has_page_images if document else False,
        "page": page,
        "cited": None,
        "near": None,
        "problem": None,
        "number": None,
        "numbers": [],
        "closable": False,
        "follows": False,
        "facts": [],
        "quote": "",
        "copy": "",
        "score": "",
        "warning": "",
        "quote_open": False,
    }
