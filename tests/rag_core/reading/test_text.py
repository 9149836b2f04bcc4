import codecs
from pathlib import Path

import pytest

from rag_core.errors import LimitExceeded, UnreadableDocument, UnsupportedDocument
from rag_core.reading import Reader
from rag_core.reading.encoding import decode
from rag_core.reading.text import PAGE_CHARS, TextDocument, first_line_title
from rag_core.settings import ReadingSettings

WORDS = "Grüße – “naïve” café № 5 Ω"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_unicode_encodings_are_read_alike(encoding: str) -> None:
    text = WORDS if encoding != "utf-16-le" else "plain words without a mark"
    assert decode(text.encode(encoding))[0] == text


def test_big_endian_with_and_without_a_mark() -> None:
    data = "plain words".encode("utf-16-be")
    assert decode(data)[0] == "plain words"
    assert decode(codecs.BOM_UTF16_BE + data)[0] == "plain words"


def test_older_encodings_are_guessed_and_said() -> None:
    text, note = decode("Grüße – “naïve”".encode("cp1252"))
    assert text == "Grüße – “naïve”"
    assert "Windows-1252" in note
    text, note = decode(b"\x81\xe4\xf6")
    assert text.endswith("äö")
    assert "Latin-1" in note


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Паром отходит в семь часов утра.\nБилет стоит одиннадцать крон.", "cp1251"),
        ("Το πλοίο φεύγει στις επτά το πρωί.", "cp1253"),
        ("これは日本語の文章です。海は広いな大きいな。", "shift-jis"),
        ("城市,人口\n北京,2154\n上海,2424\n广州,1868\n", "gb18030"),
    ],
)
def test_encodings_of_other_scripts_are_told_by_their_letters(text: str, encoding: str) -> None:
    read, note = decode(text.encode(encoding))
    assert read == text
    assert "by its letters" in note


def test_slightly_damaged_utf8_stays_utf8() -> None:
    text, note = decode(("äöüß" * 20).encode() + b"\xff" + "äöü".encode())
    assert text == "äöüß" * 20 + "\ufffd" + "äöü"
    assert "1 damaged" in note


def test_what_nobody_sees_is_taken_out(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "hidden.txt"
    path.write_text("The c\u200bar\u202e costs \U000e0049nothing. Pay\u00adment is due.", encoding="utf-8")
    assert reader.read(path, "hidden.txt").pages[0].text == "The car costs nothing. Payment is due."


def test_form_feeds_begin_pages_and_controls_become_spaces(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "stored"
    path.write_bytes(b"One\r\ntwo\rthree\x07!\x0cSecond page\n\x0c")
    parsed = reader.read(path, "two pages.txt")
    assert [page.text for page in parsed.pages] == ["One\ntwo\nthree !", "Second page\n"]
    assert [page.number for page in parsed.pages] == [1, 2]
    assert parsed.title == "two pages"
    assert parsed.media_type == "text/plain"
    assert parsed.pages[0].lines == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The storm of 2019\n\nIt blew.", "The storm of 2019"),
        ("\n\n  Notes on moss  \n", "Notes on moss"),
        ("Dear Sir,\n\nI write", ""),
        ("A line that goes on\nin the next", ""),
        ("word\n\n", ""),
        ("x y " * 50 + "\n\n", ""),
    ],
)
def test_a_title_stands_alone_on_the_first_line(text: str, title: str) -> None:
    assert first_line_title(text) == title


def test_blanks_alone_are_no_text(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "stored"
    path.write_text(" \n\t\n")
    with pytest.raises(UnreadableDocument, match="no text"):
        reader.read(path, "blank.txt")


def test_the_limits_of_size_are_held(tmp_path: Path) -> None:
    path = tmp_path / "stored"
    path.write_text("x" * 1000)
    with Reader(ReadingSettings(max_text_chars=999)) as small, pytest.raises(LimitExceeded, match="999"):
        small.read(path, "a.txt")
    with Reader(ReadingSettings(max_text_chars=100)) as small, pytest.raises(LimitExceeded, match="100"):
        small.read(path, "a.txt")
    with Reader(ReadingSettings(max_file_bytes=999)) as small, pytest.raises(LimitExceeded, match="bytes"):
        small.read(path, "a.txt")


def test_there_are_no_pictures_of_text(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "stored"
    path.write_text("words")
    with pytest.raises(UnsupportedDocument):
        reader.page_image(path, "text/plain", 1)


def test_a_long_text_has_pages_that_end_between_its_paragraphs(tmp_path: Path) -> None:
    paragraphs = [f"Paragraph {number} of a long book. " + "It goes on for some lines.\n" * 20 for number in range(150)]
    (tmp_path / "book.txt").write_text("\n".join(paragraphs))
    pages = TextDocument(tmp_path / "book.txt", None, 10**7).pages
    assert len(pages) == 4
    assert all(PAGE_CHARS <= len(page) <= PAGE_CHARS + 600 for page in pages[:-1])
    assert all(page.startswith("Paragraph") for page in pages)
    assert "\n\n".join(page.strip() for page in pages) == "\n".join(paragraphs).strip()
    assert list(TextDocument.paged("a line\n" * 10_000)) != ["a line\n" * 10_000]  # a log has no paragraphs
    for whole in ("x" * 100_000, "A short text.\n\nOf two paragraphs."):
        assert list(TextDocument.paged(whole)) == [whole]
