"""Workbooks, made with openpyxl, and tables as text."""

from __future__ import annotations

import random
import zipfile
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment

from rag_core import Library, Upload
from rag_core.answering.passages import merge_hits
from rag_core.answering.tables.format_amount import said
from rag_core.answering.tables.tables import cells_of
from rag_core.domain import Section
from rag_core.reading import Reader, make_card
from rag_core.reading.flowing import FlowDocument
from tests.rag_core.answering.parts import hit

COUNTIES = ["Aldshire", "Brenmark", "Corvale", "Dunmoor", "Eastwold", "Farrow", "Glenside", "Hartwell"]


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    book = Workbook()
    sheet = book.active
    sheet.title = "Revenue"
    sheet["B2"] = "Revenue by county, in thousands"
    sheet.append([])
    sheet.append([None, "County", 2019, 2020, "Change", "Since"])
    for number, county in enumerate(COUNTIES * 6):
        sheet.append(
            [None, f"{county} {number}", 1000.5 + number, 1100 + number, 0.0412, date(2019, 3, 1)]
        )  # fmt: skip
        for cell in sheet[sheet.max_row][2:4]:
            cell.number_format = '#,##0.0 "T"'
        sheet.cell(sheet.max_row, 5).number_format = "0.0%"
    costs = book.create_sheet("Costs")
    costs.append(["Item", "Amount"])
    costs.append(["Rent", -1234.5])
    costs["B2"].number_format = "[$€-407]#,##0.00;[Red]-[$€-407]#,##0.00"
    costs.append(["Total", "=B2"])
    path = tmp_path / "stored"
    book.save(path)
    return path


def test_a_page_for_each_sheet_with_cells_as_shown(reader: Reader, workbook: Path) -> None:
    parsed = reader.read(workbook, "revenue 2020.xlsx")
    assert [section.title for section in parsed.sections] == ["Revenue", "Costs"]
    assert parsed.pages[0].text.startswith(
        "Revenue\n\nRevenue by county, in thousands\n\nCounty\t2019\t2020\tChange\tSince\n"
        "Aldshire 0\t1,000.5 T\t1,100.0 T\t4.1%\t2019-03-01\n"
    )
    assert parsed.pages[1].text == "Costs\n\nItem\tAmount\nRent\t-€1,234.50\nTotal"
    found = {cell.part.text: said(cell) for cell in cells_of(merge_hits([hit(parsed.pages[0].text)])[0], 0)}
    assert found["1,047.5 T"] == "Hartwell 47, 2019: 1,047.5 T"
    assert found["1,131.0 T"] == "Hartwell 31, 2020: 1,131.0 T"
    bare = replace(parsed, title="", pages=(replace(parsed.pages[1], number=1),), sections=(Section("Costs", 2, 1),))
    assert make_card(bare, ["budget of 2021.xlsx"]).title == "Budget of 2021"  # not as its first sheet
    card = make_card(parsed, ["revenue 2020.xlsx"])
    assert (card.title, card.authors) == ("Revenue by county, in thousands", "")  # openpyxl signs as its author


def test_a_figure_of_a_long_sheet_is_answered_with_its_row_and_column(library: Library, workbook: Path) -> None:
    *_, last = library.add([Upload("revenue.xlsx", workbook.read_bytes())])
    assert last.stage == "ready", last.error
    answer = library.ask("What was the revenue of Farrow 37 in 2020?")
    assert "1,137.0" in answer.text
    assert "Farrow 37" in answer.text


def test_merged_heads_scales_spans_of_time_and_what_is_not_read(reader: Reader, tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    rows = (
        ("Fares of the north", None, None, None, None), ("Line", "2019", None, "2020", None),
        (None, "Adult", "Child", "Adult", "Child"), ("Marn", 8, 4, 7, 3), (None, 9, 5, 6, 2), ("Hours", 1.5, 1234567),
        ("Sum", "=B4+B5", "=C4+C5"), ("Remark " * 20, "Boats"), (None, "Trains"),
    )  # fmt: skip
    for row in rows:
        sheet.append(row)
    for span in ("A1:E1", "B2:C2", "D2:E2", "A2:A3", "A4:A5", "A8:A9"):
        sheet.merge_cells(span)
    sheet["B6"].number_format, sheet["C6"].number_format = "[h]:mm", "#,##0,"
    book.create_sheet("Kept aside").append(["Old plans"])
    book["Kept aside"].sheet_state = "hidden"
    book.save(tmp_path / "stored")
    parsed = reader.read(tmp_path / "stored", "a.xlsx")
    assert parsed.pages[0].text == (
        "Fares of the north\nLine\t2019\t2019\t2020\t2020\nLine\tAdult\tChild\tAdult\tChild\n"
        "Marn\t8\t4\t7\t3\nMarn\t9\t5\t6\t2\nHours\t36:00\t1,235\nSum\n"
        f"{('Remark ' * 20).strip()}\tBoats\n.\tTrains"
    )
    found = {cell.part.text: said(cell) for cell in cells_of(merge_hits([hit(parsed.pages[0].text)])[0], 0)}
    assert found["2"] == "Marn, 2020 Child: 2"
    hidden, unsaid = parsed.notes
    assert "Kept aside" in hidden
    assert "left out: 2, in Sheet!B7, Sheet!C7." in unsaid


def test_a_damaged_part_of_a_workbook_costs_itself_alone(reader: Reader, tmp_path: Path) -> None:
    book = Workbook()
    for number in range(200):
        book.active.append([f"Name of {number}", number])
    book.create_sheet("Last").append(["Behind the damage"])
    book.save(tmp_path / "whole")
    parts = {"xl/styles.xml": "styles", "docProps/core.xml": "", "xl/worksheets/sheet1.xml": "“Sheet” is damaged"}
    for part, told in parts.items():
        with zipfile.ZipFile(tmp_path / "whole") as old, zipfile.ZipFile(tmp_path / "stored", "w") as new:
            for name in old.namelist():
                data = old.read(name)
                new.writestr(name, data[: len(data) // 2] if name == part else data)
        parsed = reader.read(tmp_path / "stored", "a.xlsx")
        assert parsed.pages[0].text.startswith("Name of 0\t0\nName of 1\t1\n")
        assert parsed.pages[-1].text == "Last\n\nBehind the damage"
        assert told in "".join(parsed.notes)


def with_cells(book: Path, cells: str) -> Path:
    """A workbook whose first sheet has these cells in its third row."""
    parts = {}
    with zipfile.ZipFile(book) as old:
        parts = {name: old.read(name).decode() for name in old.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace("</sheetData>", f'<row r="3">{cells}</row></sheetData>')
    with zipfile.ZipFile(book, "w") as new:
        for name, text in parts.items():
            new.writestr(name, text)
    return book


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ('<c r="A3" t="d"><v>the first of May</v></c>', "the first of May"),
        ('<c r="A3"><v>12 apples</v></c>', "12 apples"),
        ('<c r="A3" t="s"><v>4711</v></c>', "#REF!"),
        ('<c r="A3" t="b"><v>perhaps</v></c>', "perhaps"),
        ('<c r="A3" s="4711"><v>12</v></c>', "12"),
        ('<c r="A3" s="first"><v>12</v></c>', "12"),
        ('<c r="nowhere"><v>12</v></c>', "12"),
        ('<c r="A3" s="1"><v>99999999999</v></c>', "99999999999"),
        ('<c r="A3" t="unheard of"><f>1/</f><v>12</v></c>', "12"),
    ],
)
def test_a_broken_cell_costs_itself_alone(reader: Reader, tmp_path: Path, cell: str, shown: str) -> None:
    book = Workbook()
    book.active.append(["Name", "Born"])
    book.active.append(["Ada", date(1815, 12, 10)])
    book.save(tmp_path / "stored")
    path = with_cells(tmp_path / "stored", f'{cell}<c r="B3" t="inlineStr"><is><t>after it</t></is></c>')
    assert reader.read(path, "a.xlsx").pages[0].text == f"Name\tBorn\nAda\t1815-12-10\n{shown}\tafter it"


def test_a_long_sheet_tells_of_every_page_while_it_is_opened(tmp_path: Path) -> None:
    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    for number in range(5_000):
        sheet.append([f"Name of {number}"])
    book.save(tmp_path / "stored")
    told: list[None] = []
    document = FlowDocument("rag_core.reading.flowing.workbook", tmp_path / "stored", None, 10**6)
    document.prepare(lambda: told.append(None))
    assert len(told) == document.page_count > 3


FORMATS = [
    (1234567, '0.0,,"M"', "1.2M"), (1234567, "#,##0,", "1,235"), (950, '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "950"),
    (1500, '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "1.5K"), (0.075, "0.0%", "7.5%"), (0.345, "0%", "35%"),
    (2.5, "0", "3"), (1.005, "#,##0.00", "1.01"), (-1234.5, "#,##0", "-1,235"), (1e300, "0", "1" + 300 * "0"),
    (-0.5, "0%;(0%)", "(50%)"),
    (1234.5, '"$"#,##0.00', "$1,234.50"), (-1234.5, '"$"#,##0.00_);[Red]("$"#,##0.00)', "($1,234.50)"),
    (-5, "0.00;[Red]0.00", "-5.00"), (1234.5, "#,##0.00 [$kr-414]", "1,234.50 kr"), (5.2, '0.0" kg"', "5.2 kg"),
    (12.5, r'_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-;_-* "-"??\ "€"_-;_-@_-', "12.50 €"),
    (0, '#,##0;(#,##0);"none"', "none"), (1, '"yes";"yes";"no"', "yes"), (7, "00000", "00007"), (1.5, "0.##", "1.5"),
    (2, "0.##", "2"), (0.75, "# ?/?", "0.75"), (12345, "0.00E+00", "12345"), (5, 'General" pcs"', "5 pcs"),
    (5, ";;;", "5"), (3, r"0\d", "3d"), (-5.5, "General", "-5.5"),
    (1.5, "[h]:mm", "36:00"), (0.0007, "[mm]:ss", "0:01:00"), (-0.25, "[h]:mm", "-6:00"),
    (45366.5, "yyyy-mm-dd hh:mm:ss", "2024-03-15 12:00:00"), (45366, "d. mmmm yyyy", "2024-03-15"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "form", "shown"), FORMATS)
def test_a_number_is_read_as_its_cell_shows_it(
    reader: Reader, tmp_path: Path, value: float, form: str, shown: str
) -> None:
    book = Workbook()
    book.active.append(["Name", value])
    book.active["B1"].number_format = form
    book.save(tmp_path / "stored")
    assert reader.read(tmp_path / "stored", "a.xlsx").pages[0].text == f"Name\t{shown}"


def test_comments_on_cells_with_their_rows_and_what_is_drawn_on_a_sheet(reader: Reader, tmp_path: Path) -> None:
    book = Workbook()
    for row in (("Cost", "Euros"), ("Hotel", 1380), ("Bus", 420)):
        book.active.append(row)
    book.active["B2"].comment = Comment("Ms Aziz:\nPrice includes breakfast", "Ms Aziz")
    book.active["B3"].comment = Comment("[Threaded comment] Your version cannot show it.", "tc={1}")
    book.active["D9"].comment = Comment("Ask again.", "")
    book.save(tmp_path / "whole")
    space = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
    thread = f'<l xmlns="{space}"><threadedComment ref="B3" personId="p"><text>Both ways?</text></threadedComment></l>'
    kinds = {"threadedComment": "../threadedComments/t.xml", "drawing": "../drawings/d.xml"}
    links = [f'<Relationship Id="{kind}" Type="http://x/{kind}" Target="{part}"/>' for kind, part in kinds.items()]
    link = "".join([*links, "</Relationships>"])
    box = "<txBody><p><r><t>Prices of </t></r><r><t>May</t></r></p><p/><p><r><t>In euros</t></r></p></txBody>"
    with zipfile.ZipFile(tmp_path / "whole") as old, zipfile.ZipFile(tmp_path / "stored", "w") as new:
        for name in old.namelist():
            data = old.read(name).decode()
            new.writestr(name, data.replace("</Relationships>", link) if "sheet1.xml.rels" in name else data)
        new.writestr("xl/threadedComments/t.xml", thread)
        new.writestr("xl/drawings/d.xml", f'<l xmlns="http://x/drawing">{box}</l>')
        new.writestr("xl/persons/person.xml", f'<l xmlns="{space}"><person id="p" displayName="Bo"/></l>')
    assert reader.read(tmp_path / "stored", "a.xlsx").pages[0].text.split("\n\n") == [
        "Cost\tEuros\nHotel\t1380\nBus\t420", "Comment by Ms Aziz on “Hotel, 1380”: Price includes breakfast",
        "Comment on “D9”: Ask again.", "Comment by Bo on “Bus, 420”: Both ways?", "Prices of May", "In euros",
    ]  # fmt: skip


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_tables_as_text_with_any_mark_and_encoding(reader: Reader, tmp_path: Path, mark: str, encoding: str) -> None:
    lines = [mark.join(row) for row in (("Öl", "2019", "2020"), ("Nuß", "1.5", "2.5"), ('"a b"', "", "3"))]
    (tmp_path / "stored").write_bytes("\r\n".join(lines).encode(encoding))
    assert reader.read(tmp_path / "stored", "a.csv").pages[0].text == "Öl\t2019\t2020\nNuß\t1.5\t2.5\na b\t\t3"


def test_a_line_that_tells_the_mark_is_no_row(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "stored").write_bytes("\ufeffsep=;\r\nÖl;2,5;3,5\r\nNuß;1,5;4,5\r\n".encode())
    assert reader.read(tmp_path / "stored", "a.csv").pages[0].text == "Öl\t2,5\t3,5\nNuß\t1,5\t4,5"


def test_one_column_and_a_quotation_mark_too_many(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "stored").write_text("name\nAda\nBo\n")
    assert reader.read(tmp_path / "stored", "a.csv").pages[0].text == "name\nAda\nBo"
    (tmp_path / "stored").write_text('name,size\nAda,5"\nBo,6\n')
    assert reader.read(tmp_path / "stored", "a.csv").pages[0].text == 'name\tsize\nAda\t5"\nBo\t6'


@pytest.mark.parametrize("between", ["", "\n"])
def test_what_stands_above_a_table_is_no_row_of_it(reader: Reader, tmp_path: Path, between: str) -> None:
    above = "Account of Ada\nAccount:;DE00 4711\nFrom:;1 March 2025\n"
    (tmp_path / "stored").write_text(f"{above}{between}Day;Name;Amount\n03.03.;Mill;-84,50\n07.03.;Baker;-6,30\n")
    assert reader.read(tmp_path / "stored", "a.csv").pages[0].text == (
        "Account of Ada\nAccount: DE00 4711\nFrom: 1 March 2025\n\nDay\tName\tAmount\n03.03.\tMill\t-84,50\n"
        "07.03.\tBaker\t-6,30"
    )
    for table in ("Line;2019;;\n;Adult;Child\nMarn;8;4\n", "Name;Size\nAda;5\nBo;6\n", "a;b;c\n1;2;3\n"):
        (tmp_path / "stored").write_text(table)
        read = reader.read(tmp_path / "stored", "a.csv").pages[0].text
        assert [line.rstrip() for line in read.replace(".\t", "\t").split("\n")] == [
            line.replace(";", "\t").rstrip() for line in table.strip().split("\n")
        ]


BESIDE = {
    "the same heads": (
        "Date;Count;;Date;Count\nMay;12;;May;100\nJune;17;;June;200",
        "Date\tCount\nMay\t12\nJune\t17\n\nDate\tCount\nMay\t100\nJune\t200",
    ),
    "a title of its own": (
        "Bread;310;;Staff;\nTown;5;;Name;Branch\nMill;7;;Lotte;Station",
        "Bread\t310\nTown\t5\nMill\t7\n\nStaff\nName\tBranch\nLotte\tStation",
    ),
    "a wide gap": (
        "Item;Cost;;;Name;Branch\nRent;5;;;Lotte;Station\nFood;6;;;Ravi;Mill",
        "Item\tCost\nRent\t5\nFood\t6\n\nName\tBranch\nLotte\tStation\nRavi\tMill",
    ),
    "fewer rows": (
        "Item;Cost;;Name;Age\nRent;5;;Lotte;31\nFood;6;;;",
        "Item\tCost\nRent\t5\nFood\t6\n\nName\tAge\nLotte\t31",
    ),
    "figures behind the gap": (
        "Item;2019;;2020;Change\nRent;5;;6;1\nFood;6;;;", "Item\t2019\t\t2020\tChange\nRent\t5\t\t6\t1\nFood\t6",
    ),
    "words behind a narrow gap": (
        "Item;Cost;;Paid by;When\nRent;5;;Ada;May\nFood;6;;Bo;June",
        "Item\tCost\t\tPaid by\tWhen\nRent\t5\t\tAda\tMay\nFood\t6\t\tBo\tJune",
    ),
}  # fmt: skip


BELOW = "\n\nDay;Name;Amount\n03.03.;Mill;-84,50\n"


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("Nordby Bank;Statement 3\nHolder;Ines Falk\nBalance;812,40", "Nordby Bank: Statement 3\nHolder: Ines Falk\n"),
        ("Kind;Sum\nRent;-80,00\nFood;-12,50", "Kind\tSum\nRent\t-80,00\n"),
        ("Region;Head\nNorth;Ines Falk\nSouth;Omar Dahl", "Region\tHead\nNorth\tInes Falk\n"),
    ],
)
def test_names_and_what_they_stand_for_above_a_table_are_lines(
    reader: Reader, tmp_path: Path, above: str, said: str
) -> None:  # fmt: skip
    (tmp_path / "stored").write_text(above + BELOW)
    text = reader.read(tmp_path / "stored", "a.csv").pages[0].text
    assert text.startswith(said)
    assert text.endswith("Day\tName\tAmount\n03.03.\tMill\t-84,50")


def test_a_form_is_read_as_lines(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "stored").write_text("Client;Ines Falk\nBegun;2024-03-01\nBudget;12000\nFile;B-17\n")
    assert reader.read(tmp_path / "stored", "a.csv").pages[0].text.startswith("Client: Ines Falk\nBegun: 2024-03-01\n")


@pytest.mark.parametrize("case", BESIDE)
def test_tables_beside_each_other_are_read_one_after_the_other(reader: Reader, tmp_path: Path, case: str) -> None:
    rows, expected = BESIDE[case]
    book = Workbook()
    for row in rows.split("\n"):
        book.active.append([int(cell) if cell.isdecimal() else cell or None for cell in row.split(";")])
    book.save(tmp_path / "stored")
    assert reader.read(tmp_path / "stored", "a.xlsx").pages[0].text == expected


def test_remarks_before_the_head_of_a_table_are_no_rows(reader: Reader, tmp_path: Path) -> None:
    rows = "# exported by depot, version 3\n# for Ada, of May\nDay,Item,Amount\nMonday,Tea,12.5\n"
    (tmp_path / "stored").write_text(rows)
    assert reader.read(tmp_path / "stored", "a.csv").pages[0].text == (
        "# exported by depot, version 3\n# for Ada, of May\n\nDay\tItem\tAmount\nMonday\tTea\t12.5"
    )


@pytest.mark.slow
def test_a_million_rows_are_read(reader: Reader, tmp_path: Path) -> None:
    with (tmp_path / "stored").open("w") as file:
        file.write("id,name,amount\n")
        file.writelines(f"{number},Name of {number},{number * 7 % 1000}.5\n" for number in range(1_000_000))
    parsed = reader.read(tmp_path / "stored", "a.csv")
    assert parsed.pages[-1].text.endswith("999999\tName of 999999\t993.5")


def test_a_long_table_has_pages_that_each_begin_with_its_head(reader: Reader, tmp_path: Path) -> None:
    draw = random.Random(1)
    rows = [f"{number},{draw.random():.4f},{draw.randrange(10**6)}" for number in range(100_000)]
    (tmp_path / "stored").write_text("\n".join(["id,share,count", *rows]))
    parsed = reader.read(tmp_path / "stored", "a.csv")
    assert len(parsed.pages) > 90
    assert all(page.text.startswith("id\tshare\tcount\n") for page in parsed.pages)
    assert max(len(page.text) for page in parsed.pages) < 22_100
    assert rows[-1].replace(",", "\t") in parsed.pages[-1].text
    assert make_card(parsed, ["shares.csv"]).title == "shares"  # not what its columns are called


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ("7,Oslo,12.50", "7\tOslo\t12.50"),
        ("7, Oslo ,two  words", "7\tOslo\ttwo words"),
        ('7,"a\tb","c\nd"', "7\ta b\tc d"),
        ("7,$,12.50", "7\t\t$12.50"),
        ("7,12.50,%", "7\t12.50%"),
        ("7,Zürich,", "7\tZürich"),
        (",Oslo,3", ".\tOslo\t3"),
        ("7,Os\u200blo,3", "7\tOslo\t3"),
        ("7,x\x07y,3", "7\tx y\t3"),
        ("7,12²,3", "7\t12[2]\t3"),
    ],
)
def test_a_row_is_cleaned_where_there_is_something_to_clean(
    reader: Reader, tmp_path: Path, row: str, line: str
) -> None:
    (tmp_path / "stored").write_text(f"id,a,b\n1,Bern,2\n{row}\n2,Bern,3\n", newline="")
    assert reader.read(tmp_path / "stored", "a.csv").pages[0].text.split("\n")[2] == line
