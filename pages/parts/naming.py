"""What documents are called: titles that are changed where they stand, and tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts import formatting, resources
from pages.parts.components import component
from pages.parts.language import _, server_text
from rag_core.domain import Document
from rag_core.errors import LecternError


def heading(document: Document, known: Sequence[str]) -> None:
    """A document's title as a heading, with its tags; both can be changed. `known`: the library's tags."""
    data = {
        "id": document.id, "title": document.title, "found": found(document), "tags": list(document.tags),
        "known": list(known),
    }  # fmt: skip
    component("naming")(
        key="upload_naming",
        data=data,
        on_rename_change=lambda: rename(st.session_state["upload_naming"]["rename"]),
        on_tag_change=lambda: tag(st.session_state["upload_naming"]["tag"]),
    )
    problem()


def found(document: Document) -> str:
    """The title that was found in a document, where its user calls it otherwise; else "" ."""
    return document.card.title if document.card and document.card.title != document.title else ""


def about(document: Document) -> str:
    """`invoice · 2023`: the kind and the period or year, as far as they are known and not in the title already."""
    card = document.card
    if card is None:
        return ""
    parts = [card.kind, card.period or str(card.year or "")]
    return " · ".join(part for part in parts if part and part.casefold() not in document.title.casefold())


def organisation(document: Document) -> str:
    """Who published it, where neither its title nor its authors say so already; else ""."""
    name = document.card.organisation if document.card else ""
    return "" if name.casefold() in f"{document.title}\n{document.authors}".casefold() else name


def rename(wanted: Mapping[str, Any] | None) -> None:
    """Take a title from a component: `id`, and `title` or None for the one that was found."""
    if not wanted:
        return
    try:
        resources.library().catalogue.rename(wanted["id"], wanted["title"])
    except KeyError:
        st.session_state["upload_problem"] = _("This document is no longer in the library.")
    except LecternError as error:
        tell(error)


def tag(wanted: Mapping[str, Any] | None) -> None:
    """Put tags on documents, or take them off, as a component asks: `ids`, `add` or `remove`."""
    if not wanted:
        return
    try:
        resources.library().catalogue.tag(wanted["ids"], add=wanted.get("add", ()), remove=wanted.get("remove", ()))
    except ValueError as error:
        st.session_state["upload_problem"] = server_text(str(error))
    except LecternError as error:
        tell(error)


def tell(error: LecternError) -> None:
    """Have an error said below, once."""
    st.session_state["upload_problem"] = f"{server_text(str(error))} {server_text(error.help)}"


def problem() -> None:
    """Say what went wrong with the last click, if anything."""
    if said := st.session_state.pop("upload_problem", None):
        st.markdown(f":red[:material/error:] {formatting.plain(said)}")
