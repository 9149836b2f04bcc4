"""Text in a passage that reads like an instruction to the model that answers, and not like text for people.

A linear classifier over vectors of sentences: weighted ridge regression, fitted at first use on `instructions.json`,
so that any embedding model will do. With a fifth of its 130 tricks kept out of fitting in turn it knew .62 of those; of
3,597 sentences of policies, encyclopaedia articles, filings and this project's README it marked .7 %. It is a hint for
the reader: nothing is left out for it, and what it does not mark is not thereby harmless.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_core.answering.encoding import Encode
from rag_core.domain import Answer
from rag_core.models.registry import EXTRACTIVE
from rag_core.text.invisible import visible
from rag_core.text.sentences import split_sentences

THRESHOLD = 0.15
CLAUSE_THRESHOLD = 0.35
_RIDGE = 3.0
_MOST_PARTS = 96
# How chat templates and transcripts name who speaks.
_ROLE = re.compile(r"<\|\w+\|>|\[/?INST\]|</?system>|^\W*(?:system|assistant)\s*:", re.IGNORECASE | re.MULTILINE)
_BETWEEN = re.compile(r"[:;,]|\band\b|\bthen\b")
_PATH = Path(__file__).with_name("instructions.json")


def _parts(text: str) -> Iterator[tuple[str, float]]:
    """Sentences and their clauses, in which less else is said, each with the score from which on it is marked."""
    for span in split_sentences(text):
        yield span.text, THRESHOLD
        clauses = _BETWEEN.split(span.text)
        if len(clauses) > 1:
            yield from ((clause, CLAUSE_THRESHOLD) for clause in clauses if len(clause.split()) >= 3)


class Instructions:
    """Thread-safe: what it keeps is replaced as a whole. `encode` makes texts float32 (n, d) of unit length."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._fitted: tuple[int, NDArray[np.float32], float] | None = None

    def warm(self) -> None:
        """Fit, so that the first answer need not wait for it."""
        self.scores(["warm"])

    def scores(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """How much each sentence reads like an instruction to a model, about -1 to 1: float32 (n,)."""
        vectors = self._vectors(sentences)
        if self._fitted is None or self._fitted[0] != vectors.shape[1]:
            self._fitted = (vectors.shape[1], *self._fit())
        _, weights, bias = self._fitted
        return np.asarray(vectors @ weights + bias, dtype=np.float32)

    def marked(self, answer: Answer) -> Answer:
        """The answer, its citations marked where their passage has such a sentence.

        A written answer stands on whole chunks, an extractive one on what it quotes of them.
        """
        chunks = {hit.chunk_id: hit.text for hit in answer.hits} if answer.model != EXTRACTIVE else {}
        texts = [chunks.get(citation.chunk_id, citation.text) for citation in answer.citations]
        parts = [(place, *part) for place, text in enumerate(texts) for part in _parts(text)][:_MOST_PARTS]
        if not parts:
            return answer
        scores = self.scores([part for _, part, _ in parts])
        suspect = {place for (place, _, least), score in zip(parts, scores, strict=True) if score >= least}
        suspect |= {place for place, text in enumerate(texts) if _ROLE.search(text)}
        marks = [replace(one, instructs=n in suspect) for n, one in enumerate(answer.citations)]
        return replace(answer, citations=tuple(marks))

    def _vectors(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        return self._encode([visible(sentence).casefold() for sentence in sentences])

    def _fit(self) -> tuple[NDArray[np.float32], float]:
        """Weights (d,) and bias; tricks and ordinary sentences weigh alike, however many there are of each."""
        examples = json.loads(_PATH.read_text(encoding="utf-8"))
        tricks, ordinary = examples["instructs"], examples["ordinary"]
        vectors = self._vectors([*tricks, *ordinary]).astype(np.float64)
        sizes = [len(tricks), len(ordinary)]
        wanted = np.repeat([1.0, -1.0], sizes)
        weight = np.repeat([sum(sizes) / 2 / size for size in sizes], sizes)
        centre = np.average(vectors, axis=0, weights=weight)
        centred = vectors - centre
        pulled = centred.T * weight
        weights = np.linalg.solve(pulled @ centred + _RIDGE * np.eye(len(centre)), pulled @ wanted)
        return weights.astype(np.float32), float(-centre @ weights)
