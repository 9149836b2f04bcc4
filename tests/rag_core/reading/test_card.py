"""Cards: what a person would call a document."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from rag_core.domain import Page, ParsedDocument
from rag_core.reading.card import make_card
from tests.rag_core.reading.front_pages import PAGES, FrontPage


def parsed(page: FrontPage) -> ParsedDocument:
    pages = tuple(Page(number, text) for number, text in enumerate((page.text, *page.later), start=1))
    media_type = "application/pdf" if page.name.endswith("pdf") else "text/plain"
    return ParsedDocument(media_type, pages, title=page.said, authors=page.authors)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.id)
def test_odd_first_pages(page: FrontPage) -> None:
    card = asdict(make_card(parsed(page), [page.name]))
    assert {name: card[name] for name in page.wanted} == page.wanted
