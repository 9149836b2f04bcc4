"""What goes over the pipes to a reading process and back: one JSON object on each line.

A request has "op" ("open", "pages", "details", "page_image", "whole"), "path", "media_type", "password" and what the op
needs; or its op is "many" and it has "requests", whose responses come back as "answers". A response has "error", or the
values that these functions turn into dataclasses.
"""

from __future__ import annotations

import base64
import json
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_core import errors
from rag_core.domain import Box, HiddenText, Line, Page, PageImage
from rag_core.errors import EncryptedDocument, LecternError, UnreadableDocument
from rag_core.reading.base import Details, Face, Heading, RawPage
from rag_core.unexpected import translate

Message = Mapping[str, Any]


def dump(message: Message) -> bytes:
    """Return one line of JSON; line breaks within texts are escaped."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def load(line: bytes) -> dict[str, Any]:
    """Return the object of one line. Raises ValueError when it is none."""
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("not an object")
    return message


def page_out(raw: RawPage) -> Message:
    """Turn a page into plain values; lines become rows of two places and four fractions, their
    cells further rows behind these."""
    page = raw.page
    return {
        "number": page.number,
        "text": page.text,
        "size": [page.width_pt, page.height_pt],
        "lines": [[*_line_out(line), *map(_line_out, line.cells)] for line in page.lines],
        "error": page.error,
        "recognition": [page.recogniser, page.certainty, page.turned],
        "faces": raw.faces,
        "pictures": raw.pictures,
        "hidden": [[span.start, span.end, span.why] for span in page.hidden],
    }


def _line_out(line: Line) -> list[float]:
    return [line.start, line.end, line.box.left, line.box.top, line.box.right, line.box.bottom]


def _line_in(row: Sequence[float]) -> Line:
    start, end, *box = row
    return Line(int(start), int(end), Box(*box))


def page_in(message: Message) -> RawPage:
    """Turn plain values back into a page."""
    lines = tuple(replace(_line_in(row[:6]), cells=tuple(map(_line_in, row[6:]))) for row in message["lines"])
    width, height = message["size"]
    recogniser, certainty, turned = message.get("recognition", ("", 0.0, 0))
    page = Page(
        message["number"], message["text"], width_pt=width, height_pt=height, lines=lines, error=message["error"],
        recogniser=recogniser, certainty=certainty, turned=turned,
        hidden=tuple(HiddenText(*span) for span in message.get("hidden", ())),
    )  # fmt: skip
    return RawPage(page, tuple(Face(*row) for row in message["faces"]), message["pictures"])


def details_out(details: Details) -> Message:
    """Turn details into plain values."""
    return {
        "title": details.title,
        "authors": details.authors,
        "year": details.year,
        "language": details.language,
        "headings": [(item.title, item.level, item.page, item.start, item.top) for item in details.headings],
        "labels": list(details.labels.items()),
        "notes": details.notes,
    }


def details_in(message: Message) -> Details:
    """Turn plain values back into details."""
    return Details(
        title=message["title"],
        authors=message["authors"],
        year=message["year"],
        language=message["language"],
        headings=tuple(Heading(*row) for row in message["headings"]),
        labels={number: label for number, label in message["labels"]},
        notes=tuple(message["notes"]),
    )


def page_image_out(image: PageImage) -> Message:
    """Turn a page image into plain values, its bytes in base64."""
    boxes = [(box.left, box.top, box.right, box.bottom) for box in image.boxes]
    png = base64.b64encode(image.png).decode("ascii")
    return {"png": png, "size": [image.width_px, image.height_px], "boxes": boxes}


def page_image_in(message: Message) -> PageImage:
    """Turn plain values back into a page image."""
    width, height = message["size"]
    return PageImage(base64.b64decode(message["png"]), width, height, tuple(Box(*box) for box in message["boxes"]))


def error_out(error: LecternError) -> Message:
    """Turn an error into plain values."""
    wrong = isinstance(error, EncryptedDocument) and error.wrong_password
    return {"kind": type(error).__name__, "message": str(error), "help": error.help, "wrong_password": wrong}


def unexpected_out(error: BaseException, name: str) -> Message:
    """Turn what nobody foresaw in a stage into plain values, with the traceback for the parent's log."""
    told = "".join(traceback.format_exception(error))
    return {**error_out(translate(error, name)), "traceback": told}


def error_in(message: Message) -> LecternError:
    """Turn plain values back into an error of the same kind."""
    if message["kind"] == EncryptedDocument.__name__:
        return EncryptedDocument(message["message"], help=message["help"], wrong_password=message["wrong_password"])
    kind = getattr(errors, message["kind"], UnreadableDocument)
    made: LecternError = kind(message["message"], help=message["help"])
    return made
