"""What an evaluation needs of the library around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_core.cancellation import Cancellation
from rag_core.domain import Answer, ModelStatus, Progress, Run
from rag_core.models.base import ChatModel
from rag_core.retrieval import Retrieval
from rag_core.settings import RetrievalSettings, Settings

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
Stopped = Callable[[], bool]


class Corpus(Protocol):
    """What questions are asked of: the library, or its documents in other chunks."""

    def prepare(self, stopped: Stopped) -> Iterator[tuple[int, int]]:
        """Make ready to be searched, telling documents done and in all. Raises Cancelled."""

    def search(self, questions: Sequence[str], settings: RetrievalSettings) -> list[Retrieval]:
        """The hits for each question."""

    def spans(self, ids: Sequence[str]) -> Mapping[str, NDArray[np.int64]]:
        """Page, begin and end of every chunk of some documents, int64 (chunks, 3) by document."""


@dataclass(frozen=True, slots=True)
class Host:
    """The library's own doings.

    `corpus` gives what a configuration is tested on; `answer` answers a question from the passages that a function
    finds, keeping nothing; `apply` makes settings the library's; `follow` has runs done as jobs, telling of each step.
    """

    settings: Callable[[], Settings]
    models: Callable[[], tuple[ModelStatus, ...]]
    encode: Encode
    corpus: Callable[[Settings], Corpus]
    answer: Callable[[str, Settings, Callable[[str], Retrieval], Stopped], Answer]
    model: Callable[[str, Settings], ChatModel]
    apply: Callable[[Mapping[str, object]], None]
    closing: Stopped
    follow: Callable[[Sequence[Run], Cancellation], Iterator[Progress]]
