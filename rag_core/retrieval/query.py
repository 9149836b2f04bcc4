"""A question on its way through the pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Scope, Understood
from rag_core.retrieval.identity import Meant
from rag_core.retrieval.understanding import looked_for, understand
from rag_core.storage.indexes.dense import Within
from rag_core.text.languages import language_of
from rag_core.text.terms import query_terms, terms


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """What is looked for.

    vector: float32 (d,), or None where a search goes by words alone. within: the chunks that `scope` leaves, None for
    all. terms: the question's content words, each as the stems that it has in the documents' languages, as often as it
    stands there; none that it excludes. sides: documents that it names
    apart, to be set side by side. foreign: it is in a language that the model of its vector does not know.
    """

    text: str
    vector: NDArray[np.float32] | None
    scope: Scope
    within: Within | None
    understood: Understood
    terms: tuple[frozenset[str], ...]
    sides: tuple[frozenset[str], ...] = ()
    foreign: bool = False

    @classmethod
    def of(
        cls,
        text: str,
        vector: NDArray[np.float32] | None,
        scope: Scope,
        within: Within | None,
        meant: Meant | None = None,
        languages: Sequence[str] = ("en",),
        holds: Callable[[str], bool] = lambda term: False,
        known: Collection[str] = (),
    ) -> Query:
        """A question as a person wrote it, and the documents that it means, of which those in its scope count.

        languages: those of the library's documents (ISO 639-1), the commonest first. holds: whether any chunk holds a
        term, by which compounds are cut. known: the languages that the model of the vector knows, none for all.
        """
        meant = meant or Meant()
        understood = understand(
            text, {key: sure for key, sure in meant.documents.items() if within is None or key in within.rows}
        )
        wanted = looked_for(text, understood)
        language = language_of(wanted, languages[0] if languages else "en", languages)
        return cls(
            text, vector, scope, within, understood, _counted(wanted, language, languages, holds), meant.sides,
            foreign=bool(known) and language not in known,
        )  # fmt: skip

    @property
    def weights(self) -> Mapping[frozenset[str], int]:
        """Each term once, and how often it stands there."""
        return Counter(self.terms)

    @property
    def phrases(self) -> list[list[str]]:
        """The stems of each quoted phrase, in order."""
        return [terms(phrase) for phrase in self.understood.phrases]

    @property
    def excluded(self) -> list[str]:
        """The stems of the words that must not stand there."""
        return [term for word in self.understood.excluded for term in terms(word)]


def _counted(
    text: str, language: str, languages: Sequence[str], holds: Callable[[str], bool]
) -> tuple[frozenset[str], ...]:
    """The forms of each content word, as often as it stands there."""
    counts = Counter(terms(text, language))
    found = map(frozenset, query_terms(text, languages, holds))
    return tuple(forms for forms in found for _ in range(max(1, *(counts[form] for form in forms))))
