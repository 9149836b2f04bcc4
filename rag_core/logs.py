"""What happens, as lines of JSON in a file of the data directory that rotates; each names the request it belongs to.

No line holds a question, a passage or a key. Modules log as ever; faces call `kept`.
"""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from io import TextIOWrapper

    from rag_core.settings import LogSettings

FOLDER = "logs"
NAME = "lectern.log"
request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The request that this thread or task works for; empty for none."""

_OURS = ("rag_core", "accelerator", "pages")
# The server's own logger, which Streamlit sets apart from all others.
_APART = ("uvicorn.error",)
_log = logging.getLogger(__name__)
_QUOTES = re.compile(r"(?:DETAIL|CONTEXT|LINE \d+):")


@contextmanager
def kept(folder: Path, settings: LogSettings) -> Iterator[None]:
    """Write what is logged below a data directory, until the block ends; warnings go to standard error as well.

    So is what ends a thread for a reason that nobody foresaw. Without a file where it cannot be written: Lectern works
    on.
    """
    root = logging.getLogger()
    with _told_to_terminal(root), _ends_of_threads():
        try:
            handler = _handler(folder / FOLDER, settings)
        except OSError as error:
            _log.warning("The log cannot be written: %s", error)
            yield
            return
        levels = {name: logging.getLogger(name).level for name in _OURS}
        for name in _OURS:
            logging.getLogger(name).setLevel(settings.level)
        for logger in (root, *map(logging.getLogger, _APART)):
            logger.addHandler(handler)
        try:
            yield
        finally:
            for logger in (root, *map(logging.getLogger, _APART)):
                logger.removeHandler(handler)
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)
            handler.close()


@contextmanager
def _ends_of_threads() -> Iterator[None]:
    """Log what ended a thread, which Python only tells on standard error."""

    def told(end: threading.ExceptHookArgs) -> None:
        if end.exc_value is not None:  # else it is SystemExit, amid the end of the process
            name = end.thread.name if end.thread else "a thread"
            _log.error("%s ended for a reason that nobody foresaw", name, exc_info=end.exc_value)

    before, threading.excepthook = threading.excepthook, told
    try:
        yield
    finally:
        threading.excepthook = before


class _File(RotatingFileHandler):
    """The file, which its owner alone reads. A disk that is full costs lines, nothing else."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).touch(mode=0o600)
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:
        """Nothing: there is nowhere to tell it."""


def _handler(folder: Path, settings: LogSettings) -> logging.Handler:
    from pythonjsonlogger.json import JsonFormatter

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = _File(
        folder / NAME, maxBytes=settings.max_bytes, backupCount=settings.files, encoding="utf-8",
        errors="backslashreplace",
    )  # fmt: skip
    names = {"asctime": "at", "levelname": "level", "name": "logger"}

    class Line(JsonFormatter):
        def formatException(self, ei: Any) -> str:
            """The trace without what a database quotes of its rows and of what it was given."""
            trace = "".join(super().formatException(ei)).splitlines()
            kept = [line for line in trace if not _QUOTES.match(line)]
            return "\n".join(kept)

    line = Line(
        "%(asctime)s %(levelname)s %(name)s %(message)s", rename_fields=names, static_fields={"process": os.getpid()},
        json_ensure_ascii=False,
    )  # fmt: skip
    line.default_time_format, line.default_msec_format = "%Y-%m-%dT%H:%M:%S", "%s.%03dZ"
    line.converter = time.gmtime
    handler.setFormatter(line)
    handler.addFilter(_with_request)
    return handler


def _with_request(record: logging.LogRecord) -> bool:
    if found := request_id.get():
        record.request = found
    return True


@contextmanager
def _told_to_terminal(root: logging.Logger) -> Iterator[None]:
    """What Python tells on standard error while a logger has no handler, it tells with one too."""
    last: logging.StreamHandler[TextIO] | None = None if root.handlers else logging.lastResort  # type: ignore[assignment]
    if last is not None:
        root.addHandler(last)
    try:
        yield
    finally:
        if last is not None:
            root.removeHandler(last)
