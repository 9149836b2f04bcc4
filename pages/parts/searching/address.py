"""What is searched for, as it stands in the address: a search can be kept, sent to another tab, and reloaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

import streamlit as st

from rag_core.domain import Document, Scope

_ID_CHARS = 12  # of a document's id


def question() -> str:
    """The question in the address."""
    return st.query_params.get("q", "")


def mode() -> str:
    """The mode in the address."""
    return st.query_params.get("by", "auto")


def scope(documents: Sequence[Document]) -> Scope:
    """What the address narrows the search to. Documents stand there with the beginnings of their ids."""
    beginnings = tuple(begin for begin in st.query_params.get_all("document") if len(begin) == _ID_CHARS)
    return Scope(
        documents=tuple(document.id for document in documents if document.id.startswith(beginnings or ("\0",))),
        tags=tuple(st.query_params.get_all("tag")),
        years=tuple(int(year) for year in st.query_params.get_all("year") if year.isdecimal() and len(year) == 4),
        sections=tuple(st.query_params.get_all("section")),
        folders=tuple(st.query_params.get_all("folder")),
        added_since=_day("since"),
        added_until=_day("until"),
    )


def write(question: str, mode: str, scope: Scope) -> None:
    """Put a search into the address; what is as always is left out."""
    _put({"q": question, "by": mode if mode != "auto" else ""})
    write_scope(scope)


def write_scope(scope: Scope) -> None:
    """Put into the address what is looked at."""
    values: dict[str, str | list[str]] = {
        "document": [document_id[:_ID_CHARS] for document_id in scope.documents],
        "tag": list(scope.tags),
        "year": [str(year) for year in scope.years],
        "section": list(scope.sections),
        "folder": list(scope.folders),
        "since": scope.added_since.isoformat() if scope.added_since else "",
        "until": scope.added_until.isoformat() if scope.added_until else "",
    }
    _put(values)


def _put(values: Mapping[str, str | list[str]]) -> None:
    for name, value in values.items():
        if value:
            st.query_params[name] = value
        else:
            st.query_params.pop(name, None)


def _day(name: str) -> date | None:
    try:
        return date.fromisoformat(st.query_params.get(name, ""))
    except ValueError:
        return None
