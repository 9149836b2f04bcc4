"""Whether the passages hold what a written answer says: a deterministic check of each sentence.

A sentence is supported where a passage holds it nearly word for word, or where its words, names, figures and negations
agree with the passages that it cites (rag_core.answering.claims): words by late interaction, figures as amounts with
their scale, unit and currency, each in the row, column or clause that the sentence gives it. A figure that stands in no
cited passage is always marked. What is weighed is fitted; see `tests/benchmarks/fit_grounding.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence



from rag_core.answering.citations import Passages, Register, Written
from rag_core.answering.claims.signs import Claim, Held
from rag_core.answering.claims.source import Source, sources_of
from rag_core.answering.claims.weights import judge
from rag_core.answering.encoding import EncodeTokens
from rag_core.answering.passages import Passage, Quote
from rag_core.domain import Citation, Sentence
from rag_core.text.terms import terms

_SHORTEST = 4  # terms of a sentence that can be held word for word
# What carries no claim: "Yes.", "In summary:", "Here is what the passages say:".
_NO_CLAIM = re.compile(
    r"(?:yes|no|in (?:summary|short)|here (?:is|are)\b.*|according to the passages?)[.,:!]?", re.IGNORECASE
)


class Grounding:
    """Checks the sentences of one answer against the passages of its question; one call of `encode_tokens` for each."""

    def __init__(self, passages: Passages, encode_tokens: EncodeTokens) -> None:
        self.passages = passages
        self._encode_tokens = encode_tokens
        self._hits = passages.hits
        every = {_key(part): part for group in passages.parts for part in group}
        known = dict(zip(every, sources_of(list(every.values()), encode_tokens), strict=True))
        self._sources = [[known[_key(part)] for part in group] for group in passages.parts]

    def check(self, written: Sequence[Written], register: Register) -> list[Sentence]:
        """Mark each sentence as supported or not.

        A sentence that cites nothing is compared with every passage and gets the citation that holds it, if any.
        """
        if not written or not any(self._sources):
            return [Sentence(one.text, one.cited, bool(_NO_CLAIM.fullmatch(one.text.strip()))) for one in written]
        read = self._encode_tokens([one.text for one in written])
        claims = [Claim(one.text, vectors, spans) for one, (vectors, spans) in zip(written, read, strict=True)]
        return [self._checked(claim, one.cited, register) for claim, one in zip(claims, written, strict=True)]

    def _checked(self, claim: Claim, cited: tuple[int, ...], register: Register) -> Sentence:
        if not cited and (_NO_CLAIM.fullmatch(claim.text.strip()) or not terms(claim.text)):
            return Sentence(claim.text)
        known = {citation.number: citation for citation in register.citations}
        places = sorted({place for number in cited if number in known for place in self._places(known[number])})
        if places:
            return Sentence(claim.text, cited, self._held(claim, places)[0])
        outcomes = [self._held(claim, [place]) for place in range(len(self._sources)) if self._sources[place]]
        supported, _, quote = max(outcomes, key=lambda outcome: outcome[:2])
        return Sentence(claim.text, (register.number(quote),) if supported else cited, supported)

    def _places(self, citation: Citation) -> list[int]:
        """The passages that a citation is of: its own, or those that have its chunk beside their own."""
        own = [place for place, hit in enumerate(self._hits) if hit.chunk_id == citation.chunk_id]
        beside = [
            place for place, hit in enumerate(self._hits) if citation.chunk_id in {one.chunk_id for one in hit.around}
        ]
        return own or beside

    def _held(self, claim: Claim, places: Sequence[int]) -> tuple[bool, float, Quote]:
        """Whether some passages hold a claim, how surely, and their sentence that has most of it."""
        sources = list({id(source): source for place in places for source in self._sources[place]}.values())
        held = Held(claim, sources)
        at, number = held.places[held.leant_on[0]]
        if exact := _word_for_word(claim, sources):
            return True, 1.0, exact
        score = 0.0 if held.unheld() else judge().score(held.signs())
        return score >= judge().supported_from, score, sources[at].quotes[number]


def _key(part: Passage) -> tuple[str, int, int, int]:
    """What tells passages apart: two hits can be amid the same text."""
    first = part.hits[0]
    return first.document.id, first.page, part.start, len(part.text)


def _word_for_word(claim: Claim, sources: Sequence[Source]) -> Quote | None:
    """The sentence of a passage that has a claim's terms in the same order without a gap."""
    said = _plain(claim.text)
    if said.count(" ") + 1 < _SHORTEST:
        return None
    quotes = (quote for source in sources for quote in source.quotes)
    return next((quote for quote in quotes if said in _plain(quote.text)), None)


def _plain(text: str) -> str:
    """A text's words in lower case, without marks, apart by one blank."""
    return " ".join(re.findall(r"[\w.,%$€£-]*\w[%]?", text.casefold()))
