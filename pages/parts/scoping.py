"""What is searched: the choice of documents, tags, years, sections and folders, for a search and for a conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.parts import words
from rag_core.domain import Document, Scope

if TYPE_CHECKING:
    from rag_core.library import Library

_FILTERS = ("documents", "tags", "years", "sections", "folders")


def choose(library: Library, documents: Sequence[Document], page: str, kept: Scope | None = None) -> Scope:
    """A button that says what is searched and opens the filters. Values live under keys that begin with `page`.

    `kept` is what a conversation was narrowed to; it is taken over when the filters have not been touched.
    """
    scope = _now(page, kept or Scope())
    with st.popover(label(scope), icon=":material/filter_alt:", key=f"{page}_scope"):
        titles = {document.id: document.title for document in documents}
        _many("Documents", page, "documents", list(titles), scope, lambda key: titles.get(key, "A removed document"))
        _many("Tags", page, "tags", [tag for tag, _ in library.tags()], scope)
        _many("Years", page, "years", sorted({item.year for item in documents if item.year}, reverse=True), scope)
        _many("Sections", page, "sections", _sections(documents, scope), scope)
        _many("Folders", page, "folders", _folders(documents), scope)
        if scope:
            st.button(
                "Search everything", icon=":material/close:", key=f"{page}_scope_all", on_click=clear, args=(page,)
            )
    return _now(page, kept or Scope())


def label(scope: Scope) -> str:
    """`All documents`, `3 documents`, `2 tags · 2020`."""
    parts = [
        words.count(len(scope.documents), "document") if scope.documents else "",
        words.plain(", ".join(scope.tags)) if len(scope.tags) < 3 else words.count(len(scope.tags), "tag"),
        ", ".join(map(str, scope.years)) if len(scope.years) < 3 else words.count(len(scope.years), "year"),
        words.count(len(scope.sections), "section") if scope.sections else "",
        words.count(len(scope.folders), "folder") if scope.folders else "",
    ]
    return " · ".join(part for part in parts if part) or "All documents"


def narrow(page: str, scope: Scope) -> None:
    """Search no more than that from now on."""
    for name in _FILTERS:
        st.session_state[f"{page}_in_{name}"] = list(getattr(scope, name))


def clear(page: str) -> None:
    """Search everything again."""
    narrow(page, Scope())


def _many(
    title: str, page: str, name: str, options: Sequence[Any], scope: Scope, shown: Callable[[Any], str] = str
) -> None:
    chosen = list(getattr(scope, name))
    every = [*options, *(value for value in chosen if value not in options)]
    if every:
        key = f"{page}_in_{name}"
        st.session_state[key] = chosen
        st.multiselect(title, every, key=key, format_func=shown, placeholder="All")


def _now(page: str, kept: Scope) -> Scope:
    values = {name: tuple(st.session_state.get(f"{page}_in_{name}", getattr(kept, name))) for name in _FILTERS}
    return Scope(**values)


def _sections(documents: Sequence[Document], scope: Scope) -> list[str]:
    """Sections of the documents in question, of a few documents alone: those of all would be a list without end."""
    inside = [document for document in documents if document.id in scope.documents] or documents[:1]
    return list(dict.fromkeys(section.title for document in inside for section in document.sections))


def _folders(documents: Sequence[Document]) -> list[str]:
    sources = (PurePath(source) for document in documents for source in document.sources)
    return sorted({str(source.parent) for source in sources if source.parent != PurePath()})
