"""Questions for pictures, answered by captions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.answering.strategies.figures import asks_for_picture
from rag_core.domain import Scope
from rag_core.library import Library
from rag_core.settings import Settings
from tests.rag_core.reading.test_figures import chart, prose

_RAIN = "Figure 1: Monthly rainfall at the Olm station."
_LEVEL = "Figure 2: Filling of the Hessel reservoir."


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with two charts."""
    path = tmp_path_factory.mktemp("figures") / "water-report.pdf"
    canvas = Canvas(str(path), pagesize=(400, 600))
    for caption in (_RAIN, _LEVEL):
        prose(canvas, 560, 5)
        chart(canvas, 90, 330)
        canvas.drawString(90, 300, caption)
        prose(canvas, 260, 5)
        canvas.showPage()
    canvas.setTitle("Water report")
    canvas.save()
    return path


@pytest.fixture
def library(settings: Settings, report: Path) -> Iterator[Library]:
    with Library.open(settings) as opened:
        list(opened.add([report]))
        yield opened


def test_the_chart_that_is_asked_for_is_shown_by_its_caption(library: Library) -> None:
    (document,) = library.documents()
    for question, number, caption in [
        ("Show me the chart about rainfall", 1, _RAIN),
        ("Is there a diagram of the reservoir filling?", 2, _LEVEL),
        ("What does figure 2 show?", 2, _LEVEL),
    ]:
        answer = library.ask(question)
        assert answer.outcome == "answered", question
        assert answer.text == f"{caption} [1]"
        (citation,) = answer.citations
        (figure,) = library.page(document.id, number).figures
        assert (citation.page, citation.start, citation.end) == (number, figure.start, figure.end)
    assert library.ask("Which charts are in the water report?").text == f"- {_RAIN} [1]\n- {_LEVEL} [2]"


def test_what_no_figure_shows_is_not_answered_by_one(library: Library) -> None:
    assert library.ask("Show me a picture of an elephant").outcome == "not found"
    answer = library.ask("Show me the chart about rainfall", scope=Scope(documents=("none",)))
    assert answer.outcome == "not found"


def test_a_question_for_a_price_or_a_number_is_none_for_a_picture() -> None:
    asked = [
        "Show me the chart about rainfall", "Where is the photo of the harbour?", "What does the diagram show?",
        "Chart of rainfall by month", "Zeige mir das Diagramm über Regen", "Montre-moi le graphique des pluies",
    ]  # fmt: skip
    others = [
        "What do the class photos cost?", "What had it grown to by 2018 according to the chart?",
        "Which is the largest plot?",
        "Show me the figures for 2022", "What was the price of the picture?",
    ]  # fmt: skip
    assert [question for question in asked if not asks_for_picture(question)] == []
    assert [question for question in others if asks_for_picture(question)] == []
