"""What is searched: documents, tags, years, sections, folders and days of adding, for a search or a conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import PurePath
from typing import Any, Literal

import streamlit as st

from pages.parts import formatting
from pages.parts.language import _, msgid
from rag_core.domain import Document, Scope
from rag_core.library import Library

EVERYTHING = msgid("All documents")
SECTIONS = 500
DAYS = {"added_since": msgid("Added from"), "added_until": msgid("Added to")}
_EARLIEST = date(2000, 1, 1)  # offered; the calendar's list of years begins there
_LABEL_CHARS = 48
_FEW = 3  # documents, whose sections are offered without one being chosen
Change = Callable[[Scope], None]


def choose(
    library: Library,
    documents: Sequence[Document],
    page: str,
    scope: Scope,
    on_change: Change,
    *,
    type: Literal["secondary", "tertiary"] = "secondary",
) -> None:
    """A button that says what is searched and opens the filters; `on_change` takes what they then say.

    The keys of the filters begin with `page`.
    """
    titles = _titles(documents)
    edition = _edition(page, scope)
    filters: dict[str, tuple[str, Sequence[Any], Callable[[Any], str]]] = {
        "documents": (_("Documents"), list(titles), lambda key: titles.get(key, _("A removed document"))),
        "tags": (_("Tags"), [tag for tag, _ in library.catalogue.tags()], str),
        "years": (_("Years"), _years(documents), str),
        "sections": (_("Sections"), _sections(documents, scope), str),
        "folders": (_("Folders"), _folders(documents), str),
    }
    with st.popover(label(scope, titles), icon=":material/filter_list:", key=f"{page}_scope_menu", type=type):
        for name, (title, options, shown) in filters.items():
            chosen = list(getattr(scope, name))
            every = [*options, *(value for value in chosen if value not in options)]
            if every:
                key = _key(page, name, edition)
                st.session_state[key] = chosen
                st.multiselect(
                    title, every, key=key, format_func=shown, placeholder=_("All"), on_change=_changed,
                    args=(page, edition, name, scope, on_change),
                )  # fmt: skip
            elif name == "sections" and not scope.documents and len(documents) > _FEW:
                st.caption(_("Choose a document, and its sections can be chosen too."))
        with st.container(horizontal=True, gap="small"):
            for name, title in DAYS.items():
                key, day = _key(page, name, edition), getattr(scope, name)
                st.session_state[key] = day
                st.date_input(
                    _(title), value=None, key=key, format="YYYY-MM-DD", on_change=_changed,
                    min_value=min(_EARLIEST, day or _EARLIEST), max_value=max(date.today(), day or _EARLIEST),
                    args=(page, edition, name, scope, on_change),
                )  # fmt: skip
        if scope:
            st.button(
                _(EVERYTHING), icon=":material/close:", key=f"{page}_scope_all", on_click=on_change, args=(Scope(),)
            )


def label(scope: Scope, titles: Mapping[str, str] | None = None) -> str:
    """The same as `in_words` on a button, whose label is read as Markdown."""
    return formatting.plain(formatting.shorten(in_words(scope, titles), _LABEL_CHARS))


def in_words(scope: Scope, titles: Mapping[str, str] | None = None) -> str:
    """`All documents`, `3 documents`, the title of the only one, `2 tags · 2020`."""
    parts = [
        _documents_words(scope.documents, titles or {}),
        _some(scope.tags, formatting.count(len(scope.tags), "tag")),
        _some(scope.years, formatting.count(len(scope.years), "year")),
        _some(scope.sections, formatting.count(len(scope.sections), "section")),
        formatting.count(len(scope.folders), "folder") if scope.folders else "",
        _("since {day}").format(day=scope.added_since) if scope.added_since else "",
        _("until {day}").format(day=scope.added_until) if scope.added_until else "",
    ]
    return " · ".join(part for part in parts if part) or _(EVERYTHING)


def _documents_words(ids: Sequence[str], titles: Mapping[str, str]) -> str:
    if len(ids) == 1 and ids[0] in titles:
        return titles[ids[0]]
    return formatting.count(len(ids), "document") if ids else ""


def _some(values: Sequence[object], counted: str) -> str:
    """Two of them by name, more as a number."""
    return ", ".join(map(str, values)) if len(values) < 3 else counted


def _edition(page: str, scope: Scope) -> int:
    """Counts how often the scope was changed elsewhere: by a name in a question, in another tab, by another page.

    The browser does not take a new value into filters whose popover is closed, and sends the old one as if it had been
    chosen. Filters with other keys are new to it.
    """
    drawn, edition = st.session_state.get(f"{page}_scope_drawn", (scope, 0))
    edition += drawn != scope
    st.session_state[f"{page}_scope_drawn"] = (scope, edition)
    return int(edition)


def _changed(page: str, edition: int, name: str, scope: Scope, on_change: Change) -> None:
    if st.session_state[f"{page}_scope_drawn"][1] != edition:
        return  # filters that are gone, of which the browser does not know yet
    chosen = st.session_state[_key(page, name, edition)]
    values: Any = {name: chosen if name in DAYS else tuple(chosen)}
    changed = replace(scope, **values)
    st.session_state[f"{page}_scope_drawn"] = (changed, edition)
    on_change(changed)


def _key(page: str, name: str, edition: int) -> str:
    return f"{page}_in_{name}_{edition}"


def _titles(documents: Sequence[Document]) -> dict[str, str]:
    """The documents by title, namesakes with their file's name."""
    often = Counter(document.title for document in documents)
    return {
        document.id: document.title
        if often[document.title] == 1
        else f"{document.title} ({PurePath(next(iter(document.sources), document.id[:8])).name})"
        for document in sorted(documents, key=lambda document: document.title.casefold())
    }


def _years(documents: Sequence[Document]) -> list[int]:
    """The years that documents are about, or else of, the latest first."""
    return sorted({document.year for document in documents if document.year}, reverse=True)


def _sections(documents: Sequence[Document], scope: Scope) -> list[str]:
    """Sections of the documents in question; of many documents they would be a list without end."""
    inside = [document for document in documents if document.id in scope.documents]
    if not inside and len(documents) <= _FEW:
        inside = list(documents)
    return list(dict.fromkeys(section.title for document in inside for section in document.sections))[:SECTIONS]


def _folders(documents: Sequence[Document]) -> list[str]:
    sources = (PurePath(source) for document in documents for source in document.sources)
    return sorted({str(source.parent) for source in sources if source.parent != PurePath()})
