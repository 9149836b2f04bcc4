"""Archives and files that are damaged, hostile or not what they are called: a clear reason, and limits kept."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from docx import Document
from openpyxl import Workbook
from pptx import Presentation

from rag_core.errors import LecternError, LimitExceeded, UnreadableDocument, UnsupportedDocument
from rag_core.reading import Reader, base, detect_bytes
from rag_core.reading.flowing.damage import spared
from rag_core.reading.flowing.document import FlowDocument
from rag_core.settings import ReadingSettings

LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'


def saved(make: Callable[[], object], **changed: bytes) -> bytes:
    """An Office file, some of its members changed."""
    whole, out = io.BytesIO(), io.BytesIO()
    made = make()
    made.save(whole)  # type: ignore[attr-defined]
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, changed.pop(name, old.read(name)))
        for name, data in changed.items():
            new.writestr(name, data)
    return out.getvalue()


def document() -> object:
    made = Document()
    made.add_paragraph("Words.")
    return made


def with_doctype() -> bytes:
    xml = f'<?xml version="1.0"?>{LAUGHS}<w:document xmlns:w="x">&b;</w:document>'
    return saved(document, **{"word/document.xml": xml.encode("utf-16")})


def nested() -> bytes:
    """Archives within archives, in all of which there are some gigabytes."""
    data = bytes(2**24)
    for _ in range(5):
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(4):
                archive.writestr(f"{number}.zip", data)
        data = whole.getvalue()
    return data


def body(inner: str) -> bytes:
    """A Word document of this XML."""
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    whole = f'<w:document xmlns:w="{space}"><w:body>{inner}</w:body></w:document>'
    return saved(document, **{"word/document.xml": whole.encode()})


BAD = {
    "a document type with entities": (with_doctype, "a.docx", UnsupportedDocument, "DOCTYPE"),
    "an entry outside": (lambda: saved(document, **{"word/../../etc/x": b""}), "a.docx", UnreadableDocument, "outside"),
    "an entry of another drive": (lambda: saved(document, **{"C:\\x": b""}), "a.docx", UnreadableDocument, "outside"),
    "a bomb": (lambda: saved(document, **{"word/big.xml": bytes(2**26)}), "a.docx", LimitExceeded, "unfold"),
    "a bomb of entries": (
        lambda: saved(document, **{f"x{number}": b"" for number in range(20_001)}), "a.docx", LimitExceeded, "entries",
    ),
    "deep XML": (lambda: body("<w:sdt>" * 999 + "</w:sdt>" * 999), "a.docx", UnreadableDocument, "nested too deeply"),
    "no part of its name": (
        lambda: saved(document, **{"word/document.xml": b""}), "a.docx", UnreadableDocument, "missing",
    ),
    "no content types": (
        lambda: saved(document)[:2000] + b"word/document.xml", "a.docx", UnreadableDocument, "archive is damaged",
    ),
    "cut off": (lambda: saved(Workbook)[:-40], "a.xlsx", UnreadableDocument, "damaged"),
    "without its main part": (
        lambda: saved(Presentation, **{"ppt/presentation.xml": b"<x/>"}), "a.pptx", UnreadableDocument, "damaged",
    ),
    "no book": (lambda: saved(document).replace(b"word/", b"book/"), "a.epub", UnreadableDocument, "damaged"),
    "no notebook": (lambda: b"[1, 2]", "a.ipynb", UnreadableDocument, "no notebook"),
    "no JSON": (lambda: b"{", "a.ipynb", UnreadableDocument, "no JSON"),
    "no message": (lambda: b"just words", "a.eml", UnreadableDocument, "no message"),
    "an archive": (lambda: saved(document).replace(b"word/", b"book/"), "a.zip", UnsupportedDocument, "ZIP archive"),
    "nothing but a comment": (lambda: b"<!-- x -->", "a.html", UnreadableDocument, "no text"),
    "nothing but tags": (lambda: b"<html><body><p></p></body></html>", "a.html", UnreadableDocument, "no text"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_said(reader: Reader, tmp_path: Path, case: str) -> None:
    make, name, kind, says = BAD[case]
    (tmp_path / "stored").write_bytes(make())
    with pytest.raises(LecternError, match=says) as caught:
        reader.read(tmp_path / "stored", name)
    assert type(caught.value) is kind
    assert caught.value.help
    # The process goes on: nothing that is wrong with a file ends it.
    (tmp_path / "good").write_bytes(saved(document))
    assert reader.read(tmp_path / "good", "good.docx").pages[0].text == "Words."


def test_what_is_wrong_beside_the_text_costs_no_text(reader: Reader, tmp_path: Path) -> None:
    links = "".join(
        f'<Relationship Id="x{number}" Type="{kind}" Target="{target}" TargetMode="External"/>'
        for number, (kind, target) in enumerate(
            [
                (
                    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate",
                    "http://192.0.2.1/x",
                ),
                ("http://schemas.openxmlformats.org/officeDocument/2006/relationships/image", "file:///etc/passwd"),
            ]
        )
    )
    relations = "word/_rels/document.xml.rels"
    with zipfile.ZipFile(io.BytesIO(saved(document))) as archive:
        linked = archive.read(relations).replace(b"</Relationships>", f"{links}</Relationships>".encode())
    odd = "<w:p><w:pPr><w:outlineLvl w:val='x'/></w:pPr><w:r><w:t>Words.</w:t></w:r></w:p>"
    frame = "<w:tbl><w:tr><w:tc>" * 20 + odd + "</w:tc></w:tr></w:tbl>" * 20
    for data in (
        saved(document, **{relations: linked}),
        saved(document, **{"x.zip": nested()}),
        body(odd),
        body(frame),
    ):
        (tmp_path / "stored").write_bytes(data)
        assert reader.read(tmp_path / "stored", "a.docx").pages[0].text == "Words."


def test_a_box_that_hangs_on_a_line_is_a_line_of_its_own(reader: Reader, tmp_path: Path) -> None:
    inner = "<w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent>"
    box = f'<w:r><w:pict><v:textbox xmlns:v="urn:schemas-microsoft-com:vml">{inner}</v:textbox></w:pict></w:r>'
    (tmp_path / "stored").write_bytes(body(f"<w:p>{box}<w:r><w:t>Words.</w:t></w:r></w:p>"))
    assert reader.read(tmp_path / "stored", "a.docx").pages[0].text == "In a box.\nWords."


def test_parts_that_a_word_document_lacks_are_named(reader: Reader, tmp_path: Path) -> None:
    relations = "word/_rels/document.xml.rels"
    with zipfile.ZipFile(io.BytesIO(saved(document))) as archive:
        link = b'<Relationship Id="x" Type="http://x/image" Target="../../NULL"/></Relationships>'
        linked = archive.read(relations).replace(b"</Relationships>", link)
    (tmp_path / "stored").write_bytes(saved(document, **{relations: linked}))
    parsed = reader.read(tmp_path / "stored", "a.docx")
    assert (parsed.pages[0].text, parsed.notes) == ("Words.", ("Parts that the file names but does not hold: NULL.",))


def a_presentation() -> object:
    made = Presentation()
    made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = "Words."
    return made


def a_workbook() -> object:
    made = Workbook()
    made.active.append(["Words."])
    return made


ODD = {
    "no main relation": ("_rels/.rels", b"officeDocument/2006/relationships/officeDocument", b"nothing"),
    "a relation to nothing": ("_rels/.rels", b"docProps/core.xml", b""),
    "no kind of the main part": ("[Content_Types].xml", None, b""),
    "a kind without a name": ("[Content_Types].xml", b'Extension="xml"', b""),
}


@pytest.mark.parametrize("make", [document, a_presentation, a_workbook])
@pytest.mark.parametrize("case", ODD)
def test_what_an_office_file_says_wrongly_of_its_parts_costs_no_text(
    reader: Reader, tmp_path: Path, case: str, make: Callable[[], object]
) -> None:
    name, said, other = ODD[case]
    main = re.compile(rb'<Override [^>]*/(?:word/document|ppt/presentation|xl/workbook)\.xml"[^>]*/>')
    with zipfile.ZipFile(io.BytesIO(saved(make))) as archive:
        data = archive.read(name)
    changed = data.replace(said, other) if said else main.sub(other, data)
    assert changed != data
    (tmp_path / "stored").write_bytes(saved(make, **{name: changed}))
    assert reader.read(tmp_path / "stored", "a").pages[0].text == "Words."


def test_a_paragraph_or_style_that_makes_no_sense_costs_itself_alone(reader: Reader, tmp_path: Path) -> None:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    styles = f'<w:styles xmlns:w="{space}"><w:style w:type="odd" w:styleId="A"/><w:style w:styleId="B"/></w:styles>'
    words = "<w:p><w:pPr><w:pStyle/></w:pPr><w:r><w:rPr><w:rStyle/></w:rPr><w:t>Words.</w:t></w:r></w:p>"
    with zipfile.ZipFile(io.BytesIO(body(words))) as archive:
        data = {one: archive.read(one) for one in archive.namelist()}
    (tmp_path / "stored").write_bytes(saved(document, **{**data, "word/styles.xml": styles.encode()}))
    assert reader.read(tmp_path / "stored", "a.docx").pages[0].text == "Words."


def test_an_unforeseen_fault_of_one_part_costs_it_alone() -> None:
    def table() -> Iterator[str]:
        yield "a row"
        raise IndexError

    notes: list[str] = []
    for _ in range(2):
        assert list(spared(table(), "A table", notes)) == ["a row"]
    assert notes == ["A table could not be read whole: a part of it makes no sense."]

    def limited() -> Iterator[str]:
        yield "a row"
        raise LimitExceeded("too much")

    with pytest.raises(LimitExceeded):
        list(spared(limited(), "A table", notes))


@pytest.mark.parametrize("make", [document, a_presentation, a_workbook])
def test_an_office_file_of_the_strict_form_is_read_as_others_are(make: Callable[[], object], tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(saved(make))) as usual:
        parts = {name: usual.read(name) for name in usual.namelist() if name.endswith((".xml", ".rels"))}
    form = re.compile(rb"http://schemas.openxmlformats.org/(?!package)(\w+)/2006/")
    strict = {name: form.sub(rb"http://purl.oclc.org/ooxml/\1/", data) for name, data in parts.items()}
    (tmp_path / "stored").write_bytes(saved(make, **strict))
    module = {document: "word", a_presentation: "slides", a_workbook: "workbook"}[make]
    read = FlowDocument(f"rag_core.reading.flowing.{module}", tmp_path / "stored", None, 1000)
    read.prepare(lambda: None)
    assert (read.pages, read.details().notes) == (["Words."], ())


def test_a_notebook_keeps_what_makes_sense_of_it(reader: Reader, tmp_path: Path) -> None:
    cells = [1, None, {"cell_type": "markdown", "source": ["Words."]}, {"source": None, "outputs": [3, {"data": None}]}]
    (tmp_path / "stored").write_text(json.dumps({"cells": cells, "metadata": []}))
    assert reader.read(tmp_path / "stored", "a.ipynb").pages[0].text == "Words."


def test_two_hundred_megabytes_on_a_line_are_refused(reader: Reader, tmp_path: Path) -> None:
    with (tmp_path / "stored").open("wb") as file:
        file.write(b"<html><p>")
        for _ in range(41):
            file.write(b"word " * 2**20)
    with pytest.raises(LimitExceeded, match="50,000,000 characters"):
        reader.read(tmp_path / "stored", "a.html")


def test_what_a_file_is_counts_more_than_its_name(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "stored").write_bytes(saved(document))
    for name in ("a.xlsx", "a.pdf", "a.txt", "a"):
        assert reader.read(tmp_path / "stored", name).media_type == base.DOCX


def test_a_file_is_not_taken_for_one_that_is_in_it() -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:  # nothing of it packed
        archive.writestr("ppt/presentation.xml", b"")
        archive.writestr("ppt/embeddings/a.xlsx", saved(Workbook))
    assert detect_bytes(whole.getvalue(), "a") == base.PPTX


def test_limits_hold_for_every_kind(tmp_path: Path) -> None:
    (tmp_path / "stored").write_bytes(saved(document))
    (tmp_path / "table").write_text("a,b\n" * 100)
    with Reader(ReadingSettings(max_text_chars=4)) as small, pytest.raises(LimitExceeded, match="4 characters"):
        small.read(tmp_path / "stored", "a.docx")
    with Reader(ReadingSettings(max_text_chars=150)) as small, pytest.raises(LimitExceeded, match="150 characters"):
        small.read(tmp_path / "table", "a.csv")
