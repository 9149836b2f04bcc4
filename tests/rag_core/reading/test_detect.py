from pathlib import Path

import pytest

from rag_core.errors import UnreadableDocument, UnsupportedDocument
from rag_core.reading import detect, detect_bytes


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
        (b"PK\x03\x04 ... word/document.xml", "a.docx", "a Word document"),
        (b"PK\x03\x04 ...", "a.zip", "a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n", "a.pdf", "a PNG picture"),
        (b"\xff\xd8\xff\xe0", "a.jpg", "a JPEG picture"),
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
