"""Candidates to hits: with their texts and documents, their scores, and where the question's words stand in them."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from rag_core.domain import Considered, Hit
from rag_core.retrieval.candidates import Candidates
from rag_core.retrieval.query import Query
from rag_core.storage.postgres.passages import boxes_of
from rag_core.text.lexical import terms

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")


def hit(query: Query, candidates: Candidates, place: int) -> Hit:
    """A candidate as a hit."""
    row = candidates.rows[place]
    return Hit(
        chunk_id=f"{row.document_id}:{row.index}", document=candidates.documents[row.document_id], index=row.index,
        page=row.page, page_label=row.page_label, section=row.section, text=row.text, start=row.start, end=row.end,
        boxes=boxes_of(row), score=float(candidates.score[place]), score_kind=candidates.kind,
        scores=_scores(candidates, place), matches=matches(row.text, frozenset(query.terms)),
    )  # fmt: skip


def considered(candidates: Candidates, place: int, outcome: str) -> Considered:
    """A candidate as it is told of: scores in four digits."""
    row = candidates.rows[place]
    scores = {name: round(score, 4) for name, score in _scores(candidates, place).items()}
    title = candidates.documents[row.document_id].title
    return Considered(f"{row.document_id}:{row.index}", title, row.page, row.section, scores, outcome)


def matches(text: str, wanted: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """The spans of the words of a text that have one of some stems."""
    if not wanted:
        return ()
    return tuple(word.span() for word in _WORD.finditer(text) if not wanted.isdisjoint(_stems(word.group())))


@lru_cache(maxsize=50_000)
def _stems(word: str) -> frozenset[str]:
    return frozenset(terms(word))


def _scores(candidates: Candidates, place: int) -> dict[str, float]:
    found = {name: float(values[place]) for name, values in candidates.scores.items()}
    return {name: score for name, score in found.items() if not math.isnan(score)}
