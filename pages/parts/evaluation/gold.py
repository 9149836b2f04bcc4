"""Where a right answer stands, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import streamlit as st

from pages.parts import formatting
from pages.parts.language import _, msgid, ngettext
from rag_core.domain import Document, Gold, Question

ORIGINS = {
    "typed": msgid("typed in"),
    "uploaded": msgid("uploaded"),
    "drafted": msgid("drafted"),
    "asked": msgid("asked before"),
    "sample": msgid("sample"),
}
EXCERPT_CHARS = 400


def ids(documents: Sequence[Document]) -> dict[str, str]:
    """The ids of documents by all the names that a place may give them: id, title, sources."""
    named = {name.casefold(): item.id for item in documents for name in (*item.sources, item.title)}
    return named | {item.id: item.id for item in documents}


def titles(documents: Sequence[Document]) -> dict[str, str]:
    """What documents are called, by all their names."""
    called = {item.id: item.title or next(iter(item.sources), _("Untitled")) for item in documents}
    return {name: called[document_id] for name, document_id in ids(documents).items()}


def place(gold: Gold, titles: Mapping[str, str]) -> str:
    """`Handbook, p. 9`."""
    title = formatting.shorten(titles.get(gold.document.casefold(), gold.document), 60)
    return f"{title}, {formatting.page(gold.page)}".replace("p. ", "p.\u00a0") if gold.page else title


def summary(question: Question, titles: Mapping[str, str]) -> str:
    """What is known of a question's answer, in one line."""
    if not question.answerable:
        return _("not in the library")
    if question.gold:
        first, *others = (place(gold, titles) for gold in question.gold)
        return (
            f"{first} {ngettext('and {number} other place', 'and {number} other places', len(others))}"
            if others
            else first
        )
    return _("an answer, no place") if question.references else _("nothing known")


def reference(question: Question, titles: Mapping[str, str]) -> None:
    """The right answers and the places where they stand."""
    with st.container(key=f"evaluation_reference_{question.id}", gap="xsmall"):
        if not question.answerable:
            st.caption(_("The library holds no answer: to say so is right."))
        if question.references:
            st.caption(_("Right answer") if len(question.references) == 1 else _("Right answers, each of them alone"))
        for answer in question.references:
            st.text(answer)
        for gold in question.gold:
            st.caption(f":material/menu_book: {formatting.plain(place(gold, titles))}")
            if gold.excerpt and gold.excerpt not in question.references:
                st.text(f"“{formatting.shorten(gold.excerpt, EXCERPT_CHARS)}”")


def marks(text: str, excerpts: list[str]) -> list[tuple[int, int]]:
    """Where excerpts stand in a text, whatever its white space; spans that do not overlap, in order."""
    found = []
    for excerpt in excerpts:
        parts = [re.escape(part) for part in excerpt.split()]
        if parts and (match := re.search(r"\s+".join(parts), text)):
            found.append(match.span())
    spans: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if not spans or start >= spans[-1][1]:
            spans.append((start, end))
    return spans
