"""Insights of made-up numbers, drawn and exported as real ones are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from rag_core.domain import (
    AskedIn,
    CorpusMap,
    DocumentUse,
    Insights,
    JobCount,
    JobFailure,
    NotFound,
    Place,
    QuestionGroup,
    Scope,
    StageTime,
    TokenUse,
    Trust,
    UnusedDocument,
)
from rag_core.insights import InsightsService

AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
NOTHING = Insights(30, Scope(), AT, "day", asked=(AskedIn(AT.date()),))
SOME = replace(
    NOTHING,
    asked=(AskedIn(date(2026, 11, 19), 2, 1, 1), AskedIn(date(2026, 11, 20), 1, 0, 2, 1, 1)),
    not_found=(
        NotFound("Who *won*?", "Who won?", 2, AT, "c1"),
        NotFound("Who was second?", "Who was second?", 1, AT, "c2"),
        NotFound("How deep is it?", "How deep is it?", 1, AT, "c3"),
    ),
    not_found_count=3,
    used=(DocumentUse("bridges.txt", "Bridges", 2, 3, AT, True), DocumentUse("gone.txt", "Gone", 1, 1, AT, False)),
    unused=(UnusedDocument("rivers.txt", "Rivers", AT),),
    unused_count=1,
    times=(StageTime("search", 3, 10, 20, 30, 40), StageTime("total", 3, 1200, 2000, 3000, 4000)),
    trust=(Trust(0.0, 0.5, 0, 1, 2), Trust(0.5, 1.0, 3, 0, 0)),
    tokens=(TokenUse(date(2026, 11, 20), "gguf:small.gguf", 1, 900, 20),),
    jobs=(JobCount("add", 3, 1, 0, 0, 1.25, 4.0),),
    failures=(JobFailure("add", "a.exe", "This kind of file is not read.", "Add PDF.", AT),),
)
MAP = CorpusMap(
    (Place("bridges.txt", "Bridges", 5, -1.0, 0.0, 0), Place("rivers.txt", "Rivers", 2, 1.0, 0.0, 1)),
    (("steel", "stone"), ("water",)),
    waiting=1,
)


class FakeInsights(InsightsService):
    """Says what it is told to say."""

    def __init__(self) -> None:
        self.found = NOTHING
        self.map = CorpusMap()
        self.asked: list[tuple[Any, ...]] = []

    def state(self) -> tuple[object, ...]:
        return (id(self.found),)

    def map_state(self) -> tuple[object, ...]:
        return (id(self.map),)

    def of(self, days: int | None = None, scope: Scope | None = None) -> Insights:
        self.asked.append((days, scope))
        return replace(self.found, days=days)

    def groups(self, questions: Sequence[NotFound]) -> tuple[QuestionGroup, ...]:
        return (QuestionGroup(tuple(questions[:2])), QuestionGroup(tuple(questions[2:]))) if questions else ()

    def corpus_map(self, scope: Scope | None = None) -> CorpusMap:
        return self.map
