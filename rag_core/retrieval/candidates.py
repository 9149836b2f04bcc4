"""The chunks that may answer a question, with everything that is known of each, as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Document, ScoreKind
from rag_core.storage.indexes.dense import Ref
from rag_core.storage.postgres.passages import PassageRow

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Candidates of a question, best first by `score`, which is of the kind `kind`.

    vectors: float32 (n, d), None where nothing needs them. scores: of each ranker and of what else moved them, float32
    (n,), NaN where it did not find one. rows, documents: texts and documents, once they are fetched.
    """

    refs: list[Ref]
    score: Scores
    kind: ScoreKind
    scores: Mapping[str, Scores]
    vectors: NDArray[np.float32] | None = None
    rows: list[PassageRow] = field(default_factory=list)
    documents: Mapping[str, Document] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.refs)

    def take(self, places: list[int]) -> Candidates:
        """Some of them, in this order."""
        if places == list(range(len(self.refs))):
            return self
        return replace(
            self,
            refs=[self.refs[place] for place in places],
            score=self.score[places],
            scores={name: values[places] for name, values in self.scores.items()},
            vectors=None if self.vectors is None else self.vectors[places],
            rows=[self.rows[place] for place in places] if self.rows else [],
        )

    def told(self, name: str, score: Scores) -> Candidates:
        """In the same order, with a score kept under a name; without it where it is NaN for all."""
        return self if np.isnan(score).all() else replace(self, scores={**self.scores, name: score})

    def scored(self, score: Scores, kind: ScoreKind, name: str) -> Candidates:
        """With another score, kept under a name beside the others, best first by it."""
        found = replace(self, score=score, kind=kind, scores={**self.scores, name: score})
        return found.take(best_first(found.refs, score))


def best_first(refs: list[Ref], score: Scores) -> list[int]:
    """Places by score, ties by document, then index."""
    values = score.tolist()
    return sorted(range(len(refs)), key=lambda place: (-values[place], refs[place]))
