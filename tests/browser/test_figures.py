"""Figures as evidence: the chart of a PDF's page around its caption, and the picture that a Word file holds."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from docx import Document
from docx.shared import Inches
from playwright.sync_api import Page, expect
from reportlab.pdfgen.canvas import Canvas

from tests.browser.conftest import Server, ask, boxes, send
from tests.rag_core.reading.test_figures import chart, picture, prose

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Page]


def add_report(server: Server) -> None:
    """A page with a chart between two paragraphs."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(400, 600))
    canvas.setTitle("Water report")
    prose(canvas, 560, 5)
    chart(canvas, 90, 330)
    canvas.drawString(90, 300, "Figure 1: Monthly rainfall at the Olm station.")
    prose(canvas, 260, 5)
    canvas.save()
    send(server, "/api/v1/documents?name=water.pdf", file.getvalue(), "application/octet-stream")


def add_notes(server: Server) -> None:
    """A Word file with a picture and its caption."""
    document, file = Document(), io.BytesIO()
    document.add_paragraph("The bakery counts what is sold on each day of the week.")
    document.add_picture(io.BytesIO(picture()), width=Inches(4))
    document.add_paragraph("Loaves sold by day", style="Caption")
    document.save(file)
    send(server, "/api/v1/documents?name=bakery.docx", file.getvalue(), "application/octet-stream")


def test_a_cited_caption_shows_its_figure(open_page: Open, filled: None, server: Server) -> None:
    add_report(server)
    add_notes(server)
    page = open_page("upload")
    for name in ("Water report", "bakery"):
        expect(page.locator(".shelf tbody tr").filter(has_text=name)).to_contain_text("Ready", timeout=60_000)
    page = open_page("chat")
    ask(page, "Show me the chart about rainfall")
    page.locator(".cite").first.hover()
    crop = page.locator(".card .crop")
    expect(crop.locator("img")).to_be_visible()
    box = crop.bounding_box()
    assert box is not None
    assert box["height"] > 170, "the chart is seen, not just its caption"
    page.locator(".cite").first.click()
    assert boxes(page) == 1
    expect(page.locator(".passage .framed")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Close").click()

    ask(page, "Show me the picture of loaves sold")
    cite = page.locator(".exchange").nth(1).locator(".cite").first
    cite.hover()
    expect(page.locator(".card .held img")).to_have_js_property("naturalWidth", 120)
    cite.click()
    expect(page.locator(".passage figure img")).to_have_js_property("naturalWidth", 120)
