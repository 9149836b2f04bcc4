"""A document's guide: five lines, its main figures, its outline, and questions that it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pages.parts import asking_of, formatting, reading, resources
from pages.parts.components import component
from pages.parts.language import _
from pages.parts.refreshing import anew, fragment
from rag_core.domain import Document, Guide, GuideLine, Scope
from rag_core.library import Library

LOOK_AGAIN_S = 1.0
_SECTIONS = 12
_LINE_CHARS = 300


def draw(library: Library, document: Document, page: int) -> None:
    """All of it; what has to be looked for first is drawn once it is found."""
    looking = _found(library, document) is None or _questions(library, document) is None
    # Always a fragment, so that what it draws late has its place on the page.
    with st.container(key="upload_guide"):
        fragment(_of_text, LOOK_AGAIN_S if looking else None)(library, document, looking)
    if document.sections:
        st.markdown(_("### Outline"))
        reading.outline(library, document, page, _SECTIONS)


def _of_text(library: Library, document: Document, looking: bool) -> None:
    """What was found in its text; the page is drawn anew where something of it was clicked, or nothing more comes."""
    found, asked = _found(library, document), _questions(library, document)
    if found is None or asked is None:
        st.caption(
            _("Looking for questions that it answers.") if found else _("Looking for its main lines and figures.")
        )
    if found is not None:
        place = reading.places(library, document)
        _lines(_("In a few lines"), "upload_guide_lines", found.lines, place)
        _lines(_("Main figures"), "upload_guide_figures", found.figures, place)
    if asked:
        st.markdown(_("### Questions it answers"))
        for number, question in enumerate(asked):
            st.button(
                formatting.plain(question), icon=":material/north_east:", key=f"upload_guide_ask_{number}",
                type="tertiary", on_click=asking_of.want, args=((document.id,), question),
            )  # fmt: skip
    opened = st.session_state.pop("upload_guide_opened", False)
    if opened or asking_of.is_wanted():
        st.rerun()
    if looking and found is not None and asked is not None:
        anew()


def _found(library: Library, document: Document) -> Guide | None:
    return resources.guides().get(document.id, lambda: library.guides.of(document), Guide())


def _questions(library: Library, document: Document) -> list[str] | None:
    ready = [one for one in library.documents() if one.state == "ready"]
    return resources.suggestions().of(ready, Scope(documents=(document.id,)), ())


def _lines(title: str, key: str, lines: Sequence[GuideLine], place: Callable[[int], str]) -> None:
    if not lines:
        return
    st.markdown(f"### {title}")
    rows = [
        {
            "name": formatting.shorten(line.text, _LINE_CHARS),
            "level": 0,
            "place": place(line.page),
            "page": line.page,
            "here": False,
            "open": [line.page, line.start, line.end],
        }
        for line in lines
    ]
    component("outline")(key=key, data={"rows": rows, "empty": ""}, on_open_change=lambda: _open(key))


def _open(key: str) -> None:
    reading.open_place(key)
    st.session_state["upload_guide_opened"] = True
