"""Pictures and charts of pages: where they stand, and what their captions say."""

from __future__ import annotations

import io
import zipfile
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from docx import Document
from docx.shared import Inches
from PIL import Image
from pptx import Presentation
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rag_core.domain import Figure, Page
from rag_core.errors import UnreadableDocument
from rag_core.reading import Reader
from rag_core.reading.detect import detect
from rag_core.text.figures import caption_likelihood

Draw = Callable[[Canvas], None]
_PROSE = "The river carries more water in spring than in any other season of the year."


def picture(colour: str = "teal") -> bytes:
    """A PNG of one colour."""
    file = io.BytesIO()
    Image.new("RGB", (120, 80), colour).save(file, "PNG")
    return file.getvalue()


def chart(canvas: Canvas, left: float, bottom: float) -> None:
    """Axes, bars and labels, 200 by 120 points."""
    canvas.line(left, bottom, left + 200, bottom)
    canvas.line(left, bottom, left, bottom + 120)
    for number, high in enumerate((60, 110, 35, 80)):
        canvas.rect(left + 15 + 45 * number, bottom, 30, high, fill=1)
        canvas.drawString(left + 20 + 45 * number, bottom - 12, ("Jan", "Apr", "Jul", "Oct")[number])


def prose(canvas: Canvas, top: float, lines: int) -> None:
    """A paragraph."""
    canvas.setFont("Helvetica", 9)
    for number in range(lines):
        canvas.drawString(40, top - 11 * number, _PROSE)


def said(page: Page, figure: Figure) -> str:
    """A figure's caption."""
    return page.text[figure.start : figure.end]


@pytest.fixture
def figures(reader: Reader, make_pdf: Callable[..., Path]) -> Callable[[Draw], tuple[Page, tuple[Figure, ...]]]:
    """The page that something draws, and its figures."""

    def read(draw: Draw) -> tuple[Page, tuple[Figure, ...]]:
        (page,) = reader.read(make_pdf(draw), "made.pdf").pages
        return page, page.figures

    return read


@pytest.mark.parametrize(
    "caption",
    [
        "Figure 3: Rainfall by month.",
        "Abbildung 3.2 Niederschlag",
        "Gráfico 1 Lluvia",
        "Panel 2. Rain",
    ],
)
def test_a_chart_of_lines_and_boxes_is_found_by_its_caption(figures: Callable[..., tuple], caption: str) -> None:
    def draw(canvas: Canvas) -> None:
        prose(canvas, 560, 4)
        chart(canvas, 90, 330)
        canvas.drawString(40, 300, caption)
        prose(canvas, 289, 4)  # right below it, in the same type

    page, (figure,) = figures(draw)
    assert said(page, figure) == caption
    assert (figure.box.left, figure.box.right) == pytest.approx((90 / 400, 290 / 400), abs=0.02)
    assert (figure.box.top, figure.box.bottom) == pytest.approx((1 - 450 / 600, 1 - 318 / 600), abs=0.02)


def test_a_caption_of_two_lines_above_its_picture_is_whole(figures: Callable[..., tuple]) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawString(90, 470, "Fig. 1. The harbour at low tide, seen from the old")
        canvas.drawString(90, 459, "lighthouse on the northern pier.")
        canvas.drawImage(ImageReader(io.BytesIO(picture())), 90, 330, 200, 120)
        prose(canvas, 260, 4)

    page, (figure,) = figures(draw)
    assert " ".join(said(page, figure).split()).endswith("from the old lighthouse on the northern pier.")
    assert (figure.box.top, figure.box.bottom) == pytest.approx((1 - 450 / 600, 1 - 330 / 600), abs=0.01)


def test_a_picture_without_a_caption_has_the_words_below_it(figures: Callable[..., tuple]) -> None:
    def draw(canvas: Canvas) -> None:
        prose(canvas, 560, 4)
        canvas.drawImage(ImageReader(io.BytesIO(picture())), 90, 330, 200, 120)
        canvas.drawString(90, 320, "The harbour in 1912")
        canvas.drawImage(ImageReader(io.BytesIO(picture("red"))), 20, 20, 15, 15)  # a sign at the foot

    page, (figure,) = figures(draw)
    assert said(page, figure) == "The harbour in 1912"


def test_what_is_no_figure(figures: Callable[..., tuple]) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(io.BytesIO(picture("white"))), 0, 0, 400, 600)  # the page's ground
        prose(canvas, 560, 3)
        canvas.drawString(40, 520, "Figure 3 shows how much rain falls, and it is on another page.")
        prose(canvas, 505, 3)
        canvas.drawString(40, 420, "Table 2: Rain by month")
        for bottom in (300, 330, 360, 390):
            canvas.line(40, bottom, 300, bottom)

    assert figures(draw)[1] == ()


def test_captions() -> None:
    likely = [
        "Figure 3: Rain", "FIG. 2 – Rain", "Abb. 4.1: Regen", "图 3 降雨量", "Рисунок 5. Осадки", "Figura A.2 Lluvia",
        "Chart 7",
    ]  # fmt: skip
    assert all(caption_likelihood(line) > 1 for line in likely)
    assert not any(map(caption_likelihood, ["Table 3: Rain", "In 2019: rain", "dimension 128.", "figured 3 ways", ""]))


def held(reader: Reader, path: Path, page: Page) -> list[tuple[str, tuple[int, int, int]]]:
    """The words of each figure of a page, and the colour of its picture."""
    found = []
    for figure in page.figures:
        drawn = reader.part_image(path, detect(path, path.name), figure.part)
        with Image.open(io.BytesIO(drawn.png)) as image:
            found.append((" ".join(said(page, figure).split()), image.convert("RGB").getpixel((5, 5))))
    return found


def as_uri(data: bytes) -> str:
    """A picture as an address."""
    return "data:image/png;base64," + b64encode(data).decode()


TEAL, RED = (0, 128, 128), (255, 0, 0)


def test_pictures_of_a_word_file_have_their_captions(reader: Reader, tmp_path: Path) -> None:
    document = Document()
    document.add_paragraph(_PROSE)
    document.add_picture(io.BytesIO(picture()), width=Inches(3))
    document.add_paragraph("Rainfall in the valley", style="Caption")
    document.add_paragraph("Figure 2: The dam")
    document.add_picture(io.BytesIO(picture("red")), width=Inches(3))
    document.add_paragraph(_PROSE)
    document.add_picture(io.BytesIO(picture("red")), width=Inches(0.3))  # a sign
    document.save(str(path := tmp_path / "a.docx"))
    (page,) = reader.read(path, path.name).pages
    assert held(reader, path, page) == [("Rainfall in the valley", TEAL), ("Figure 2: The dam", RED)]


def test_a_picture_of_a_slide_has_its_words(reader: Reader, tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Rain"
    shown = slide.shapes.add_picture(io.BytesIO(picture()), Inches(1), Inches(2), Inches(3))
    shown.element.nvPicPr.cNvPr.set("descr", "Bars of rainfall by month")
    deck.save(str(path := tmp_path / "a.pptx"))
    (page,) = reader.read(path, path.name).pages
    assert held(reader, path, page) == [("[Picture: Bars of rainfall by month]", TEAL)]


def test_pictures_of_a_web_page_are_those_that_it_holds(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(
        f"<h1>Rain</h1><p>{_PROSE}</p><figure><img src='{as_uri(picture())}' alt='Bars'>"
        "<figcaption>Rain by month</figcaption></figure><figure><img src='https://example.org/map.png'>"
        f"<figcaption>Figure 2. A map</figcaption></figure><p>{_PROSE}</p>"
    )
    (page,) = reader.read(path, path.name).pages
    first, second = page.figures
    assert said(page, first).split("]")[-1].strip() == "Rain by month"
    assert (said(page, second), second.part) == ("Figure 2. A map", "")
    drawn = reader.part_image(path, "text/html", first.part)
    assert (drawn.width_px, drawn.height_px) == (120, 80)


def test_a_note_keeps_the_name_of_a_picture_and_not_its_bytes(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"# Rain\n\n{_PROSE}\n\n![Bars]({as_uri(picture())})\n*Figure 1: Rain by month*\n\n{_PROSE}\n")
    (page,) = reader.read(path, path.name).pages
    assert len(page.text) < 400
    ((words, colour),) = held(reader, path, page)
    assert words.endswith("*Figure 1: Rain by month*")
    assert colour == TEAL


def test_pictures_of_a_book_are_found_beside_their_chapter(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "a.epub"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", "<c><rootfile full-path='OPS/book.opf'/></c>")
        book.writestr(
            "OPS/book.opf",
            "<package><manifest><item id='a' href='text/a.xhtml' media-type='application/xhtml+xml'/></manifest>"
            "<spine><itemref idref='a'/></spine></package>",
        )
        book.writestr(
            "OPS/text/a.xhtml",
            f"<html><body><h1>Rain</h1><p>{_PROSE}</p><img src='../img/rain.png'/><p>Figure 1: Rain</p></body></html>",
        )
        book.writestr("OPS/img/rain.png", picture())
    (page,) = reader.read(path, path.name).pages
    assert held(reader, path, page) == [("Figure 1: Rain", TEAL)]


@pytest.mark.parametrize(
    "part", ["word/media/none.png", "../../etc/passwd", "data:0123456789abcdef", "word/document.xml"]
)
def test_what_is_no_picture_of_the_file_is_refused(reader: Reader, tmp_path: Path, part: str) -> None:
    Document().save(str(path := tmp_path / "a.docx"))
    with pytest.raises(UnreadableDocument):
        reader.part_image(path, detect(path, path.name), part)
