"""What is found by a few letters of its name, for Ctrl+K and after an @: a route, and where each thing found leads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pages.parts import collections, conversations, language, resources, signing_in
from pages.parts.components import component
from pages.parts.language import _
from pages.parts.page_itself import places
from pages.parts.viewer import ROOM, answered
from rag_core.domain import Document
from rag_core.library import Library

MOST = 6
Found = dict[str, Any]
_WANTED = "finder_wanted"


def route() -> Route:
    """The address that finds; before those of the viewer, whose documents have no such id."""
    return Route(f"/{ROOM}/find", answered(_find))


def _find(request: Request, library: Library) -> Response:
    words, mention = request.query_params.get("q", "")[:100], "mention" in request.query_params
    return JSONResponse({"found": found(library, words, mention=mention)})


def found(library: Library, words: str, *, mention: bool) -> list[Found]:
    """What has all the words in its name, a few of each kind; for a `mention` what a question can name."""
    wanted = words.casefold().split()
    ready = [document for document in library.documents() if document.state == "ready"]
    kinds = [_documents(ready), _gathered(library), _tags(library), _sections(ready) if wanted else iter(())]
    if not mention:
        kinds.append(_conversations(library))
    fitting = (
        sorted((one for one in kind if _fits(one, wanted)), key=partial(_farness, wanted=wanted)) for kind in kinds
    )
    return list(chain.from_iterable(kind[:MOST] for kind in fitting))


def draw() -> None:
    """Mount what listens for Ctrl+K and the question mark, and go where was chosen last."""
    there = places(signing_in.is_apart())
    pages = [{"kind": "page", "id": "", "label": _("Library")}]
    pages += [{"kind": "page", "id": place, "label": _(title)} for place, title, _icon in there]
    with st.container(key="frame_finder"):
        component("finder")(
            key="frame_finder_part", data={"pages": pages, "chosen": language.chosen()}, on_go_change=_want
        )
    if wanted := st.session_state.pop(_WANTED, None):
        _go(wanted)


def _want() -> None:
    st.session_state[_WANTED] = st.session_state["frame_finder_part"]["go"]


def _go(wanted: Mapping[str, Any]) -> None:
    kind, known = str(wanted["kind"]), str(wanted["id"])
    if kind == "page":
        st.switch_page(f"pages/{known or 'upload'}.py")
    if kind in ("document", "section"):
        st.switch_page("pages/upload.py", query_params={"d": known, "p": str(wanted.get("page", 1))})
    if kind == "tag":
        st.switch_page("pages/upload.py", query_params={"q": known})
    if kind == "search":
        st.switch_page("pages/search.py", query_params={"q": known})
    if kind == "collection":
        collections.choose(next((one for one in resources.library().collections.all() if one.id == known), None))
        st.switch_page("pages/upload.py", query_params={"collection": known})
    conversations.show(known if kind == "conversation" else None)
    if kind == "ask":
        st.session_state["chat_asks"] = known
    st.switch_page("pages/chat.py", query_params={"c": known} if kind == "conversation" else {})


def _fits(one: Found, wanted: list[str]) -> bool:
    name = f"{one['label']} {one.get('also', '')}".casefold()
    return all(word in name for word in wanted)


def _farness(one: Found, wanted: list[str]) -> tuple[int, int]:
    """How many of the words begin none of the label's, and of the name's: what begins as one types comes first."""
    begun = (re.findall(r"\w+", said.casefold().replace("_", " ")) for said in (one["label"], one.get("also", "")))
    label, also = map(tuple, begun)
    return _unbegun(wanted, label), _unbegun(wanted, label + also)


def _unbegun(wanted: list[str], words: tuple[str, ...]) -> int:
    return sum(not any(word.startswith(typed) for word in words) for typed in wanted)


def _documents(ready: list[Document]) -> Iterator[Found]:
    for one in ready:
        yield {"kind": "document", "id": one.id, "label": one.title, "also": " ".join(one.sources)}


def _gathered(library: Library) -> Iterator[Found]:
    for one in library.collections.all():
        yield {"kind": "collection", "id": one.id, "label": one.name}


def _tags(library: Library) -> Iterator[Found]:
    names = {one.name for one in library.collections.all()}
    for tag, _often in library.catalogue.tags():
        if tag not in names:
            yield {"kind": "tag", "id": tag, "label": tag}


def _sections(ready: list[Document]) -> Iterator[Found]:
    for one in ready:
        for section in one.sections:
            yield {"kind": "section", "id": one.id, "page": section.page, "label": section.title, "of": one.title}


def _conversations(library: Library) -> Iterator[Found]:
    for one in library.conversations():
        yield {"kind": "conversation", "id": one.id, "label": one.title}
