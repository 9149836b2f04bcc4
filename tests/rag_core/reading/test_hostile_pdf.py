"""PDF files that were made to do harm: loops, depths, numbers, sizes and fonts that lead nowhere."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_core.domain import ParsedDocument
from rag_core.errors import LecternError, LimitExceeded, UnreadableDocument
from rag_core.reading import Reader
from tests.rag_core.reading.raw import PAGE, SHOWN, good, stream

DEEP = b"[" * 100_000 + b"]" * 100_000
OUTLINED = b"<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R >>"
OUTLINES = b"<< /Type /Outlines /First 6 0 R /Last 7 0 R >>"
ATTACHED = b"/Names << /EmbeddedFiles << /Names [(inner.txt) 5 0 R] >> >>"
FILE = {
    "file": b"<< /Type /Filespec /F (inner.txt) /UF (inner.txt) /EF << /F 6 0 R >> >>",
    "bytes": stream(b"words", b"/Type /EmbeddedFile"),
}


def looped_table() -> bytes:
    data = good()
    return data.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev %d /XRefStm %d" % ((data.rfind(b"xref\n0"),) * 2))


def with_map(to_unicode: bytes) -> bytes:
    page = PAGE.replace(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", b"5 0 R")
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    return good(page=page, font=font, map=stream(to_unicode))


READ: dict[str, Callable[[], bytes]] = {
    "pages that hold each other": lambda: good(
        pages=b"<< /Type /Pages /Kids [3 0 R 2 0 R 5 0 R] /Count 3 >>",
        more=b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 5 0 R 3 0 R] /Count 3 >>",
    ),
    "two billion pages": lambda: good(pages=b"<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>"),
    "less than no pages": lambda: good(pages=b"<< /Type /Pages /Kids [3 0 R] /Count -5 >>"),
    "tables of objects that lead to each other": looped_table,
    "a table of objects that is none": lambda: good().replace(b"xref\n0", b"yref\n0"),
    "headings that follow each other in a ring": lambda: good(
        catalog=OUTLINED,
        outlines=OUTLINES,
        one=b"<< /Title (One) /Parent 5 0 R /Next 7 0 R /First 6 0 R /Dest [3 0 R /Fit] >>",
        two=b"<< /Title (Two) /Parent 5 0 R /Next 6 0 R /First 5 0 R /Dest [3 0 R /Fit] >>",
    ),
    "deep arrays in the catalog": lambda: good(catalog=b"<< /Type /Catalog /Pages 2 0 R /X " + DEEP + b" >>"),
    "deep arrays in the information": lambda: good(information=b"<< /Title " + DEEP + b" >>", trailer=b"/Info 5 0 R "),
    "deep arrays on the page": lambda: good(contents=stream(SHOWN + DEEP + b" TJ")),
    "a stream whose length is itself": lambda: good(contents=stream(SHOWN).replace(b"/Length 53", b"/Length 4 0 R")),
    "a font that is missing": lambda: good(page=PAGE.replace(b"/Font", b"/Fond")),
    "a font that is made of itself": lambda: good(
        page=PAGE.replace(b"/F1 <<", b"/F1 5 0 R /F2 <<"),
        font=b"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [5 0 R] /ToUnicode 5 0 R >>",
    ),
    "letters that are not told": lambda: with_map(
        b"begincmap 1 beginbfchar <48> <ZZZZ endbfchar 9999999 beginbfrange <0"
    ),
    "letters without end": lambda: with_map(
        b"1 begincodespacerange <0000> <FFFFFFFF> endcodespacerange 1 beginbfrange <0000> <FFFFFFFF> <41> endbfrange"
    ),
    "half letters": lambda: with_map(b"1 beginbfrange <20> <7A> <D800> endbfrange"),
    "a script that runs when it is opened": lambda: good(
        catalog=b"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (while(true){}) >> >>"
    ),
    "a page wider than the world": lambda: good(page=PAGE.replace(b"612 792", b"99999999999 0.00001")),
}


def given(reader: Reader, tmp_path: Path, data: bytes) -> ParsedDocument:
    (tmp_path / "stored").write_bytes(data)
    return reader.read(tmp_path / "stored", "a.pdf")


@pytest.mark.parametrize("case", READ)
def test_what_can_be_read_is_read(reader: Reader, tmp_path: Path, case: str) -> None:
    parsed = given(reader, tmp_path, READ[case]())
    assert parsed.pages[0].text.strip()
    assert len(parsed.pages) <= 3
    assert "Error" not in "".join(parsed.notes)


def test_pages_that_hold_nothing_but_themselves(reader: Reader, tmp_path: Path) -> None:
    with pytest.raises(UnreadableDocument):
        given(reader, tmp_path, good(pages=b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"))


def test_attachments_are_named_and_are_why_a_portfolio_holds_no_text(reader: Reader, tmp_path: Path) -> None:
    catalog = b"<< /Type /Catalog /Pages 2 0 R %s >>" % ATTACHED
    parsed = given(reader, tmp_path, good(catalog=catalog, **FILE))
    assert parsed.notes == ("Attachments are not read: inner.txt.",)
    with pytest.raises(UnreadableDocument, match=r"no text\. Attachments are not read: inner\.txt"):
        given(reader, tmp_path, good(catalog=catalog, contents=stream(b""), **FILE))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [b"q 1 0 0 1 0 0 cm Q\n", b"BT /F1 9 Tf (more) Tj ET\n", b"q ", b"1 1 m 9 9 l S\n"],
    ids=["q", "Tj", "qq", "l"],
)
def test_sixty_megabytes_of_operators_end_at_a_limit_or_as_a_page(reader: Reader, tmp_path: Path, piece: bytes) -> None:
    data = SHOWN + b"\n" + piece * (60 * 2**20 // len(piece))
    try:
        assert (
            "Hello"
            in given(reader, tmp_path, good(contents=stream(zlib.compress(data), b"/Filter /FlateDecode")))
            .pages[0]
            .text
        )
    except LimitExceeded as error:
        assert error.help
    assert given(reader, tmp_path, good()).pages[0].text


@pytest.mark.slow
def test_a_drawing_that_draws_itself_ends_at_a_limit(reader: Reader, tmp_path: Path) -> None:
    page = PAGE.replace(b"/Resources <<", b"/Resources << /XObject << /X 5 0 R >>")
    loop = stream(
        b"/X Do /X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>"
    )
    try:
        given(reader, tmp_path, good(page=page, contents=stream(SHOWN + b" /X Do"), loop=loop))
    except LecternError as error:
        assert error.help
    assert given(reader, tmp_path, good()).pages[0].text
