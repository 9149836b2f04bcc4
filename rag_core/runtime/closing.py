"""Closing what was opened, however far that came, and whatever fails meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Self

_log = logging.getLogger(__name__)


class Closing:
    """What is closed at the end of a `with` block."""

    def close(self) -> None:
        """Let go of what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def closed_on_failure(close: Callable[[], None]) -> Iterator[None]:
    """Call `close` where the block does not come to its end; what fails in that is only logged."""
    try:
        yield
    except BaseException:
        try:
            close()
        except Exception:  # noqa: BLE001 - why it was not opened matters more, and is raised
            _log.exception("What could not be opened was not closed in good order either")
        raise


def close_parts(whole: object, ends: Sequence[tuple[str, str]]) -> None:
    """End the parts of something in order, each by a method of its own, where it has come to have them.

    One that fails keeps no other open. Raises the last failure.
    """
    with ExitStack() as stack:
        for name, end in reversed(ends):
            if (part := getattr(whole, name, None)) is not None:
                stack.callback(getattr(part, end))
