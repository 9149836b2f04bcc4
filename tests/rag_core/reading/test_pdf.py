"""PDF files: text and boxes that fit each other, details, and pictures."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from rag_core.domain import Box, Page, PageImage
from rag_core.errors import UnreadableDocument
from rag_core.reading import Reader, make_card
from rag_core.reading.pdf import PdfDocument
from rag_core.reading.pdf_text import FILLER, SOFT_HYPHEN, line_spans
from rag_core.reading.text import lowered
from tests.rag_core.reading.raw import CATALOG, PAGES, pdf_of, stream

PDF = "application/pdf"


def ink(picture: PageImage, box: Box | None = None) -> int:
    """Count dark pixels, of the whole picture or within a box widened by one pixel."""
    grey = Image.open(io.BytesIO(picture.png)).convert("L")
    if box:
        width, height = grey.size
        grey = grey.crop(
            (
                int(box.left * width) - 1,
                int(box.top * height) - 1,
                int(box.right * width) + 2,
                int(box.bottom * height) + 2,
            )
        )
    return sum(grey.histogram()[:128])


def test_text_lines_and_boxes_of_a_plain_page(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 20)
        canvas.drawString(100, 500, "Upper line")
        canvas.drawString(100, 100, "Lower line")

    parsed = reader.read(make_pdf(draw), "made.pdf")
    (page,) = parsed.pages
    assert (page.width_pt, page.height_pt) == (400, 600)
    assert [page.text[line.start : line.end] for line in page.lines] == ["Upper line", "Lower line"]
    upper, lower = (line.box for line in page.lines)
    assert upper.left == pytest.approx(0.25, abs=0.01)
    assert upper.bottom == pytest.approx(100 / 600, abs=0.02)
    assert lower.bottom == pytest.approx(500 / 600, abs=0.02)
    assert all(0 < box.bottom - box.top < 0.05 for box in (upper, lower))


@pytest.mark.parametrize(
    "name", ["pdf/normal_4pages", "pdf/redp5110_sampled", "pdf/code_and_formula", "pdf/right_to_left_01"]
)
def test_text_has_all_of_pdfiums_letters_and_its_marks_stand_on_its_lines(
    reader: Reader, shared: Path, name: str
) -> None:
    path = shared / "documents" / f"{name}.pdf"
    parsed = reader.read(path, path.name)
    with pypdfium2.PdfDocument(path) as document:
        for page in parsed.pages:
            textpage = document[page.number - 1].get_textpage()
            codes = [pdfium.FPDFText_GetUnicode(textpage.raw, index) for index in range(textpage.count_chars())]
            letters = sorted(lowered(chr(code)) for code in codes if code < 0x10000 and chr(code).isalnum())
            assert sorted(mark for mark in lowered(page.text) if mark.isalnum() and ord(mark) < 0x10000) == letters
            assert not any(ord(character) < 32 and character not in "\t\n" for character in page.text)
            assert "\ufffe" not in page.text
            page.text.encode("utf-8")
    for page in parsed.pages[:3]:
        line = page.lines[len(page.lines) // 2]
        boxes = reader.page_boxes(path, PDF, page.number, [(line.start, line.end)], text=page.text)[0]
        assert min(box.left for box in boxes) == line.box.left
        assert max(box.bottom for box in boxes) == line.box.bottom


def test_wide_characters_take_two_places(reader: Reader, shared: Path) -> None:
    path = shared / "documents" / "pdf" / "normal_4pages.pdf"
    text = reader.read(path, path.name).pages[3].text
    assert f"\U000f0854{FILLER}이슈와 논점" in text


def test_words_divided_at_a_lines_end_keep_their_lines(reader: Reader, shared: Path) -> None:
    path = shared / "documents" / "pdf" / "code_and_formula.pdf"
    page = reader.read(path, path.name).pages[0]
    assert f"eir{SOFT_HYPHEN}mod" in page.text
    assert all(line.box.bottom - line.box.top < 0.03 for line in page.lines)
    line = next(line for line in page.lines if page.text[line.start : line.end].endswith(f"eir{SOFT_HYPHEN}"))
    following = page.lines[page.lines.index(line) + 1]
    assert page.text[following.start : following.end].startswith("mod tempor")
    assert following.box.top > line.box.top


def test_compounds_divided_at_a_lines_end_keep_their_hyphen(reader: Reader, shared: Path) -> None:
    path = shared / "filings" / "NETFLIX_2018_10K.pdf"
    parsed = reader.read(path, path.name)
    assert "non-cancelable" in parsed.pages[4].text
    assert all(line.box.bottom - line.box.top < 0.05 for line in parsed.pages[4].lines)


def test_every_line_and_cell_has_one_box_though_pdfium_runs_lines_together(reader: Reader, shared: Path) -> None:
    path = shared / "filings" / "APPLE_2020_10K.pdf"
    parsed = reader.read(path, path.name)
    for page in parsed.pages:
        parts = re.findall(f"[^\t\n{SOFT_HYPHEN}]*[^\\s{SOFT_HYPHEN}][^\t\n{SOFT_HYPHEN}]*", page.text)
        ends = {line.end for line in page.lines if page.text[line.end - 1] == "-"}
        hyphens = sum(line.start in ends for line in page.lines)  # ... which end a line of the page, none of the text
        assert len(parts) == sum(len(line.cells) or 1 for line in page.lines) - hyphens
    cash = parsed.pages[37]
    assert all(line.box.bottom - line.box.top < 0.02 for line in cash.lines)
    rows = [row.strip() for row in cash.text.split("\n") if row.startswith("Cash used in financing activities")]
    assert rows == ["Cash used in financing activities\t(86,820)\t(90,976)\t(87,876)"]


@pytest.mark.parametrize("turned", [90, 270])
def test_lines_of_a_turned_page_stay_whole(reader: Reader, make_pdf: Callable[..., Path], turned: int) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setPageRotation(turned)
        canvas.translate(200, 300)
        canvas.rotate(turned)
        canvas.drawString(-150, 20, "Net sales of the company rose by ten percent")
        canvas.drawString(-150, 0, "in the year that ended in May.")

    page = reader.read(make_pdf(draw), "turned.pdf").pages[0]
    assert [line.strip() for line in page.text.split("\n")] == [
        "Net sales of the company rose by ten percent", "in the year that ended in May.",
    ]  # fmt: skip


def test_small_raised_figures_are_no_digits_of_what_is_before_them(
    reader: Reader, make_pdf: Callable[..., Path]
) -> None:
    def draw(canvas: Canvas) -> None:
        for y, before, mark in ((500, "Sales of 1,234", "12"), (400, "A floor of 20 m", "2"), (300, "Fares of 56", "")):
            canvas.setFont("Helvetica", 12)
            canvas.drawString(40, y, before)
            canvas.setFont("Helvetica", 7)
            canvas.drawString(40 + canvas.stringWidth(before, "Helvetica", 12), y + 5, mark)

    (page,) = reader.read(make_pdf(draw), "made.pdf").pages
    assert [page.text[line.start : line.end] for line in page.lines] == [
        "Sales of 1,234¹²", "A floor of 20 m²", "Fares of 56",
    ]  # fmt: skip


def test_the_mark_of_a_note_is_no_figure_of_the_word_behind_it(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    def draw(canvas: Canvas) -> None:
        for y, mark, size, up, behind in ((90, "12", 5, 4, "This ferry"), (70, "3", 9, 0, "rd ferry")):
            canvas.setFont("Helvetica", size)
            canvas.drawString(40, y + up, mark)
            canvas.setFont("Helvetica", 9)
            canvas.drawString(40 + canvas.stringWidth(mark, "Helvetica", size), y, behind)

    (page,) = reader.read(make_pdf(draw), "made.pdf").pages
    assert [page.text[line.start : line.end] for line in page.lines] == ["¹²This ferry", "3rd ferry"]


def test_line_spans_leave_out_blanks() -> None:
    text = "  one \n\n \ntwo" + SOFT_HYPHEN + "three \n"
    assert [text[start:end] for start, end in line_spans(text)] == ["one", "two" + SOFT_HYPHEN, "three"]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("cropped", [False, True], ids=["whole", "cropped"])
def test_boxes_fit_the_picture_of_rotated_and_cropped_pages(
    reader: Reader, make_pdf: Callable[..., Path], rewrite: Callable[..., Path], rotation: int, cropped: bool
) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 16)
        canvas.drawString(90, 450, "MARKED")

    def change(writer) -> None:
        page = writer.pages[0]
        if cropped:
            page.cropbox.lower_left, page.cropbox.upper_right = (50, 200), (300, 500)
        page.rotate(rotation)

    path = rewrite(make_pdf(draw), change)
    (page,) = reader.read(path, "turned.pdf").pages
    start = page.text.index("MARKED")
    picture = reader.page_image(path, PDF, 1, width_px=600)
    (line,) = page.lines
    ((box,),) = reader.page_boxes(path, PDF, 1, [(start, start + 6)])
    assert box == line.box
    assert 0 <= box.left < box.right <= 1
    # All the ink of the page lies within the box, and the box is no larger than it must be.
    assert ink(picture) > 50
    assert ink(picture, box) == ink(picture)
    area = (box.right - box.left) * (box.bottom - box.top)
    assert area < 0.03
    wide = rotation % 180 == 0
    assert ((box.right - box.left) * picture.width_px > (box.bottom - box.top) * picture.height_px) == wide
    assert picture.height_px / picture.width_px == pytest.approx(page.height_pt / page.width_pt, rel=0.01)


def test_a_span_has_a_box_for_each_of_its_lines(reader: Reader, samples: Path) -> None:
    path = samples / "veyra-ferry-handbook.pdf"
    page = reader.read(path, path.name).pages[6]
    start = page.text.index("lowered from 16 to 14")
    end = page.text.index(" was lost and the ship")
    boxes = reader.page_boxes(path, PDF, 7, [(start, end)])[0]
    assert len(boxes) == 3
    assert boxes[0].left > boxes[1].left
    assert [box.top for box in boxes] == sorted(box.top for box in boxes)


def test_many_spans_have_the_boxes_that_each_has_alone(reader: Reader, samples: Path) -> None:
    path = samples / "veyra-ferry-handbook.pdf"
    page = reader.read(path, path.name).pages[6]
    spans = [(start, start + 40) for start in range(0, 400, 57)]
    alone = [reader.page_boxes(path, PDF, 7, [span], text=page.text)[0] for span in spans]
    assert reader.page_boxes(path, PDF, 7, spans, text=page.text) == alone
    assert any(alone)
    with pytest.raises(UnreadableDocument):
        reader.page_boxes(path, PDF, 99, spans)


def test_pictures_have_the_width_asked_for_within_bounds(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    path = make_pdf(lambda canvas: canvas.drawString(50, 50, "x"), size=(100, 4000))
    picture = reader.page_image(path, PDF, 1, width_px=300)
    assert (picture.width_px, picture.height_px) == (300, 12000)
    assert Image.open(io.BytesIO(picture.png)).size == (300, 12000)
    large = reader.page_image(path, PDF, 1, width_px=100_000)
    assert large.width_px * large.height_px <= 16_000_000


def test_information_outline_and_labels_are_read(reader: Reader, samples: Path) -> None:
    path = samples / "veyra-ferry-handbook.pdf"
    parsed = reader.read(path, "whatever.pdf")
    assert parsed.title == "Handbook of the Veyra Ferry"
    assert parsed.authors == "Veyra Ferry Company"
    assert (parsed.year, parsed.language, parsed.notes) == (None, "en", ())
    assert make_card(parsed, [path.name]).year == 2024
    assert [page.label for page in parsed.pages] == ["i", "ii", "iii", *map(str, range(1, 11))]
    fares = next(section for section in parsed.sections if section.title == "Fares")
    assert (fares.level, fares.page) == (2, 6)
    assert parsed.pages[5].text[fares.start :].startswith("Fares\nFrom or to Aldhaven")


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("A plain title", True),
        ("Untitled", False),
        ("report.doc", False),
        ("Microsoft Word - report.doc", False),
        ("0001065280-19-000043", False),
    ],
)
def test_a_title_that_says_nothing_gives_way_to_the_name(
    reader: Reader, make_pdf: Callable[..., Path], title: str, kept: bool
) -> None:
    path = make_pdf(lambda canvas: canvas.drawString(50, 50, "x"), setup=lambda canvas: canvas.setTitle(title))
    assert reader.read(path, "My_file name.pdf").title == (title if kept else "My file name")


def test_headings_of_a_pdf_without_outline_come_from_their_size(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    def page(number: int) -> Callable[[Canvas], None]:
        def draw(canvas: Canvas) -> None:
            canvas.setFont("Helvetica", 18)
            canvas.drawString(40, 550, f"Chapter {('one', 'two', 'three')[number]}")
            canvas.setFont("Helvetica", 14)
            canvas.drawString(40, 500, f"Part {('alpha', 'beta', 'gamma')[number]}")
            canvas.setFont("Helvetica", 10)
            for row in range(8):
                canvas.drawString(40, 480 - 12 * row, "Body text that goes on along the whole of the line")

        return draw

    parsed = reader.read(make_pdf(page(0), page(1), page(2)), "x.pdf")
    assert [(item.title, item.level, item.page) for item in parsed.sections][:4] == [
        ("Chapter one", 1, 1),
        ("Part alpha", 2, 1),
        ("Chapter two", 1, 2),
        ("Part beta", 2, 2),
    ]


def test_headings_of_a_filing_come_from_its_bold_lines(reader: Reader, shared: Path) -> None:
    path = shared / "filings" / "NETFLIX_2018_10K.pdf"
    sections = reader.read(path, path.name).sections
    titles = {section.title: section.page for section in sections}
    assert titles["Item 1A. Risk Factors"] == 5
    assert titles["Item 3. Legal Proceedings"] == 16
    assert "Table of Contents" not in titles
    assert not any(title.endswith(".") and len(title) > 60 for title in titles)


def test_bold_words_within_the_text_are_no_headings(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    def draw(canvas: Canvas) -> None:
        for row, (font, words) in enumerate(
            [
                ("Helvetica-Bold", "A heading in bold"),
                ("Helvetica", "Body text that goes on along the whole of the line"),
                ("Helvetica-Bold", "and a part of it in bold"),
                ("Helvetica", "Body text that goes on along the whole of the line"),
                ("Helvetica-Bold", "A whole sentence in bold."),
                ("Helvetica", "Body text that goes on along the whole of the line"),
            ]
        ):
            canvas.setFont(font, 10)
            canvas.drawString(40, 500 - 14 * row, words)

    parsed = reader.read(make_pdf(draw), "x.pdf")
    assert [section.title for section in parsed.sections] == ["A heading in bold"]


def test_the_larger_number_of_an_item_makes_no_heading_of_it(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 10)
        canvas.drawString(40, 520, "Rules for boats")
        for row in range(1, 5):
            canvas.setFont("Helvetica", 12)
            canvas.drawString(40, 520 - 16 * row, str(row))
            canvas.setFont("Helvetica", 10)
            canvas.drawString(70, 520 - 16 * row, "Boats longer than twelve metres moor at the pier")

    parsed = reader.read(make_pdf(draw), "x.pdf")
    assert [section.title for section in parsed.sections] == ["Rules for boats"]


def test_a_filing_is_read_in_a_few_times_what_pdfium_alone_needs(shared: Path) -> None:
    path = shared / "filings" / "NETFLIX_2018_10K.pdf"
    # Four times, of processor time: seconds differ from machine to machine, and with what runs beside.
    assert min(_processor_s(read_pages, path) for _ in range(3)) < 6 * min(
        _processor_s(load_pages, path) for _ in range(3)
    )


def _processor_s(read: Callable[[Path], object], path: Path) -> float:
    began = time.process_time()
    read(path)
    return time.process_time() - began


def read_pages(path: Path) -> list[Page]:
    document = PdfDocument(path, None, 10**9)
    pages = [document.read_page(number, 10**9).page for number in range(1, document.page_count + 1)]
    document.close()
    return pages


def load_pages(path: Path) -> None:
    document = pypdfium2.PdfDocument(path)
    for page in document:
        page.get_textpage().get_text_range()
    document.close()


def test_all_pages_of_a_filing_are_read(shared: Path) -> None:
    pages = read_pages(shared / "filings" / "NETFLIX_2018_10K.pdf")
    assert len(pages) == 82
    assert sum(len(page.lines) for page in pages) > 2500


# As such files are drawn: from left to right, the lam and alef of a word as one glyph whose text is both.
ARABIC = {"A": "م", "B": "لا", "C": "س", "D": "ل", "E": "ا", "F": "ب", "H": "لإ", "I": "ن"}


def test_the_letters_of_a_ligature_stand_in_their_order(reader: Reader, tmp_path: Path) -> None:
    codes = b"\n".join(
        b"<%02x> <%s>" % (ord(code), text.encode("utf-16-be").hex().encode()) for code, text in ARABIC.items()
    )
    to_unicode = b"1 begincodespacerange\n<00> <ff>\nendcodespacerange\n%d beginbfchar\n%s\nendbfchar" % (
        len(ARABIC), codes,
    )  # fmt: skip
    fonts = b"/Resources << /Font << /F1 5 0 R >> >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R " + fonts + b" >>"
    shown = stream(b"BT /F1 24 Tf 300 700 Td (ABC) Tj 0 -60 Td (FEBDE) Tj 0 -60 Td (ICHE) Tj ET")
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    path = tmp_path / "arabic.pdf"
    path.write_bytes(pdf_of([CATALOG, PAGES, page, shown, font, stream(to_unicode)]))
    assert reader.read(path, path.name).pages[0].text.split() == ["سلام", "اللااب", "الإسن"]
