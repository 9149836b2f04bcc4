"""Words in pictures of pages that have text of their own: recognised in the background, found, cited in the figure."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rag_core import Library, Settings, Upload
from rag_core.domain import Document
from tests.rag_core.scans import sheet

SCREEN = [
    "Backup settings of the Kelmouth archive",
    "The nightly backup starts at 02:45.",
    "Copies are kept for ninety days.",
]
ABOVE = ["The archive of Kelmouth is kept by three people in the old customs house.", "They are proud of its maps."]
BELOW = ["The settings were last changed by Ada Brindle, who keeps the light of the town.", "Otters hold hands."]
CAPTION = "Figure 1: The settings as they are shown on the screen."
# Where the picture is drawn, points from the page's lower left corner.
LEFT, BOTTOM, WIDTH, HEIGHT = 60, 420, 440, 180


def screenshot(lines: Sequence[str] = SCREEN) -> Image.Image:
    return sheet(lines, size=30, paper=(880, 360))


def page_with(canvas: Canvas, picture: Image.Image | None, over: str = "") -> None:
    for number, line in enumerate([*ABOVE, *ABOVE]):
        canvas.drawString(60, 780 - 16 * number, line)
    if picture:
        canvas.drawImage(ImageReader(picture), LEFT, BOTTOM, WIDTH, HEIGHT)
        canvas.drawString(60, 400, CAPTION)
    canvas.drawString(90, 540, over)
    for number, line in enumerate([*BELOW, *BELOW]):
        canvas.drawString(60, 340 - 16 * number, line)
    canvas.showPage()


def pdf(*pages: Image.Image | None, over: str = "") -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(595, 842))
    for picture in pages:
        page_with(canvas, picture, over)
    canvas.save()
    return file.getvalue()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    folder: Path = tmp_path_factory.mktemp("pictures")
    with Library.open(Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())) as opened:
        yield opened


def added(library: Library, name: str, data: bytes) -> Document:
    *_, last = library.add([Upload(name, data)])
    assert last.document is not None
    return last.document


def test_words_in_a_picture_are_found_and_cited_within_it(library: Library) -> None:
    guide = added(library, "guide.pdf", pdf(screenshot(), None))
    assert (guide.state, guide.to_recognise) == ("ready", 1)
    before = library.page(guide.id, 1)
    assert SCREEN[1] not in before.text and "Otters" in before.text
    assert list(library.recognition.run())[-1].stage == "done"
    page = library.page(guide.id, 1)
    assert f"{CAPTION} \n" + "\n".join(SCREEN) in page.text
    assert page.text.replace("\n" + "\n".join(SCREEN), "") == before.text
    assert page.recogniser == ""
    assert "Page 1: words in pictures were read by text recognition (OCR)." in library.document(guide.id).notes
    citation = library.ask("When does the nightly backup start?").citations[0]
    assert "02:45" in citation.text
    assert citation.boxes
    for box in citation.boxes:
        assert LEFT / 595 < box.left < box.right < (LEFT + WIDTH) / 595
        assert 1 - (BOTTOM + HEIGHT) / 842 < box.top < box.bottom < 1 - BOTTOM / 842
    drawn = library.page_image(guide.id, 1, span=(citation.start, citation.end)).boxes
    assert drawn == citation.boxes


def test_the_pages_own_words_keep_their_places_behind_a_picture(library: Library) -> None:
    (guide,) = [one for one in library.documents() if "guide.pdf" in one.sources]
    page = library.page(guide.id, 1)
    start = page.text.index(BELOW[0])
    (own,) = library.page_places.of(guide, page, [(start, start + len(BELOW[0]))])
    assert len(own) == 1 and abs(own[0].bottom - (1 - 340 / 842)) < 0.02
    across = (page.text.index("Figure 1"), page.text.index(SCREEN[0]) + len(SCREEN[0]))
    (both,) = library.page_places.of(guide, page, [across])
    assert sorted(box.top > 1 - BOTTOM / 842 for box in both) == [False, True]


def test_what_the_page_says_itself_is_not_said_twice(library: Library) -> None:
    said = "The nightly backup starts at 02:45."
    picture = screenshot(["", "", "Copies are kept for ninety days."])
    twice = added(library, "twice.pdf", pdf(picture, over=said))
    assert list(library.recognition.run())[-1].stage == "done"
    text = library.page(twice.id, 1).text
    assert text.count("02:45") == 1 and "ninety days" in text


def test_pictures_without_words_and_those_that_are_shown_again_add_nothing(library: Library) -> None:
    plain = added(library, "plain.pdf", pdf(Image.new("RGB", (880, 360), "teal")))
    letters = added(library, "letters.pdf", pdf(*[screenshot(["Harbour office of Tarn, its letterhead"])] * 3))
    assert (plain.to_recognise, letters.to_recognise) == (1, 1)
    before = library.page(plain.id, 1).text
    assert list(library.recognition.run())[-1].stage == "done"
    assert library.page(plain.id, 1).text == before
    assert ["letterhead" in page.text for page in library.pages(letters.id)] == [True, False, False]
    assert (library.document(plain.id).to_recognise, library.recognition.left()) == (0, 0)
    assert library.maintenance.verify(deep=True).findings == ()
