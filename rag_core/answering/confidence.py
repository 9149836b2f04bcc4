"""How far an answer can be trusted, 0..1: never a bare cosine, whose scale changes with the question.

Extractive answers: the probability that the quotes answer the question (rag_core.answering.strategies
.confidence_model). Written answers: `written`. An abstention carries the probability that the passages hold an answer
after all.

With it goes what it comes from, each 0..1. "right": the probability that the quotes answer the question; "answerable":
that the passages hold an answer; "words": the question's words found in the quotes, by their rarity; "share": of the
first quote in the softmax of all sentences' scores; "read": the reader's probability that it answers; "supported": the
share of sentences that the passages support; "most": what it is at most, where a number was not found; "citations":
`cited`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from rag_core.domain import Citation, Hit, Sentence
from rag_core.text.numbers import numbers

_WITH_A_MARKED_NUMBER = 0.6  # below what the pages call high


def support(sentences: Sequence[Sentence]) -> float:
    """Share of the sentences that the passages support, of those that claim something; 0 where none does.

    A sentence that is neither cited nor marked ("In summary:") claims nothing.
    """
    claims = [one for one in sentences if one.citations or not one.supported]
    return sum(one.supported for one in claims) / max(len(claims), 1)


def written(found: float, sentences: Sequence[Sentence]) -> tuple[float, dict[str, float]]:
    """Confidence in what a language model wrote, and what it comes from; `found` is how answerable the question is.

    The product of that and of the share that is supported, and no more than "most" where a sentence with a number is
    marked. It is an estimate that was not calibrated against any language model's answers.
    """
    told = {"answerable": found, "supported": support(sentences)}
    if any(not one.supported and numbers(one.text) for one in sentences):
        told["most"] = _WITH_A_MARKED_NUMBER
    return min(found * told["supported"], told.get("most", 1.0)), told


def cited(citations: Sequence[Citation], hits: Sequence[Hit], *, all_valid: bool) -> dict[str, float]:
    """The formula of an earlier system of papers: .4 mean cosine + .3 min(citations, 3) / 3 + .3 if all are valid.

    Nothing where no cosine of a cited passage with the question is known.
    """
    chunks = {citation.chunk_id for citation in citations}
    cosines = [hit.scores["dense"] for hit in hits if hit.chunk_id in chunks and "dense" in hit.scores]
    if not cosines:
        return {}
    return {"citations": 0.4 * fmean(cosines) + 0.3 * min(len(citations), 3) / 3 + 0.3 * all_valid}
