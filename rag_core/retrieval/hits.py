"""Candidates to hits: with their texts and documents, their scores, and where the question's words stand in them."""

from __future__ import annotations

import math
from typing import Any

from rag_core.domain import Considered, Document, Hit
from rag_core.retrieval.candidates import Candidates
from rag_core.retrieval.query import Query
from rag_core.storage.postgres.passages import PassageRow, boxes_of
from rag_core.text.terms import spans, terms


def hit(query: Query, candidates: Candidates, place: int, similar: int, called: tuple[str, ...] = ()) -> Hit:
    """A candidate as a hit that stands for so many similar ones; called: names of its document in the question."""
    row = candidates.rows[place]
    document = candidates.documents[row.document_id]
    return hit_of(
        document, row, float(candidates.score[place]), score_kind=candidates.kind, scores=_scores(candidates, place),
        matches=matches(query, row.text, document), similar=similar, called=called,
    )  # fmt: skip


def hit_of(document: Document, row: PassageRow, score: float, **more: Any) -> Hit:
    """A chunk of a document as a hit; `more` are further fields."""
    return Hit(
        chunk_id=f"{row.document_id}:{row.index}", document=document, index=row.index, page=row.page,
        page_label=row.page_label, section=row.section, text=row.text, start=row.start, end=row.end,
        boxes=boxes_of(row), score=score, corrected=row.corrected, hidden=row.hidden, **more,
    )  # fmt: skip


def allowed(query: Query, candidates: Candidates, place: int) -> bool:
    """Whether a candidate holds every quoted phrase as it is, and none of the excluded words."""
    row = candidates.rows[place]
    document = candidates.documents[row.document_id]
    held = _plain(f"{row.text}\n{row.section}\n{document.title}")
    if not all(_plain(phrase) in held for phrase in query.understood.phrases):
        return False
    excluded = query.excluded
    return not excluded or set(excluded).isdisjoint(
        terms(f"{row.text} {row.section} {document.title}", document.main_language)
    )


def considered(candidates: Candidates, place: int, outcome: str) -> Considered:
    """A candidate as it is told of: scores in four digits."""
    row = candidates.rows[place]
    scores = {name: round(score, 4) for name, score in _scores(candidates, place).items()}
    title = candidates.documents[row.document_id].title
    return Considered(f"{row.document_id}:{row.index}", title, row.page, row.section, scores, outcome, row.page_label)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def matches(query: Query, text: str, document: Document) -> tuple[tuple[int, int], ...]:
    """The spans of the question's words in a text of a document, in whatever form."""
    wanted = frozenset(form for forms in query.terms for form in forms)
    return tuple(spans(text, wanted, document.main_language))


def _scores(candidates: Candidates, place: int) -> dict[str, float]:
    found = {name: float(values[place]) for name, values in candidates.scores.items()}
    return {name: score for name, score in found.items() if not math.isnan(score)}
