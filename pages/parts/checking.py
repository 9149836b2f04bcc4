"""The comparison of all stores, in a thread of its own: it goes on when the page is left, and every session sees it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from rag_core.domain import Report
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

logger = logging.getLogger(__name__)

Kind = Literal["verify", "deep", "repair"]


@dataclass(frozen=True, slots=True)
class Check:
    """A comparison or a repair as it stands now. `started` and `ended` are times of this machine's steady clock."""

    kind: Kind
    started: float
    report: Report | None = None
    error: LecternError | None = None

    @property
    def finished(self) -> bool:
        """Whether it ended, with a report or an error."""
        return self.report is not None or self.error is not None


class CheckBoard:
    """Thread-safe. One check at a time; the last one stays to be looked at."""

    def __init__(self, library: Callable[[], Library]) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._check: Check | None = None

    @property
    def check(self) -> Check | None:
        """The check under way, or the last one."""
        return self._check

    @property
    def busy(self) -> bool:
        """Whether a check is under way."""
        check = self._check
        return check is not None and not check.finished

    def begin(self, kind: Kind) -> None:
        """Begin a check, unless one is under way."""
        with self._lock:
            if self.busy:
                return
            check = self._check = Check(kind, time.monotonic())
        threading.Thread(target=self._run, args=(check,), name="lectern-checking", daemon=True).start()

    def _run(self, check: Check) -> None:
        try:
            library = self._library()
            report = library.repair() if check.kind == "repair" else library.verify(check.kind == "deep")
            self._check = replace(check, report=report)
        except LecternError as error:
            self._check = replace(check, error=error)
        except Exception:
            logger.exception("The stores could not be compared")
            unforeseen = LecternError("The comparison ended unexpectedly.", help="The log says more; then try again.")
            self._check = replace(check, error=unforeseen)
