"""The board of questions being answered: each in a thread of its own, seen by every session.

An answer therefore goes on when the page is reloaded, and a second tab sees it grow too.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_core.cancellation import Cancellation
from rag_core.domain import Answer, Scope, StreamEvent
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

logger = logging.getLogger(__name__)
KEPT = 100
"""Questions that have ended and that nobody came back to: their answers are in the library."""


@dataclass(frozen=True, slots=True)
class RunningAnswer:
    """A question on its way to an answer, as it stands now.

    `conversation` is where it will be kept; `scope` is given with the first question of one. `replaces` is the message
    whose place it takes, if any, or whose answer `before`, which was cut, it goes on with. With an `agent` it takes
    several searches, whose `steps` are told as they happen. `person` is who asked.
    """

    id: str
    conversation: str
    question: str
    model: str | None
    scope: Scope | None = None
    replaces: str | None = None
    agent: bool | None = None
    before: Answer | None = None
    steps: tuple[str, ...] = ()
    stage: str = "searching"
    text: str = ""
    answer: Answer | None = None
    error: LecternError | None = None
    stopping: bool = False
    person: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What it stands under: nobody else's question in a conversation of that id."""
        return self.person, self.conversation

    @property
    def finished(self) -> bool:
        """Whether the answer is whole, was stopped, or failed."""
        return self.answer is not None or self.error is not None


class RunningAnswers:
    """Thread-safe. One question at a time per conversation, asked of the library that `library` gives whoever asks, and
    seen by that `person` alone."""

    def __init__(self, library: Callable[[], Library], person: Callable[[], str] = str) -> None:
        self._library, self._person = library, person
        self._lock = threading.Condition()
        self._askings: dict[tuple[str, str], RunningAnswer] = {}
        self._cancellations: dict[tuple[str, str], Cancellation] = {}

    def of(self, conversation: str) -> RunningAnswer | None:
        """The question of a conversation that is being answered, or that failed and was not yet dismissed."""
        key = self._person(), conversation
        with self._lock:
            return self._askings.get(key)

    def await_change(self, conversation: str, seen: RunningAnswer | None, timeout_s: float) -> None:
        """Wait until a question is no longer as it was seen, at most `timeout_s`; cheaper than looking often."""
        key = self._person(), conversation
        with self._lock:
            self._lock.wait_for(lambda: self._askings.get(key) is not seen, timeout_s)

    def ask(
        self, conversation: str, question: str, model: str | None, scope: Scope | None = None,
        replaces: str | None = None, agent: bool | None = None, before: Answer | None = None,
    ) -> RunningAnswer:  # fmt: skip
        """Begin to answer, or to go on with an answer `before` that was cut; a question still under way in this
        conversation is left to go on and returned."""
        library, person = self._library(), self._person()  # who asks is not told to the thread that answers
        asking = RunningAnswer(
            uuid.uuid4().hex, conversation, question, model, scope, replaces, agent, before, person=person
        )
        with self._lock:
            under_way = self._askings.get(asking.key)
            if under_way is not None and not under_way.finished:
                return under_way
            self._askings.pop(asking.key, None)  # the newest come last
            self._askings[asking.key] = asking
            self._forget_oldest()
            cancellation = self._cancellations[asking.key] = Cancellation()
        threading.Thread(
            target=self._run, args=(library, asking, cancellation), name="lectern-answering", daemon=True
        ).start()
        return asking

    def stop(self, conversation: str) -> None:
        """Ask for a stop; the answer ends at its next word and what was written stays."""
        key = self._person(), conversation
        with self._lock:
            asking = self._askings.get(key)
            if asking is not None and not asking.finished:
                self._cancellations[key].cancel()
                self._change(asking, stopping=True)

    def dismiss(self, conversation: str) -> None:
        """Forget the finished question of a conversation; an answer is in the library by then."""
        key = self._person(), conversation
        with self._lock:
            asking = self._askings.get(key)
            if asking is not None and asking.finished:
                self._forget(key)

    def close(self) -> None:
        """Stop all answers."""
        with self._lock:
            for cancellation in self._cancellations.values():
                cancellation.cancel()

    def _forget_oldest(self) -> None:
        ended = [key for key, asking in self._askings.items() if asking.finished]
        for key in ended[:-KEPT]:
            self._forget(key)

    def _forget(self, key: tuple[str, str]) -> None:
        del self._askings[key]
        self._cancellations.pop(key, None)

    def _run(self, library: Library, asking: RunningAnswer, cancellation: Cancellation) -> None:
        try:
            for event in _events(library, asking, cancellation):
                self._take(asking, event)
        except LecternError as error:
            self._change(asking, error=error)
        except Exception:
            logger.exception("Answering failed")
            fault = LecternError(
                "Something inside Lectern failed while answering.", help="Ask again; the log says more."
            )
            self._change(asking, error=fault)
        else:
            self._end(asking)

    def _take(self, asking: RunningAnswer, event: StreamEvent) -> None:
        with self._lock:
            current = self._askings.get(asking.key)
            if current is not None:
                text, stage = current.text + event.text, event.stage or current.stage
                steps = (*current.steps, event.step.text) if event.step else current.steps
                self._change(asking, text=text, stage=stage, steps=steps, answer=event.answer or current.answer)

    def _end(self, asking: RunningAnswer) -> None:
        with self._lock:
            current = self._askings.get(asking.key)
            if current is not None and not current.finished:
                self._change(asking, error=LecternError("The answer ended before it was whole.", help="Ask again."))

    def _change(self, asking: RunningAnswer, **changes: object) -> None:
        """Note a change, unless the conversation has gone on to another question meanwhile."""
        with self._lock:
            current = self._askings.get(asking.key)
            if current is not None and current.id == asking.id:
                self._askings[asking.key] = replace(current, **changes)  # type: ignore[arg-type]
                self._lock.notify_all()


def _events(library: Library, asking: RunningAnswer, cancellation: Cancellation) -> Iterator[StreamEvent]:
    if asking.before is not None:
        return library.history.go_on(asking.conversation, asking.before.message_id, cancellation)
    return library.stream(
        asking.question, conversation=asking.conversation, model=asking.model, cancellation=cancellation,
        scope=asking.scope, replaces=asking.replaces, agent=asking.agent,
    )  # fmt: skip
