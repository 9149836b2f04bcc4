"""The one place that pages and programs ask for insights."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import CorpusMap, Drawing, Insights, NotFound, QuestionGroup, Scope
from rag_core.domain.serialiser import to_json
from rag_core.insights.grouping import grouped
from rag_core.insights.mapping import laid_out
from rag_core.retrieval.scope import documents_within
from rag_core.retrieval.section_scope import titles_named
from rag_core.storage import Storage

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


class InsightsService:
    """Counts, groups, draws and exports. Thread-safe. `encode` makes vectors of unit length, float32 (n, d)."""

    def __init__(self, storage: Storage, encode: Encode) -> None:
        self._storage = storage
        self._encode = encode

    def state(self) -> tuple[object, ...]:
        """Changes whenever the numbers do; takes a few milliseconds. Raises StoreUnavailable."""
        return self._storage.insights.state()

    def map_state(self) -> tuple[object, ...]:
        """Changes whenever the map does. Raises StoreUnavailable."""
        return (*self._storage.insights.map_state(), self._storage.hierarchy.published)

    def of(self, days: int | None = None, scope: Scope | None = None) -> Insights:
        """The numbers of the last `days`, today included (None: all time), within a scope. Raises StoreUnavailable."""
        scope = scope or Scope()
        within = sorted(documents_within(self._storage.database, scope)) if scope else None
        documents = self._storage.documents.ready(within or ()) if scope.sections else {}
        titles = sorted(titles_named(documents.values(), scope.sections))
        return self._storage.insights.count(days, scope, within, titles)

    def groups(self, questions: Sequence[NotFound]) -> tuple[QuestionGroup, ...]:
        """Questions that found nothing, by meaning, the group that was asked most first. Raises ModelUnavailable."""
        return grouped(questions, self._encode([question.query for question in questions])) if questions else ()

    def corpus_map(self, scope: Scope | None = None) -> CorpusMap:
        """The documents of a scope, each where it stands among all. Raises StoreUnavailable."""
        placed = self._storage.insights.placed()
        ids, groups = self._storage.hierarchy.document_groups()
        made = laid_out(placed.documents, placed.vectors, ids, groups)
        missing = self._storage.hierarchy.missing()
        within = documents_within(self._storage.database, scope) if scope else None
        places = tuple(place for place in made if within is None or place.document_id in within)
        return CorpusMap(places, tuple(group.terms for group in groups), missing)

    def drawings(self, insights: Insights, groups: Sequence[QuestionGroup] = ()) -> tuple[Drawing, ...]:
        """Every chart that has data, with its numbers."""
        from rag_core.insights.charts import drawings

        return drawings(insights, groups)

    def map_drawing(self, corpus: CorpusMap, chosen: int | None = None) -> Drawing:
        """The map as a chart; where a cluster is `chosen`, the others step back."""
        from rag_core.insights.map_chart import map_drawing

        return map_drawing(corpus, chosen)

    def as_csv(self, drawing: Drawing) -> bytes:
        """The numbers of a chart as CSV, formulas defused."""
        from rag_core.evaluation.files.exporting import csv_of

        return csv_of(drawing.columns, drawing.rows)

    def as_json(self, insights: Insights, groups: Sequence[QuestionGroup] = ()) -> bytes:
        """All numbers as one JSON object, UTF-8."""
        whole = {"insights": to_json(insights), "not_found_groups": to_json(groups)}
        return json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False).encode("utf-8", errors="replace")
