"""Damaged, protected, empty and hostile PDF files."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

import psutil
import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.errors import EncryptedDocument, LecternError, LimitExceeded, UnreadableDocument, UnsupportedDocument
from rag_core.reading import Reader
from rag_core.reading.garbled import is_garbled
from rag_core.reading.pdf import is_cut_off
from rag_core.reading.pdf_details import read_details
from rag_core.settings import ReadingSettings

GOOD = (b"BT /F1 12 Tf 72 700 Td (Hello from a good page) Tj ET", 0)
MIB = 2**20


def words(canvas: Canvas) -> None:
    canvas.drawString(50, 500, "Some words to be read")


def test_html_named_pdf_says_what_it_is(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("<!doctype html><html><body>Not found</body></html>")
    with pytest.raises(UnsupportedDocument, match="web page"):
        reader.read(path, "paper.pdf")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 0.97])
def test_a_truncated_pdf_is_refused(reader: Reader, samples: Path, tmp_path: Path, share: float) -> None:
    data = (samples / "veyra-ferry-handbook.pdf").read_bytes()
    path = tmp_path / "cut.pdf"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(UnreadableDocument, match="cut off") as caught:
        reader.read(path, "cut.pdf")
    assert "again" in caught.value.help


@pytest.mark.parametrize(
    ("tail", "cut"),
    [
        (b"startxref\n9\n%%EOF", False),
        (b"startxref\n9\n%%EOF\r\n\x00\x00\x00", False),
        (b"startxref\n9\n", False),
        (b"startxref\n9\n%%EOF\n<html>added by a server</html>" + b" " * 2000, False),
        (b"startxref\n9\n%%EOF\n12 0 obj\n<< /A 1 >> stream", True),
        (b"12 0 obj\n<< /A 1 >> stream", True),
    ],
)
def test_the_end_of_a_pdf_is_recognised(tmp_path: Path, tail: bytes, cut: bool) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(b"%PDF-1.7\n1 0 obj\n<< >>\nendobj\n" + tail)
    assert is_cut_off(path) is cut


def test_a_linearized_pdf_knows_its_length(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(b"%PDF-1.7\n1 0 obj\n<< /Linearized 1 /L 999999 /H [ 1 2 ] >>\nendobj\nstartxref\n0\n%%EOF\n")
    assert is_cut_off(path)


def test_rubbish_with_a_header_is_damaged(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(b"%PDF-1.4\nnothing of sense\nstartxref\n7\n%%EOF\n")
    with pytest.raises(UnreadableDocument, match="damaged"):
        reader.read(path, "x.pdf")


def test_a_password_is_asked_for_and_checked(
    reader: Reader, make_pdf: Callable[..., Path], rewrite: Callable[..., Path]
) -> None:
    path = rewrite(make_pdf(words), lambda writer: writer.encrypt("secret", algorithm="AES-256"))
    with pytest.raises(EncryptedDocument) as asked:
        reader.read(path, "x.pdf")
    assert not asked.value.wrong_password
    with pytest.raises(EncryptedDocument) as wrong:
        reader.read(path, "x.pdf", password="guess")
    assert wrong.value.wrong_password
    parsed = reader.read(path, "x.pdf", password="secret")
    assert "Some words" in parsed.pages[0].text
    assert parsed.notes == ()
    with pytest.raises(EncryptedDocument):
        reader.page_image(path, "application/pdf", 1)
    assert reader.page_image(path, "application/pdf", 1, password="secret").png


def test_a_pdf_protected_against_changes_alone_is_read(
    reader: Reader, make_pdf: Callable[..., Path], rewrite: Callable[..., Path]
) -> None:
    path = rewrite(make_pdf(words), lambda writer: writer.encrypt("", "owner", algorithm="AES-256"))
    parsed = reader.read(path, "x.pdf")
    assert "Some words" in parsed.pages[0].text
    assert parsed.notes == ()


def test_the_shared_protected_pdf_opens_with_its_password(reader: Reader, shared: Path) -> None:
    path = shared / "documents" / "pdf" / "2206.01062_pg3.pdf"
    with pytest.raises(EncryptedDocument):
        reader.read(path, path.name)
    assert len(reader.read(path, path.name, password="1234").pages[0].text) > 1000


def test_a_pdf_of_pictures_needs_ocr(reader: Reader, make_pdf: Callable[..., Path], picture_page) -> None:
    path = make_pdf(picture_page, picture_page)
    assert reader.read(path, "scan.pdf", recognised={}).to_recognise == (1, 2)
    with pytest.raises(UnreadableDocument, match="pictures of pages, or sound, but no text") as caught:
        reader.read(path, "scan.pdf")
    assert "OCR" in caught.value.help


def test_scans_of_the_shared_data_need_ocr(reader: Reader, shared: Path) -> None:
    for path in sorted((shared / "documents" / "scans").glob("*.pdf")):
        with pytest.raises(UnreadableDocument, match="no text"):
            reader.read(path, path.name)


def test_single_pages_without_text_are_named(reader: Reader, make_pdf: Callable[..., Path], picture_page) -> None:
    path = make_pdf(words, picture_page, picture_page, picture_page, words, picture_page)
    assert reader.read(path, "mixed.pdf").notes == (
        "Pages 2 to 4, 6 hold pictures or sound but no text: recognition, which is off, would read them.",
    )
    parsed = reader.read(path, "mixed.pdf", recognised={})
    assert (parsed.notes, parsed.to_recognise) == ((), (2, 3, 4, 6))


def test_a_scan_with_a_stamp_and_garbled_letters_wait_for_recognition(
    reader: Reader, make_pdf: Callable[..., Path], picture_page
) -> None:
    def stamped(canvas: Canvas) -> None:
        picture_page(canvas)
        canvas.scale(1.3, 1.8)
        picture_page(canvas)
        canvas.drawString(40, 20, "Page 7 of 9")

    def illustrated(canvas: Canvas) -> None:
        picture_page(canvas)
        for line in range(12):
            canvas.drawString(40, 400 + 14 * line, "A line of text that stands above a picture.")

    path = make_pdf(stamped, illustrated)
    assert reader.read(path, "x.pdf").notes == (
        "Page 1 holds pictures or sound but no text: recognition, which is off, would read them.",
    )
    # The picture on the other page may have words, too.
    assert reader.read(path, "x.pdf", recognised={}).to_recognise == (1, 2)
    assert is_garbled("\ue012\ue013 \ue044" * 20)
    assert not is_garbled("Words, and one mark \ue012.")


def test_a_blank_pdf_holds_no_text(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    with pytest.raises(UnreadableDocument, match="holds no text"):
        reader.read(make_pdf(lambda canvas: None), "blank.pdf")


def test_a_page_that_fails_is_recorded_and_the_rest_goes_on(reader: Reader, raw_pdf: Callable[..., Path]) -> None:
    parsed = reader.read(raw_pdf(GOOD, None, GOOD), "x.pdf")
    assert [bool(page.error) for page in parsed.pages] == [False, True, False]
    assert parsed.pages[1].text == ""
    assert "Hello" in parsed.pages[2].text
    assert any("Page 2 could not be read" in note for note in parsed.notes)


def test_too_many_pages_or_characters(raw_pdf: Callable[..., Path]) -> None:
    path = raw_pdf(GOOD, GOOD, GOOD)
    with Reader(ReadingSettings(max_pages=2)) as small, pytest.raises(LimitExceeded, match="3 pages"):
        small.read(path, "x.pdf")
    with Reader(ReadingSettings(max_text_chars=40)) as small, pytest.raises(LimitExceeded, match="characters"):
        small.read(path, "x.pdf")


def test_a_file_of_2_kb_that_unfolds_to_1_gb(raw_pdf: Callable[..., Path], bomb: tuple[bytes, int]) -> None:
    path = raw_pdf(bomb, name="bomb.pdf")
    assert path.stat().st_size < 2048
    with Reader(ReadingSettings(memory_bytes=256 * MIB)) as reader:
        with _PeakMemory(reader) as peak, pytest.raises((LimitExceeded, UnreadableDocument)):
            reader.read(path, "bomb.pdf")
        assert peak.bytes < 400 * MIB
        # The next document is read by a fresh process.
        assert reader.read(raw_pdf(GOOD), "x.pdf").pages[0].text.startswith("Hello")


def test_a_page_that_unfolds_too_far_does_not_take_the_others(
    raw_pdf: Callable[..., Path], bomb: tuple[bytes, int]
) -> None:
    with Reader(ReadingSettings(memory_bytes=256 * MIB)) as reader:
        parsed = reader.read(raw_pdf(GOOD, bomb, GOOD), "x.pdf")
    assert [bool(page.error) for page in parsed.pages] == [False, True, False]
    assert "memory" in (parsed.pages[1].error or "")


def test_details_that_cannot_be_read_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(b"%PDF-1.4\nno objects here\n%%EOF")
    details = read_details(path, None, 3)
    assert details.headings == ()
    assert len(details.notes) == 1
    assert "could not be read" in details.notes[0]


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_end_in_pages_or_a_clear_error(reader: Reader, samples: Path, tmp_path: Path, seed: int) -> None:
    data = (samples / "veyra-ferry-handbook.pdf").read_bytes()
    chance = random.Random(seed)
    for _ in range(15):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 5, 50, 500))):
            damaged[chance.randrange(10, len(data))] = chance.randrange(256)
        path = tmp_path / "x.pdf"
        path.write_bytes(damaged)
        try:
            assert reader.read(path, "x.pdf").pages
        except LecternError as error:
            assert str(error) and error.help


class _PeakMemory:
    """Watches the memory of a reader's processes from a thread."""

    def __init__(self, reader: Reader) -> None:
        self.bytes = 0
        self._reader = reader
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.002):
            for child in self._reader._reading.children:
                with suppress(psutil.Error):
                    self.bytes = max(self.bytes, psutil.Process(child.pid).memory_info().rss if child.pid else 0)
