"""The search page and the scope of a conversation, drawn by AppTest over a played library."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.parts import chat_widget, resources, scoping, searched
from pages.parts.searching import results, snippets
from rag_core.domain import Considered, DocumentCard, Message, Scope, Section, StreamEvent, Understood
from rag_core.errors import InvalidQuestion
from tests.pages.conftest import NOW, FakeLibrary, a_document, a_hit, a_search, an_answer
from tests.pages.test_pages import draw, said

ROADS = a_document("roads.txt", year=2019, tags=("travel",))
BRIDGES = a_document(year=1999, card=DocumentCard("Bridges", year=2020))


@pytest.fixture
def held(library: FakeLibrary) -> FakeLibrary:
    library.held = [BRIDGES, ROADS, a_document("failed.txt", state="failed")]
    library.found = [a_hit(), a_hit(ROADS, chunk_id="roads.txt:3", similar=2)]
    return library


def asked(library: FakeLibrary) -> list[tuple[str, dict[str, Any]]]:
    return [call for name, call in library.calls if name == "retrieve"]


def plain(test: AppTest) -> str:
    return said(test).replace("\\", "")


def filters(test: AppTest) -> dict[str, Any]:
    return {element.label: element for element in test.multiselect}


def test_without_documents_the_page_leads_to_the_library(library: FakeLibrary) -> None:
    test = draw("search")
    assert "Nothing to search yet" in said(test)
    assert test.button(key="search_to_library")


def test_nothing_is_searched_before_something_is_asked(held: FakeLibrary) -> None:
    assert "Words in quotation marks must stand so" in said(draw("search"))
    assert asked(held) == []


def test_a_search_is_drawn_and_stands_in_the_address(held: FakeLibrary) -> None:
    test = draw("search")
    test.text_input(key="search_question").set_value(" steel bridges ").run()
    assert asked(held) == [("steel bridges", {"k": 10, "scope": Scope(), "mode": "auto"})]
    assert "2 passages from 2 documents, 3 ms" in said(test)
    assert test.query_params["q"] == " steel bridges "
    assert "**Found by** words and meaning" in " ".join(said(test).split())


def test_an_address_brings_a_search_back(held: FakeLibrary) -> None:
    document = a_document("0123456789abcdef", title="Harbours")
    held.held.append(document)
    test = draw("search", q="steel", by="lexical", document=["0123456789ab"], year=["2020", "x"], tag=["travel"])
    scope = Scope(documents=(document.id,), tags=("travel",), years=(2020,))
    assert asked(held)[-1] == ("steel", {"k": 10, "scope": scope, "mode": "lexical"})
    assert test.query_params["document"] == "0123456789ab"
    assert not draw("search", q="steel", by="guessing").exception
    assert asked(held)[-1][1]["mode"] == "auto"


def test_filters_narrow_a_search_and_one_click_widens_it(held: FakeLibrary) -> None:
    test = draw("search", q="steel")
    assert list(filters(test)) == ["Documents", "Tags", "Years"]
    filters(test)["Tags"].set_value(["travel"]).run()
    assert asked(held)[-1][1]["scope"] == Scope(tags=("travel",))
    assert filters(test)["Years"].options == ["2020", "2019"]
    filters(test)["Years"].set_value([2019]).run()
    assert asked(held)[-1][1]["scope"] == Scope(tags=("travel",), years=(2019,))
    assert test.query_params["year"] == "2019"
    test.button(key="search_scope_all").click().run()
    assert asked(held)[-1][1]["scope"] == Scope()
    assert "year" not in test.query_params


def test_sections_are_offered_of_few_documents_or_of_those_chosen(held: FakeLibrary) -> None:
    waiting = "Choose a document, and its sections can be chosen too"
    assert waiting not in said(draw("search"))
    sections = (Section("Steel", 1, 1),)
    held.held = [a_document(f"{number}.txt", sections=sections) for number in "0123"]
    test = draw("search")
    assert waiting in said(test)
    assert "Sections" not in filters(test)
    filters(test)["Documents"].set_value(["1.txt"]).run()
    assert filters(test)["Sections"].options == ["Steel"]
    assert waiting not in said(test)


def test_days_of_adding_narrow_a_search(held: FakeLibrary) -> None:
    test = draw("search", q="steel", since="1990-02-03", until="tomorrow")
    since, until = date(1990, 2, 3), date(2020, 1, 2)
    assert asked(held)[-1][1]["scope"] == Scope(added_since=since)
    first, last = test.date_input
    assert [(one.label, one.value) for one in (first, last)] == [("Added from", since), ("Added to", None)]
    last.set_value(until).run()
    assert asked(held)[-1][1]["scope"] == Scope(added_since=since, added_until=until)
    assert (test.query_params["since"], test.query_params["until"]) == ("1990-02-03", "2020-01-02")
    test.date_input[0].set_value(None).run()
    assert asked(held)[-1][1]["scope"] == Scope(added_until=until)
    assert "since" not in test.query_params


def test_a_narrow_search_that_finds_nothing_can_be_widened(held: FakeLibrary) -> None:
    held.found = []
    test = draw("search", q="steel", tag="travel")
    assert "Nothing was found" in said(test)
    test.button(key="search_widen").click().run()
    assert asked(held)[-1][1]["scope"] == Scope()
    assert "Try other words" in said(test)


def test_modes_stand_side_by_side(held: FakeLibrary) -> None:
    test = draw("search", q="steel")
    test.toggle(key="search_compare").set_value(True).run()
    assert [wanted["mode"] for _, wanted in asked(held)[-4:]] == ["lexical", "dense", "hybrid", "scaler"]
    assert not test.exception


def test_what_cannot_be_searched_is_said(held: FakeLibrary) -> None:
    held.found = InvalidQuestion("The question holds no letter or digit.", help="Ask in words.")
    test = draw("search", q="?")
    assert "holds no letter or digit" in plain(test)
    assert "Ask in words" in plain(test)
    assert test.text_input(key="search_question").value == "?"


def test_rows_of_the_list(held: FakeLibrary) -> None:
    first, second = results.rows([a_hit(), a_hit(ROADS, chunk_id="r", similar=2)], [b"png"])
    assert (first["place"], first["number"], first["marks"]) == ("p. ii", 1, [(0, 7)])
    assert first["scores"] == "meaning 0.70 · words 4.20"
    assert first["picture"] == "cG5n"
    assert (second["picture"], second["similar"]) == ("", "2 passages much like this")


@pytest.mark.parametrize(
    ("act", "key", "value"),
    [
        ("open", "search_opened", {"page": 2, "document": "bridges.txt"}),
        ("ask", "search_ask", "bridges.txt"),
        ("only", "search_scope", Scope(documents=("bridges.txt",))),
        ("gone", "search_ask", None),
    ],
)
def test_clicks_in_the_list(monkeypatch: pytest.MonkeyPatch, act: str, key: str, value: object) -> None:
    state: dict[str, Any] = {"list": {act: "bridges.txt:0"}}
    monkeypatch.setattr(st, "session_state", state)
    results.act_on("list", [a_hit()])
    found = state.get(key)
    assert {name: found[name] for name in value} == value if isinstance(value, dict) else found == value


def test_an_opened_hit_marks_its_passage(held: FakeLibrary) -> None:
    test = draw("search", q="steel")
    test.session_state["search_opened"] = {
        "chunk": "bridges.txt:0", "document": "bridges.txt", "page": 2, "start": 0, "end": 26, "section": "Steel",
    }  # fmt: skip
    assert not test.run().exception


def test_order_of_hits() -> None:
    later = a_document("roads.txt", added_at=NOW.replace(day=21))
    hits = [a_hit(chunk_id="a", index=4), a_hit(later, chunk_id="b"), a_hit(chunk_id="c", index=1)]
    assert [hit.chunk_id for hit in results._sorted(hits, "rank")] == ["a", "b", "c"]
    assert [hit.chunk_id for hit in results._sorted(hits, "document")] == ["c", "a", "b"]
    assert [hit.chunk_id for hit in results._sorted(hits, "newest")] == ["b", "a", "c"]


def test_a_snippet_stands_where_most_words_are() -> None:
    text = f"{'word ' * 40}steel here and there steel {'word ' * 60}"
    matches = [(text.index("steel"), text.index("steel") + 5), (text.rindex("steel"), text.rindex("steel") + 5)]
    shown, marks = snippets.snippet(text, [(0, 4), *matches], 100)
    assert len(shown) < 120
    assert [shown[start:end] for start, end in marks] == ["steel", "steel"]
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert snippets.snippet("short", [(0, 5)], 100) == ("short", [(0, 5)])


def test_an_excerpt_is_running_text_with_its_marks_at_their_words() -> None:
    text = "## Steel\n\nOf **steel**\nand stone.\n\n# Fares\n\n| Line | Fare |\n|---|---|\n| Marn | 8 |\n\nAll."
    sections = (Section("Steel", 2, 2, 100), Section("Fares", 1, 2, 100 + text.index("# Fares")))
    document = a_document(media_type="text/markdown", sections=sections)
    at = text.index("**steel") + 2
    hit = a_hit(document, text=text, start=100, end=100 + len(text), matches=((3, 8), (at, at + 5)))
    shown, marks = snippets.plain(hit)
    assert shown == "Of steel and stone.\nFares\nLine · Fare\nMarn · 8\nAll."
    assert [shown[start:end] for start, end in marks] == ["steel"]
    alone = replace(hit, text="## Steel", matches=((3, 8),))
    assert snippets.plain(alone) == ("## Steel", [(3, 8)])


def test_scopes_in_words() -> None:
    titles = {"a": "Bridges of *steel*"}
    assert scoping.in_words(Scope()) == "All documents"
    assert scoping.in_words(Scope(documents=("a",)), titles) == "Bridges of *steel*"
    assert scoping.in_words(Scope(documents=("a", "b"), years=(2020,)), titles) == "2 documents · 2020"
    assert scoping.in_words(Scope(tags=("x", "y"), sections=("1", "2", "3"))) == "x, y · 3 sections"
    assert scoping.in_words(Scope(folders=("/a",), added_since=date(2026, 1, 2))) == "1 folder · since 2026-01-02"
    assert scoping.label(Scope(documents=("a",)), titles) == "Bridges of \\*steel\\*"
    assert len(scoping.label(Scope(tags=("long" * 40,)))) < 60


def test_a_conversation_is_narrowed_before_and_after_it_begins(held: FakeLibrary) -> None:
    held.events = [StreamEvent(answer=an_answer())]
    test = draw("chat")
    filters(test)["Documents"].set_value(["roads.txt"]).run()
    assert "Lectern reads 1 document" in said(test)
    assert held.scopes == {}
    test.chat_input(key="chat_question").set_value("Why?").run()
    conversation = test.session_state["chat_current"]
    assert resources.questions().of(conversation) is None or test.run()
    assert held.scopes[conversation] == Scope(documents=("roads.txt",))
    held.kept = {conversation: [Message("m1", "Why?", NOW, answer=an_answer())]}
    filters(test.run())["Documents"].set_value(["roads.txt", "bridges.txt"]).run()
    assert held.scopes[conversation] == Scope(documents=("roads.txt", "bridges.txt"))


def test_filters_follow_what_was_changed_elsewhere(held: FakeLibrary) -> None:
    held.kept = {"one": [Message("m1", "Why?", NOW, answer=an_answer())]}
    held.scopes = {"one": Scope(documents=("roads.txt",))}
    test = draw("chat", c="one")
    assert filters(test)["Documents"].value == ["roads.txt"]
    held.scopes["one"] = Scope(documents=("bridges.txt",))
    assert filters(test.run())["Documents"].value == ["bridges.txt"]
    test.run()
    assert held.scopes["one"] == Scope(documents=("bridges.txt",))
    test.button(key="chat_new").click().run()
    assert filters(test)["Documents"].value == []


def test_what_was_searched_for_an_answer_is_one_click_away(held: FakeLibrary) -> None:
    left_out = Considered("roads.txt:1", "Roads", 1, "", {"dense": 0.2, "lexical": 1.0}, "mmr")
    understood = Understood(names=("Steel",), phrases=("of steel",), documents={"roads.txt": 0.9, "gone": 0.4})
    shuffled = {"hits": 1.0, "dense": 1.5, "embed": 3.0}  # as PostgreSQL keeps them
    within = Scope(documents=("roads.txt",))
    trace = a_search(left_out, understood=understood, scope=within, expansion="iron", latency_ms=shuffled)
    message = Message("m1", "Why?", NOW, answer=an_answer(trace=trace))
    held.kept = {"one": [message]}
    assert chat_widget.kept(message, None)["searched"]
    assert not chat_widget.kept(Message("m1", "Why?", NOW, answer=an_answer()), None)["searched"]
    test = draw("chat", c="one")
    assert "Searched for" not in said(test)
    test.session_state["chat_searched"] = "m1"
    told = plain(test.run())
    assert "**Within** Roads (1 document, 5 passages)" in " ".join(told.split())
    for words in (
        "of steel",
        "Roads, a removed one",
        "iron",
        "embedded 3.0 ms · by meaning 1.5 ms · made ready 1.0",
    ):
        assert words in told
    assert "of steel" in plain(test.run()), "a run amid which it is open does not close it"
    test.session_state["chat_searched"] = "of another conversation"
    assert "Searched for" not in plain(test.run())
    assert "chat_searched" not in test.session_state


def test_the_table_of_candidates() -> None:
    candidates = (
        Considered("a:1", "A", 3, "Steel", {"lexical": 2.0, "other": 1.0}, "passage"),
        Considered("b:1", "B", 1, "", {"dense": 0.25}, "budget"),
    )
    assert searched.rows(candidates) == {
        "Candidate": ["A, p. 3 · Steel", "B, p. 1"], "Meaning": [None, 0.25], "Words": [2.0, None],
        "Outcome": ["Passage", "No room in the prompt"],
    }  # fmt: skip


def test_a_search_alone_tells_of_no_answer(held: FakeLibrary) -> None:
    assert "The answer" not in plain(draw("search", q="steel"))


def test_page_pictures_come_in_and_what_cannot_be_drawn_stays_away(library: FakeLibrary) -> None:
    from pages.parts.thumbnails import Thumbnails
    from tests.until import until

    def picture(document_id: str, page: int, **wanted: Any) -> Any:
        if page > 2:
            raise ZeroDivisionError("nobody foresaw this")
        if page > 1:
            raise KeyError(page)
        return SimpleNamespace(png=b"png")

    library.page_image = picture  # type: ignore[method-assign]
    pictures = Thumbnails(lambda: library)  # type: ignore[arg-type, return-value]
    places = [("a", 1), ("a", 2), ("a", 3)]
    pictures.ask(places)
    until(lambda: not pictures.missing(places))
    assert pictures.get(("a", 1)) == b"png"
    assert pictures.get(("a", 2)) is None
    assert pictures.get(("a", 3)) is None
    pictures.close()
