"""What is damaged or unforeseen in a flowing document costs its part alone: the rest is read, a note tells of it."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rag_core.errors import LecternError, UnreadableDocument

# What libraries raise on damaged files, in words; what they say is for programmers.
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (SyntaxError, "its XML is broken, or nested too deeply"),  # lxml's and ElementTree's errors are such
    (RecursionError, "its parts are nested too deeply"),
    (zlib.error, "what it packs cannot be unpacked"),
    (EOFError, "it ends too early"),
    (KeyError, "a part of it is missing"),
)

_T = TypeVar("_T")


def reason(error: Exception) -> str:
    """What is wrong with a file whose reading raised this, in words."""
    return next((words for kind, words in _REASONS if isinstance(error, kind)), "a part of it makes no sense")


def spared(found: Iterable[_T], what: str, notes: list[str]) -> Iterator[_T]:
    """What is found of a part as far as it can be read, with a note that names it where that is not to its end.

    Limits and memory are the whole document's: they are raised.
    """
    note = ""
    try:
        yield from found
    except UnreadableDocument as error:
        note = f"{what} could not be read whole: {error}"
    except (LecternError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - libraries raise anything, and the note tells of it
        note = f"{what} could not be read whole: {reason(error)}."
    if note and note not in notes:
        notes.append(note)
