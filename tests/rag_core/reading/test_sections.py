"""Where sections begin: headings of an outline found on their pages."""

from __future__ import annotations

import pytest

from rag_core.domain import Box, Line, Page, Section
from rag_core.reading.base import Face, Heading, RawPage
from rag_core.reading.headings import guess_sections
from rag_core.reading.sections import place

LINES = ["Running title 7", "2.4 Library Notes", "Some text about library notes", "LIBRARY  NOTES, second part", "End"]


def page() -> Page:
    starts = [sum(len(line) + 1 for line in LINES[:index]) for index in range(len(LINES))]
    lines = tuple(
        Line(start, start + len(line), Box(0.1, 0.1 + 0.1 * index, 0.9, 0.15 + 0.1 * index))
        for index, (start, line) in enumerate(zip(starts, LINES, strict=True))
    )
    return Page(1, "\n".join(LINES), lines=lines)


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        (Heading("Library Notes", 1, 1), "2.4 Library Notes"),
        (Heading("2.4 Library notes", 1, 1), "2.4 Library Notes"),
        (Heading("Library Notes", 1, 1, top=0.35), "LIBRARY  NOTES, second part"),
        (Heading("Library notes, second part and more", 1, 1), "2.4 Library Notes"),
        (Heading("Not on the page", 1, 1, top=0.3), "Some text about library notes"),
        (Heading("Not on the page", 1, 1), "Running title 7"),
        (Heading("End", 1, 1, top=0.0), "End"),
        (Heading("—", 1, 1), "Running title 7"),
        (Heading("Given", 1, 1, start=16), "2.4 Library Notes"),
    ],
    ids=lambda value: value.title if isinstance(value, Heading) else None,
)
def test_a_heading_is_found_by_words_then_by_height(heading: Heading, line: str) -> None:
    (section,) = place([heading], [page()])
    assert page().text[section.start :].startswith(line)


def test_sections_come_in_reading_order() -> None:
    second = Page(2, "Late")
    found = place([Heading("Late", 1, 2), Heading("End", 2, 1), Heading("Library Notes", 1, 1)], [page(), second])
    assert [(item.title, item.page) for item in found] == [("Library Notes", 1), ("End", 1), ("Late", 2)]


def test_running_titles_and_posters_give_no_sections() -> None:
    body, large = Face(10, False), Face(14, False)
    faces = (large, body, body, body, body)
    pages = [RawPage(page(), faces) for _ in range(5)]
    assert guess_sections(pages) == ()
    assert guess_sections([RawPage(page(), faces)]) == (Section("Running title 7", 1, 1, 0),)
    assert guess_sections([]) == ()
    title_page_alone = [RawPage(page(), faces), *[RawPage(page(), (body,) * 5) for _ in range(9)]]
    assert guess_sections(title_page_alone) == ()
