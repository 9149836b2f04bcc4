"""Greetings, thanks, commands and questions about Lectern itself get a fitting line, and no search.

What is said is compared by meaning with the examples of `courtesy.json`: the nearest gives the line where it is near
enough. Those without a line are questions of documents, as privacy policies have them, which would else come near. None
is taken for courtesy of 945 questions of PolicyQA, of which the odd policies' 493 were not looked at, nor of 1,349
everyday ones, of which the nearest has .66.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rag_core.answering.encoding import Encode
from rag_core.answering.examples import Examples
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written
from rag_core.domain import COURTESY, Message, Sentence
from rag_core.retrieval.contents import Contents

_PATH = Path(__file__).with_name("courtesy.json")
_NEAR = 0.72
"""Least cosine with an example."""

_LONGEST_WORDS = 12
_PLACE = "{documents}"
_NAMED = 3


class Courtesy(Strategy):
    """Knows what asks nothing of the documents. Thread-safe."""

    def __init__(self, encode: Encode) -> None:
        kinds = json.loads(_PATH.read_text(encoding="utf-8")).values()
        pairs = [(text.casefold(), kind["reply"]) for kind in kinds for text in kind["said"]]
        self._replies = [reply for _, reply in pairs]
        self._ends = tuple({reply.removeprefix(_PLACE) for reply in self._replies if reply})
        self._examples = Examples([text for text, _ in pairs], encode)

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """The line for what asks nothing of the documents."""
        if not (text := self.reply(question.text)):
            return None
        text = text.replace(_PLACE, _there(question.contents))
        return Written(text=text, sentences=(Sentence(text),), confidence=1.0, model=COURTESY)

    def reply(self, said: str) -> str:
        """The line for what was said; "" for a question of the documents."""
        if len(said.split()) > _LONGEST_WORDS:
            return ""
        best, cosine = self._examples.nearest(said.casefold())
        return self._replies[best] if cosine >= _NEAR else ""

    def asked(self, history: Sequence[Message]) -> tuple[Message, ...]:
        """Those of a conversation that ask something of the documents. Who keeps it elsewhere has the lines alone."""
        return tuple(
            message
            for message in history
            if message.answer is None
            or not (message.answer.model == COURTESY or message.answer.text.endswith(self._ends))
        )


def _there(contents: Contents | None) -> str:
    """How many documents there are, and the first of their names."""
    documents, count = contents.documents(_NAMED) if contents is not None else ([], 0)
    if not documents:
        return ""
    names = ", ".join(f"“{document.title}”" for document in documents)
    more = f" and {count - len(documents):,} more" if count > len(documents) else ""
    return f"There {'is 1 document' if count == 1 else f'are {count:,} documents'} here: {names}{more}. "
