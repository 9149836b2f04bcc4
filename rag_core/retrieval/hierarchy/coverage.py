"""What the two levels know of candidates: which document a question is about, and who says the same.

A comparison is answered from two documents, a list or a summary from many places of one. So the first chunk of each
document comes before the others in a comparison; in a list or a summary the chunks of the document that level one
prefers come first, and are drawn from its clusters in turn (after He, Meij and de Rijke, "Result diversification based
on query-specific cluster ranking", JASIST 2011). Prices are shares of the distance between the best score and that of
the twentieth, so that they fit scores of any kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import QuestionKind

NO_GROUP = -1
_FAR = 20

Scores = NDArray[np.float32]
Numbers = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How candidates are drawn. lead: what the chunks of the preferred document gain. by_document: what they pay for
    another of their document before them, once; by_cluster: for each of their cluster."""

    lead: float = 0.0
    by_document: float = 0.0
    by_cluster: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What the two levels know of candidates: numbers of their documents and of the clusters that they belong to most,
    (n,), NO_GROUP for none, and the cosines of the question with their documents' summaries, float32 (n,)."""

    documents: Numbers
    clusters: Numbers
    about: Scores


SUMMARY_WEIGHT = 2.0
"""How much a summary's cosine counts beside the best chunk of its document, in shares of the distance."""

INSIDE = Coverage(lead=0.3, by_cluster=0.1)
# Chosen on the tuning halves of the questions on filings and of those that people ask (tests/benchmarks/questions), one
# library of 40 documents, flat against these, all evidence among the first 10 to 12, other halves: comparisons .611 and
# .778 (18 questions), lists .812 and .938 (16), summaries 1 and 1 (9). Other kinds gain nothing.
KINDS: dict[QuestionKind, Coverage] = {
    "comparison": Coverage(by_document=0.3),
    "list": INSIDE,
    "summary": Coverage(lead=1.2),
}
"""For the kinds of question that are answered better so, by measurement; the flat order is kept for the others."""


def drawn(scores: Scores, known: Known, coverage: Coverage) -> Scores:
    """The scores by which candidates are to be ordered, float32 (n,). scores: (n,), greatest first, of any one kind."""
    if len(scores) < 2:
        return scores
    distance = float(scores[0] - scores[min(_FAR, len(scores)) - 1])
    found = scores.astype(np.float32, copy=True)
    if coverage.lead and distance > 0:
        best = _preferred(scores / np.float32(distance), known)
        found[known.documents == best] += np.float32(coverage.lead * distance)
    if coverage.by_document:
        found = spread(found, known.documents, coverage.by_document * distance, once=True)
    if coverage.by_cluster:
        found = spread(found, known.clusters, coverage.by_cluster * distance)
    return found


def spread(scores: Scores, groups: Numbers, price: float, *, once: bool = False) -> Scores:
    """Scores less what each candidate pays for those chosen before it from its group, float32 (n,).

    Greedy: the best comes first, and what is left pays for it, each time or once. scores: (n,), in any order.
    """
    left = scores.astype(np.float32, copy=True)
    chosen = np.zeros(len(left), dtype=np.bool_)
    paid: set[int] = set()
    for _ in range(len(left)):
        best = int(np.where(chosen, -np.inf, left).argmax())
        chosen[best] = True
        group = int(groups[best])
        if group == NO_GROUP or (once and group in paid):
            continue
        paid.add(group)
        left[(groups == group) & ~chosen] -= np.float32(price)
    return left


def _preferred(scores: Scores, known: Known) -> int:
    """The document whose best chunk and summary together are nearest."""
    total = scores + np.float32(SUMMARY_WEIGHT) * known.about
    return int(known.documents[int(total.argmax())])
