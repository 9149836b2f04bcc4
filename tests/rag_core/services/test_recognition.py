"""Scans and images through a library: recognised in the background, found, cited with boxes, resumed after a kill."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from rag_core import Library, Settings, Upload
from rag_core.domain import Box, Document
from rag_core.errors import Cancelled
from rag_core.reading.ocr import PageRecogniser
from tests.conftest import PROJECT
from tests.rag_core.scans import image_bytes, noisy, scanned_pdf, sheet

HARBOUR = [
    "The harbour master of Kelmouth is Ada Brindle.", "She has kept the light since 1987.",
    "The ferry to Orran leaves at seven in the morning.",
]  # fmt: skip
WHO = "Who is the harbour master of Kelmouth?"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Settings:
    folder = tmp_path_factory.mktemp("scans")
    return Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())


@pytest.fixture(scope="module")
def library(settings: Settings) -> Iterator[Library]:
    """A scan with a page of its own text, one that lies on its side and one without anything; an image."""
    pages = ["Otters hold hands.", sheet(HARBOUR), sheet(HARBOUR, turned=90), Image.new("RGB", (600, 800), "white")]
    bees = noisy(sheet(["Bees sleep in flowers at night, five hours long."]))
    with Library.open(settings) as opened:
        added = list(opened.add([Upload("scan.pdf", scanned_pdf(pages)), Upload("bees.png", image_bytes(bees))]))
        ready = [event for event in added if event.stage == "ready"]
        assert {(event.note, event.document and event.document.to_recognise) for event in ready} == {("", 3), ("", 1)}
        assert [step.stage for step in opened.recognition.run()][-1] == "done"
        yield opened


def document(library: Library, name: str) -> Document:
    return next(found for found in library.documents() if name in found.sources)


def marked(box: Box, library: Library, found: Document, page: int, span: tuple[int, int]) -> bool:
    """Whether what a picture of the page marks lies within a box, give or take a letter."""
    (drawn,) = library.page_image(found.id, page, span=span).boxes
    return box.left - 0.02 <= drawn.left < drawn.right <= box.right + 0.02 and abs(drawn.top - box.top) < 0.01


def test_a_scan_is_found_and_cited_with_its_box(library: Library) -> None:
    scan = document(library, "scan.pdf")
    assert (scan.state, scan.page_count, scan.to_recognise) == ("ready", 4, 0)
    assert "Pages 2, 3 were read by text recognition (OCR)." in scan.notes
    assert "Page 4: text recognition (OCR) found no text in the picture." in scan.notes
    answer = library.ask(WHO)
    assert "Ada Brindle" in answer.text
    citation = answer.citations[0]
    assert citation.document_id == scan.id
    box = citation.boxes[0]
    assert 0.03 < box.left < box.right < 0.7 and 0.03 < box.top < box.bottom < 0.12
    assert marked(box, library, scan, citation.page, (citation.start, citation.end))
    assert library.page(scan.id, 1).recogniser == ""
    assert library.page(scan.id, 2).recogniser == "rapidocr"
    assert library.page(scan.id, 2).certainty > 0.9
    assert library.maintenance.verify(deep=True).findings == ()


def test_a_page_on_its_side_is_read_and_shown_upright(library: Library) -> None:
    scan = document(library, "scan.pdf")
    page = library.page(scan.id, 3)
    assert page.text.split("\n") == HARBOUR
    assert page.turned == 270
    picture = library.page_image(scan.id, 3, span=(0, 30))
    assert picture.height_px > picture.width_px
    assert picture.boxes[0].top < 0.12 < picture.boxes[0].right


def test_an_image_is_a_document_with_a_picture(library: Library) -> None:
    bees = document(library, "bees.png")
    assert (bees.media_type, bees.chunk_count, bees.page_count) == ("image/png", 1, 1)
    assert "five hours" in library.ask("How long do bees sleep in flowers?").text
    assert library.page_image(bees.id, 1, width_px=500).width_px == 500


def test_old_chunks_answer_until_the_new_ones_do_and_a_backup_holds_what_was_read(
    library: Library, tmp_path: Path, new_database: Callable[[], str]
) -> None:
    lines = ["The mayor of Tarn is Iris Hale."]
    otters = "The otter of Lake Ember is called Juno."
    *_, added = library.add([Upload("mixed.pdf", scanned_pdf([otters, sheet(lines)]))])
    assert added.document is not None
    assert "Juno" in library.ask("What is the otter of Lake Ember called?").text
    for _ in library.recognition.run():
        assert "Juno" in library.search("otter of Lake Ember", k=1)[0].text
    assert "Iris Hale" in library.ask("Who is the mayor of Tarn?").text
    library.maintenance.backup(tmp_path / "all.backup")
    other = Settings(_env_file=None, data_dir=tmp_path / "other", database_url=new_database())
    Library.restore(tmp_path / "all.backup", other)
    with Library.open(other) as restored:
        assert restored.page(added.document.id, 2).recogniser == "rapidocr"
        assert restored.page_image(added.document.id, 2, span=(0, 9)).boxes
    library.remove(added.document.id)


def test_a_page_that_fails_is_named_and_the_rest_goes_on(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    recognise = PageRecogniser.recognise

    def failing(self: PageRecogniser, settings: object, path: Path, kind: str, number: int, *rest: object) -> object:
        return recognise(self, settings, path, kind, 99 if number == 1 else number, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(PageRecogniser, "recognise", failing)
    data = scanned_pdf([sheet(["One."]), sheet(["The bell of Morrow weighs nine tons."])])
    *_, added = library.add([Upload("bell.pdf", data)])
    assert list(library.recognition.run())[-1].stage == "done"
    assert added.document is not None
    assert "nine tons" in library.ask("How heavy is the bell of Morrow?").text
    assert library.page(added.document.id, 1).error == "Page 99 cannot be drawn."
    assert any("Page 1 could not be read" in note for note in library.document(added.document.id).notes)


def test_pages_of_files_that_are_elsewhere_wait_for_them(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stopped(*_: object) -> None:
        raise Cancelled("Stopped.")

    with monkeypatch.context() as patch:
        patch.setattr(PageRecogniser, "recognise", stopped)
        *_, added = library.add([Upload("owl.pdf", scanned_pdf([sheet(["The owl of Tessel is called Bruno."])]))])
        assert added.document is not None
        kept = library.original(added.document.id)
        kept.rename(tmp_path / "elsewhere")
        assert [step.stage for step in library.recognition.run()] == ["done"]
        assert any("another data directory" in note for note in library.maintenance.notes())
        (tmp_path / "elsewhere").rename(kept)
    assert [step.stage for step in library.recognition.run()][-1] == "done"
    assert "Bruno" in library.page(added.document.id, 1).text
    assert not library.recognition.notes()


def test_without_recognition_images_are_refused_and_scans_say_so(library: Library, settings: Settings) -> None:
    off = settings.changed("ocr", engine="none")
    library.close()
    with Library.open(off) as opened:
        *_, failed = opened.add([Upload("other.png", image_bytes(sheet(["Another."])))])
        assert failed.stage == "failed" and "LECTERN_OCR__ENGINE" in failed.error.help
        assert "Ada Brindle" in opened.ask(WHO).text


KILLED = """
import os, sys
from pathlib import Path
from rag_core import Library, Settings
from rag_core.storage.postgres.recognition import RecognitionStore

put = RecognitionStore.put
def once(self, *values):
    put(self, *values)
    os.kill(os.getpid(), 9)
RecognitionStore.put = once
with Library.open(Settings(_env_file=None, data_dir=Path(sys.argv[1]), database_url=sys.argv[2])) as library:
    for event in library.add([Path(sys.argv[3])]):
        pass
    list(library.recognition.run())
"""


@pytest.mark.slow
def test_after_a_kill_the_pages_that_are_left_are_recognised(tmp_path: Path, new_database: Callable[[], str]) -> None:
    path, url = tmp_path / "scan.pdf", new_database()
    path.write_bytes(scanned_pdf([sheet([f"Room {number} holds {number * 11} chairs."]) for number in (1, 2, 3)]))
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "library", url, path], cwd=PROJECT)
    assert done.returncode == -9
    with Library.open(Settings(_env_file=None, data_dir=tmp_path / "library", database_url=url)) as library:
        assert library.recognition.left() == 3  # one of them was read, and is not in place yet
        deadline = time.monotonic() + 120
        while library.recognition.left() and time.monotonic() < deadline:  # by the thread that every library has
            time.sleep(0.1)
        (scan,) = library.documents()
        assert scan.chunk_count == 3
        assert "33 chairs" in library.ask("How many chairs does room 3 hold?").text
