"""A question on its way through the pipeline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Scope, Understood
from rag_core.retrieval.identity import Meant
from rag_core.retrieval.scope import Within
from rag_core.retrieval.understanding import positive, understand
from rag_core.text.terms import terms

Ref = tuple[str, int]
"""A chunk: its document's id and its index there."""


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """What is looked for.

    vector: float32 (d,), or None where a search goes by words alone. within: the chunks that `scope` leaves, None for
    all. terms: stems of the question's content words, without those that it excludes. sides: documents that it names
    apart, to be set side by side.
    """

    text: str
    vector: NDArray[np.float32] | None
    scope: Scope
    within: Within | None
    understood: Understood
    terms: tuple[str, ...]
    sides: tuple[frozenset[str], ...] = ()

    @classmethod
    def of(
        cls,
        text: str,
        vector: NDArray[np.float32] | None,
        scope: Scope,
        within: Within | None,
        meant: Meant | None = None,
    ) -> Query:
        """A question as a person wrote it, and the documents that it means."""
        meant = meant or Meant()
        understood = understand(text, meant.documents)
        return cls(text, vector, scope, within, understood, tuple(terms(positive(text, understood))), meant.sides)

    @property
    def phrases(self) -> list[list[str]]:
        """The stems of each quoted phrase, in order."""
        return [terms(phrase) for phrase in self.understood.phrases]

    @property
    def excluded(self) -> list[str]:
        """The stems of the words that must not stand there."""
        return [term for word in self.understood.excluded for term in terms(word)]
