"""The recognising process seen from its parent."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.errors import Cancelled
from rag_core.reading import wire
from rag_core.reading.base import SOUNDS, RawPage
from rag_core.reading.pool import usable_cores
from rag_core.runtime.child import Child, ChildDied, Program, Watch

if TYPE_CHECKING:
    from rag_core.settings import OcrSettings

# Everything else that the machine does comes first. Models reserve more than they use; what is used is watched.
_PROGRAM = Program(
    "rag_core.reading.ocr.worker:recognise_service", "Recognising", reserves=2, niceness=10, confined=True
)  # fmt: skip
# A minute of a recording takes longer than a page.
_HEARD = 3


class PageRecogniser:
    """Recognises pages, one at a time, in a process that is started by the first of them. Thread-safe."""

    def __init__(self) -> None:
        self._child: Child | None = None
        self._turn = threading.Lock()
        self._closed = False

    def recognise(
        self,
        settings: OcrSettings,
        path: Path,
        media_type: str,
        number: int,
        password: str | None = None,
        part: str = "",
    ) -> RawPage:
        """One page as recognition reads it, or a picture of it by its name in the file, the text empty where it finds
        none.

        Raises ModelUnavailable where the recogniser is missing, Cancelled when closed meanwhile, and for this page
        LimitExceeded or UnreadableDocument.
        """
        request = {
            "path": str(path.absolute()), "media_type": media_type, "password": password, "page": number, "part": part,
            "engine": settings.engine, "languages": settings.languages, "threads": settings.threads or usable_cores(),
        }  # fmt: skip
        with self._turn:
            page = wire.page_in(self._asked(settings, request)["page"])
            if self._child is not None:
                self._child.slim()
            return page

    def rest(self) -> None:
        """End the process until the next page: its models take memory."""
        with self._turn:
            if self._child is not None:
                self._child.kill()
                self._child = None

    def close(self) -> None:
        """End the process. A page under way ends with Cancelled."""
        self._closed = True
        if self._child is not None:
            self._child.interrupt()
        self.rest()

    def _asked(self, settings: OcrSettings, request: wire.Message) -> wire.Message:
        """Ask, a second time where the process ended for a reason of its own."""
        for attempt in (1, 2):
            if self._closed:
                break
            if self._child is None:
                self._child = Child(replace(_PROGRAM, memory_bytes=settings.memory_bytes))
            try:
                longest_s = settings.page_timeout_s * (_HEARD if request["media_type"] in SOUNDS else 1)
                return wire.ask(self._child, request, Watch(longest_s, lambda: self._closed))
            except ChildDied as died:
                if not self._closed and (attempt == 2 or died.at_limit):
                    raise died.cause from died
        raise Cancelled("Text recognition was stopped.")
