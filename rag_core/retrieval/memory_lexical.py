"""An index of words in memory, for chunks that stand in no index of the library's: what an evaluation tries.

BM25 by fields (Robertson and Zaragoza 2009), with the constants and boosts of the library's own index.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from rag_core.retrieval.identity import Rarities
from rag_core.storage.indexes.dense import Ref
from rag_core.storage.indexes.lexical_query import BOOSTS
from rag_core.text.terms import terms as terms_of

_K1, _B = 1.2, 0.75


class MemoryLexical:
    """Chunks by their terms. `add` documents before it is searched.

    rarities: for chunks of an index that holds many more, the inverse document frequencies of terms there.
    """

    def __init__(self, rarities: Rarities | None = None) -> None:
        self._rarities = rarities
        self._fields = {field: _Field() for field in BOOSTS}
        self._texts: dict[Ref, tuple[list[str], ...]] = {}

    def add(self, document_id: str, title: str, language: str, chunks: Iterable[tuple[int, str, str]]) -> None:
        """Take a document's chunks, in a language (ISO 639-1): index, section and text of each."""
        called = terms_of(title, language)
        for index, section, text in chunks:
            fields = {"body": terms_of(text, language), "title": called, "section": terms_of(section, language)}
            for name, found in fields.items():
                self._fields[name].add((document_id, index), found)
            self._texts[document_id, index] = tuple(fields.values())

    def search(
        self,
        terms: Mapping[frozenset[str], float],
        k: int,
        within: Collection[str] | None = None,
        *,
        phrases: Sequence[Sequence[str]] = (),
        excluded: Sequence[str] = (),
    ) -> list[tuple[str, int, float]]:
        """Document, index and score of the best k chunks, best first, as the library's index has them."""
        scores: defaultdict[Ref, float] = defaultdict(float)
        known = self._rarities(list(frozenset().union(*terms))) if self._rarities else {}
        for name, boost in BOOSTS.items():
            for forms, weight in terms.items():
                for ref, score in self._fields[name].best(forms, known).items():
                    scores[ref] += boost * weight * score
        found = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        kept = (
            (*ref, score)
            for ref, score in found
            if (within is None or ref[0] in within) and self._fits(ref, phrases, excluded)
        )
        return [item for item, _ in zip(kept, range(k), strict=False)]

    def holds(self, term: str, within: Collection[str] | None = None) -> bool:
        """Whether the body of any chunk, or of any of some documents, holds a term."""
        held = self._fields["body"].scores(term)
        return bool(held) if within is None else any(document_id in within for document_id, _ in held)

    def holding(self, terms: Sequence[str], within: Collection[str]) -> list[Ref]:
        """The chunks of some documents that hold each of some terms, in order."""
        held = [set(self._fields["body"].scores(term)) for term in terms]
        return sorted(ref for ref in set.intersection(*held) if ref[0] in within) if held else []

    def idf(self, terms: Sequence[str]) -> dict[str, float]:
        """Each term's inverse document frequency among the bodies of the chunks."""
        return {term: self._fields["body"].rarity(term) for term in terms}

    def _fits(self, ref: Ref, phrases: Sequence[Sequence[str]], excluded: Sequence[str]) -> bool:
        fields = self._texts[ref]
        if any(term in field for term in excluded for field in fields):
            return False
        return all(any(_stands(phrase, field) for field in fields) for phrase in phrases)


class _Field:
    """One field of every chunk: how often each term stands in it, and how long it is."""

    def __init__(self) -> None:
        self._holders: dict[str, dict[Ref, int]] = {}
        self._lengths: dict[Ref, int] = {}
        self._total = 0

    def add(self, ref: Ref, terms: Sequence[str]) -> None:
        self._lengths[ref] = len(terms)
        self._total += len(terms)
        for term, count in Counter(terms).items():
            self._holders.setdefault(term, {})[ref] = count

    def best(self, forms: frozenset[str], rarities: Mapping[str, float]) -> Mapping[Ref, float]:
        """BM25 of the chunks that hold a term in some form, by its best."""
        found: dict[Ref, float] = {}
        for form in forms:
            for ref, score in self.scores(form, rarities.get(form)).items():
                found[ref] = max(found.get(ref, 0.0), score)
        return found

    def rarity(self, term: str) -> float:
        """Inverse document frequency of a term."""
        holding = len(self._holders.get(term, {}))
        return math.log(1 + (len(self._lengths) - holding + 0.5) / (holding + 0.5))

    def scores(self, term: str, rarity: float | None = None) -> Mapping[Ref, float]:
        """BM25 of the chunks that hold a term, by its inverse document frequency among these where none is given."""
        held = self._holders.get(term, {})
        rarity = self.rarity(term) if rarity is None else rarity
        mean = max(self._total / max(len(self._lengths), 1), 1e-9)
        return {
            ref: rarity * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * self._lengths[ref] / mean))
            for ref, count in held.items()
        }


def _stands(phrase: Sequence[str], field: Sequence[str]) -> bool:
    size = len(phrase)
    return any(list(field[start : start + size]) == list(phrase) for start in range(len(field) - size + 1))
