"""What every embedding runtime shares: a runtime's author writes `_forward`, the rest is here."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Profile
from rag_core.embedding.pieces import Pieces, pooled
from rag_core.embedding.source import ModelSource
from rag_core.embedding.token_vectors import TokenVectors, whole
from rag_core.embedding.tokens import TokenCounter, batches_by_length, pad, shared_out
from rag_core.embedding.vector_cache import VectorCache
from rag_core.embedding.windows import Embedded, Windows
from rag_core.errors import Cancelled, ModelUnavailable
from rag_core.runtime.closing import Closing
from rag_core.runtime.precedence import PRECEDENCE

# Texts tokenised and sorted at a time: enough to find company of the same length, and few enough that a short document
# does not wait long between those of a long one.
_TOGETHER = 256
USUAL_BATCH = 8
"""Texts in one pass."""
_KEPT_TOKENS = 20_000  # of some eighty passages: 30 MB
# Batches of one call that wait for each worker: more would keep those of another call waiting behind them.
_AHEAD = 2
Forward = tuple[NDArray[np.float32], NDArray[np.float32]]
Made = TypeVar("Made")


class Embedder(Closing, ABC):
    """A model that makes vectors of texts. Thread-safe.

    profile: what stamps the vectors. model: the setting by which it is found. runtime: for people, such as
    "openvino int8". notes: what was replaced and why.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        source: ModelSource,
        precision: str,
        *,
        batch_size: int = USUAL_BATCH,
        workers: int = 1,
        notes: Sequence[str] = (),
    ) -> None:
        self.profile: Profile = source.profile(precision)
        self.model = source.model
        self.runtime = f"{self.kind} {precision}"
        self.how = f"on {self.kind}"
        self.notes = tuple(notes)
        self._source = source
        self._batch_size = batch_size
        self._workers = workers
        self._tokens = TokenCounter(source)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="embedding")
        self._asked = ThreadPoolExecutor(workers, thread_name_prefix="asked")  # does not wait for what is added
        self._cache = VectorCache(_KEPT_TOKENS)
        self._closed = threading.Event()

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that it knows (ISO 639-1); none where that is not known."""
        return self._source.languages

    @abstractmethod
    def _forward(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Forward:
        """The one primitive: token numbers and mask, int64 (n, t), to float32 (n, d) of any length, and the vectors of
        all tokens that the same pass has made, float32 (n, t, h).

        Called from several threads at once. Raises ModelUnavailable.
        """

    def encode(
        self,
        texts: Sequence[str],
        *,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> NDArray[np.float32]:
        """Vectors of texts, float32 (n, d), rows of unit length.

        A text longer than the model takes is embedded in windows, whose vectors' mean by tokens is its own. progress:
        told texts done and in all, in this thread. cancelled: asked between batches. Raises Cancelled,
        ModelUnavailable.
        """
        return self._encode([self._source.text_prompt + text for text in texts], None, progress, cancelled)[0]

    def encode_with_pieces(
        self,
        texts: Sequence[str],
        contexts: Sequence[str],
        *,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> tuple[NDArray[np.float32], list[Pieces]]:
        """Vectors of chunks as `encode` makes them, and the pieces of each, of the same pass.

        contexts: what each text's vector is to know of where it stands (`context_of`); a profile without context does
        not look at it. A model whose vectors are not the mean of its tokens' gives no pieces.
        """
        heads = [self._source.text_prompt + (context if self.profile.in_context else "") for context in contexts]
        whole = [head + text for head, text in zip(heads, texts, strict=True)]
        known = list(dict.fromkeys(heads))
        skips = dict(zip(known, self.count_tokens(known), strict=True))
        return self._encode(whole, [skips[head] for head in heads], progress, cancelled)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of many questions, float32 (n, d), rows of unit length. Raises ModelUnavailable."""
        return self._encode_first([self._source.query_prompt + text for text in texts])

    def encode_first(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors as `encode` makes them, of a few texts that an answer waits for: before any document's."""
        return self._encode_first([self._source.text_prompt + text for text in texts])

    def _encode_first(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._check_open()
        if not texts:
            return np.empty((0, self.profile.dimensions), dtype=np.float32)
        windows = Windows(self._tokens, texts, None)
        read = self._read(windows.rows)
        for index, row in enumerate(windows.rows):
            windows.put([index], read[row.tobytes()][0][np.newaxis], [])
        return windows.result()[0]

    def _encode(
        self,
        texts: Sequence[str],
        skips: Sequence[int] | None,
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> tuple[NDArray[np.float32], list[Pieces]]:
        """skips: tokens at the begin of each text that are in no piece; None for vectors alone."""
        first = dict(zip(reversed(texts), reversed(range(len(texts))), strict=True))
        distinct = list(dict.fromkeys(texts))
        own_skips = None if skips is None else [skips[first[text]] for text in distinct]
        vectors = np.empty((len(distinct), self.profile.dimensions), dtype=np.float32)
        pieces: list[Pieces] = []
        done = 0
        for start in range(0, len(distinct), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            batch = Windows(self._tokens, distinct[part], None if own_skips is None else own_skips[part])
            for finished in self._run(batch, cancelled):
                done += finished
                if progress is not None:
                    progress(len(texts) - len(distinct) + done, len(texts))
            vectors[part], found = batch.result()
            pieces += found
        place = {text: index for index, text in enumerate(distinct)}
        if skips is not None:
            pieces = [pieces[place[text]] for text in texts]
        return vectors if len(distinct) == len(texts) else vectors[[place[text] for text in texts]], pieces

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, float32 (d,), of unit length. Raises ModelUnavailable."""
        vector: NDArray[np.float32] = self.encode_queries([text])[0]
        return vector

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The vectors of each text's tokens, of one pass over them all, with the characters that they stand for.

        For late interaction (Khattab and Zaharia 2020, "ColBERT"). Raises ModelUnavailable.
        """
        self._check_open()
        placed = self._tokens.placed([self._source.text_prompt + text for text in texts])
        read = self._read([ids for windows in placed for ids, _ in windows])
        skipped = len(self._source.text_prompt)
        return [whole([(read[ids.tobytes()][1], spans - skipped) for ids, spans in windows]) for windows in placed]

    def _read(self, rows: Sequence[NDArray[np.int64]]) -> dict[bytes, Forward]:
        """The vector of each row, (d,) of unit length, and those of its tokens, (t, h), by the row's bytes."""
        wanted = {row.tobytes(): row for row in rows}
        read = {key: known for key in wanted if (known := self._cache.get(key)) is not None}
        new = [key for key in wanted if key not in read]
        batches = shared_out([len(wanted[key]) for key in new], self._workers, self._batch_size)
        some = [{new[at]: wanted[new[at]] for at in batch} for batch in batches]
        with PRECEDENCE.question():
            for job in [self._submitted(self._asked, self._read_batch, rows) for rows in some]:
                read |= job.result()
        return read

    def _read_batch(self, rows: Mapping[bytes, NDArray[np.int64]]) -> dict[bytes, Forward]:
        ids, mask = pad(list(rows.values()), pad_id=self._source.pad_id, max_tokens=self._source.max_tokens)
        vectors, tokens = self._forward(ids, mask)
        units = self._units(vectors)
        read = {key: (units[at], tokens[at, : len(row)]) for at, (key, row) in enumerate(rows.items())}
        self._cache.put(read)
        return read

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text in this model's own, uncut, without the marks of begin and end."""
        return self._tokens.count(texts)

    def close(self) -> None:
        """Let the model go; work under way ends first."""
        self._closed.set()
        self._pool.shutdown()
        self._asked.shutdown()

    def _run(self, windows: Windows, cancelled: Callable[[], bool] | None) -> Iterator[int]:
        """Embed windows, telling with each batch how many texts were begun."""
        self._check_open()
        batches = iter(batches_by_length(windows.rows, self._batch_size))
        jobs: dict[Future[Embedded], list[int]] = {}
        try:
            while True:
                for batch in islice(batches, _AHEAD * self._workers - len(jobs)):
                    jobs[self._submitted(self._pool, self._embed, windows, batch)] = batch
                if not jobs:
                    return
                for job in wait(jobs, return_when=FIRST_COMPLETED).done:
                    if cancelled is not None and cancelled():
                        raise Cancelled("Embedding was stopped")
                    yield windows.put(jobs.pop(job), *job.result())
        finally:
            for job in jobs:
                job.cancel()

    def _submitted(self, pool: ThreadPoolExecutor, work: Callable[..., Made], *given: object) -> Future[Made]:
        try:
            return pool.submit(work, *given)
        except RuntimeError:
            self._check_open()  # it was closed meanwhile
            raise

    def _embed(self, windows: Windows, batch: Sequence[int]) -> Embedded:
        PRECEDENCE.give_way()
        rows = [windows.rows[index] for index in batch]
        ids, mask = pad(rows, pad_id=self._source.pad_id, max_tokens=self._source.max_tokens)
        vectors, tokens = self._forward(ids, mask)
        units = self._units(vectors)
        if windows.spans is None or not self._source.has_pieces:
            return units, []
        return units, [pooled(tokens[place], *windows.spans[index]) for place, index in enumerate(batch)]

    def _units(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ModelUnavailable(f"The embedding model gives vectors that cannot be used ({self.runtime})")
        units: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
        return units

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise ModelUnavailable("The embedding model was closed", help="Open the library again.")
