"""Titles and tags on the library page."""

from __future__ import annotations

from dataclasses import replace

import pytest
import streamlit as st

from pages.parts import document_table, naming
from rag_core.domain import DocumentCard
from rag_core.errors import StoreUnavailable
from tests.pages.conftest import FakeLibrary, a_document
from tests.pages.test_pages import draw, said

CARD = DocumentCard("Tide tables 2022", "Veyra Ferry Company", "Runa Eide", "guide", "", 2022, "en")


def test_a_row_says_kind_and_year_and_the_title_that_was_found() -> None:
    line = document_table.row(a_document(title="My tides", card=CARD, tags=("sea", "work")))
    assert (line["about"], line["found"], line["tags"]) == ("guide · 2022", "Tide tables 2022", ["sea", "work"])
    found = document_table.row(a_document(title=CARD.title, card=CARD))
    assert (found["about"], found["found"]) == ("guide", ""), "the title says the year already"
    assert document_table.row(a_document())["about"] == ""


def test_the_filter_finds_by_card_and_tag(library: FakeLibrary) -> None:
    library.held = [a_document(f"document {number}.txt") for number in range(9)]
    library.held[0] = a_document("document 0.txt", card=CARD)
    library.held[1] = replace(library.held[1], tags=("work",))
    for wanted in ("ferry 2022 guide", "runa", "WORK"):
        test = draw("upload")
        test.text_input(key="upload_filter").set_value(wanted).run()
        assert "No document matches." not in said(test)


def test_tags_above_the_table_narrow_it(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    library.held = [a_document("a.txt", tags=("sea",)), a_document("b.txt", tags=("sea", "work")), a_document("c.txt")]
    drawn: list[list[str]] = []
    monkeypatch.setattr(document_table, "row", lambda document: drawn[-1].append(document.id) or {"id": document.id})
    drawn.append([])
    test = draw("upload")
    assert list(test.button_group(key="upload_tags").options) == ["sea", "work"]
    for chosen, shown in ((["work"], ["b.txt"]), (["sea"], ["a.txt", "b.txt"]), ([], ["a.txt", "b.txt", "c.txt"])):
        drawn.append([])
        test.button_group(key="upload_tags").set_value(chosen).run()
        assert drawn[-1] == shown


def test_what_a_click_asks_reaches_the_library(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, str] = {}
    monkeypatch.setattr(st, "session_state", state)
    library.held = [a_document()]
    naming.rename({"id": "bridges.txt", "title": "Mine"})
    naming.tag({"ids": ["bridges.txt"], "add": ["sea"]})
    naming.tag({"ids": ["bridges.txt"], "remove": ["sea"]})
    naming.rename(None)
    naming.tag(None)
    assert library.calls == [
        ("rename", ("bridges.txt", "Mine")),
        ("tag", (["bridges.txt"], ["sea"], [])),
        ("tag", (["bridges.txt"], [], ["sea"])),
    ]
    assert not state


def test_what_goes_wrong_is_said(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, str] = {}
    monkeypatch.setattr(st, "session_state", state)
    naming.tag({"ids": [], "add": [""]})
    assert "letters or figures" in state.pop("upload_problem")
    naming.rename({"id": "gone", "title": "x"})
    assert "no longer in the library" in state.pop("upload_problem")

    def broken(*_: object, **__: object) -> None:
        raise StoreUnavailable("PostgreSQL does not answer.")

    monkeypatch.setattr(library.catalogue, "tag", broken)
    monkeypatch.setattr(library.catalogue, "rename", broken)
    for act in (lambda: naming.tag({"ids": []}), lambda: naming.rename({"id": "x", "title": None})):
        act()
        assert "does not answer" in state.pop("upload_problem")


def test_an_opened_document_shows_its_card(library: FakeLibrary) -> None:
    library.held = [a_document(card=CARD, title="Tides")]
    text = said(draw("upload", d="bridges.txt"))
    assert "Runa Eide" in text
    assert "guide · 2022" in text
