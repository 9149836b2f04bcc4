"""A question on its way through the pipeline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Scope, Understood
from rag_core.retrieval.scope import Within
from rag_core.text.lexical import terms

Ref = tuple[str, int]
"""A chunk: its document's id and its index there."""


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """What is looked for.

    vector: float32 (d,), or None where a search goes by words alone. within: the chunks that `scope` leaves, None for
    all. terms: stems of the question's content words.
    """

    text: str
    vector: NDArray[np.float32] | None
    scope: Scope
    within: Within | None
    understood: Understood
    terms: tuple[str, ...]

    @classmethod
    def of(cls, text: str, vector: NDArray[np.float32] | None, scope: Scope, within: Within | None) -> Query:
        """A question as a person wrote it."""
        return cls(text, vector, scope, within, Understood(), tuple(terms(text)))
