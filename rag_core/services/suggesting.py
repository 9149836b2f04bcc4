"""Questions to begin with: drafted from the documents, or given, and only those that the library answers right."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import islice

from rag_core.domain import Answer, DocumentFilter, Question, Scope
from rag_core.evaluation.drafting.draft import draft_from
from rag_core.services.questions import QuestionService
from rag_core.settings import Settings
from rag_core.storage import Storage

LEAST_CONFIDENCE = 0.7
"""What the page calls high."""
MOST_TRIED = 16
_KEPT = "suggestions"
_STATES_KEPT = 8
_NO_TELLING = "about “"  # what is said below a heading is too much for a good first answer


def suggestions(
    storage: Storage, asking: QuestionService, settings: Settings, given: Sequence[Question], scope: Scope, limit: int
) -> list[str]:
    """At most `limit` questions, those given first. Kept for as long as the documents that are seen,
    chunking and scope are the same."""
    seen = set(storage.documents.ids(DocumentFilter(state="ready", viewer=scope.viewer)))
    ready = sorted(one for one in storage.documents.ready_ids().items() if one[0] in seen)
    state = _hash([ready, settings.chunking.key, repr(scope), [one.id for one in given], limit])
    kept = _load(storage)
    if state not in kept:
        drafts = islice(_drafts(storage, given, scope, state), MOST_TRIED)
        right = (one.text for one in drafts if is_right(asking.quoted(one.text, scope), one.references))
        kept[state] = list(islice(right, limit))
        newest = dict(list(kept.items())[-_STATES_KEPT:])
        storage.conversations.set_preference(_KEPT, json.dumps(newest))
    return kept[state]


def is_right(answer: Answer, references: Sequence[str]) -> bool:
    """Whether an answer is sure of itself and holds one of the right answers, letter by letter, in any case."""
    said = _plain(answer.text)
    sure = not answer.abstained and answer.confidence >= LEAST_CONFIDENCE
    return sure and any(_plain(reference) in said for reference in references)


def _drafts(storage: Storage, given: Sequence[Question], scope: Scope, state: str) -> Iterator[Question]:
    """Those given, then drafts by rules, one document after the other in an order by chance."""
    yield from given
    seen = storage.documents.listed(DocumentFilter(state="ready", viewer=scope.viewer))
    inside = [
        item for item in seen if (not scope.documents or item.id in scope.documents)
        and (not scope.tags or not set(item.tags).isdisjoint(scope.tags))
    ]  # fmt: skip
    drafts = draft_from(inside, storage.documents.pages, MOST_TRIED * 2, seed=int(state[:8], 16))
    yield from (one for one in drafts if _NO_TELLING not in one.text)


def _load(storage: Storage) -> dict[str, list[str]]:
    try:
        kept = json.loads(storage.conversations.preference(_KEPT) or "{}")
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) else {}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _hash(state: object) -> str:
    return hashlib.md5(json.dumps(state).encode(), usedforsecurity=False).hexdigest()
