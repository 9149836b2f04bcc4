"""Words in pictures that Word, PowerPoint, EPUB, web files and notes hold: recognised in the background, found, cited
with their figure."""

from __future__ import annotations

import io
import zipfile
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from docx import Document as Word
from docx.shared import Inches
from PIL import Image
from pptx import Presentation

from rag_core import Library, Settings
from rag_core.cancellation import Cancellation
from tests.rag_core.services.test_picture_words import BELOW, CAPTION, SCREEN, added, screenshot

SAID = "Backup settings of the Kelmouth archive"


def png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def word(*pictures: Image.Image, caption: str = CAPTION, alt: str = "") -> bytes:
    document = Word()
    document.add_heading("The archive", 1)
    document.add_paragraph("The archive of Kelmouth is kept by three people in the old customs house.")
    for picture in pictures:
        document.add_picture(io.BytesIO(png(picture)), width=Inches(4))
        for shown in document.element.body.iter("{*}docPr"):
            shown.set("descr", alt)
        if caption:
            document.add_paragraph(caption)
    document.add_heading("Who keeps it", 1)
    document.add_paragraph(BELOW[0])
    document.save(file := io.BytesIO())
    return file.getvalue()


def slides() -> bytes:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "The archive of Kelmouth"
    slide.shapes.add_picture(io.BytesIO(png(screenshot())), Inches(1), Inches(2), Inches(6))
    deck.save(file := io.BytesIO())
    return file.getvalue()


def book() -> bytes:
    text = f"<h1>The archive</h1><p>{BELOW[0]}</p><img src='../img/a.png'/><p>{CAPTION}</p><h2>Otters</h2>{BELOW[1]}"
    parts = {
        "mimetype": "application/epub+zip", "META-INF/container.xml": "<c><rootfile full-path='OPS/book.opf'/></c>",
        "OPS/book.opf": "<package><manifest><item id='a' href='text/a.xhtml' media-type='application/xhtml+xml'/>"
        "</manifest><spine><itemref idref='a'/></spine></package>",
        "OPS/text/a.xhtml": f"<html><body>{text}</body></html>", "OPS/img/a.png": png(screenshot()),
    }  # fmt: skip
    with zipfile.ZipFile(file := io.BytesIO(), "w") as made:
        for name, data in parts.items():
            made.writestr(name, data)
    return file.getvalue()


def uri() -> str:
    return "data:image/png;base64," + b64encode(png(screenshot())).decode()


def web() -> bytes:
    figure = f"<figure><img src='{uri()}' alt='{SAID}'><figcaption>{CAPTION}</figcaption></figure>"
    return f"<h1>The archive</h1><p>{BELOW[0]}</p>{figure}<h2>Otters</h2><p>{BELOW[1] * 20}</p>".encode()


def note() -> bytes:
    return f"# The archive\n\n{BELOW[0]}\n\n![Settings]({uri()})\n*{CAPTION}*\n\n# Otters\n\n{BELOW[1]}\n".encode()


@pytest.fixture
def library(tmp_path: Path, new_database: Callable[[], str]) -> Iterator[Library]:
    with Library.open(Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database())) as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "make", "headings"),
    [
        ("guide.docx", lambda: word(screenshot()), ["The archive", "Who keeps it"]),
        ("guide.pptx", slides, ["The archive of Kelmouth"]),
        ("guide.epub", book, ["The archive", "Otters"]),
        ("guide.html", web, ["The archive", "Otters"]),
        ("guide.md", note, ["The archive", "Otters"]),
    ],
    ids=["word", "slides", "book", "web", "note"],
)
def test_words_in_a_picture_of_a_file_are_found_and_cited_with_their_figure(
    library: Library, name: str, make: Callable[[], bytes], headings: list[str]
) -> None:
    guide = added(library, name, make())
    assert (guide.state, guide.to_recognise) == ("ready", 1)
    before = library.page(guide.id, 1)
    assert SCREEN[1] not in before.text
    assert list(library.recognition.run())[-1].stage == "done"
    page = library.page(guide.id, 1)
    said = SCREEN[1:] if name == "guide.html" else SCREEN  # the words for the picture say its first line
    words = "\n\n" + "\n".join(said)
    assert words in page.text
    assert page.text.replace(words, "") == before.text
    (figure,) = page.figures
    assert page.text[slice(*figure.words)] == words
    assert page.text[figure.start : figure.end] == before.text[before.figures[0].start : before.figures[0].end]
    assert page.text[: figure.words[0]].rstrip("*").endswith(CAPTION) or name == "guide.pptx"
    document = library.document(guide.id)
    assert "Page 1: words in pictures were read by text recognition (OCR)." in document.notes
    assert document.to_recognise == 0
    assert [one.title for one in document.sections] == headings
    pages = {one.number: one.text for one in library.pages(guide.id)}
    places = [pages[one.page][one.start :] for one in document.sections]
    assert [place.partition("\n")[0].strip("# ") for place in places] == headings
    citation = library.ask("When does the nightly backup start?").citations[0]
    assert "02:45" in citation.text
    assert figure.says(citation.start, citation.end)
    assert library.maintenance.verify(deep=True).findings == ()


def test_pictures_that_are_small_or_shown_again_add_nothing_and_several_are_in_their_order(library: Library) -> None:
    first, second = screenshot(["Harbour office of Tarn, its letterhead"]), screenshot(["The second picture says so"])
    letters = added(library, "letters.docx", word(first, second, first, screenshot().resize((120, 40)), caption=""))
    list(library.recognition.run())
    text = library.page(letters.id, 1).text
    assert text.count("letterhead") == text.count("second picture") == 1
    assert (
        text.index("customs house") < text.index("letterhead") < text.index("second picture") < text.index("Who keeps")
    )
    assert "02:45" not in text


def test_a_file_of_nothing_but_a_picture_is_read(library: Library) -> None:
    document = Word()
    document.add_picture(io.BytesIO(png(screenshot())), width=Inches(4))
    document.save(file := io.BytesIO())
    scan = added(library, "scan.docx", file.getvalue())
    assert (scan.state, scan.to_recognise) == ("ready", 1)
    assert list(library.recognition.run())[-1].stage == "done"
    assert library.page(scan.id, 1).text.strip() == "\n".join(SCREEN)
    assert "02:45" in library.ask("When does the nightly backup start?").citations[0].text


def test_a_damaged_picture_costs_its_words_alone_and_whoever_is_stopped_goes_on(library: Library) -> None:
    whole = word(screenshot(["The first picture has words"]), screenshot())
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(file := io.BytesIO(), "w") as new:
        for name in old.namelist():
            new.writestr(name, b"\x89PNG damaged" if name == "word/media/image1.png" else old.read(name))
    library.recognition.close()  # nothing is read in the background before what is stopped here
    guide = added(library, "guide.docx", file.getvalue())
    token = Cancellation()
    token.cancel()
    assert list(library.recognition.run(cancellation=token))[-1].stage == "cancelled"
    assert library.document(guide.id).to_recognise == 1
    assert list(library.recognition.run())[-1].stage == "done"
    text = library.page(guide.id, 1).text
    assert (SCREEN[1] in text, "first picture" in text) == (True, False)
    assert library.recognition.left() == 0
