"""What a row of a table is called is what its figures are asked by: "Total assets", "Marketing", "Adult"."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

import numpy as np

from rag_core.retrieval.candidates import Candidates, Scores
from rag_core.retrieval.query import Query
from rag_core.retrieval.reranking.base import Reranker
from rag_core.retrieval.weights import weights
from rag_core.text.terms import terms

_DIGIT = re.compile(r"\d")


class RowsReranker(Reranker):
    """Adds how nearly the label of a chunk's best row is what the question asks for, its document's name apart."""

    name = "rows"

    def scores(self, query: Query, candidates: Candidates) -> Scores | None:
        """See the base class; None where no candidate has rows of figures."""
        weight = weights()["rows"]["weight"]
        labels = [list(_labels(row.text)) for row in candidates.rows]
        counts = Counter(term for some in labels for label in some for term in label)
        if not counts:
            return None
        most = math.log(1 + sum(map(len, labels)))
        rarity = {term: most - math.log(count) for term, count in counts.items()}
        asked = [(forms, max(rarity.get(form, most) for form in forms)) for forms in query.weights]
        named = {key: set(terms(document.title)) for key, document in candidates.documents.items()}
        gains = []
        for ref, some in zip(candidates.refs, labels, strict=True):
            of_rows = [
                (forms, rare) for forms, rare in asked
                if named[ref[0]].isdisjoint(forms) and not any(form.isdigit() for form in forms)
            ]  # fmt: skip
            gains.append(max((_likeness(of_rows, label, rarity) for label in some), default=0.0))
        return np.asarray(candidates.score + weight * np.array(gains), dtype=np.float32)


def _labels(text: str) -> Iterator[frozenset[str]]:
    """The terms of the first cell of each row with figures behind it."""
    for line in text.split("\n"):
        label, tab, rest = line.partition("\t")
        if tab and _DIGIT.search(rest) and (found := _terms(label)):
            yield found


@lru_cache(maxsize=20_000)  # the same tables come up again and again
def _terms(label: str) -> frozenset[str]:
    return frozenset(terms(label))


def _likeness(asked: Sequence[tuple[Collection[str], float]], label: frozenset[str], rarity: dict[str, float]) -> float:
    """Dice's coefficient of what is asked and a label, terms weighted by how few labels have them, 0..1."""
    shared = sum(rare for forms, rare in asked if not label.isdisjoint(forms))
    whole = sum(rare for _, rare in asked) + sum(rarity[term] for term in label)
    return 2 * shared / whole if shared else 0.0
