"""What goes over the pipes to a reading process and back: JSON, as such a process is trusted with nothing.

A request has "op" ("open", "pages", "details", "page_image", "page_boxes", "part_image", "whole"), "path",
"media_type", "password" and what the op needs; or its op is "many" and it has "requests", whose responses come back as
"answers". A response has "error", or the values that these functions, or `serialiser.from_json`, turn into dataclasses.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from rag_core.domain import Box, Figure, HiddenText, Line, Page
from rag_core.errors import (
    EncryptedDocument,
    LecternError,
    LimitExceeded,
    UnexpectedFailure,
    UnreadableDocument,
    error_of,
)
from rag_core.reading.base import Face, RawPage
from rag_core.runtime.child import Child, ChildDied, Watch
from rag_core.unexpected import is_failure, translate

Message = Mapping[str, Any]
_log = logging.getLogger(__name__)


def ask(child: Child, request: Message, watch: Watch) -> dict[str, Any]:
    """Ask a process for its response to a request.

    Raises ChildDied when it was killed at a limit, died, made no sense or failed at something that nobody foresaw,
    Cancelled when the user stopped it, and the document's own error (a LecternError) as the process reported it.
    """
    response = _parse(child.ask(_dump(request), watch))
    if response is None:
        raise child.end_confused()
    if "error" in response:
        error = error_in(response["error"])
        if not isinstance(error, UnexpectedFailure):
            raise error
        _log.error("%s\n%s", error, response["error"].get("traceback", ""))
        child.kill()  # it may not be fit for the next request
        raise ChildDied(error)
    return response


def json_service(answer: Callable[[Message], Message]) -> Callable[[bytes], bytes]:
    """The other side of `ask`: the same of bytes."""
    return lambda request: _dump(answer(json.loads(request)))


def answer_or_error(answer: Callable[[], Message], work: str, stage: str) -> Message:
    """A response, or what went wrong as one. work: as a message names it, "Reading the document"."""
    try:
        return answer()
    except LecternError as error:
        return {"error": error_out(error)}
    except MemoryError:
        return {"error": error_out(LimitExceeded(f"{work} takes more memory than it may."))}
    except OSError as error:
        return {"error": error_out(UnreadableDocument(f"The file cannot be read: {error.strerror or error}."))}
    except BaseException as error:
        if not is_failure(error):
            raise
        traced = "".join(traceback.format_exception(error))
        return {"error": {**error_out(translate(error, stage)), "traceback": traced}}


def _dump(message: Message) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode("ascii")


def _parse(answer: bytes) -> dict[str, Any] | None:
    with suppress(ValueError):
        message = json.loads(answer)
        return message if isinstance(message, dict) else None
    return None


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
        "figures": [figure.row for figure in page.figures],
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
        figures=tuple(map(Figure.of_row, message.get("figures", ()))),
    )  # fmt: skip
    return RawPage(page, tuple(Face(*row) for row in message["faces"]), message["pictures"])


def error_out(error: LecternError) -> Message:
    """Turn an error into plain values."""
    wrong = getattr(error, "wrong_password", False)
    return {"kind": type(error).__name__, "message": str(error), "help": error.help, "wrong_password": wrong}


def error_in(message: Message) -> LecternError:
    """Turn plain values back into an error of the same kind."""
    error = error_of(message["kind"], message["message"], message["help"])
    if isinstance(error, EncryptedDocument):
        error.wrong_password = message["wrong_password"]
    return error
