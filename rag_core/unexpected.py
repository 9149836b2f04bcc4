"""Failures that nobody foresaw, made into errors that can be told, reported and tried again.

Nothing that one document holds may stop another. `stage` stands at the boundary of every stage, around what is done
with some documents: what goes wrong there for a reason that nobody foresaw comes out of it as an `UnexpectedFailure`,
with a number under which the log has its traceback. `each` acts on a batch, and where that fails on one after another,
so that whichever is at fault fails alone.
"""

from __future__ import annotations

import errno
import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from accelerator.faults import reach
from rag_core.errors import LecternError, StoreUnavailable, UnexpectedFailure

__all__ = ["each", "is_failure", "reach", "stage", "translate"]
_log = logging.getLogger(__name__)
# What the system refuses to whoever asks at that moment: no document has a part in it.
_OF_THE_MACHINE = {
    errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
}  # fmt: skip
Item = TypeVar("Item")


@contextmanager
def stage(name: str, *about: str) -> Iterator[None]:
    """Around what a stage does with some documents, `about` their ids or names: raises nothing but LecternError.

    What the machine lacks, room on the disk or memory, comes out as StoreUnavailable: such documents stay pending. The
    name is a point at which a fault test makes it fail.
    """
    try:
        reach(name, *about)
        yield
    except LecternError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        raise translate(error, name) from error


def each(
    items: Sequence[Item],
    act: Callable[[Sequence[Item]], None],
    fail: Callable[[Item, LecternError], None],
    *,
    of_all: tuple[type[LecternError], ...] = (),
) -> None:
    """Act on items together; where that fails, on each by itself, so that one at fault keeps no other back.

    `fail` is told of those that fail alone. Raises the errors that are `of_all`, and none of an item's.
    """
    if not items:
        return
    try:
        act(items)
        return
    except of_all:
        raise
    except LecternError as error:
        if len(items) == 1:
            fail(items[0], error)
            return
    for item in items:
        each([item], act, fail, of_all=of_all)


def is_failure(error: BaseException) -> bool:
    """Whether it is something that failed, not a wish to end."""
    # A panic of Rust code is no Exception, and its class cannot be imported.
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def translate(error: BaseException, name: str) -> LecternError:
    """What nobody foresaw in a stage as an error of the house; its traceback goes to the log."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) in _OF_THE_MACHINE:
        _log.warning("The machine failed in the stage %s: %r", name, error)
        return _lack(error)
    number = secrets.token_hex(4)
    _log.error("A failure that nobody foresaw in the stage %s, %s", name, number, exc_info=error)
    return UnexpectedFailure(f"Something inside Lectern failed: {type(error).__name__}, {number}.")


def _lack(error: BaseException) -> StoreUnavailable:
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return StoreUnavailable("There is not enough memory.", help="Close other programs, then try again.")
    return StoreUnavailable(f"The system refuses it: {getattr(error, 'strerror', '') or error}.")
