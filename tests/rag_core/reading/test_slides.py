"""PowerPoint files, made with python-pptx."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from lxml import etree
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml.ns import nsdecls
from pptx.util import Inches

from rag_core.answering.passages import merge_hits
from rag_core.answering.tables.format_amount import said
from rag_core.answering.tables.tables import cells_of
from rag_core.reading import Reader
from tests.rag_core.answering.parts import hit

PLACE = (Inches(1), Inches(2), Inches(6), Inches(3))


def test_a_page_for_each_slide_with_tables_charts_and_notes(reader: Reader, tmp_path: Path) -> None:
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Ferries of the north"
    first.placeholders[1].text = "Autumn meeting"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Plans"
    second.placeholders[1].text = "Two new boats\nA later last crossing"
    second.notes_slide.notes_text_frame.text = "Say when."
    deck.slides.add_slide(deck.slide_layouts[6])
    fourth = deck.slides.add_slide(deck.slide_layouts[5])
    fourth.shapes.title.text = "Figures"
    table = fourth.shapes.add_table(2, 3, *PLACE).table
    for row, texts in enumerate((("", "2019", "2020"), ("Passengers", "41,200", "38,100"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    numbers = CategoryChartData()
    numbers.categories = ["Tolsund", "Marn"]
    numbers.add_series("Delays", (12, 7.5))
    group = fourth.shapes.add_group_shape()
    group.shapes.add_textbox(*PLACE).text_frame.text = "In a group"
    fourth.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *PLACE, numbers)
    deck.save(str(tmp_path / "stored"))
    _check_damaged_chart(reader, tmp_path)
    parsed = reader.read(tmp_path / "stored", "meeting.pptx")
    assert [page.text for page in parsed.pages] == [
        "Ferries of the north\n\nAutumn meeting",
        "Plans\n\n• Two new boats\n• A later last crossing\n\nNotes: Say when.",
        "",
        "Figures\n\n.\t2019\t2020\nPassengers\t41,200\t38,100\n\nIn a group\n\n.\tDelays\nTolsund\t12\nMarn\t7.5",
    ]
    assert [(item.title, item.page) for item in parsed.sections] == [
        ("Ferries of the north", 1), ("Plans", 2), ("Figures", 4),
    ]  # fmt: skip
    found = {cell.part.text: said(cell) for cell in cells_of(merge_hits([hit(parsed.pages[3].text)])[0], 0)}
    assert found["38,100"] == "Passengers, 2020: 38,100"
    assert found["7.5"] == "Marn, Delays: 7.5"


def _check_damaged_chart(reader: Reader, folder: Path) -> None:
    """A chart that is none costs itself alone."""
    with zipfile.ZipFile(folder / "stored") as deck, zipfile.ZipFile(folder / "damaged", "w") as damaged:
        for name in deck.namelist():
            damaged.writestr(name, b"<broken" if name.startswith("ppt/charts/chart") else deck.read(name))
    parsed = reader.read(folder / "damaged", "meeting.pptx")
    assert parsed.pages[3].text.endswith("38,100\n\nIn a group")
    assert "On slide 4 “Chart" in parsed.notes[-1]


def test_the_texts_of_a_drawn_process_are_read(reader: Reader, tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "How to board"
    space = f'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" {nsdecls("a", "r")}'
    points = "".join(
        f"<dgm:pt><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>" for text in ("Pay", "", "Board")
    )
    data = f"<dgm:dataModel {space}><dgm:ptLst>{points}</dgm:ptLst></dgm:dataModel>".encode()
    part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", slide.part.package, data)
    link = slide.part.relate_to(part, RELATIONSHIP_TYPE.DIAGRAM_DATA)
    frame = slide.shapes.add_table(1, 1, *PLACE).element
    drawn = frame.xpath(".//a:graphicData")[0]
    drawn.set("uri", "http://schemas.openxmlformats.org/drawingml/2006/diagram")
    drawn[:] = [etree.fromstring(f'<dgm:relIds {space} r:dm="{link}"/>')]
    deck.save(str(tmp_path / "stored"))
    assert reader.read(tmp_path / "stored", "a.pptx").pages[0].text == "How to board\n\n• Pay\n• Board"
    slide.part.drop_rel(link)
    deck.save(str(tmp_path / "stored"))
    assert reader.read(tmp_path / "stored", "a.pptx").pages[0].text == "How to board"


@pytest.mark.parametrize("how", ["gone", "cut off", "changed"])
def test_a_damaged_slide_costs_itself_alone_and_is_told_of(reader: Reader, tmp_path: Path, how: str) -> None:
    deck = Presentation()
    for number in (1, 2, 3):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = f"Title {number}", f"Body {number}"
    deck.save(str(tmp_path / "deck"))
    with zipfile.ZipFile(tmp_path / "deck") as whole, zipfile.ZipFile(tmp_path / "stored", "w") as stored:
        for name in whole.namelist():
            data = whole.read(name)
            if name != "ppt/slides/slide2.xml" or how == "changed":
                stored.writestr(name, data)
            elif how == "cut off":
                stored.writestr(name, data[: data.index(b"Body 2")])
    if how == "changed":
        (tmp_path / "stored").write_bytes((tmp_path / "stored").read_bytes().replace(b"Body 2", b"Bady 2"))
    parsed = reader.read(tmp_path / "stored", "a.pptx")
    second = "Title 2" if how == "cut off" else ""
    assert [page.text for page in parsed.pages] == ["Title 1\n\nBody 1", second, "Title 3\n\nBody 3"]
    told = ("Parts that the file holds only in part, damaged or nested too deeply: ppt/slides/slide2.xml.",)
    lost = ("Slide 2 is damaged or not in the file: what was not found of it was not read.",)
    assert parsed.notes == {"gone": lost, "cut off": told, "changed": told + lost}[how]


def test_comments_on_a_slide_with_who_wrote_them_and_the_answers(reader: Reader, tmp_path: Path) -> None:
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
    new = "http://schemas.microsoft.com/office/2018/10/relationships/"
    old_space = "http://schemas.openxmlformats.org/presentationml/2006/main"
    new_space = "http://schemas.microsoft.com/office/powerpoint/2018/8/main"
    drawn = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    text = "<p:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody>"
    answer = f'<p:replyLst><p:reply authorId="{{B}}">{text.format("Yes.")}</p:reply></p:replyLst>'
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Plans"
    parts = (
        (deck.part, office + "commentAuthors", f'<p:l xmlns:p="{old_space}"><p:cmAuthor id="0" name="Ada"/></p:l>'),
        (deck.part, new + "authors", f'<p:l xmlns:p="{new_space}"><p:author id="{{B}}" name="Bo"/></p:l>'),
        (slide.part, office + "comments",
         f'<p:l xmlns:p="{old_space}"><p:cm authorId="0"><p:text>Which boats?</p:text></p:cm></p:l>'),
        (slide.part, new + "comments",
         f'<p:l xmlns:p="{new_space}" {drawn}><p:cm authorId="{{B}}">{answer}{text.format("Both?")}</p:cm></p:l>'),
    )  # fmt: skip
    for number, (owner, kind, xml) in enumerate(parts):
        part = Part(PackURI(f"/ppt/part{number}.xml"), "application/xml", owner.package, xml.encode())
        owner.relate_to(part, kind)
    deck.save(str(tmp_path / "stored"))
    assert reader.read(tmp_path / "stored", "a.pptx").pages[0].text == (
        "Plans\n\nComment by Ada: Which boats?\n\nComment by Bo: Both?\n\nComment by Bo: Yes."
    )
