"""What pages change is noted in the audit: the library as they get it, which tells of each change that it makes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

from pages.parts import signing_in
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

logger = logging.getLogger(__name__)

# What changes data, below the library's own name, and how many of its values the audit may show: ids and names, never
# a key, a password or a text.
_CHANGES = {
    "remove": 1, "retry": 1, "sources.watch": 1, "sources.unwatch": 1,
    "catalogue.rename": 1, "catalogue.tag": 0, "catalogue.set_aside": 0, "catalogue.take_back": 0,
    "collections.make": 1, "collections.change": 1, "collections.remove": 1, "collections.take_back": 1,
    "collections.move": 2,
    "people.share": 3, "people.unshare": 2,
    "chunk_edits.correct": 1, "chunk_edits.leave_out": 1, "chunk_edits.undo": 1,
    "history.rename": 1, "history.delete": 1, "history.pin": 1, "history.rate": 1, "history.bring_back": 0,
    "preferences.set": 1, "preferences.fetch_from": 1,
    "maintenance.discard_reembedding": 0, "maintenance.keep_chunks": 0,
    "jobs.submit": 2, "jobs.submit_all": 1, "jobs.cancel": 1, "jobs.retry": 1,
    "language_models.use_gemini": 0, "language_models.forget_gemini": 0, "language_models.remove": 1,
    "language_models.use_server": 0, "language_models.forget_server": 0,
    "evaluation.create": 1, "evaluation.put": 1, "evaluation.drop": 1, "evaluation.rename": 1, "evaluation.delete": 1,
    "evaluation.begin": 1, "evaluation.cancel": 1, "evaluation.delete_run": 1, "evaluation.apply": 0,
}  # fmt: skip
_PARTS = {part for part, dot, _ in (name.partition(".") for name in _CHANGES) if dot}
_CHARS = 500


def audited(library: Library, whole: Library) -> Library:
    """A library as somebody has it, each change of which is noted in the whole one with who made it."""
    return cast("Library", _Audited(whole, library, ""))


class _Audited:
    """Stands before the library or a part of it."""

    def __init__(self, whole: Library, part: object, prefix: str) -> None:
        self._whole = whole
        self._part = part
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        value, called = getattr(self._part, name), f"{self._prefix}{name}"
        if called in _CHANGES:
            return _noting(self._whole, called, value)
        return _Audited(self._whole, value, f"{name}.") if not self._prefix and name in _PARTS else value


def _noting(library: Library, name: str, change: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(change)
    def noted(*values: Any, **named: Any) -> Any:
        shown = [str(value) for value in values[: _CHANGES[name]] if isinstance(value, str)]
        action, status = " ".join((name, *shown))[:_CHARS], 1
        try:
            result = change(*values, **named)
            status = 0
            return result
        finally:
            try:
                library.access.note(signing_in.who() or "pages", action, status)
            except LecternError as error:
                logger.warning("The audit could not note %s: %s", name, error)

    return noted
