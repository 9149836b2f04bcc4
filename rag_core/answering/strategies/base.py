"""What every way from passages to an answer's text shares: it makes the chain, then an answer of what that gave.

A strategy is one file here, with a class of this form, and one line in `Answerer`, under the model that it goes by. The
agent searches before any of them; a summary reads whole documents, and needs no chain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from rag_core.answering.citations import CitationWriter
from rag_core.answering.draft import Draft
from rag_core.domain import Answer, Hit

Stop = Callable[[], bool]
OnHits = Callable[[tuple[Hit, ...]], None]


class Strategy(ABC):
    """Makes answers of one kind. Thread-safe. cites: whether its text has the answer's own citations already."""

    cites: ClassVar[bool] = False

    @abstractmethod
    def chain(self, draft: Draft, stopping: Stop, on_widened: OnHits) -> Any:
        """RetrievalQA for a question; `on_widened` is given its hits once more where the prompt has more of each.

        Raises ModelUnavailable.
        """

    def keep(self, draft: Draft, text: str) -> None:  # noqa: B027  most need nothing for a follow-up
        """Keep what a follow-up needs of the text that the chain gave."""

    @abstractmethod
    def answer(self, draft: Draft, writer: CitationWriter, stopped: bool) -> Answer:
        """The answer of what the chain gave; `writer` has read its text, unless that `cites`."""
