"""What stands in each page's address, a frozen dataclass a page: it can be kept, sent to another tab, and reloaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Self

import streamlit as st

from rag_core.domain import Document, Scope

Value = str | tuple[str, ...]
_ID_CHARS = 12  # of a document's id


@dataclass(frozen=True)
class PageState:
    """Each field is a name in the address, of one value or, where it is a tuple, of any number."""

    @classmethod
    def parse(cls) -> Self:
        """What the address says now."""
        given = st.query_params
        kinds = {field.name: field.default for field in fields(cls)}
        return cls(**{
            name: tuple(given.get_all(name)) if first == () else given.get(name, first) for name, first in kinds.items()
        })  # fmt: skip

    @classmethod
    def write(cls, **values: Value) -> None:
        """Put these into the address. What is as always is left out; what is not named stays."""
        firsts = {field.name: field.default for field in fields(cls)}
        for name, value in values.items():
            if value == firsts[name]:
                st.query_params.pop(name, None)
            else:
                st.query_params[name] = value if isinstance(value, str) else list(value)


@dataclass(frozen=True)
class CollectionState(PageState):
    """The id of the collection that is looked at, on any page; none is the whole library."""

    collection: str = ""


@dataclass(frozen=True)
class ChatState(PageState):
    """The conversation; none is one not yet begun."""

    c: str = ""


@dataclass(frozen=True)
class LibraryState(PageState):
    """The document that is opened, and its page; and what the list is narrowed to, by words, state, kind and folder."""

    d: str = ""
    p: str = "1"
    q: str = ""
    state: str = ""
    kind: str = ""
    folder: str = ""

    @property
    def page(self) -> int:
        """The page, from 1 on."""
        return max(int(self.p), 1) if self.p.isdecimal() else 1


@dataclass(frozen=True)
class _Scoped(PageState):
    """What is narrowed to. Documents stand there with the beginnings of their ids."""

    document: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    year: tuple[str, ...] = ()
    section: tuple[str, ...] = ()
    folder: tuple[str, ...] = ()
    since: str = ""
    until: str = ""

    def scope(self, documents: Sequence[Document]) -> Scope:
        """It as a scope, of documents that are there."""
        beginnings = tuple(begin for begin in self.document if len(begin) == _ID_CHARS) or ("\0",)
        return Scope(
            documents=tuple(document.id for document in documents if document.id.startswith(beginnings)),
            tags=self.tag, years=tuple(int(year) for year in self.year if year.isdecimal() and len(year) == 4),
            sections=self.section, folders=self.folder, added_since=_day(self.since), added_until=_day(self.until),
        )  # fmt: skip

    @classmethod
    def narrow(cls, scope: Scope) -> None:
        """Put a scope into the address."""
        cls.write(
            document=tuple(document_id[:_ID_CHARS] for document_id in scope.documents), tag=scope.tags,
            year=tuple(map(str, scope.years)), section=scope.sections, folder=scope.folders,
            since=scope.added_since.isoformat() if scope.added_since else "",
            until=scope.added_until.isoformat() if scope.added_until else "",
        )  # fmt: skip


@dataclass(frozen=True)
class SearchState(_Scoped):
    """The question, the way of searching, and where."""

    q: str = ""
    by: str = "auto"


@dataclass(frozen=True)
class InsightsState(_Scoped):
    """The period, the chart, and what is counted."""

    days: str = ""
    view: str = ""


@dataclass(frozen=True)
class EvaluationState(PageState):
    """The question set, whether its questions or its runs are looked at, the runs, and which question of them.

    `measured` says whether runs are to be begun with answers.
    """

    set: str = ""
    view: str = "runs"
    runs: str = ""
    question: str = ""
    measured: str = ""

    @property
    def run_ids(self) -> list[str]:
        """The runs that are to be looked at; none where nobody chose any."""
        return [run_id for run_id in self.runs.split(",") if run_id]


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
