"""Whether the passages hold what a written answer says: a deterministic check of each sentence.

A sentence is supported when its numbers and names all occur in what it cites, enough of its content words do, and its
meaning is near that of a sentence cited. The method is that of lexical and embedding entailment baselines (as in
Honovich et al. 2022, TRUE), joined by hard rules on numbers and names, where models err most.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.answering.citations import Passages, Register, Written
from rag_core.answering.encoding import Encode
from rag_core.answering.passages import Quote
from rag_core.domain import Citation, Sentence
from rag_core.text.numbers import numbers
from rag_core.text.terms import coverage, terms

SUPPORTED_FROM = 0.62
"""Least score of a supported sentence; see `Support.score`."""

_CLOSE = 0.45  # cosine below which words in common are not taken for the same statement
_NEIGHBOURS = 1  # sentences on either side of a cited one that count as cited too
# What carries no claim: "Yes.", "In summary:", "Here is what the passages say:".
_NO_CLAIM = re.compile(
    r"(?:yes|no|in (?:summary|short)|here (?:is|are)\b.*|according to the passages?)[.,:!]?", re.IGNORECASE
)
# Capitalised words, joined where they follow each other, anywhere but at the beginning.
_NAME = re.compile(r"(?<=[\w,;:)\"”’] )[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")
_NEGATION = re.compile(r"\b(?:not|no|never|none|neither|nor|without|cannot|\w+n[’']t)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Support:
    """How far one sentence stands on a piece of source text. Shares are 0..1."""

    words: float
    meaning: float
    numbers: bool
    names: bool
    negation: bool

    @property
    def score(self) -> float:
        """Mean of words and meaning; 0 where a number or a name is missing or the meaning is far."""
        if not (self.numbers and self.names) or self.meaning < _CLOSE:
            return 0.0
        return 0.5 * self.words + 0.5 * self.meaning - (0.0 if self.negation else 0.15)


class Grounding:
    """Checks the sentences of one answer against the passages of its question."""

    def __init__(self, passages: Passages, encode: Encode) -> None:
        self._quotes = passages.every()
        self._encode = encode
        self._vectors = encode([quote.text for quote in self._quotes]) if self._quotes else np.zeros((0, 1), np.float32)
        self._terms = [set(terms(quote.text)) for quote in self._quotes]

    def check(self, written: Sequence[Written], register: Register) -> list[Sentence]:
        """Mark each sentence as supported or not.

        A sentence that cites nothing is compared with every passage and gets the citation that holds it, if any.
        """
        if not written or not self._quotes:
            return [Sentence(one.text, one.cited, bool(_NO_CLAIM.fullmatch(one.text))) for one in written]
        vectors = self._encode([one.text for one in written])
        if vectors.shape[1] != self._vectors.shape[1]:  # the library changed its embedding model amid the answer
            self._vectors = self._encode([quote.text for quote in self._quotes])
        return [
            self._checked(one.text, one.cited, self._vectors @ vector, register)
            for one, vector in zip(written, vectors, strict=True)
        ]

    def _checked(self, text: str, cited: tuple[int, ...], cosines: np.ndarray, register: Register) -> Sentence:
        if not cited and (_NO_CLAIM.fullmatch(text.strip()) or not terms(text)):
            return Sentence(text)
        known = {citation.number: citation for citation in register.citations}
        places = [place for number in cited if number in known for place in self._around(known[number])]
        if places:
            return Sentence(text, cited, self._support(text, places, cosines).score >= SUPPORTED_FROM)
        best = max(range(len(self._quotes)), key=lambda i: self._support(text, [i], cosines).score)
        if self._support(text, [best], cosines).score < SUPPORTED_FROM:
            return Sentence(text, cited, False)
        return Sentence(text, (register.number(self._quotes[best]),), True)

    def _around(self, citation: Citation) -> list[int]:
        """Places of a cited sentence and its neighbours, for a statement can lean on the sentence before it."""
        at = [i for i, quote in enumerate(self._quotes) if _is(quote, citation)]
        near = {place + step for place in at for step in range(-_NEIGHBOURS, _NEIGHBOURS + 1)}
        return [
            i for i in sorted(near) if 0 <= i < len(self._quotes) and self._quotes[i].hit.chunk_id == citation.chunk_id
        ]

    def _support(self, text: str, places: Sequence[int], cosines: np.ndarray) -> Support:
        """Support of a sentence by the sentences at `places` taken together."""
        held = set().union(*(self._terms[i] for i in places))
        source = " ".join(self._quotes[i].text for i in places)
        nearest = max(places, key=lambda i: float(cosines[i]))
        return Support(
            words=coverage(terms(text), held),
            meaning=float(cosines[nearest]),
            numbers=numbers(text) <= numbers(source),
            names=self._names_held(text, places),
            negation=bool(_NEGATION.search(text)) == bool(_NEGATION.search(source)),
        )

    def _names_held(self, text: str, places: Sequence[int]) -> bool:
        """Whether every name of a sentence stands somewhere in the passages that it cites, or in their titles."""
        wanted = [set(terms(name)) for name in _NAME.findall(text)]
        if not any(wanted):
            return True
        hits = {self._quotes[i].hit.chunk_id: self._quotes[i].hit for i in places}.values()
        held = set(terms(" ".join(f"{hit.document.title} {hit.section} {hit.text}" for hit in hits)))
        return all(not name or name & held for name in wanted)


def _is(quote: Quote, citation: Citation) -> bool:
    """Whether a citation is of this very quote."""
    return (quote.hit.chunk_id, quote.start, quote.end) == (citation.chunk_id, citation.start, citation.end)
