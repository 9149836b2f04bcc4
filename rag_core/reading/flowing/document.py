"""A flowing document opened in the reading process: laid out whole, its pages given as they are asked for."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from rag_core.errors import LecternError, UnreadableDocument
from rag_core.reading.base import Details, RawPage
from rag_core.reading.flowing.blocks import Flow
from rag_core.reading.flowing.hidden import located
from rag_core.reading.flowing.layout import Layout
from rag_core.reading.text import PagedText

# What libraries raise on damaged files, in words; what they say is for programmers.
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (SyntaxError, "its XML is broken, or nested too deeply"),  # lxml's and ElementTree's errors are such
    (RecursionError, "its parts are nested too deeply"),
    (zlib.error, "what it packs cannot be unpacked"),
    (EOFError, "it ends too early"),
    (KeyError, "a part of it is missing"),
)


class FlowDocument(PagedText):
    """Pages of text with headings. `module` has the format's `read`; it is imported when the first such file comes."""

    def __init__(self, module: str, path: Path, password: str | None, max_chars: int) -> None:
        super().__init__([])
        self._max_chars = max_chars
        with _faults_told():
            self._flow: Flow = import_module(module).read(path, max_chars)

    def prepare(self, alive: Callable[[], None]) -> None:
        """Lay the document out, telling `alive` of every page."""
        layout = Layout(self._max_chars, alive)
        with _faults_told():
            for block in self._flow.blocks:
                layout.add(block)
            layout.finish()
            self._hidden = located(layout.pages, self._flow.hidden)
        self.pages, self.page_count = layout.pages, len(layout.pages)
        said = self._flow.details
        self._details = replace(said, headings=tuple(layout.headings), notes=(*said.notes, *self._flow.notes))

    def read_page(self, number: int, max_chars: int) -> RawPage:
        """Return page `number`, what is hidden of it marked. Raises LimitExceeded beyond `max_chars` characters."""
        raw = super().read_page(number, max_chars)
        return replace(raw, page=replace(raw.page, hidden=self._hidden.get(number, ())))

    def details(self) -> Details:
        """What the file says of itself, with its headings."""
        return self._details


@contextmanager
def _faults_told() -> Iterator[None]:
    try:
        yield
    except (LecternError, MemoryError):
        raise
    except Exception as error:  # a damaged file makes the libraries raise anything
        reason = next((words for kind, words in _REASONS if isinstance(error, kind)), "a part of it makes no sense")
        raise UnreadableDocument(f"The file is damaged: {reason}.") from error
