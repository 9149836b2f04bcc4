"""A flowing document opened in the reading process: laid out whole, its pages given as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from rag_core.errors import LecternError, UnreadableDocument
from rag_core.reading.base import Details, RawPage
from rag_core.reading.flowing.blocks import Flow
from rag_core.reading.flowing.damage import reason, spared
from rag_core.reading.flowing.hidden import located
from rag_core.reading.flowing.layout import Layout
from rag_core.reading.flowing.locked import unlocked
from rag_core.reading.text import PagedText


class FlowDocument(PagedText):
    """Pages of text with headings. `module` has the format's `read`; it is imported when the first such file comes.

    Raises EncryptedDocument for an Office file whose password is missing or wrong.
    """

    def __init__(self, module: str, path: Path, password: str | None, max_chars: int) -> None:
        super().__init__([])
        self._max_chars = max_chars
        with _faults_told(), ExitStack() as opening:
            self._plain = unlocked(path, password)
            if self._plain is not None:
                opening.enter_context(self._plain)
            self._flow: Flow = import_module(module).read(Path(self._plain.name) if self._plain else path, max_chars)
            opening.pop_all()

    def prepare(self, alive: Callable[[], None]) -> None:
        """Lay the document out, telling `alive` of every page."""
        layout = Layout(self._max_chars, alive)
        notes: list[str] = []
        for block in spared(self._flow.blocks, "The file", notes):
            layout.add(block)
        layout.finish()
        if notes and not layout.is_begun:
            raise UnreadableDocument(f"The file is damaged. {notes[0]}")
        self._hidden = located(layout.pages, spared(self._flow.hidden, "What the file hides", notes))
        self.pages, self.page_count, self._figures = layout.pages, len(layout.pages), layout.figures
        said = self._flow.details
        self._details = replace(said, headings=tuple(layout.headings), notes=(*said.notes, *self._flow.notes, *notes))

    def read_page(self, number: int, max_chars: int) -> RawPage:
        """Return page `number`, what is hidden of it marked. Raises LimitExceeded beyond `max_chars` characters."""
        raw = super().read_page(number, max_chars)
        page = replace(raw.page, hidden=self._hidden.get(number, ()), figures=self._figures.get(number, ()))
        return replace(raw, page=page)

    def details(self) -> Details:
        """What the file says of itself, with its headings."""
        return self._details

    def close(self) -> None:
        """Remove what was unlocked."""
        if self._plain is not None:
            self._plain.close()


@contextmanager
def _faults_told() -> Iterator[None]:
    try:
        yield
    except (LecternError, MemoryError):
        raise
    except Exception as error:  # a damaged file makes the libraries raise anything
        raise UnreadableDocument(f"The file is damaged: {reason(error)}.") from error
