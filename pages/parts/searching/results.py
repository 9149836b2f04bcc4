"""The hits of a search as a list: page picture, title, place, the passage with the question's words marked."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages.parts import formatting, resources, searched
from pages.parts.components import component
from pages.parts.language import _, figure, ngettext, server_text
from pages.parts.refreshing import anew, fragment
from pages.parts.searching.line import Wanted, narrow
from pages.parts.searching.snippets import plain, snippet
from rag_core.domain import Document, Hit, Scope
from rag_core.library import Library

REFRESH_S = 0.4
PICTURES = 20


def draw(library: Library, documents: Sequence[Document], wanted: Wanted) -> None:
    """Search, and draw what was found."""
    found = library.retrieve(wanted.question, k=wanted.k, scope=wanted.scope, mode=wanted.mode)
    hits = _sorted(found.hits, wanted.sort)
    for note in found.trace.notes:  # first: that no document holds a word makes the rest what comes nearest
        st.caption(f":material/info: {formatting.plain(server_text(note))}")
    if hits:
        _heading(hits, found.trace.latency_ms)
        _list(hits)
    else:
        _nothing(wanted)
    if found.trace.searched is not None:
        with st.expander(_("What was searched"), icon=":material/manage_search:", key="search_searched"):
            searched.draw(found.trace, documents, "search")


def rows(hits: Sequence[Hit], pictures: Sequence[bytes | None] = (), *, compact: bool = False) -> list[dict[str, Any]]:
    """Hits as the component takes them. `pictures` are PNG, one for each hit, or none at all."""
    opened = st.session_state.get("search_opened")
    shown = []
    for number, hit in enumerate(hits):
        text, marks = snippet(*plain(hit), 180 if compact else 320)
        png = pictures[number] if number < len(pictures) else None
        shown.append(
            {
                "id": hit.chunk_id,
                "number": number + 1,
                "title": hit.document.title,
                "place": formatting.page(hit.page, hit.page_label),
                "section": hit.section,
                "text": text,
                "marks": marks,
                "compact": compact,
                "scores": " · ".join(
                    f"{searched.score_name(name)} {figure(value, '.2f')}" for name, value in hit.scores.items()
                ),
                "similar": ngettext("{number} passage much like this", "{number} passages much like this", hit.similar)
                if hit.similar
                else "",
                "picture": base64.b64encode(png).decode("ascii") if png else "",
                "active": opened is not None and opened["chunk"] == hit.chunk_id,
            }
        )
    return shown


def act_on(key: str, hits: Sequence[Hit]) -> None:
    """Do what was clicked in a list: open a page, ask about a document, or search in it alone."""
    state = st.session_state[key]
    clicked = state.get("open") or state.get("ask") or state.get("only")
    hit = next((hit for hit in hits if hit.chunk_id == clicked), None)
    if hit is None:
        return
    if state.get("open"):
        st.session_state["search_opened"] = {
            "chunk": hit.chunk_id, "document": hit.document.id, "page": hit.page, "start": hit.start, "end": hit.end,
            "section": hit.section,
        }  # fmt: skip
    elif state.get("ask"):
        st.session_state["search_ask"] = hit.document.id
    else:
        narrow(Scope(documents=(hit.document.id,)))
    st.session_state["search_whole_page"] = True


def _sorted(hits: Sequence[Hit], sort: str) -> list[Hit]:
    if sort == "document":
        return sorted(hits, key=lambda hit: (hit.document.title.casefold(), hit.document.id, hit.index))
    if sort == "newest":
        return sorted(hits, key=_added, reverse=True)
    return list(hits)


def _nothing(wanted: Wanted) -> None:
    st.markdown(_("**Nothing was found.**"))
    if wanted.scope:
        st.button(_("Search all documents"), key="search_widen", on_click=narrow, args=(Scope(),))
    else:
        st.caption(_("Try other words, or fewer of them."))


def _added(hit: Hit) -> float:
    return hit.document.added_at.timestamp() if hit.document.added_at else 0.0


def _heading(hits: Sequence[Hit], latency_ms: Any) -> None:
    documents = len({hit.document.id for hit in hits})
    took = f", {figure(sum(latency_ms.values()), ',.0f')} ms" if latency_ms else ""
    found = _("{passages} from {documents}").format(
        passages=formatting.count(len(hits), "passage"), documents=formatting.count(documents, "document")
    )
    st.caption(f"{found}{took}")


def _list(hits: Sequence[Hit]) -> None:
    pictures = resources.thumbnails()
    wanted = [(hit.document.id, hit.page) for hit in hits[:PICTURES] if hit.document.has_page_images]
    pictures.ask(wanted)
    fragment(_draw_list, REFRESH_S if pictures.missing(wanted) else None)(hits, wanted)


def _draw_list(hits: Sequence[Hit], wanted: Sequence[tuple[str, int]]) -> None:
    """Drawn at once; the pictures come in while it is read, and then it rests."""
    pictures = resources.thumbnails()
    waiting = bool(pictures.missing(wanted))
    data = {"rows": rows(hits, [pictures.get((hit.document.id, hit.page)) for hit in hits])}
    act = partial(act_on, "search_results", hits)
    component("results")(key="search_results", data=data, on_open_change=act, on_ask_change=act, on_only_change=act)
    was_waiting = st.session_state.get("search_pictures_waiting", False)
    st.session_state["search_pictures_waiting"] = waiting
    if st.session_state.pop("search_whole_page", False):
        st.rerun()
    if was_waiting and not waiting:
        anew()
