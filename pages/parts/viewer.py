"""What the document viewer asks the server for while it is read: pages, their pictures, what is found in them.

So that a page is turned, enlarged or searched without a run of the whole page around it. The guard lets in whoever may
see the pages, as it does to Streamlit's own files (`rag_core/api/visitors.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from pages.parts import page_text, resources
from pages.parts.language import asked_for_by, msgid, server_text
from pages.parts.page_text import Mark
from rag_core.domain import Box, Document, Figure, Page
from rag_core.errors import LecternError
from rag_core.library import Library
from rag_core.text.invisible import visible

ROOM = "viewer"
"""The first part of the addresses, which the guard knows as one for those who may see the pages."""
MOST_HITS = 1000
_USUAL_PX, _WIDEST_PX = 1400, 4000
_MEASURED_CHUNKS = 60
_MARKS = ("cited", "near", "hit", "now")
_SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")
_WORD = re.compile(r"[^\s\u2060]+")
_KEPT_S = 600  # which way up a page stands can change, once text recognition has read it
Answer = Callable[[Request, Library], Response]


def routes() -> list[Route]:
    """The addresses, each below a document's id."""
    ways: dict[str, Answer] = {
        "": _about, "/find": _find, "/original": _original, "/pages/{number:int}": _page,
        "/pages/{number:int}/picture": _picture, "/pages/{number:int}/figures/{figure:int}": _figure,
    }  # fmt: skip
    return [Route(f"/{ROOM}/{{document}}{way}", answered(answer)) for way, answer in ways.items()]


def answered(answer: Answer) -> Callable[[Request], Response]:
    """Say what is wrong as the pages do, in words."""

    @wraps(answer)
    def answer_or_problem(request: Request) -> Response:
        try:
            return answer(request, resources.library(request.cookies))
        except KeyError:
            return _problem(request, msgid("This page is no longer in the library."), "", 404)
        except LecternError as error:
            return _problem(request, str(error), error.help, 422)

    return answer_or_problem


def _problem(request: Request, message: str, help_text: str, status: int) -> Response:
    code = asked_for_by(request)
    return JSONResponse({"message": server_text(message, code), "help": server_text(help_text, code)}, status)


def _about(request: Request, library: Library) -> Response:
    """How large the pages are, where the text stands on them, and what the document's headings are."""
    document = library.document(request.path_params["document"])
    pages = library.pages(document.id)
    return JSONResponse({
        "pages": [[page.width_pt, page.height_pt, page.label] for page in pages],
        "set": _setting(library, document, pages),
        "sections": [
            [one.title, level, one.page, one.start]
            for one, level in zip(document.sections, page_text.outline_levels(document.sections), strict=True)
        ],
    })  # fmt: skip


def _setting(library: Library, document: Document, pages: Sequence[Page]) -> dict[str, float] | None:
    """Between which fractions of a page's width its text stands, and how high a line is, in points; None if unknown."""
    some = library.chunks(document.id, first=document.chunk_count // 3, limit=_MEASURED_CHUNKS)
    places = [(box, pages[chunk.page - 1].height_pt) for chunk in some for box in chunk.boxes]
    if len(places) < 2:
        return None
    lefts, rights = ([getattr(box, side) for box, _ in places] for side in ("left", "right"))
    line = median((box.bottom - box.top) * height for box, height in places)
    return {"left": quantiles(lefts, n=20)[0], "right": quantiles(rights, n=20)[-1], "line_pt": line}


def _page(request: Request, library: Library) -> Response:
    """A page: its text block by block, or where its words and what is marked stand on its picture."""
    document = library.document(request.path_params["document"])
    page = library.page(document.id, request.path_params["number"])
    marks, wanted = _marks(request), request.query_params
    if not document.has_page_images or "flow" in wanted:
        blocks = page_text.blocks(page, document.sections, marks, document.is_code)
        return JSONResponse({"blocks": blocks, "figures": _cited_figures(page, marks)})
    words = [] if "marks" in wanted else _seen_words(page)
    found = library.page_places.of(document, page, [*((start, end) for start, end, _ in marks), *words])
    marked = [[kind, *_edges(box)] for (_, _, kind), boxes in zip(marks, found, strict=False) for box in boxes]
    lines = _lines(page.text, words, found[len(marks) :])
    figures = _cited_figures(page, marks)
    return JSONResponse({"marks": marked, "lines": lines, "sure": not page.recogniser, "figures": figures})


def _cited_figures(page: Page, marks: Sequence[Mark]) -> list[dict[str, Any]]:
    """The figures whose captions or words are cited: which ones of the page, and where they stand on its picture."""
    cited = [(start, end) for start, end, kind in marks if kind == "cited"]
    return [
        {"number": number, "box": _edges(figure.box) if figure.box else None}
        for number, figure in enumerate(page.figures)
        if (figure.box or figure.part) and any(_is_of(figure, *span) for span in cited)
    ]


def _is_of(figure: Figure, start: int, end: int) -> bool:
    return (start < figure.end and figure.start < end) or figure.says(start, end)


def _marks(request: Request) -> list[Mark]:
    found = [(kind, _SPAN.fullmatch(text)) for kind in _MARKS for text in request.query_params.getlist(kind)]
    return [(int(span[1]), int(span[2]), kind) for kind, span in found[:MOST_HITS] if span]


def _seen_words(page: Page) -> list[tuple[int, int]]:
    """The spans of words, without those that nobody sees on the page: what is copied is what was read."""
    spans = (match.span() for match in _WORD.finditer(page.text))
    return [
        (start, end) for start, end in spans
        if not any(start < hidden.end and hidden.start < end for hidden in page.hidden)
    ]  # fmt: skip


def _lines(text: str, words: Sequence[tuple[int, int]], places: Sequence[Sequence[Box]]) -> list[list[Any]]:
    """The lines of the text layer: top, bottom, and each word with where it begins and ends."""
    lines: list[list[Any]] = []
    last = 0
    for (start, end), boxes in zip(words, places, strict=True):
        if not boxes:
            continue
        left, top, right, bottom = _edges(boxes[0])
        if not lines or "\n" in text[last:start] or "\t" in text[last:start] or left < lines[-1][2][-1][1]:
            lines.append([top, bottom, []])
        line = lines[-1]
        line[0], line[1], last = min(line[0], top), max(line[1], bottom), end
        line[2].append([visible(text[start:end]), left, right])
    return lines


def _edges(box: Box) -> tuple[float, ...]:
    return tuple(round(edge, 5) for edge in (box.left, box.top, box.right, box.bottom))


def _picture(request: Request, library: Library) -> Response:
    asked = request.query_params.get("width", "")
    width_px = min(int(asked[:5]), _WIDEST_PX) if asked.isdecimal() else _USUAL_PX
    drawn = library.page_image(request.path_params["document"], request.path_params["number"], width_px=width_px)
    return Response(drawn.png, media_type="image/png", headers={"Cache-Control": f"private, max-age={_KEPT_S}"})


def _figure(request: Request, library: Library) -> Response:
    """The picture of a figure that the file holds."""
    document = library.document(request.path_params["document"])
    page = library.page(document.id, request.path_params["number"])
    figures, number = page.figures, request.path_params["figure"]
    if number >= len(figures):
        return _problem(request, msgid("This page is no longer in the library."), "", 404)
    drawn = library.page_places.figure_image(document, figures[number], width_px=_USUAL_PX)
    return Response(drawn.png, media_type="image/png", headers={"Cache-Control": f"private, max-age={_KEPT_S}"})


def _find(request: Request, library: Library) -> Response:
    """Where words stand in the document, however its lines are broken: page, start and end of each place."""
    pattern = pattern_of(request.query_params.get("q", ""))
    pages = library.pages(library.document(request.path_params["document"]).id) if pattern else []
    hits = [(page.number, *match.span()) for page in pages if pattern for match in pattern.finditer(page.text)]
    return JSONResponse({"hits": hits[:MOST_HITS], "more": len(hits) > MOST_HITS})


def pattern_of(words: str) -> re.Pattern[str] | None:
    """What finds words whatever their case, the blanks and breaks between them, or hyphens in them; None for none."""
    parts = [r"(?:\u00ad\s*)?".join(map(re.escape, word)) for word in words[:200].split()]
    return re.compile(r"\s+".join(parts), re.IGNORECASE) if parts else None


def _original(request: Request, library: Library) -> Response:
    """The document's own bytes, as a download: no browser opens them as a page of Lectern's. Recordings are played."""
    document = library.document(request.path_params["document"])
    name = Path(document.sources[0]).name if document.sources and not document.address else document.title
    headers = {"Content-Security-Policy": "sandbox", "Cache-Control": "no-store"}
    kind = document.media_type if document.is_recording else "application/octet-stream"
    path = library.original(document.id)
    if not path.is_file():
        return _problem(request, msgid("The original file is missing."), msgid("Verify the library."), 404)
    return FileResponse(path, media_type=kind, filename=name, headers=headers)
