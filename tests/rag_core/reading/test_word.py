"""Word documents, made with python-docx as people's programs make them."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from docx import Document
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from pages.parts import page_text, passage
from rag_core import Library, Upload
from rag_core.answering.passages import merge_hits
from rag_core.answering.tables.format_amount import said
from rag_core.answering.tables.tables import cells_of
from rag_core.domain import ParsedDocument
from rag_core.errors import UnsupportedDocument
from rag_core.reading import Reader
from tests.rag_core.answering.parts import hit

FARES = (("Line", "2020", "", "2019"), ("", "Adult", "Child", "Adult"), ("Tolsund", "12.40", "6.20", "11.10"))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    document = Document()
    document.core_properties.title = "Ferries of the north"
    document.core_properties.author = "Ada Moss"
    document.add_heading("Ferries of the north", 0)
    document.add_paragraph("The company runs nine boats. ")
    document.add_heading("Fares", 1)
    table = document.add_table(0, 4)
    for row in FARES:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(0, 0).merge(table.cell(1, 0))
    for number in range(40):
        cells = table.add_row().cells
        for cell, text in zip(cells, (f"Harbour {number}", f"{number + 100}.00", "1.00", "2.00"), strict=True):
            cell.text = text
    document.add_heading("Rules", 2)
    for text in ("Buy a ticket.", "Board."):
        document.add_paragraph(text, style="List Number")
    document.add_paragraph("Dogs pay half.", style="List Bullet")
    last = document.add_paragraph("Bicycles go ", style="List Bullet")
    last.add_run("free.").add_break(WD_BREAK.PAGE)
    document.add_paragraph("The last page has this.")
    _wrap(document.paragraphs[-1])
    path = tmp_path_factory.mktemp("word") / "stored"
    document.save(str(path))
    return path


def _wrap(paragraph: object) -> None:
    """Put a paragraph into a content control, as forms and title pages have them."""
    element = paragraph._p  # type: ignore[attr-defined]
    control, content = OxmlElement("w:sdt"), OxmlElement("w:sdtContent")
    element.addprevious(control)
    control.append(content)
    content.append(element)


@pytest.fixture(scope="module")
def parsed(reader: Reader, report: Path) -> ParsedDocument:
    return reader.read(report, "report.docx")


def test_headings_pages_and_properties(parsed: ParsedDocument) -> None:
    assert (parsed.title, parsed.authors) == ("Ferries of the north", "Ada Moss")
    assert [(item.title, item.level, item.page) for item in parsed.sections] == [
        ("Ferries of the north", 1, 1), ("Fares", 1, 1), ("Rules", 2, 1),
    ]  # fmt: skip
    first, last = parsed.pages
    for section in parsed.sections:
        assert first.text[section.start :].startswith(section.title)
    assert first.text.endswith("Rules\n\n1. Buy a ticket.\n2. Board.\n• Dogs pay half.\n• Bicycles go free.")
    assert last.text == "The last page has this."


def test_a_tables_figures_have_their_row_and_column(parsed: ParsedDocument) -> None:
    found = {cell.part.text: said(cell) for cell in cells_of(merge_hits([hit(parsed.pages[0].text)])[0], 0)}
    assert found["6.20"] == "Tolsund, 2020 Child: 6.20"
    assert found["11.10"] == "Tolsund, 2019 Adult: 11.10"
    assert found["139.00"] == "Harbour 39, 2020 Adult: 139.00"


def test_drawn_page_ends_come_before_set_ones_and_notes_stand_at_the_pages_end(reader: Reader, tmp_path: Path) -> None:
    document = Document()
    document.add_paragraph("On page one.")
    run = document.add_paragraph("A paragraph that ").add_run("goes on.")
    run._r.insert(0, OxmlElement("w:lastRenderedPageBreak"))
    document.add_paragraph("On page two.").add_run().add_break(WD_BREAK.PAGE)
    deleted, gone = OxmlElement("w:del"), OxmlElement("w:r")
    gone.append(OxmlElement("w:t"))
    gone[0].text = "taken back"
    deleted.append(gone)
    document.paragraphs[-1]._p.append(deleted)
    document.save(str(tmp_path / "stored"))
    parsed = reader.read(tmp_path / "stored", "two.docx")
    assert [page.text for page in parsed.pages] == [
        "On page one.\n\nA paragraph that goes on.", "On page two.",
    ]  # fmt: skip


def test_foot_and_endnotes_stand_at_the_end_of_their_page(reader: Reader, tmp_path: Path) -> None:
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part

    document = Document()
    paragraph = document.add_paragraph("Rye costs four crowns.")
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    said = {"footnote": "In spring.", "endnote": "By weight."}
    for kind, words in said.items():
        mark = OxmlElement(f"w:{kind}Reference")
        mark.set(qn("w:id"), "2")
        paragraph.add_run()._r.append(mark)
        note = f'<w:{kind} w:id="2"><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:{kind}>'
        notes = f"<w:{kind}s {space}>{note}</w:{kind}s>"
        part = Part(PackURI(f"/word/{kind}s.xml"), "application/xml", notes.encode(), document.part.package)
        document.part.relate_to(part, getattr(RELATIONSHIP_TYPE, f"{kind}s".upper()))
    document.add_paragraph("Oats cost three for 20 m").add_run("2").font.superscript = True
    document.save(str(tmp_path / "stored"))
    text = reader.read(tmp_path / "stored", "a.docx").pages[0].text
    assert text == "Rye costs four crowns.[2][e2]\n\nOats cost three for 20 m²\n\n[2] In spring.\n\n[e2] By weight."


def test_comments_stand_behind_what_they_are_on_with_who_wrote_them(reader: Reader, tmp_path: Path) -> None:
    document = Document()
    paragraph = document.add_paragraph("The rent is 900 euros, ")
    about = paragraph.add_run("payable in advance")
    paragraph.add_run(".")
    document.add_comment(about, "The landlord agreed\nto quarterly payment.", author="Marit Solvang")
    table = document.add_table(2, 2)
    for place, text in enumerate(("Room", "Rent", "Boathouse", "900")):
        table.cell(place // 2, place % 2).text = text
    document.add_comment(table.cell(1, 1).paragraphs[0].runs, "Was 850.", author="")
    lost = document.add_comment(document.add_paragraph("Last.").runs, "Who signs?", author="Bo")
    for mark in list(document.element.body.iter(qn("w:commentReference"), qn("w:commentRangeStart"))):
        if mark.get(qn("w:id")) == str(lost.comment_id):
            mark.getparent().remove(mark)
    document.save(str(tmp_path / "stored"))
    assert reader.read(tmp_path / "stored", "a.docx").pages[0].text.split("\n\n") == [
        "The rent is 900 euros, payable in advance.",
        "Comment by Marit Solvang on “payable in advance”: The landlord agreed to quarterly payment.",
        "Room\tRent\nBoathouse\t900", "Comment on “900”: Was 850.", "Last.", "Comment by Bo: Who signs?",
    ]  # fmt: skip


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    """A contract without styles, its headings bold, as most people write theirs."""
    document = Document()
    document.add_paragraph().add_run("SERVICE AGREEMENT").bold = True
    document.add_paragraph("between Moss Ltd and Tolsund AS")
    document.add_paragraph().add_run("1. Term").bold = True
    paragraph = document.add_paragraph("The term is ")
    paragraph.add_run("two years").bold = True
    document.add_paragraph().add_run("The customer signs first.").bold = True
    document.sections[0].header.paragraphs[0].text = "Contract No. 4711/24"
    document.sections[0].footer.paragraphs[0].text = "Page 1 of 2"
    document.save(str(tmp_path / "stored"))
    return tmp_path / "stored"


def changed(path: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    with zipfile.ZipFile(path) as old:
        parts = {one: old.read(one) for one in old.namelist()}
    with zipfile.ZipFile(path, "w") as new:
        for one, data in parts.items():
            new.writestr(one, change(data) if one == name else data)
    return path


def test_bold_lines_are_headings_where_no_style_is_and_a_letterhead_is_read_once(
    reader: Reader, contract: Path
) -> None:
    parsed = reader.read(contract, "a.docx")
    assert [item.title for item in parsed.sections] == ["SERVICE AGREEMENT", "1. Term"]
    assert parsed.pages[0].text.endswith("signs first.\n\nHeader: Contract No. 4711/24")
    macros = b"application/vnd.ms-word.document.macroEnabled.main+xml"
    usual = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    changed(contract, "[Content_Types].xml", lambda data: data.replace(usual, macros))
    assert reader.read(contract, "a.docm").pages == parsed.pages
    poster = Document()
    for words in ("Harbour day", "On Sunday", "All boats go"):
        poster.add_paragraph().add_run(words).bold = True
    poster.save(str(contract))
    assert not reader.read(contract, "a.docx").sections


@pytest.mark.parametrize("name", ["word/styles.xml", "docProps/core.xml", "word/document.xml"])
def test_a_damaged_part_costs_itself_alone_and_is_named(reader: Reader, contract: Path, name: str) -> None:
    end = b"signs first" if name == "word/document.xml" else b"</"
    parsed = reader.read(changed(contract, name, lambda data: data[: data.rindex(end)]), "a.docx")
    assert "1. Term\n\nThe term is two years" in parsed.pages[0].text
    assert parsed.notes == (f"Parts that the file holds only in part, damaged or nested too deeply: {name}.",)


def test_a_picture_that_cannot_be_unpacked_costs_itself_alone(reader: Reader, contract: Path) -> None:
    name = "docProps/thumbnail.jpeg"
    with zipfile.ZipFile(contract) as parts:
        at = parts.getinfo(name).header_offset + 40 + len(name)
    data = bytearray(contract.read_bytes())
    data[at : at + 20] = bytes(20)
    contract.write_bytes(data)
    parsed = reader.read(contract, "a.docx")
    assert "1. Term" in parsed.pages[0].text
    assert name in parsed.notes[0]


def test_a_figure_of_a_word_table_is_answered_with_its_row_and_column(library: Library, report: Path) -> None:
    *_, last = library.add([Upload("report.docx", report.read_bytes())])
    assert last.stage == "ready", last.error
    answer = library.ask("What was the adult fare to Harbour 33 in 2020?")
    assert "133.00" in answer.text
    assert "Harbour 33" in answer.text
    assert answer.citations[0].page == 1
    # There is no picture of its pages: the viewer shows the text, the passage marked.
    shown = passage.cited(library, answer.citations[0])
    assert shown["problem"] is None
    cited = answer.citations[0]
    blocks = page_text.blocks(library.page(cited.document_id, 1), (), [(*shown["cited"], "cited")])
    rows = next(block["rows"] for block in blocks if block["kind"] == "table")
    parts = [part for row in rows for cell in row["cells"] for part in cell["parts"]]
    assert [text for text, _, mark in parts if mark == "cited"] == ["133.00"]
    with pytest.raises(UnsupportedDocument):
        library.page_image(answer.citations[0].document_id, 1)


def test_a_table_within_a_cell_keeps_its_cells_apart(reader: Reader, tmp_path: Path) -> None:
    document = Document()
    outer = document.add_table(3, 2)
    for row, texts in enumerate((("Harbour", "Open"), ("Tolsund", "From spring on"), ("Marn", "Never"))):
        for cell, text in zip(outer.rows[row].cells, texts, strict=True):
            cell.text = text
    inner = outer.cell(1, 1).add_table(2, 2)
    for row, texts in enumerate((("Monday", "9 to 17"), ("Sunday", "10 to 12"))):
        for cell, text in zip(inner.rows[row].cells, texts, strict=True):
            cell.text = text
    inner.cell(1, 1).add_table(1, 2).cell(0, 0).text = "in summer"
    document.add_paragraph("Behind.")
    document.save(str(tmp_path / "stored"))
    parsed = reader.read(tmp_path / "stored", "a.docx")
    assert parsed.pages[0].text.split("\n\n") == [
        "Harbour\tOpen\nTolsund\tFrom spring on", "Monday\t9 to 17\nSunday\t10 to 12", "in summer",
        "Harbour\tOpen\nMarn\tNever", "Behind.",
    ]  # fmt: skip
