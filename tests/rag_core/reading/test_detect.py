from pathlib import Path

import pytest

from rag_core.errors import UnreadableDocument, UnsupportedDocument
from rag_core.reading import base, detect, detect_bytes

LOCKED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99_999) + "EncryptedPackage".encode("utf-16-le")


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        (b"%PDF-1.7\n...", "report.pdf", "application/pdf"),
        (b"%PDF-1.7\n...", "no suffix", "application/pdf"),
        (b"\r\njunk before\n%PDF-1.7\n", "late.pdf", "application/pdf"),
        (b"A PDF begins with %PDF-1.7, they say.", "note.txt", "text/plain"),
        (b"# Title\n", "README.MD", "text/markdown"),
        (b"# Title\n", "../notes/x.markdown", "text/markdown"),
        (b"plain", "C:\\notes\\a.txt", "text/plain"),
        (b"plain", '\U0001f600 "quoted" name', "text/plain"),
        (b"plain", "x" * 300 + ".txt", "text/plain"),
        ("häßlich".encode("latin-1"), "old.txt", "text/plain"),
        ("text".encode("utf-16"), "wide.txt", "text/plain"),
        ("without a mark".encode("utf-16-le"), "wide.txt", "text/plain"),
        (b"<h1 align=center>A name</h1>\n\n# Title", "readme.md", "text/markdown"),
        (b"PK\x03\x04 ... word/document.xml", "misnamed.pdf", base.DOCX),
        (b"PK\x03\x04" + bytes(200_000) + b"PK\x01\x02 ... xl/workbook.xml", "sheet.docx", base.XLSX),
        (b"PK\x03\x04 ... mimetypeapplication/epub+zip", "book", base.EPUB),
        (b"PK\x03\x04 ...", "damaged.pptx", base.PPTX),
        (b"{\\rtf1 words}", "letter.doc", base.RTF),
        (b"<!doctype HTML>\n<p>x", "saved as.xls", base.HTML),
        (b"<p>A part of a page", "part.html", base.HTML),
        (b"a;b\n1;2\n", "table.csv", base.CSV),
        (b"Subject: Tea\n\nAt four.", "letter.EML", base.MAIL),
        (b"BEGIN:VCALENDAR\r\n", "a", base.CALENDAR),
        (b"\xef\xbb\xbfbegin:vcard\r\n", "a.txt", base.CARD),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "a", base.SVG),
        (b"<?xml version='1.0'?>\n<!-- x -->\n<svg>", "a.xml", base.SVG),
        (b"<svg width='9'/>\n\n# Boats", "a.md", base.MARKDOWN),
        (b"VERSION:2.0", "a.ICS", base.CALENDAR),
        (b"def f(): ...", "f.py", "text/x-source"),
        (b"\xff\xd8\xff\xe0", "a.txt", base.JPEG),
        (b"II*\x00", "scan", base.TIFF),
        (b"BM6\x00\x00\x00\x00\x00\x00\x006\x00\x00\x00(\x00\x00\x00", "a.bmp", base.BMP),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 ...", "damaged.doc", base.DOC),
        (LOCKED, "a.docx", base.DOCX),
        (b"BM is the sign of a bitmap", "a.txt", "text/plain"),
    ],
)
def test_content_comes_first_then_the_name(tmp_path: Path, content: bytes, name: str, expected: str) -> None:
    path = tmp_path / "stored"
    path.write_bytes(content)
    assert detect(path, name) == detect_bytes(content, name) == expected


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        (b"<!DOCTYPE html><html>", "page.pdf", "named .pdf but it is a web page (HTML)"),
        (b"\xef\xbb\xbf  <!-- x --><!-- y -->\n<HTML lang='en'>", "page.pdf", "web page"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 ...", "a.pub", "an old Microsoft Office file"),
        (LOCKED, "a.bin", "an Office file with a password"),
        (b"PK\x03\x04 ...", "a.zip", "a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n", "a.pdf", "a PNG picture"),
        (b"\xff\xd8\xff\xe0", "a.pdf", "a JPEG picture"),
        (bytes(range(256)) * 4, "a.txt", "binary data"),
        (b"just words", "a.pdf", "plain text"),
    ],
)
def test_what_is_not_read_is_named(tmp_path: Path, content: bytes, name: str, says: str) -> None:
    path = tmp_path / "stored"
    path.write_bytes(content)
    with pytest.raises(UnsupportedDocument) as caught:
        detect(path, name)
    assert says in str(caught.value)
    assert caught.value.help


def test_an_empty_file_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "stored"
    path.touch()
    with pytest.raises(UnreadableDocument, match="empty"):
        detect(path, "a.pdf")


def test_comments_before_something_else_take_no_time(tmp_path: Path) -> None:
    path = tmp_path / "stored"
    path.write_bytes(b"<!-- a -->" * 6000 + b"words")
    assert detect(path, "a.txt") == "text/plain"
