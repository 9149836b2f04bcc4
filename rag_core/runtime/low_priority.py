"""Functions of modules called in another process: what takes the processor long, or may end the process it runs in.

In a thread of this process searches would wait for it: for the processor, and for Python's lock. Calls and what they
return go over pickled: such a process is trusted as this one is, and meets no file that a user added.
"""

from __future__ import annotations

import math
import pickle
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from rag_core.errors import Cancelled, LecternError
from rag_core.runtime.child import Child, ChildDied, Program, Watch

_SERVICE = f"{__name__}:call_service"
# One thread of its libraries computes, or a search would wait for all cores. A server of Chroma's is reached as its own
# client is told to.
_LOW_PRIORITY = Program(
    _SERVICE, "Background work", niceness=10,
    needs=("CHROMA_", "SSL_CERT_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    more=dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1"),
)  # fmt: skip
_USUAL = Program(_SERVICE, "The work")
Result = TypeVar("Result")


class ProcessEnded(LecternError):
    """The process has ended: by whoever closes the library, by a limit of time, by the system, or by a fault of its own
    libraries."""

    retryable = True


class LowPriorityProcess:
    """Calls functions of modules in a process of its own, which the first call starts. Thread-safe: one call at a time.

    timeout_s: how long a call may take before the process is ended.
    """

    def __init__(self, timeout_s: float = math.inf) -> None:
        self._child = Child(_LOW_PRIORITY)
        self._closed = threading.Event()
        self._calling = threading.Lock()
        self._watch = Watch(cancelled=self._closed.is_set, whole_s=timeout_s)

    @property
    def runs(self) -> bool:
        """Whether the process was started."""
        return self._child.pid is not None

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended between two calls, of which the next one starts another."""
        with self._calling:
            return self._child.has_ended

    def __call__(self, function: Callable[..., Result], /, *arguments: object) -> Result:
        """What a function returns. Raises what it raises, and ProcessEnded."""
        with self._calling:
            try:
                if not self._closed.is_set():
                    return _call(self._child, self._watch, function, arguments)
            except (ChildDied, Cancelled) as error:
                raise ProcessEnded("A process that worked in the background has ended.") from error
            raise ProcessEnded("The process that works in the background was closed.")

    def rest(self) -> None:
        """End the process until the next call."""
        with self._calling:
            self._child.kill()

    def close(self) -> None:
        """End the process for good, in the midst of a call of another thread too, which then fails."""
        self._closed.set()
        self._child.interrupt()


def call_once(function: Callable[..., Result], /, *arguments: object, timeout_s: float) -> Result:
    """What a function returns in a process of its own and of usual priority, which ends then.

    Raises what it raises, and ProcessEnded with the process's last words.
    """
    child = Child(_USUAL)
    try:
        return _call(child, Watch(whole_s=timeout_s), function, arguments)
    except ChildDied as error:
        raise ProcessEnded(error.last_words or str(error)) from error
    finally:
        child.kill()


def _call(child: Child, watch: Watch, function: Callable[..., Result], arguments: tuple[object, ...]) -> Result:
    called = pickle.dumps((function, arguments), protocol=pickle.HIGHEST_PROTOCOL)
    value: Any
    returned, value = pickle.loads(child.ask(called, watch))  # noqa: S301 - of our own process
    if not returned:
        raise value
    result: Result = value
    return result


def call_service(_alive: Callable[[], None]) -> Callable[[bytes], bytes]:
    """The other side: what calls a function, and gives back what it returned or raised."""
    return _called


def _called(request: bytes) -> bytes:
    function, arguments = pickle.loads(request)  # noqa: S301 - of the parent
    try:
        return pickle.dumps((True, function(*arguments)), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - the parent raises it
        return pickle.dumps((False, error), protocol=pickle.HIGHEST_PROTOCOL)
