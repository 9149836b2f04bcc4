"""Questions that mean about the same, put together by their vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import NotFound, QuestionGroup

_LEAST_COSINE = 0.45
"""Of two groups that become one, on average over their pairs.

Of 39 questions of 18 meanings all stood right at .4 and none in a wrong group from .35 on;
questions about one document, which have a subject in common, begin to mix below .45.
"""


def grouped(questions: Sequence[NotFound], vectors: NDArray[np.float32]) -> tuple[QuestionGroup, ...]:
    """Groups by average-link clustering, the one that was asked most first; within one the most central first.

    vectors: float32 (n, d), rows of unit length, one for each question.
    """
    labels = _labels(vectors)
    groups = [_group(questions, vectors, np.flatnonzero(labels == label)) for label in np.unique(labels)]
    return tuple(sorted(groups, key=lambda group: (-group.times, -group.questions[0].last.timestamp())))


def _labels(vectors: NDArray[np.float32]) -> NDArray[np.intp]:
    if len(vectors) < 2:
        return np.zeros(len(vectors), dtype=np.intp)
    from sklearn.cluster import AgglomerativeClustering

    made = AgglomerativeClustering(
        n_clusters=None, metric="cosine", linkage="average", distance_threshold=1 - _LEAST_COSINE
    )
    labels: NDArray[np.intp] = made.fit_predict(vectors)
    return labels


def _group(questions: Sequence[NotFound], vectors: NDArray[np.float32], members: NDArray[np.intp]) -> QuestionGroup:
    own = vectors[members]
    central = np.argsort(-(own @ own.mean(axis=0)), kind="stable")
    return QuestionGroup(tuple(questions[members[place]] for place in central))
