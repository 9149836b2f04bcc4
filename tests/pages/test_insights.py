"""The insights page over played numbers."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.insights.choosing import VIEWS
from pages.parts.insights.views import EMPTY
from rag_core.domain import Scope
from tests.conftest import PROJECT
from tests.pages.conftest import FakeLibrary, a_document
from tests.pages.fake_insights import MAP, SOME

assert set(EMPTY) == set(VIEWS) - {"map"}


def draw(**query: str) -> AppTest:
    test = AppTest.from_file(str(PROJECT / "pages" / "insights.py"), default_timeout=20)
    for name, value in query.items():
        test.query_params[name] = value
    test.run()
    assert not test.exception
    return test


def said(test: AppTest) -> str:
    return "\n".join(element.value for element in (*test.markdown, *test.caption)).replace("\\", "")


@pytest.mark.parametrize("view", EMPTY)
def test_what_is_not_there_is_said_kindly(library: FakeLibrary, view: str) -> None:
    test = draw(view=view)
    assert EMPTY[view] in said(test)
    assert [card.value for card in test.metric] == ["0", "–", "–", "–", "–", "–", "–"]


@pytest.mark.parametrize("view", EMPTY)
def test_each_chart_has_its_numbers(library: FakeLibrary, view: str) -> None:
    library.insights.found = SOME
    library.held = [a_document("bridges.txt"), a_document("rivers.txt")]
    test = draw(view=view)
    assert EMPTY[view] not in said(test)
    assert test.get("vega_lite_chart") or test.get("arrow_vega_lite_chart")
    assert test.dataframe
    assert [card.value for card in test.metric] == ["9", "33 %", "11 %", "33 %", "1.2 s", "75 %", "1 of 2"]


def test_the_period_and_the_scope_choose_what_is_counted(library: FakeLibrary) -> None:
    library.held = [a_document("bridges.txt", tags=("work",))]
    test = draw(tag="work", days="7")
    assert library.insights.asked == [(7, Scope(tags=("work",)))]
    test.button(key="insights_scope_all").click().run()
    assert library.insights.asked[-1] == (7, Scope())
    draw(days="all")
    assert library.insights.asked[-1] == (None, Scope())
    draw(days="a year", view="nowhere")
    assert library.insights.asked[-1] == (30, Scope())


def test_questions_that_found_nothing_stand_in_groups(library: FakeLibrary) -> None:
    library.insights.found = SOME
    test = draw(view="not_found")
    assert [box.label.replace("\\", "") for box in test.expander][-1] == "Who *won*? :gray[· 3 times]"
    labels = [button.label for button in test.button if str(button.key).startswith("insights_question")]
    assert len(labels) == 3
    assert labels[-1].startswith("How deep is it?")


def test_documents_that_are_not_used_and_failures_are_named(library: FakeLibrary) -> None:
    library.insights.found = SOME
    assert "No answer of the last 30 days cites 1 document" in said(draw(view="documents"))
    assert "## Never used" in said(draw(view="documents", days="all"))
    assert "This kind of file is not read." in str(draw(view="jobs").dataframe[-1].value)


def test_the_map_stands_beside_its_clusters(library: FakeLibrary) -> None:
    assert "no document to be drawn" in said(draw(view="map"))
    library.insights.map = MAP
    test = draw(view="map")
    assert "1 document to be placed still." in said(test)
    assert test.button(key="insights_choose_0").label == "steel, stone :gray[· 1]"
    test.button(key="insights_choose_0").click().run()
    assert not test.exception
    assert "## steel, stone" in said(test)
    assert test.button(key="insights_place_bridges.txt").label == "Bridges :gray[· 5 passages]"
    test.button(key="insights_choose_0").click().run()
    assert "## steel, stone" not in said(test)
