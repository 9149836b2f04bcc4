"""What takes a moment to count is kept until something is asked, rated, added or done."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from pages.parts import resources
from pages.parts.language import cached
from rag_core.domain import CorpusMap, Drawing, Insights, QuestionGroup, Scope


class Asked(NamedTuple):
    """What the page is asked for. `state` tells the library as it is now and whose it is, and the day, from others."""

    days: int | None
    scope: Scope
    state: tuple[object, ...]


def now(days: int | None, scope: Scope) -> Asked:
    """A wish for the numbers as they are."""
    return Asked(days, scope, (date.today(), *resources.library().insights.state()))


@cached("Counting", max_entries=12)
def insights(asked: Asked) -> Insights:
    """The numbers."""
    return resources.library().insights.of(asked.days, asked.scope)


@cached("Comparing questions", max_entries=12)
def groups(asked: Asked) -> tuple[QuestionGroup, ...]:
    """Questions that found nothing, by meaning."""
    return resources.library().insights.groups(insights(asked).not_found)


@cached("Drawing", max_entries=24)
def drawings(asked: Asked, grouped: bool) -> dict[str, Drawing]:
    """The charts by key; that of questions not found only if they are to be `grouped`."""
    made = resources.library().insights.drawings(insights(asked), groups(asked) if grouped else ())
    return {drawing.key: drawing for drawing in made}


def corpus_map(scope: Scope) -> CorpusMap:
    """The map of the documents in scope, which no question and no period changes."""
    return _corpus_map(scope, resources.library().insights.map_state())


@cached("Drawing the map", max_entries=6)
def _corpus_map(scope: Scope, state: tuple[object, ...]) -> CorpusMap:
    return resources.library().insights.corpus_map(scope)
