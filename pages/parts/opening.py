"""Opening the library in a thread of its own, so that the first page is drawn before databases and models are up."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from rag_core.errors import LecternError, StoreUnavailable
from rag_core.unexpected import stage

if TYPE_CHECKING:
    from rag_core.library import Library

logger = logging.getLogger(__name__)

State = Literal["opening", "open", "failed"]


def open_library() -> Library:
    """Open the library with the settings of the environment. Raises LecternError."""
    # Imported here: the first page must not wait for what the library brings with it.
    from rag_core.library import Library

    return Library.open()


def settle() -> None:
    """Take what is loaded by now out of the garbage collector's sight.

    Streamlit collects all generations after every run of a script or fragment. Over the modules of langchain and others
    that takes a tenth of a second each time, with every other thread waiting; over what is left it takes nothing.
    """
    gc.collect()
    gc.freeze()


class Opening:
    """The library on its way up. Thread-safe; `state` says how far it is, `error` why it failed."""

    def __init__(self, opener: Callable[[], Library] = open_library) -> None:
        self._opener = opener
        self._lock = threading.Lock()
        self._closed = False
        self._warm = threading.Event()
        self._library: Library | None = None
        self.state: State = "opening"
        self.error: LecternError | None = None
        self._start()

    @property
    def library(self) -> Library:
        """The open library. Only to be asked for when `state` is "open"."""
        if self._library is None:
            raise StoreUnavailable("The library is not open yet.", help="Wait a moment, then try again.")
        return self._library

    def retry(self) -> None:
        """Try once more after a failure."""
        with self._lock:
            if self.state != "failed":
                return
            self.state, self.error = "opening", None
        self._start()

    def warm_up(self) -> None:
        """Load the models in the background; called after the first drawing, does its work once."""
        if self._warm.is_set():
            return
        self._warm.set()
        threading.Thread(target=self._warm_up, name="lectern-warm-up", daemon=True).start()

    def close(self) -> None:
        """Close the library, also when it is still on its way up."""
        with self._lock:
            self._closed = True
            library, self._library = self._library, None
        if library is not None:
            library.close()

    def _start(self) -> None:
        threading.Thread(target=self._open, name="lectern-opening", daemon=True).start()

    def _open(self) -> None:
        settle()
        try:
            library = self._opener()
            settle()
        except LecternError as error:
            self._fail(error)
        except Exception:
            logger.exception("The library could not be opened")
            self._fail(LecternError("Lectern could not open its library.", help="The log says more; then try again."))
        else:
            self._succeed(library)

    def _succeed(self, library: Library) -> None:
        with self._lock:
            if not self._closed:
                self._library, self.state = library, "open"
                return
        library.close()

    def _fail(self, error: LecternError) -> None:
        with self._lock:
            self.state, self.error = "failed", error

    def _warm_up(self) -> None:
        try:
            with stage("warming up"):
                self.library.warm_up()
            settle()
        except LecternError as error:
            # Whoever asks the first question is told; here nobody is looking.
            logger.warning("Warming up: %s", error)
