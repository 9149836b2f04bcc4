"""The recognising process from within: reads the text of one page at a time, or what is said in it.

A request has "path", "media_type", "password", "page", the "part" that is a picture of it, or "", and the options of a
recogniser; a response has "page" or "error".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from rag_core.domain import Page
from rag_core.reading import wire
from rag_core.reading.base import SOUNDS, RawPage
from rag_core.reading.ocr.base import Options, Recogniser
from rag_core.reading.ocr.drawing import draw, draw_part
from rag_core.reading.ocr.layout import page_of
from rag_core.reading.speech import Transcriber

RECOGNISERS = {
    "rapidocr": "rag_core.reading.ocr.rapid",
    "tesseract": "rag_core.reading.ocr.tesseract",
}


class Worker:
    """Answers requests. The recogniser of the last one stays loaded for the next."""

    def __init__(self) -> None:
        self._options: Options | None = None
        self._recogniser: Recogniser | None = None
        self._transcriber: Transcriber | None = None

    def answer(self, request: wire.Message) -> wire.Message:
        """Return the response to one request; what goes wrong becomes its "error"."""
        return wire.answer_or_error(partial(self._answer, request), "Recognising the page", "recognition")

    def _answer(self, request: wire.Message) -> wire.Message:
        if request["media_type"] in SOUNDS:
            return {"page": wire.page_out(self._heard(request))}
        recogniser = self._opened(Options(request["engine"], request["languages"], request["threads"]))
        path, password = Path(request["path"]), request["password"]
        if request["part"]:
            picture = draw_part(path, password, request["part"])
            size = (float(picture.width), float(picture.height)) if picture else (0.0, 0.0)
        else:
            picture, size = draw(path, request["media_type"], password, request["page"])
        if picture is None:
            return {"page": wire.page_out(RawPage(Page(request["page"], "", recogniser=recogniser.name)))}
        raw = page_of(request["page"], recogniser.read(picture), size, recogniser.name)
        return {"page": wire.page_out(raw)}

    def _heard(self, request: wire.Message) -> RawPage:
        if self._transcriber is None:
            self._transcriber = Transcriber(request["threads"])
        return self._transcriber.page(Path(request["path"]), request["media_type"], request["page"])

    def _opened(self, options: Options) -> Recogniser:
        if self._recogniser is None or options != self._options:
            self._recogniser = import_module(RECOGNISERS[options.engine]).open_recogniser(options)
            self._options = options
        return self._recogniser


def recognise_service(_alive: Callable[[], None]) -> Callable[[bytes], bytes]:
    """What the recognising process runs."""
    return wire.json_service(Worker().answer)
