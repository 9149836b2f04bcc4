"""Whether the passages hold what a written answer says: a deterministic check of each sentence.

A sentence is supported where a passage holds it nearly word for word, or where its words, names, figures and negations
agree with the passages that it cites (rag_core.answering.claims): words by late interaction, figures as amounts with
their scale, unit and currency, each in the row, column or clause that the sentence gives it. A figure that stands in no
cited passage is always marked. What is weighed is fitted; see `tests/benchmarks/fit_grounding.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_core.answering.citations import Passages, Register, WrittenSentence
from rag_core.answering.claims.features import Claim, ClaimMatch
from rag_core.answering.claims.source import Source, sources_of
from rag_core.answering.claims.weights import judge
from rag_core.answering.encoding import EncodeTokens
from rag_core.answering.passages import Passage, Quote
from rag_core.domain import Citation, Sentence
from rag_core.text.terms import terms

_Key = tuple[str, int, int, int]
_AS_GOOD = 0.03  # the share of a sentence's words by which a passage may match less and still be tried
_SHORTEST = 4  # words of a sentence that can be held word for word
# What carries no claim: "Yes.", "In summary:", "Here is what the passages say:".
_NO_CLAIM = re.compile(
    r"(?:yes|no|in (?:summary|short)|here (?:is|are)\b.*|according to the passages?)[.,:!]?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Stand:
    """What a sentence stands on: the line of the passages that it matches most, how surely its passage holds it, 0..1,
    and whether all its figures stand there."""

    quote: Quote
    score: float
    holds_figures: bool


class Grounding:
    """Checks the sentences of one answer against the passages of its question; one call of `encode_tokens` for each."""

    def __init__(self, passages: Passages, encode_tokens: EncodeTokens) -> None:
        self.passages = passages
        self._encode_tokens = encode_tokens
        self._read: dict[_Key, Source] = {}

    def check(self, written: Sequence[WrittenSentence], register: Register) -> list[Sentence]:
        """Mark each sentence as supported or not.

        A sentence that cites nothing is compared with the passages that have most of its figures, and gets the citation
        that holds it, if any.
        """
        if not written or not any(self.passages.parts):
            return [Sentence(one.text, one.cited, bool(_NO_CLAIM.fullmatch(one.text.strip()))) for one in written]
        cited = [self._cited(one, register) for one in written]
        bare = any(not places and _claims(one) for places, one in zip(cited, written, strict=True))
        self._prepare(range(len(self.passages)) if bare else sorted(set().union(*cited)))
        read = self._encode_tokens([one.text for one in written])
        return [
            self._checked(Claim(one.text, *vectors), one, places, register)
            for one, vectors, places in zip(written, read, cited, strict=True)
        ]

    def stand(self, text: str) -> Stand | None:
        """What a sentence stands on, of the passages that have most of its figures; None where there are none."""
        places = [place for place, parts in enumerate(self.passages.parts) if parts]
        if not places:
            return None
        self._prepare(places)
        (vectors,) = self._encode_tokens([text])
        best = max(self._likeliest(Claim(text, *vectors), places), key=lambda held: held.matched)
        score = 1.0 if _word_for_word(best.claim, best.sources) else judge().score(best.signs())
        return Stand(best.quote, score, not best.unheld())

    def _likeliest(self, claim: Claim, places: Iterable[int]) -> list[ClaimMatch]:
        """A claim held to each of some passages, those alone that have most of its figures."""
        every = [self._held(claim, [place]) for place in places]
        fewest = min(len(held.unheld()) for held in every)
        return [held for held in every if len(held.unheld()) == fewest]

    def _prepare(self, places: Iterable[int]) -> None:
        """Read the passages that are looked at and were not yet, in one call of the encoder."""
        parts = {_key(part): part for place in places for part in self.passages.parts[place]}
        new = {key: part for key, part in parts.items() if key not in self._read}
        self._read |= zip(new, sources_of(list(new.values()), self._encode_tokens), strict=True)

    def _checked(self, claim: Claim, one: WrittenSentence, places: Sequence[int], register: Register) -> Sentence:
        if places:
            return Sentence(one.text, one.cited, self._judged(claim, self._held(claim, places)))
        if not _claims(one):
            return Sentence(one.text)
        tried = self._likeliest(claim, (place for place, parts in enumerate(self.passages.parts) if parts))
        furthest = max(held.matched for held in tried) - _AS_GOOD
        for held in sorted((held for held in tried if held.matched >= furthest), key=lambda held: -held.matched):
            if self._judged(claim, held):
                return Sentence(one.text, (register.number(held.quote),))
        return Sentence(one.text, one.cited, False)

    def _held(self, claim: Claim, places: Sequence[int]) -> ClaimMatch:
        parts = {_key(part): None for place in places for part in self.passages.parts[place]}
        return ClaimMatch(claim, [self._read[key] for key in parts])

    def _judged(self, claim: Claim, held: ClaimMatch) -> bool:
        """Whether a claim is supported by what it is held to."""
        if _word_for_word(claim, held.sources):
            return True
        return not held.unheld() and judge().score(held.signs()) >= judge().supported_from

    def _cited(self, one: WrittenSentence, register: Register) -> tuple[int, ...]:
        """The places of the passages that a sentence cites, in order."""
        known = {citation.number: citation for citation in register.citations}
        return tuple(
            sorted({place for number in one.cited if number in known for place in self._places(known[number])})
        )

    def _places(self, citation: Citation) -> list[int]:
        """The passages that a citation is of: its own, or those that have its chunk beside their own."""
        own = [place for place, hit in enumerate(self.passages.hits) if hit.chunk_id == citation.chunk_id]
        beside = [
            place
            for place, hit in enumerate(self.passages.hits)
            if citation.chunk_id in {one.chunk_id for one in hit.around}
        ]
        return own or beside


def _claims(one: WrittenSentence) -> bool:
    """Whether a sentence says anything that could be false."""
    return bool(terms(one.text)) and not _NO_CLAIM.fullmatch(one.text.strip())


def _key(part: Passage) -> _Key:
    """What tells passages apart: two hits can be amid the same text."""
    first = part.hits[0]
    return first.document.id, first.page, part.start, len(part.text)


def _word_for_word(claim: Claim, sources: Sequence[Source]) -> bool:
    """Whether a sentence of a passage has a claim's words in the same order without a gap."""
    said = _plain(claim.text)
    long = said.count(" ") + 1 >= _SHORTEST
    return long and any(said in _plain(quote.text) for source in sources for quote in source.quotes)


def _plain(text: str) -> str:
    """A text's words in lower case, without marks, apart by one blank."""
    return " ".join(re.findall(r"[\w.,%$€£-]*\w[%]?", text.casefold()))
