"""Passages from many clusters: each that comes from a cluster which was drawn from already has to be that much better.

For questions whose answer stands in several places (a comparison, a summary), after He, Meij and de Rijke, "Result
diversification based on query-specific cluster ranking", JASIST 2011, with the clusters of the documents' chunks in the
place of the results' own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NO_CLUSTER = -1
COST = 0.3
"""Of the distance between the best score and that of the twentieth."""

_FAR = 20


def spread(scores: NDArray[np.float32], clusters: NDArray[np.intp], cost: float = COST) -> NDArray[np.float32]:
    """Scores less what each candidate pays for those chosen before it from its cluster, float32 (n,).

    Greedy: the best comes first, and what is left pays for it. scores: (n,), greatest first, of any one kind. clusters:
    the number of each candidate's cluster, NO_CLUSTER for one that is in none and pays nothing.
    """
    left = scores.astype(np.float32, copy=True)
    if len(left) < 2:
        return left
    price = np.float32(cost * float(scores[0] - scores[min(_FAR, len(scores)) - 1]))
    chosen = np.zeros(len(left), dtype=np.bool_)
    for _ in range(len(left)):
        best = int(np.where(chosen, -np.inf, left).argmax())
        chosen[best] = True
        if clusters[best] != NO_CLUSTER:
            left[(clusters == clusters[best]) & ~chosen] -= price
    return left
