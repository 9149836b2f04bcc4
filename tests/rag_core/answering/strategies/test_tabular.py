"""Whole tables asked through a library: over all rows, with the rows cited, and codes that are nowhere."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import product

import docx
import openpyxl
import pytest
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

from rag_core import Library, Settings, Upload
from rag_core.domain import Answer
from tests.conftest import add_text

TOWNS = ("Voss", "Alta", "Moss", "Bodo")
KINDS = ("drill", "saw", "ladder", "pump", "jack")
STATES = ("returned", "on loan", "in repair")
ROLES = ("engineer", "cook", "clerk")


def _catalogue() -> str:
    """A list of 400 tools that are lent, with commas and four towns."""
    rows = [
        f"T-{3000 + 3 * row},{KINDS[row % 5]},{TOWNS[row % 7 % 4]},"
        f"{40 + row * 13 % 700}.50,2024-{1 + row % 12:02}-{1 + row % 28:02},{STATES[row % 3]}"
        for row in range(400)
    ]
    return "\n".join(["Tool no.,Kind,Branch,Deposit,Lent on,State", *rows])


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) as opened:
        add_text(opened, "tools.csv", _catalogue())
        add_text(opened, "rules.txt", "Whoever lends a tool pays a deposit. The workshop in Voss opens at nine.")
        opened.storage.settle()
        yield opened


def first(answer: Answer) -> str:
    return answer.sentences[0].text


def test_a_row_is_looked_up_by_its_number_among_many(tools: Library) -> None:
    answer = tools.ask("What is the deposit of T-3600?")
    assert (answer.outcome, first(answer)) == ("answered", "Deposit: 540.50.")
    (citation,) = answer.citations
    assert citation.text == "540.50"
    page = tools.page(citation.document_id, citation.page)
    assert page.text[citation.start : citation.end] == citation.text
    assert "1 of 400 rows of “tools” where Tool no. is “T-3600”" in answer.text


def test_all_rows_are_counted_added_up_and_compared(tools: Library) -> None:
    rows = [line.split(",") for line in _catalogue().splitlines()[1:]]
    voss = [row for row in rows if row[2] == "Voss"]
    count = tools.ask("How many tools are at the branch Voss?")
    assert first(count) == f"{len(voss)} tools are at the branch Voss."
    assert [citation.text.split("\t")[0] for citation in count.citations] == [row[0] for row in voss[:2]]
    total = sum(float(row[3]) for row in voss)
    assert first(tools.ask("What is the total deposit in Voss?")) == (
        f"Sum of Deposit where Branch is “Voss”: {total:.2f}."
    )
    largest = max(float(row[3]) for row in rows)
    assert first(tools.ask("What is the highest deposit?")) == f"Largest Deposit: {largest:.2f}."


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many tools are there for each branch?", "Rows by Branch: Voss 115, Alta 114, Moss 114 and Bodo 57."),
        ("Which branch has the highest total deposit?", "Branch: Voss (sum of Deposit: 43580.50)."),
        (
            "Which three tools have the highest deposit?",
            "Tool no.: T-3969 (739.50), T-3807 (737.50) and T-3645 (735.50).",
        ),
        ("What percentage of the tools is on loan?", "33.2 % of the rows."),
        ("Is T-3600 in repair?", "Yes (State: in repair)."),
    ],
)
def test_groups_shares_and_the_furthest_few_are_found(tools: Library, question: str, said: str) -> None:
    assert first(tools.ask(question)) == said


def test_groups_are_given_with_their_figures(tools: Library) -> None:
    table = tools.ask("What is the total deposit per branch?").table
    assert table is not None
    assert table.groups == (("Voss", 43580.5), ("Alta", 43335.0), ("Moss", 42717.0), ("Bodo", 21667.5))
    assert table.plan.operation == "sum by"


def test_a_number_that_is_nowhere_is_not_found_with_those_like_it(tools: Library) -> None:
    answer = tools.ask("What is the deposit of T-3601?")
    assert (answer.outcome, answer.citations) == ("not found", ())
    assert "No document holds “T-3601”." in answer.text
    near = answer.text.rpartition("Much like it: ")[2].rstrip(".").split(", ")
    assert near
    assert all(f"\n{code}," in _catalogue() for code in near)


def test_what_prose_answers_is_left_to_it(tools: Library) -> None:
    answer = tools.ask("When does the workshop in Voss open?")
    assert "nine" in answer.text


def _workbook() -> bytes:
    """A crew, and the boats that they sail."""
    book = openpyxl.Workbook()
    crew, boats = book.active, book.create_sheet("Boats")
    assert crew is not None
    crew.title = "Crew"
    names = [f"{given} {name}" for given in ("Ida", "Per", "Ann", "Leo") for name in ("Lund", "Holm", "Vik", "Berg")]
    for row in [("Name", "Role", "City", "Salary"), *((n, ("Skipper", "Cook")[i % 2], TOWNS[i % 4], 41000 + 730 * i)
                                                       for i, n in enumerate(names))]:  # fmt: skip
        crew.append(row)
    for row in [("Boat", "Skipper", "Length"), *((f"B-{20 + i}", names[i], 8 + i) for i in range(12))]:
        boats.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_sheets_with_a_shared_key_answer_together(library: Library) -> None:
    for event in library.add([Upload("boats.xlsx", _workbook())]):
        assert event.error is None
    answer = library.ask("What is the salary of the skipper of B-23?")
    assert first(answer) == "Salary: 43190."
    assert {(citation.page, citation.text) for citation in answer.citations} == {
        (2, "B-23\tIda Berg\t11"), (1, "43190"),
    }  # fmt: skip
    assert answer.table is not None
    again = library.table_plans.ask(answer.table.plan, "The same again")
    assert first(again) == "Salary: 43190."


def test_files_with_a_shared_key_answer_together(library: Library) -> None:
    crew = [
        f"{given} {name},{41000 + 730 * at}"
        for at, (given, name) in enumerate(product(("Ida", "Per"), ("Lund", "Vik")))
    ]
    boats = [f"B-{20 + at},{crew[at % 4].partition(',')[0]},{8 + at}" for at in range(12)]
    add_text(library, "crew.csv", "\n".join(["Name,Salary", *crew]))
    fleet = add_text(library, "fleet.csv", "\n".join(["Boat,Skipper,Length", *boats]))
    answer = library.ask("What is the salary of the skipper of B-23?")
    assert first(answer) == "Salary: 43190."
    assert "1 of 12 rows of “fleet”, fleet with crew by Skipper where Boat is “B-23”" in answer.text
    assert {citation.title for citation in answer.citations} == {"crew", "fleet"}
    assert answer.table is not None
    assert answer.table.plan.document_id == fleet.id
    assert first(library.table_plans.ask(answer.table.plan, "The same again")) == "Salary: 43190."


def test_what_is_not_meant_is_left_out(library: Library) -> None:
    for event in library.add([Upload("boats.xlsx", _workbook())]):
        assert event.error is None
    assert first(library.ask("How many people are not in Voss?")) == "12 people are not in Voss."


STATEMENT = "Date,Description,Amount\n" + "\n".join(
    f"2024-{1 + row // 9:02}-{1 + row % 28:02},{('Grocer', 'Rent', 'Power', 'Salary', 'Books')[row % 5]},"
    f"{2500.0 if row % 5 == 3 else -20.0 - row * 13 % 400}0"
    for row in range(60)
)
PAID = [float(line.rsplit(",", 1)[1]) for line in STATEMENT.splitlines()[1:] if ",-" in line]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What was the largest payment?", f"Most negative Amount: {min(PAID):.2f}."),
        ("What was the biggest expense?", f"Most negative Amount: {min(PAID):.2f}."),
        ("What is the smallest payment?", f"Least negative Amount: {max(PAID):.2f}."),
        ("What is the total of all payments?", f"Sum of Amount: {sum(PAID):.2f}."),
        ("What is the largest amount?", "Largest Amount: 2500.00."),
    ],
)
def test_the_largest_payment_is_the_furthest_below_zero(library: Library, question: str, said: str) -> None:
    add_text(library, "statement.csv", STATEMENT)
    answer = library.ask(question)
    assert first(answer) == said
    assert answer.table is not None
    assert bool(answer.table.plan.conditions) == ("amount" not in question)


LETTERHEAD = (
    "Nordby Bank,Statement 3 of 2024\nAccount holder,Ines Falk\nIBAN,NB20 4400 7100\nOpening balance,812.40\n\n"
)


def test_a_letterhead_says_of_what_its_table_speaks(library: Library) -> None:
    kinds = ("Food", "Rent", "Travel")
    rows = [
        f"2024-{2 + at // 20:02}-{1 + at % 20:02},{kinds[at % 3]},Payee {at % 7},-{8 + at % 11}.50" for at in range(60)
    ]
    add_text(library, "statement.csv", LETTERHEAD + "\n".join(["Date,Category,Payee,Amount", *rows]))
    food = sum(float(row.rpartition(",")[2]) for row in rows if "Food" in row and "-03-" in row)
    assert f": {food:.2f}." in first(library.ask("What did Ines Falk spend on food in March?"))
    assert library.ask("What did Omar Dahl spend on food in March?").outcome != "answered"
    assert "Ines Falk" in first(library.ask("Who is the account holder?"))


STAFF = "Name,Role,City\n" + "\n".join(
    f"{given} {name},{ROLES[at % 3]},{('Bergen', 'Alta')[at % 2] if at % 3 == 0 else ('Oslo', 'Voss')[at % 2]}"
    for at, (given, name) in enumerate(
        (given, name) for given in ("Ida", "Per", "Ann", "Leo", "Kai") for name in ("Lund", "Holm", "Vik", "Berg")
    )
)


def test_that_no_row_has_both_is_an_answer(library: Library) -> None:
    add_text(library, "staff.csv", STAFF)
    answer = library.ask("How many engineers are in Oslo?")
    assert (answer.outcome, first(answer)) == (
        "answered", "No row has both: 0 rows where Role is “engineer” and City is “Oslo”.",
    )  # fmt: skip
    assert "Counted: 0 of 20 rows of “staff” where Role is “engineer” and City is “Oslo”." in answer.text
    assert "No row has" not in library.ask("How many retired engineers are in Oslo?").text


def test_what_a_question_was_narrowed_to_is_dropped_when_it_goes_on_for_each(library: Library) -> None:
    add_text(library, "staff.csv", STAFF)
    answer = library.ask("How many cooks are in Oslo?")
    answer = library.ask("And per city?", conversation=answer.conversation)
    assert answer.table is not None
    assert [condition.words for condition in answer.table.plan.conditions] == ["Role is “cook”"]
    assert {text for text, _ in answer.table.groups} == {"Oslo", "Voss"}
    answer = library.ask("How many people are in Voss?")
    answer = library.ask("and by city?", conversation=answer.conversation)
    assert answer.table is not None
    assert answer.table.plan.conditions == ()


def test_per_is_a_name_where_it_is_written_as_one(library: Library) -> None:
    add_text(library, "staff.csv", STAFF.replace("City\n", "Shifts\n").replace("Oslo", "4").replace("Bergen", "6")
             .replace("Alta", "8").replace("Voss", "9"))  # fmt: skip
    answer = library.ask("What is the average number of shifts per role?")
    assert answer.table is not None
    assert answer.table.plan.conditions == ()
    assert {text for text, _ in answer.table.groups} == set(ROLES)
    assert first(library.ask("What is the role of Per Vik?")) == "Role: engineer."


def test_rows_are_asked_by_the_name_of_their_group(library: Library) -> None:
    rows = [f"{name} {at},{at + 1}.50,{at}" for name in ("Apple", "Carrot") for at in range(12)]
    text = "\n".join(["Item,Price,Stock", "Fruit,,", *rows[:12], "Vegetables,,", *rows[12:]])
    food = add_text(library, "food.csv", text)
    assert library.table_views.view(food.id, 0).columns[-1].head == "Group"
    assert first(library.ask("What is the total stock of vegetables?")) == (
        "Sum of Stock where Group is “Vegetables”: 66."
    )  # fmt: skip
    assert first(library.ask("How many fruit items are there?")) == "There are 12 fruit items."


def test_of_many_columns_the_one_that_is_named_is_averaged(library: Library) -> None:
    heads = ",".join(f"Gauge {at:04}" for at in range(1_000))
    rows = [f"2024-01-{day:02}," + ",".join(f"{(day * 7 + at) % 50}.5" for at in range(1_000)) for day in range(1, 26)]
    add_text(library, "gauges.csv", "\n".join([f"Day,{heads}", *rows]))
    library.storage.settle()
    mean = sum((day * 7 + 431) % 50 + 0.5 for day in range(1, 26)) / 25
    assert first(library.ask("What is the mean of Gauge 0431?")) == f"Mean Gauge 0431: {mean:g}."


PLOTS = [
    ("Plot", "Member", "Rent"),
    *((f"P{at}", f"Member {'ABCDEFG'[at]}", f"{30 + at * 2.5:.2f}") for at in range(7)),
]


def _minutes_word() -> bytes:
    document = docx.Document()
    document.add_paragraph("The society met in May. Twelve people came, and four of them want bees.")
    table = document.add_table(rows=0, cols=3)
    for row in PLOTS:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _minutes_pdf() -> bytes:
    """The same as a PDF whose table goes on over three pages."""
    style = getSampleStyleSheet()["BodyText"]
    table = Table([list(row) for row in PLOTS], colWidths=[120, 160, 120], rowHeights=40)
    table.setStyle([("GRID", (0, 0), (-1, -1), 0.5, "black")])
    file = io.BytesIO()
    story = [Paragraph("The society met in May. Twelve people came, and four of them want bees.", style), table]
    SimpleDocTemplate(file, pagesize=(500, 320)).build(story)
    return file.getvalue()


@pytest.mark.parametrize("name", ["minutes.docx", "minutes.pdf"])
def test_a_short_table_amid_prose_is_asked_for_what_no_passage_says(library: Library, name: str) -> None:
    data = _minutes_word() if name.endswith("docx") else _minutes_pdf()
    assert not any(event.error for event in library.add([Upload(name, data)]))
    assert first(library.ask("What is the total rent?")) == "Sum of Rent: 262.50."
    assert first(library.ask("What is the highest rent?")) == "Largest Rent: 45.00."
    assert "welve people came" in first(library.ask("How many people came?"))


def test_a_word_that_names_other_documents_is_not_passed_over(library: Library) -> None:
    add_text(library, "quarters.csv", "Year,Quarter,Revenue\n2022,Q1,410\n2022,Q2,385\n2023,Q1,440\n2023,Q2,415\n")
    for number, total in ((2041, "355.30"), (2042, "1,672.00")):
        text = f"INVOICE\n\nInvoice no. {number}\n\nBill to: Cafe Lumen\n\nTotal due: EUR {total}\n"
        add_text(library, f"invoice-{number}.txt", text)
    answer = library.ask("What is the total of all invoices?")
    assert "1650" not in answer.text.replace(",", "")
    assert {citation.title for citation in answer.citations} <= {"Invoice no. 2041", "Invoice no. 2042"}
    assert library.ask("What is the total of the revenue?").sentences[0].text == "Sum of Revenue: 1650."


MODELS = """# Open models of language

We train models of several sizes and compare what they need.

## Sizes

| Model | Parameters | Heads |
|---|---|---|
| OM-125 | 125 | 12 |
| OM-350 | 350 | 16 |
| OM-175 | 175 | 96 |

## Accuracy

| Model | Setting | Accuracy |
|---|---|---|
| OM-175 | Unsup. | 51.3 |
| OM-125 | Sup. | 60.2 |
| OM-350 | Unsup. | 55.1 |

## Considerations

The carbon footprint of OM-175 was 75 tons, a seventh of that of the largest model before it.
"""


def test_a_doubt_about_tables_amid_prose_keeps_no_passage_from_answering(library: Library) -> None:
    add_text(library, "models.md", MODELS)
    told = library.ask("What is the carbon footprint of OM-175 compared with the largest model?")
    assert not told.abstained
    assert "75 tons" in first(told)
    assert "51.3" in first(library.ask("What accuracy has OM-175?"))
    assert "175." not in first(library.ask("What is the price of OM-175?"))


def test_follow_ups_change_the_plan_of_the_answer_before(tools: Library) -> None:
    rows = [line.split(",") for line in _catalogue().splitlines()[1:]]
    answer = tools.ask("How many tools are at the branch Voss?")
    states = [row[5] for row in rows if row[2] == "Moss"]
    for question, count in (
        ("And in Moss?", len(states)),
        ("of those, how many are on loan?", states.count("on loan")),
        ("and returned?", states.count("returned")),
    ):
        answer = tools.ask(question, conversation=answer.conversation)
        assert first(answer).startswith(f"{count} rows where")
    few = sorted((row[4], row[0]) for row in rows if row[2] == "Moss" and row[5] == "returned")
    answer = tools.ask("sort them by lent on", conversation=answer.conversation)
    assert first(answer).startswith(f"Tool no.: {few[0][1]} ({few[0][0]}), {few[1][1]} ({few[1][0]})")
    assert "In the order of Lent on" in answer.text


def test_a_chart_of_what_was_found_is_the_same_again(tools: Library) -> None:
    answer = tools.ask("What is the total deposit per branch?")
    again = tools.ask("as a chart", conversation=answer.conversation)
    assert answer.table is not None and again.table is not None
    assert again.table.groups == answer.table.groups


def test_another_end_is_asked_of_the_same_rows(tools: Library) -> None:
    in_moss = [float(line.split(",")[3]) for line in _catalogue().splitlines()[1:] if line.split(",")[2] == "Moss"]
    answer = tools.ask("What is the highest deposit in Voss?")
    answer = tools.ask("and in Moss?", conversation=answer.conversation)
    assert f"{max(in_moss):.2f}" in first(answer)
    answer = tools.ask("and the lowest?", conversation=answer.conversation)
    assert f"{min(in_moss):.2f}" in first(answer)
