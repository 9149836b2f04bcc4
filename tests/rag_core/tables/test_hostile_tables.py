"""Tables that would break what reads or asks them: an answer or a clear message, nothing hangs, others go on."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pytest
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from rag_core import Library, Settings, Upload
from rag_core.domain import Answer, Document, Scope
from rag_core.errors import InvalidQuestion, LimitExceeded, UnsupportedDocument
from rag_core.settings import ReadingSettings

_LONGEST_S = 60.0  # seconds here; what grows with the square of a table takes many minutes
ORDERS = "Order,City,Amount\n" + "\n".join(
    f"K-{number:03},{('Oslo', 'Bern', 'Bath')[number % 3]},{number}" for number in range(1, 31)
)
ODD = (
    "Key,Amount,Day\nA1,1e309,31.02.2024\nA2,NaN,0000-00-00\nA3,inf,2024-02-29\nA4,-0,29.02.2023\nA5,1_000,\n"
    "A6,١٢٣,2024-13-01\nA7,,2024-01-05\nA8,10,2024-01-06\nA9,20,2024-01-07\n"
)


@dataclass
class Shelf:
    """A library that a harmless table is in; what is asked of it must come in time."""

    library: Library

    def add(self, name: str, content: bytes) -> tuple[Document | None, Exception | None]:
        """A file's document, where it became one, and what it failed with."""
        (event,) = [event for event in self.library.add([Upload(name, content)]) if event.stage in ("ready", "failed")]
        found = [one for one in self.library.documents() if name in one.sources[0] and one.state == "ready"]
        return (found[0] if found else None), event.error

    def ask(self, question: str, document: Document | None = None) -> Answer:
        """An answer, in time."""
        began = time.monotonic()
        answer = self.library.ask(question, scope=Scope(documents=(document.id,)) if document else None)
        assert time.monotonic() - began < _LONGEST_S
        return answer

    def told(self, name: str, content: bytes, question: str) -> str:
        """What a table that can be read answers."""
        document, error = self.add(name, content)
        assert document, error
        self.library.storage.settle()  # the tables of long documents are made in the background
        return self.ask(question, document).text


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Shelf]:
    folder = tmp_path_factory.mktemp("hostile")
    patient = ReadingSettings(page_timeout_s=120)  # on a busy machine too
    settings = Settings(_env_file=None, data_dir=folder, database_url=new_database(), reading=patient)
    with Library.open(settings) as library:
        library.warm_up()
        opened = Shelf(library)
        opened.add("orders.csv", ORDERS.encode())
        yield opened


@pytest.fixture(autouse=True)
def others_go_on(shelf: Shelf) -> Iterator[None]:
    """Whatever was added, the other table answers as before."""
    yield
    assert shelf.ask("What is the amount of K-007?").text.startswith("Amount: 7.")


def book(fill: Callable[[Workbook], None]) -> bytes:
    made = Workbook()
    fill(made)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def rows(sheet: Worksheet, lines: Sequence[Sequence[object]]) -> None:
    for line in lines:
        sheet.append(list(line))


@pytest.mark.slow
def test_sixteen_thousand_columns(shelf: Shelf) -> None:
    lines = [[f"c{n}" for n in range(16_000)], *([str(n * row) for n in range(16_000)] for row in range(1, 4))]
    document, error = shelf.add("wide.csv", "\n".join(map(",".join, lines)).encode())
    assert document, error
    shelf.library.storage.settle()
    for question in ("What is c777 where c1 is 2?", "How many rows have c5 over 7?", "What is the sum of c15999?"):
        shelf.ask(question, document)
    views, began = shelf.library.table_views, time.monotonic()
    assert views.view(document.id, 0, first_column=15_999).columns[0].head == "c15999"
    assert len(views.rows(document.id, 0, first_column=8_000).rows[0].cells) == 100
    assert len(shelf.library.tables(document.id)[0].rows) == 4
    assert time.monotonic() - began < _LONGEST_S
    assert any("16,000 columns" in note for note in shelf.library.document(document.id).notes)


@pytest.mark.slow
def test_a_million_heads_that_are_the_same(shelf: Shelf) -> None:
    lines = [
        b",".join([first, *[cell] * 999_999]) for first, cell in ((b"name", b"size"), (b"Ada", b"5"), (b"Bo", b"6"))
    ]
    document, error = shelf.add("million.csv", b"\n".join(lines))
    assert document, error
    shelf.library.storage.settle()
    assert shelf.ask("What is the size of Bo?", document).text.startswith("size: 6.")
    assert any(
        "1,000,000 columns, of which the first 16,384" in one for one in shelf.library.document(document.id).notes
    )


@pytest.mark.slow
def test_a_cell_of_fifty_megabytes_fails_by_name(shelf: Shelf) -> None:
    _, error = shelf.add("cell.csv", b"name,text\nAda," + b"word " * 10_000_000 + b"\nBo,short\n")
    assert isinstance(error, LimitExceeded)
    assert "50,000,000" in str(error) and error.help


@pytest.mark.parametrize("times", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_head_that_is_said_again_and_again(shelf: Shelf, times: int) -> None:
    told = shelf.told(f"heads {times}.csv", b"name,value\n" * times + b"Ada,5\n", "What is the value of Ada?")
    assert told.startswith("value: 5.")


def test_formulas_in_heads_are_texts(shelf: Shelf) -> None:
    table = "Name,=cmd|'/c calc'!A0,@SUM(1+1)\nAda Moor,yes,5\nBo Lind,no,6\n"
    assert shelf.told("formula.csv", table.encode(), "What is the =cmd of Bo Lind?").startswith(
        "=cmd|'/c calc'!A0: no."
    )


def test_names_that_are_commands_of_other_languages_are_texts(shelf: Shelf) -> None:
    def fill(made: Workbook) -> None:
        made.active.title = "'; DROP TABLE x --"
        rows(made.active, [
            ["<script>alert(1)</script>", "a'; DROP TABLE documents; --", "**bold** [x](http://evil.example)"],
            ["Alfa'; DELETE FROM chunks", "1", "<img src=x onerror=alert(1)>"],
            ["Beta", "2", "![i](http://evil.example/i.png)"],
        ])  # fmt: skip

    told = shelf.told("names.xlsx", book(fill), "What is the bold of Beta?")
    assert "![i](http://evil.example/i.png)" in told  # as text: pages show none of it as a picture or a link
    assert shelf.library.documents()


def test_one_column_only_heads_and_ragged_rows(shelf: Shelf) -> None:
    column, _ = shelf.add("plants.csv", ("plant\n" + "\n".join(f"Fern {n}" for n in range(50))).encode())
    heads, _ = shelf.add("heads.xlsx", book(lambda made: rows(made.active, [["Name", "Age", "City"]])))
    assert column and heads
    assert column.title == "plants"
    shelf.ask("How many plants are there?", column)
    assert shelf.ask("What is the age of Ada?", heads).abstained
    ragged = "Name,Age,City\nAda,5\nBo,6,Oslo,extra,more\nDee,8,Bern\n"
    assert shelf.told("ragged.csv", ragged.encode(), "What is the age of Bo?").startswith("Age: 6.")


@pytest.mark.parametrize(
    ("head", "question", "said"),
    [
        ("`x`; DROP TABLE chunks; --", "What is the DROP TABLE of Bo Lind?", "6"),
        ('"size" OR ""="', "What is the size of Bo Lind?", "6"),
        ("height\nin cm", "What is the height of Bo Lind?", "6"),
        ("גובה", "What is the גובה of Bo Lind?", "6"),
        ("الطول", "الطول Bo Lind", "6"),
        ("$(rm -rf /) %s {0}", "What is the rm -rf of Bo Lind?", "6"),
    ],
)
def test_heads_of_any_signs_name_their_columns(shelf: Shelf, head: str, question: str, said: str) -> None:
    quoted = head.replace('"', '""')
    table = f'Name,"{quoted}",Room\nAda Moor,5,11\nBo Lind,6,12\nCy Marsh,7,13\n'
    first = shelf.told(f"signs {abs(hash(head))}.csv", table.encode(), question).partition("[1]")[0]
    assert first.rstrip().endswith(f": {said}."), first
    assert shelf.library.documents()  # no word of a head was run


def test_heads_that_are_the_same_are_told_apart_by_nothing_and_asked_all_the_same(shelf: Shelf) -> None:
    table = "Name,Score,Score,Score\nAda Moor,5,50,500\nBo Lind,6,60,600\n"
    told = shelf.told("twice.csv", table.encode(), "What is the score of Bo Lind?")
    assert any(f"{figure}" in told for figure in (6, 60, 600)) and "50" not in told


@pytest.mark.parametrize("content", [b"", b"\n\n\n", b",,,\n,,,\n", b"\xef\xbb\xbf"])
def test_an_empty_table_says_that_it_holds_nothing(shelf: Shelf, content: bytes) -> None:
    document, error = shelf.add(f"empty {len(content)}.csv", content)
    assert document is None and error is not None
    assert getattr(error, "help", "")


@pytest.mark.slow
def test_three_hundred_sheets(shelf: Shelf) -> None:
    def fill(made: Workbook) -> None:
        made.remove(made.active)
        for n in range(300):
            lines = [["Patient", "Bed", "Weight"], *([f"P{n}-{k}", f"B{k}", n + k] for k in range(3))]
            rows(made.create_sheet(f"Ward {n}"), lines)

    assert shelf.told("wards.xlsx", book(fill), "What is the weight of P299-2?").startswith("Weight: 301.")


def test_nul_characters_are_no_table(shelf: Shelf) -> None:
    _, error = shelf.add("nul.csv", b"Name,Si\x00ze\nAda,\x005\nB\x00o,6\n\x00\x00\x00,7\n")
    assert isinstance(error, UnsupportedDocument)
    assert error.help


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the amount of A1?", "Amount: 1e309."),
        ("What is the day of A1?", "Day: 31.02.2024."),
        ("What is the amount of A6?", "Amount: ١٢٣."),
        ("What is the day of A2?", "Day: 0000-00-00."),
    ],
)
def test_numbers_and_dates_that_are_none_are_said_as_they_stand(shelf: Shelf, question: str, said: str) -> None:
    assert shelf.told("odd.csv", ODD.encode(), question).startswith(said)


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("What is the total level?", "300"),
        ("What is the average level?", "15"),
        ("How many stations have a level over 20?", "6"),
    ],
)
def test_what_is_missing_is_left_out_of_sums_means_and_counts(shelf: Shelf, question: str, figure: str) -> None:
    table = "Station,Level\n" + "\n".join(f"S{n},{n if n % 3 else 'NaN'}" for n in range(1, 31))
    first = shelf.told("gauge.csv", table.encode(), question).partition("[1]")[0]
    assert f" {figure}" in f" {first}" and not any(part in first for part in ("nan", "inf"))


@pytest.mark.parametrize(
    "question",
    [
        "What is the amount of K-007'?", 'What is "the amount" of K-007?', r"What is the amount of K-007 \' OR 1=1 --?",
        "What is the amount of K-007 100%s %d {0} %(x)s?", 'What is the amount of "K-007\\"?',
        "What is the amount of K-007\x00?",
    ],
)  # fmt: skip
def test_signs_in_a_question_are_signs(shelf: Shelf, question: str) -> None:
    assert shelf.ask(question).text.startswith("Amount: 7.")


@pytest.mark.parametrize("question", ["\\", "%", '"', "'", "(" * 3000])
def test_signs_alone_are_no_question(shelf: Shelf, question: str) -> None:
    with pytest.raises(InvalidQuestion):
        shelf.ask(question)
