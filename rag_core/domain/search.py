"""What is searched, what a question means, and what a search did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

QuestionKind = Literal["fact", "comparison", "list", "definition", "summary"]
SearchMode = Literal["auto", "hybrid", "dense", "lexical", "clusters", "scaler"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What is searched. Each filter that is not empty narrows it; the values of one filter are alternatives.

    documents: ids. tags: as put on documents. folders: beginnings of a source's path. sections: titles, numbers
    of headings, or what such sections are commonly called ("Methods"), each with what stands below it. years: of the
    documents' cards. added_since, added_until: days of adding, both included. sealed: whoever asks may learn nothing of
    what is outside, not even which words it has. viewer: the person who asks, of what they may see; "" for whoever sees
    the whole library.
    """

    documents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    added_since: date | None = None
    added_until: date | None = None
    sealed: bool = False
    viewer: str = ""

    def __bool__(self) -> bool:
        filters = (self.documents, self.tags, self.folders, self.sections, self.years, self.viewer)
        return any(filters) or self.added_since is not None or self.added_until is not None


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents with one tag, `name`, and the conversations that were begun about them.

    instructions: what a language model is told besides, whenever these are asked. settings: of search, by their names,
    {"retrieval.k": 10}, in the place of the library's. documents: how many there are. owner: the person whose it is, ""
    where it is everybody's.
    """

    id: str
    name: str
    instructions: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    documents: int = 0
    owner: str = ""


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Which documents are listed; what is left empty leaves all.

    seen: tags of which each has any, in any case. tags: those that each has all of. words: those that stand in title or
    sources. media_type: its beginning. ids: None for all. viewer: the person who may see them, "" for whoever sees all.
    """

    seen: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    state: str | None = None
    year: int | None = None
    words: tuple[str, ...] = ()
    media_type: str = ""
    ids: tuple[str, ...] | None = None
    viewer: str = ""


@dataclass(frozen=True, slots=True)
class Understood:
    """What a question was taken to mean. `documents` are the ids of those it names, with how surely, 0..1."""

    kind: QuestionKind = "fact"
    names: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    documents: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Considered:
    """A chunk that was a candidate. `scores` by what gave them, those that it had: "dense", "lexical", "fused",
    "cross_encoder", "rerank", "mmr" and their like.

    `outcome` is "passage", or what left it out: "rank", "mmr", "similar", "threshold", "budget".
    """

    chunk_id: str
    title: str
    page: int
    section: str
    scores: Mapping[str, float]
    outcome: str
    page_label: str = ""


@dataclass(frozen=True, slots=True)
class Searched:
    """ "What was searched": what a search covered, and what became of each candidate, best first."""

    mode: str = ""
    scope: Scope = Scope()
    understood: Understood = Understood()
    documents: int = 0
    chunks: int = 0
    candidates: tuple[Considered, ...] = ()
    expansion: str = ""
    latency_ms: Mapping[str, float] = field(default_factory=dict)
