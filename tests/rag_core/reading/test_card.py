"""Cards: what a person would call a document."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings, strategies

from rag_core.domain import Box, HiddenText, Line, Page, ParsedDocument, Section
from rag_core.reading import Reader
from rag_core.reading.card import make_card
from rag_core.reading.papers import with_abstract
from rag_core.reading.titles import likeness, readable
from rag_core.settings import ReadingSettings
from tests.rag_core.reading.front_pages import PAGES, FrontPage


def parsed(page: FrontPage) -> ParsedDocument:
    pages = tuple(Page(number, text) for number, text in enumerate((page.text, *page.later), start=1))
    media_type = "application/pdf" if page.name.endswith("pdf") else "text/plain"
    return ParsedDocument(media_type, pages, title=page.said, authors=page.authors)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.id)
def test_odd_first_pages(page: FrontPage) -> None:
    card = asdict(make_card(parsed(page), [page.name]))
    assert {name: card[name] for name in page.wanted} == page.wanted


def sized(rows: list[tuple[str, float]], *, usual: float = 0.012) -> Page:
    """A page of lines with their sizes, in usual lines, one below the other."""
    text, lines, top = "", [], 0.05
    for row, size in rows:
        height = usual * size
        lines.append(Line(len(text), len(text) + len(row), Box(0.1, top, 0.9, top + height)))
        text += row + "\n"
        top += 1.3 * height
    return Page(1, text, width_pt=600, height_pt=800, lines=tuple(lines))


def test_the_largest_lines_are_the_title_wherever_they_stand() -> None:
    body = [("Lines of the body type are all of this height", 1.0)] * 20
    page = sized(
        [
            ("Series on Islands, Part Four", 1.1),
            ("A History of the", 2.4),
            ("Ferries of Veyra", 2.4),
            ("Ann Lund", 1.1),
            *body,
        ]
    )
    assert make_card(ParsedDocument("application/pdf", (page,)), ["x.pdf"]).title == "A History of the Ferries of Veyra"


def test_recognised_lines_are_as_large_as_their_letters_are_wide() -> None:
    """Of pages that were drawn and read: the boxes of short lines come out too high."""
    title, rest, head = "Handbook of the Brackenby Allotment", "Society", "Origins"
    body = ("It meets twice a week, in all weathers, and welcomes new people", 0.0864, 0.80, 0.018)
    rows = [(title, 0.0884, 0.8895, 0.0274), (rest, 0.0862, 0.2453, 0.0336), (head, 0.0862, 0.1980, 0.0266)]
    rows += [body] * 6
    text, lines, top = "", [], 0.06
    for row, left, right, height in rows:
        lines.append(Line(len(text), len(text) + len(row), Box(left, top, right, top + height)))
        text, top = text + row + "\n", top + height + 0.003
    page = Page(1, text, width_pt=595, height_pt=842, lines=tuple(lines), recogniser="rapidocr")
    assert make_card(ParsedDocument("image/png", (page,)), ["scan0001.png"]).title == f"{title} {rest}"


def test_markdown_is_called_by_its_first_heading() -> None:
    text = "---\nauthor: x\n---\n\nsome badges\n\n# Keeping bees\n\nText.\n"
    parsed = ParsedDocument(
        "text/markdown", (Page(1, text),), "Keeping bees", sections=(Section("Keeping bees", 1, 1),)
    )
    assert make_card(parsed, ["README.md"]).title == "Keeping bees"


LETTER = (
    "Riverside Clinic\n\n{date}\n\n{dear}\n\nRe: Mrs Judith Okoro, born 3 May 1957\n\nThank you for referring her.\n\n"
)


@pytest.mark.parametrize(
    ("date", "dear", "closing", "author", "period"),
    [
        ("12 September 2024", "Dear Dr Aldana,", "With kind regards\nDr Helen Marsh, cardiologist", "Helen Marsh",
         "12 September 2024"),
        ("Bern, den 4. März 2023", "Sehr geehrte Frau Aldana", "Mit freundlichen Grüßen\n\nUrs Keller", "Urs Keller",
         "4. März 2023"),
        ("", "Dear Dr Aldana,", "Yours sincerely,\nThe whole department of hearts", "", "3 May 1957"),
    ],
)  # fmt: skip
def test_a_letter_is_by_whom_it_is_signed_and_of_the_day_that_stands_alone(
    date: str, dear: str, closing: str, author: str, period: str
) -> None:
    parsed = ParsedDocument("text/plain", (Page(1, LETTER.format(date=date, dear=dear) + closing),), "")
    card = make_card(parsed, ["letter.txt"])
    assert (card.kind, card.authors, card.period) == ("letter", author, period)


def test_a_number_is_left_off_where_it_may_be_a_pages_alone() -> None:
    page = Page(1, "Newsletter 12\n\nThe harbour was dredged in May, and the ferry has a new mast.")
    for media_type, title in {"text/plain": "Newsletter 12", "application/pdf": "Newsletter"}.items():
        assert make_card(ParsedDocument(media_type, (page,)), ["x"]).title == title


def test_a_book_is_not_called_by_its_first_chapter() -> None:
    pages = (Page(1, "The storm\n\nThe lamp went out at three in the morning.\n"),)
    sections = (Section("The storm", 1, 1),)
    book = ParsedDocument("application/epub+zip", pages, "The keeper of Skerry Light", "Mary Holm", sections=sections)
    card = make_card(book, ["lighthouse.epub"])
    assert (card.title, card.authors) == ("The keeper of Skerry Light", "Mary Holm")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Name\tAge\nAda\t5\nCy Moore\nBo\t6", "staff"),
        ("plant\nLady Fern\nHart's Tongue", "staff"),
        ("Ward list of May\n\nName\tAge\nAda\t5", "Ward list of May"),
        ("Name\tAge\nAda\t5\n\nComment by bo on “Ada, 5”: Also counts the younger sister", "staff"),
    ],
)
def test_a_table_as_text_is_not_called_by_a_row_of_one_cell(text: str, title: str) -> None:
    parsed = ParsedDocument("text/csv", (Page(1, text),), title="staff")
    assert make_card(parsed, ["staff.csv"]).title == title


def test_a_table_is_not_of_one_of_those_that_its_rows_are_about() -> None:
    text = "Invoice\tClient\tAmount\nINV-1\tTessera GmbH\t120.00\nINV-2\tMarlow Ltd\t80.00\nINV-3\tTessera GmbH\t9.00\n"
    card = make_card(ParsedDocument("text/csv", (Page(1, text),), title="invoices"), ["invoices.csv"])
    assert (card.title, card.organisation) == ("invoices", "")
    assert make_card(ParsedDocument("text/csv", (Page(1, text),)), ["tessera.csv"]).organisation == "Tessera GmbH"


def test_source_code_is_called_by_its_file_and_latex_by_its_title(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "stored").write_text('"""Tide tables for small harbours."""\n\n\ndef tide() -> int: ...\n')
    assert make_card(reader.read(tmp_path / "stored", "tides.py"), ["tides.py"]).title == "tides"
    (tmp_path / "stored").write_text("TOLL = 27  # since 2020\n\n\ndef toll():\n    return TOLL * axles\n")
    card = make_card(reader.read(tmp_path / "stored", "tax.py"), ["tax.py"])
    assert (card.title, card.period, card.year) == ("tax", "", None)
    (tmp_path / "stored").write_text("\\documentclass{article}\n\\title{On tilings}\n\\begin{document}\nAll of it.\n")
    assert make_card(reader.read(tmp_path / "stored", "proof.tex"), ["proof.tex"]).title == "On tilings"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("folder/annual_report-2020.pdf", "Annual report 2020"),
        ("My Notes (2).txt", "My Notes"),
        ("water-works-guide.md", "Water works guide"),
        ("chess.txt", "chess"),
        (".hidden", ".hidden"),
        ("a%20b+c.md", "A b c"),
    ],
)
def test_names_of_files_are_made_readable(name: str, words: str) -> None:
    assert readable(name) == words


@settings(max_examples=150, deadline=None)
@given(strategies.text(max_size=300), strategies.text(max_size=60), strategies.text(max_size=60))
def test_no_text_keeps_a_card_from_being_made(text: str, name: str, said: str) -> None:
    card = make_card(ParsedDocument("text/plain", (Page(1, text),), title=said, authors=said), [name])
    assert card.title


def test_real_filings_and_documents_are_called_what_people_call_them(shared: Path) -> None:
    wanted = {
        "filings/APPLE_2020_10K.pdf": "Apple Inc. 10-K annual report 2020",
        "filings/COSTCO_2020_10K.pdf": "Costco Wholesale Corporation 10-K annual report 2020",
        "filings/MCDONALDS_2023Q1_EARNINGS.pdf": "McDonald's Corporation earnings release, first quarter 2023",
        "filings/NETFLIX_2018_10K.pdf": "Netflix, Inc. 10-K annual report 2018",
        "documents/pdf/redp5110_sampled.pdf": "Row and Column Access Control Support in IBM DB2 for i",
        "documents/pdf/amt_handbook_sample.pdf": "AMT General Handbook",
        "documents/pdf/multi_page.pdf": "The Evolution of the Word Processor",
        "documents/pdf/2305.03393v1-pg9.pdf": "Optimized Table Tokenization for Table Structure Recognition",
        "spans/state_of_the_union.md": "State of the union",
    }
    with Reader(ReadingSettings()) as reader:
        for name, title in wanted.items():
            parsed = reader.read(shared / name, Path(name).name)
            assert make_card(parsed, [Path(name).name]).title == title
            # As a library of an earlier version has it: without places and sizes.
            bare = replace(parsed, pages=tuple(replace(page, lines=()) for page in parsed.pages))
            assert make_card(bare, [Path(name).name]).title == title


ABSTRACT = (
    "We measured the tides of the Veyra strait for nine years and found that ferries run late at spring tide. " * 3
)
PAPER = f"""Tides and Ferries
Ann Lund, Ole Dahl
Journal of Islands 12 (2019). https://doi.org/10.1234/isl.2019.07(3).

Abstract—{ABSTRACT}
Keywords: tides, ferries

1 Introduction
As others found (doi:10.9999/other.1), boats are late.
"""


def test_a_paper_says_its_doi_and_abstract() -> None:
    card = make_card(ParsedDocument("application/pdf", (Page(1, PAPER),)), ["tides.pdf"])
    assert card.doi == "10.1234/isl.2019.07(3)"
    assert card.abstract == ABSTRACT.strip()
    headed = PAPER.replace("Abstract—", "Abstract\n\n")
    sections = (
        Section("Abstract", 1, 1, headed.index("Abstract")),
        Section("1 Introduction", 1, 1, headed.index("1 I")),
    )
    assert (
        make_card(ParsedDocument("text/plain", (Page(1, headed),), sections=sections), ["a"]).abstract == card.abstract
    )
    references = Page(2, "Bulgarella (1986). doi:10.1093/auk/103.4.737. Johnson (1999). doi:10.2307/1370000.")
    ducks = make_card(ParsedDocument("text/html", (Page(1, "Duck"), references)), ["duck.html"])
    assert ducks.doi == "", "two are those of others"
    behind = Page(2, "Journal of Ducks, doi:10.1093/duck.7")
    assert make_card(ParsedDocument("application/pdf", (Page(1, "Cover"), behind)), ["a"]).doi == "10.1093/duck.7"
    letter = make_card(
        ParsedDocument("text/plain", (Page(1, "Dear Ann,\n\nIn summary: no. See 10.30/2.5 of it."),)), ["a"]
    )
    assert (letter.doi, letter.abstract) == ("", "")


@pytest.mark.parametrize("begins", ["Abstract—", "Abstract\n", "ABSTRACT. "])
def test_an_abstract_is_a_section_where_no_outline_has_it(begins: str) -> None:
    text = PAPER.replace("Abstract—", begins)
    introduction, title = Section("1 Introduction", 2, 1, text.index("1 I")), Section("Tides and Ferries", 1, 1, 0)
    abstract = Section(begins.strip(" .—\n"), 2, 1, text.index(begins))
    (page,) = pages = (Page(1, text),)
    assert with_abstract((title, introduction), pages) == (title, abstract, introduction)
    assert with_abstract((introduction,), pages) == (abstract, introduction)
    assert with_abstract((abstract, introduction), pages) == (abstract, introduction)
    assert with_abstract((), pages) == ()
    late = replace(page, text=f"1 Introduction\n\n2 Tides\n\n{text}")
    chapters = (Section("1 Introduction", 1, 1, 0), Section("2 Tides", 1, 1, late.text.index("2 T")))
    assert with_abstract(chapters, (late,)) == chapters


def test_what_nobody_sees_names_nothing() -> None:
    page = sized(
        [("A hidden name in huge letters", 3.0), ("Keeping Bees in Winter", 2.0), *[("Body text here", 1.0)] * 20]
    )
    hidden = replace(page, hidden=(HiddenText(0, 29, "white"),))
    assert make_card(ParsedDocument("application/pdf", (page,)), ["x.pdf"]).title == "A hidden name in huge letters"
    assert make_card(ParsedDocument("application/pdf", (hidden,)), ["x.pdf"]).title == "Keeping Bees in Winter"


def test_a_title_that_names_the_kind_alone_gives_way_to_a_name_that_tells_which() -> None:
    page = sized(
        [("INVOICE", 2.4), ("Invoice no. 2041", 1.0), ("Date: 12 January 2025", 1.0), ("Total due EUR 355", 1.0)]
    )
    assert make_card(ParsedDocument("application/pdf", (page,)), ["Invoice_2041.pdf"]).title == "Invoice 2041"
    assert make_card(ParsedDocument("application/pdf", (page,)), ["scan.pdf"]).title == "INVOICE"


@pytest.mark.parametrize(
    "text", ["It was sold in 1934 for 2 300 kroner.[2]", "The cooperative was founded in 1962 by eleven fisher\u00ad"]
)
def test_a_sentence_or_a_part_of_one_is_no_title(text: str) -> None:
    assert likeness(text) < 0.2


def test_a_label_beside_a_second_table_is_no_title_of_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (
        ["Branch", "Bread"],
        ["Station", 540],
        [None, None],
        ["Staff", None],
        ["Name", "Branch"],
        ["Ravi", "Quay"],
    ):
        book.active.append(row)
    book.save(tmp_path / "bakery.xlsx")
    parsed_book = Reader(ReadingSettings()).read(tmp_path / "bakery.xlsx", "bakery.xlsx")
    assert make_card(parsed_book, ["bakery.xlsx"]).title == "bakery"


@pytest.mark.parametrize(
    ("text", "name", "title"),
    [
        (
            "Alice was beginning to get very tired of sitting by her sister on the\n"
            "bank, and of having nothing to do: once or twice she had peeped in.\n",
            "alice.txt",
            "alice",
        ),
        (
            "Docling bundles PDF document conversion to\nJSON and Markdown in an easy self contained\npackage\n",
            "ocr_test.pdf",
            "Ocr test",
        ),
        ("What We Live By\n\nEverybody on the island works at the harbour.\n", "essay 3.txt", "What We Live By"),
        ("# Header\n\nThis is the first paragraph.\n", "tides by month.md", "Tides by month"),
    ],
)
def test_the_beginning_of_a_sentence_and_a_part_of_a_page_are_no_titles(text: str, name: str, title: str) -> None:
    parsed = ParsedDocument("text/plain", (Page(1, text),))
    assert make_card(parsed, [name]).title == title


@pytest.mark.parametrize(
    ("name", "text", "year"),
    [
        ("majors.csv", "Major,Total,Men\nMining,2339,2057\n", None),
        ("weather.csv", "date,rain,wind\n2012-01-01,0.0,4.7\n2012-01-02,10.9,4.5\n", None),
        ("weather 2012.csv", "date,rain,wind\n2011-12-31,0.0,4.7\n", 2012),
        ("statement.csv", "Account;12 345\nFrom;01.03.2025\n\nDay;Words;Amount\n02.01.2024;Rent;-850,00\n", 2025),
    ],
)
def test_the_year_of_a_table_is_not_that_of_a_cell(
    reader: Reader, tmp_path: Path, name: str, text: str, year: int | None
) -> None:
    (tmp_path / name).write_text(text)
    assert make_card(reader.read(tmp_path / name, name), [name]).year == year
