"""What models were told and said last, so that a follow-up adds to it instead of telling everything once more.

A model that keeps what it read (llama.cpp, most servers) then reads the new passages alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_core.answering.excerpts import Line
from rag_core.domain import Hit
from rag_core.models import ChatMessage, prompts

_MOST_KEPT = 16


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Messages, the system's first, and the passages in them: number n is `hits[n - 1]`; or the lines."""

    messages: tuple[ChatMessage, ...] = ()
    hits: tuple[Hit, ...] = ()
    lines: frozenset[Line] = frozenset()

    def said(self, text: str) -> Dialogue:
        """The dialogue with the model's answer."""
        return replace(self, messages=(*self.messages, ChatMessage("assistant", text)))

    def new(self, hits: Sequence[Hit], *, follows: bool) -> list[Hit] | None:
        """Those of the hits that a question adds to the dialogue, best first; None where it is better begun again.

        A question about the same goes on: one that follows the last, or finds half of its passages again. It adds
        half of what it found at most: reading is what the first word of an answer waits for.
        """
        told = {hit.chunk_id for hit in self.hits}
        new = [hit for hit in hits if hit.chunk_id not in told]
        most = (len(hits) + 1) // 2
        return new[:most] if self.messages and (follows or len(new) <= most) else None

    def again(self, hits: Sequence[Hit]) -> str:
        """Which passages of the dialogue are among the hits, for a prompt; empty where there is none."""
        found = {hit.chunk_id for hit in hits}
        numbers = [f"[{number}]" for number, hit in enumerate(self.hits, 1) if hit.chunk_id in found]
        return prompts.AGAIN.fill(numbers=" ".join(numbers)) if numbers else ""


NOTHING_SAID = Dialogue()


class Dialogues:
    """The last dialogue of each of the conversations used last, by model and the message it ends with. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Dialogue] = OrderedDict()

    def after(self, model_id: str, message_id: str) -> Dialogue:
        """The dialogue that ends with a message; `NOTHING_SAID` where it is not kept."""
        with self._lock:
            return self._kept.get((model_id, message_id), NOTHING_SAID)

    def keep(self, model_id: str, message_id: str, dialogue: Dialogue) -> None:
        """Keep a dialogue under the message that it ends with."""
        with self._lock:
            self._kept[model_id, message_id] = dialogue
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)

    def forget(self) -> None:
        """Forget them all: their passages may be gone."""
        with self._lock:
            self._kept.clear()
