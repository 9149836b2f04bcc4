"""Where sections begin: headings of an outline found on their pages."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rag_core.domain import Box, Line, Page, Section
from rag_core.reading import Reader
from rag_core.reading.base import Face, Heading, RawPage
from rag_core.reading.headings import guess_sections
from rag_core.reading.sections import place
from tests.rag_core.reading.raw import good, stream

LINES = ["Running title 7", "2.4 Library Notes", "Some text about library notes", "LIBRARY  NOTES, second part", "End"]


def page() -> Page:
    return Page(1, "\n".join(LINES), lines=lines_of(LINES))


def lines_of(rows: list[str]) -> tuple[Line, ...]:
    starts = [sum(len(line) + 1 for line in rows[:index]) for index in range(len(rows))]
    return tuple(
        Line(start, start + len(line), Box(0.1, 0.1 + 0.1 * index, 0.9, 0.15 + 0.1 * index))
        for index, (start, line) in enumerate(zip(starts, rows, strict=True))
    )


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


def test_a_heading_that_points_to_an_earlier_one_s_place_is_found_where_its_words_stand() -> None:
    """Of a paper whose appendix counts its sections from 1 again: "A Proofs" points to "1 Introduction"."""
    told = [
        ["1 Introduction", "See A Proofs", "2 Methods"],
        ["Appendix A. Proofs", "A.1 Lemma"],
        ["B Data", "A Proofs"],
    ]
    pages = [
        Page(number, "\n".join(rows), lines=lines_of(rows)) for number, rows in enumerate(told, start=1)
    ]  # fmt: skip
    outline = [
        Heading("1 Introduction", 1, 1, top=0.1), Heading("2 Methods", 1, 1, top=0.3),
        Heading("A Proofs", 1, 1, top=0.1), Heading("A.1 Lemma", 2, 2, top=0.2),
        Heading("B Data", 1, 1, top=0.3), Heading("C Nowhere", 1, 1, top=0.3),
    ]  # fmt: skip
    found = [
        (item.title, item.page, pages[item.page - 1].text[item.start :].splitlines()[0])
        for item in place(outline, pages)
    ]
    assert found == [
        ("1 Introduction", 1, "1 Introduction"), ("2 Methods", 1, "2 Methods"), ("C Nowhere", 1, "2 Methods"),
        ("A Proofs", 2, "Appendix A. Proofs"), ("A.1 Lemma", 2, "A.1 Lemma"), ("B Data", 3, "B Data"),
    ]  # fmt: skip


def test_a_page_that_is_all_bold_has_no_heading_by_its_bold() -> None:
    bold, large = Face(10, True), Face(14, True)
    assert guess_sections([RawPage(page(), (bold,) * 5)]) == ()
    assert [item.title for item in guess_sections([RawPage(page(), (large, *(bold,) * 4))])] == [LINES[0]]


def test_running_titles_and_posters_give_no_sections() -> None:
    body, large = Face(10, False), Face(14, False)
    faces = (large, body, body, body, body)
    pages = [RawPage(page(), faces) for _ in range(5)]
    assert guess_sections(pages) == ()
    assert guess_sections([RawPage(page(), faces)]) == (Section("Running title 7", 1, 1, 0),)
    assert guess_sections([]) == ()
    title_page_alone = [RawPage(page(), faces), *[RawPage(page(), (body,) * 5) for _ in range(9)]]
    assert guess_sections(title_page_alone) == ()


def test_an_outline_of_pages_that_were_left_out_is_not_kept() -> None:
    gone = [Heading(f"Chapter {name}", 1, 1, top=0.2) for name in ("one", "two", "three")]
    assert [item.title for item in place([*gone, Heading("Library Notes", 1, 1)], [page()])] == ["Library Notes"]


def _set(*rows: tuple[str, Face, float]) -> RawPage:
    """A page of lines, each with its type and the blank above it in lines."""
    lines, text, top = [], "", 0.1
    for words, _, above in rows:
        top += 0.02 * (1 + above)
        start, text = len(text), text + words + "\n"
        lines.append(Line(start, start + len(words), Box(0.1, top, 0.1 + 0.01 * len(words), top + 0.02)))
    return RawPage(Page(1, text, lines=tuple(lines)), tuple(face for _, face, _ in rows))


BODY, BOLD, SLANTED = Face(10, False), Face(10, True), Face(10, False, True)
TEXT = ("Words of the text that go on and on to the end of the line as they do.", BODY, 0.1)


@pytest.mark.parametrize(
    ("rows", "titles"),
    [
        ([("PART I", BOLD, 1), ("Item 1. Business", BOLD, 1), ("Company", BOLD, 1)],
         ["PART I", "Item 1. Business", "Company"]),
        ([("A heading in bold that is long and goes on in", BOLD, 1), ("the next line", BOLD, 0.1)],
         ["A heading in bold that is long and goes on in the next line"]),
        ([("Self-locking nuts", SLANTED, 1)], ["Self-locking nuts"]),
        ([("Self-locking nuts", SLANTED, 0.1)], []),
        ([("COMPARABLE SALES", BODY, 1)], ["COMPARABLE SALES"]),
        ([("References", BODY, 0.1)], ["References"]),
        ([("CALL(A, B)", BOLD, 1)], []),
        ([("Figure 3 Something shown", BOLD, 1)], []),
    ],
)  # fmt: skip
def test_headings_are_told_by_type_words_and_blanks(rows: list[tuple[str, Face, float]], titles: list[str]) -> None:
    found = guess_sections([_set(TEXT, TEXT, *rows, TEXT, TEXT)])
    assert [section.title for section in found] == titles


def test_an_outline_over_a_page_of_endless_lines_takes_no_time() -> None:
    words = " ".join(f"w{number:05}" for number in range(40_000))
    lines = tuple(Line(7 * number, 7 * number + 6, Box(0, 0.5, 1, 0.6)) for number in range(40_000))
    began = time.process_time()
    headings = [Heading(f"Chapter {number}", 1, 1) for number in range(300)]
    assert place(headings, [Page(1, words, lines=lines)]) == ()
    assert time.process_time() - began < 5


@pytest.mark.parametrize(("stem", "bold"), [(80, False), (150, True)])
def test_bold_is_told_by_how_thick_letters_are_where_the_font_has_no_name(
    reader: Reader, tmp_path: Path, stem: int, bold: bool
) -> None:
    descriptor = b"<< /Type /FontDescriptor /FontName /ABCDEF+F7 /Flags 32 /StemV %d >>" % stem
    font = b"<< /Type /Font /Subtype /TrueType /BaseFont /ABCDEF+F7 /FontDescriptor %s >>" % descriptor
    shown = (
        b"BT /F1 12 Tf 72 700 Td (What it costs) Tj ET BT /F2 12 Tf 72 670 Td (The ferry costs twelve crowns.) Tj ET"
    )
    fonts = b"<< /Font << /F1 %s /F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>" % font
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources %s >>" % fonts
    path = tmp_path / "stems.pdf"
    path.write_bytes(good(page=page, contents=stream(shown)))
    assert [section.title for section in reader.read(path, path.name).sections] == ["What it costs"] * bold
