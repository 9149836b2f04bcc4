"""What every embedding engine shares: an engine's author writes `_forward`, the rest is here."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Profile
from rag_core.embedding.source import ModelSource
from rag_core.embedding.tokens import TokenCounter, batches_by_length, pad
from rag_core.errors import Cancelled, ModelUnavailable

# Texts tokenised and sorted at a time: enough to find company of the same length, little enough for memory.
_WINDOW = 1024


class Embedder(ABC):
    """A model that makes vectors of texts. Thread-safe.

    profile: what stamps the vectors. model: the setting by which it is found. engine: for people, such as
    "openvino int8". notes: what was replaced and why.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        source: ModelSource,
        precision: str,
        *,
        batch_size: int = 8,
        workers: int = 1,
        notes: Sequence[str] = (),
    ) -> None:
        self.profile: Profile = source.profile(precision)
        self.model = source.model
        self.engine = f"{self.kind} {precision}"
        self.notes = tuple(notes)
        self._source = source
        self._batch_size = batch_size
        self._tokens = TokenCounter(source)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="embedding")
        self._closed = threading.Event()

    @abstractmethod
    def _forward(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """The one primitive: token numbers and mask, int64 (n, t), to float32 (n, d) of any length.

        Called from several threads at once. Raises ModelUnavailable.
        """

    def encode(
        self,
        texts: Sequence[str],
        *,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> NDArray[np.float32]:
        """Vectors of texts, float32 (n, d), rows of unit length. What is beyond the model's length is cut off.

        progress: told texts done and in all, in this thread. cancelled: asked between batches. Raises Cancelled,
        ModelUnavailable.
        """
        return self._encode(self._source.text_prompt, texts, progress, cancelled)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of many questions, float32 (n, d), rows of unit length. Raises ModelUnavailable."""
        return self._encode(self._source.query_prompt, texts, None, None)

    def _encode(
        self,
        prompt: str,
        texts: Sequence[str],
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> NDArray[np.float32]:
        distinct = list(dict.fromkeys(texts))
        place = {text: index for index, text in enumerate(distinct)}
        vectors = np.empty((len(distinct), self.profile.dimensions), dtype=np.float32)
        done = 0
        for indices, rows in self._batches(prompt, distinct, cancelled):
            vectors[indices] = rows
            done += len(indices)
            if progress is not None:
                progress(len(texts) - len(distinct) + done, len(texts))
        return vectors if len(distinct) == len(texts) else vectors[[place[text] for text in texts]]

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, float32 (d,), of unit length. Raises ModelUnavailable."""
        self._check_open()
        vector: NDArray[np.float32] = self._embed(self._tokens.encode([self._source.query_prompt + text]))[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text in this model's own, uncut, without the marks of begin and end."""
        return self._tokens.count(texts)

    def close(self) -> None:
        """Let the model go; work under way ends first."""
        self._closed.set()
        self._pool.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _batches(
        self, prompt: str, texts: Sequence[str], cancelled: Callable[[], bool] | None
    ) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """Indices and vectors of each batch as it is done."""
        for start in range(0, len(texts), _WINDOW):
            self._check_open()
            rows = self._tokens.encode([prompt + text for text in texts[start : start + _WINDOW]])
            jobs = {
                self._pool.submit(self._embed, [rows[index] for index in batch]): batch
                for batch in batches_by_length(rows, self._batch_size)
            }
            try:
                for job in _finished(jobs, cancelled):
                    yield [start + index for index in jobs[job]], job.result()
            finally:
                for job in jobs:
                    job.cancel()

    def _embed(self, rows: Sequence[NDArray[np.int64]]) -> NDArray[np.float32]:
        ids, mask = pad(rows, pad_id=self._source.pad_id, max_tokens=self._source.max_tokens)
        vectors = self._forward(ids, mask)
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ModelUnavailable(f"The embedding model gives vectors that cannot be used ({self.engine})")
        units: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
        return units

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise ModelUnavailable("The embedding model was closed", help="Open the library again.")


def _finished(
    jobs: dict[Future[NDArray[np.float32]], list[int]], cancelled: Callable[[], bool] | None
) -> Iterator[Future[NDArray[np.float32]]]:
    for job in as_completed(jobs):
        if cancelled is not None and cancelled():
            raise Cancelled("Embedding was stopped")
        yield job
