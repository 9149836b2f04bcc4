"""The same question, of the same documents as they were, after the same was said, with the same settings and model: the
answer that was given then is given again, at once, and says so.

What an answer depends on is hashed into a key, so that nothing has to be found and cleared where a document comes, goes
or changes: the old key is asked for no more. The seed document of the research assistant names such a cache as its next
step.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import rag_core
from rag_core.domain import COURTESY, Answer, Message, StreamEvent
from rag_core.domain.serialiser import to_json
from rag_core.errors import StoreUnavailable
from rag_core.retrieval.scope import state_within
from rag_core.services.conversation_scope import Scoped
from rag_core.settings import Settings
from rag_core.storage import Storage

_log = logging.getLogger(__name__)
_GROUPS = {"retrieval", "answering", "generation", "server", "hierarchy", "embedding"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """How a question is answered: the settings, the model's id, whether an agent searches, and a collection's own word
    of how to answer."""

    settings: Settings
    model: str
    agent: bool
    instructions: str = ""


class AnswersAgain:
    """The answers of one library that are given again. Thread-safe."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def key(self, asked: Scoped, chosen: Chosen) -> str:
        """What an answer is kept under; "" where none is to be. Raises StoreUnavailable."""
        if not chosen.settings.answering.cached_answers:
            return ""
        mode, wanted = chosen.settings.retrieval.mode, chosen.settings.retrieval.index
        # Of those of vectors the needed one answers, or the one that is wanted; the others may be far behind.
        asked_too = [
            index.name for index in self._storage.indexes if index.dense is None or index.needed or index.name == wanted
        ]
        parts = {
            "code": _code(), "text": asked.text, "scope": to_json(asked.scope, whole=True),
            "documents": state_within(self._storage.database, asked.scope, asked_too),
            "before": [*map(_said, asked.history)],
            "settings": chosen.settings.model_dump(mode="json", include=_GROUPS),
            "clusters": [*map(str, self._storage.insights.map_state())] if mode in ("clusters", "scaler") else [],
            "chosen": (chosen.model, chosen.agent, chosen.instructions),
        }  # fmt: skip
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()

    def find(self, key: str, question: str) -> Answer | None:
        """The answer to give again to a question as it was written now; None where there is none."""
        began = time.perf_counter()
        found = self._storage.answer_cache.find(key) if key else None
        if found is None or found.answer is None:
            return None
        then = found.answer.trace.cached_at or found.created_at
        note = f"This was answered before, on {then.astimezone():%d %B %Y at %H:%M}; its documents are as they were."
        notes = (*(one for one in found.answer.trace.notes if one != note), note)
        spent = {"total": round((time.perf_counter() - began) * 1000, 2)}
        trace = replace(found.answer.trace, cached_at=then, notes=notes, latency_ms=spent, tokens={})
        return replace(found.answer, question=question, trace=trace, conversation="", message_id="")

    def keep(self, key: str, answer: Answer, most: int) -> None:
        """Have a kept answer given again, at most so many in all; what was stopped or is provisional is not, nor a
        greeting."""
        if not key or answer.stopped or answer.trace.provisional or answer.model == COURTESY:
            return
        try:
            self._storage.answer_cache.keep(key, answer.message_id, most, again=answer.trace.cached_at is not None)
        except StoreUnavailable as error:
            _log.warning("An answer is not given again: %s", error)


@cache
def _code() -> str:
    """Which program answers: its files, of weights too, with sizes and times. Another one may answer otherwise."""
    files = sorted(one for one in Path(rag_core.__file__).parent.rglob("*.*") if one.suffix != ".pyc" and one.is_file())
    known = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()


def events_of(answer: Answer) -> Iterator[StreamEvent]:
    """An answer that is there, as a stream."""
    yield StreamEvent(stage="answering")
    yield StreamEvent(text=answer.text)
    yield StreamEvent(answer=answer)


def _said(message: Message) -> tuple[str, str]:
    return message.question, message.answer.text if message.answer else ""
