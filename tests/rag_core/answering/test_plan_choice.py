"""A language model is asked which plan a question means where the planner is not sure; a program runs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core import Library, Settings
from rag_core.settings import GenerationSettings, ServerSettings
from tests.conftest import add_text
from tests.rag_core.models.openai_server import Script, openai_server

QUESTION = "What did Ines Falk lay out for rent in March?"
ROWS = [
    f"2024-{1 + at // 9:02}-{1 + at % 28:02},{('Grocer', 'Rent', 'Power', 'Salary', 'Books')[at % 5]},"
    f"{2500 if at % 5 == 3 else -20 - at * 13 % 400}.00"
    for at in range(60)
]
STATEMENT = "\n".join(["Account holder,Ines Falk", "IBAN,NB20 4400 7100", "", "Date,Description,Amount", *ROWS])
RENT = sum(float(row.rpartition(",")[2]) for row in ROWS if "Rent" in row and "-03-" in row)


@pytest.fixture
def script() -> Iterator[Script]:
    with openai_server() as running:
        yield running


@pytest.fixture
def library(script: Script, tmp_path: Path) -> Iterator[Library]:
    settings = Settings(
        _env_file=None, data_dir=tmp_path / "library", generation=GenerationSettings(model="server:small"),
        server=ServerSettings(address=script.url, models=("small",)),
    )  # fmt: skip
    with Library.open(settings) as opened:
        add_text(opened, "statement.csv", STATEMENT)
        yield opened


def test_the_plan_that_a_model_chooses_is_run_and_cited(library: Library, script: Script) -> None:
    script.texts = ('{"number"', ": 1}")
    answer = library.ask(QUESTION)
    prompt = str(script.requests[0]["messages"])
    assert "1. Sum of Amount where Description is “Rent” and Date is in March" in prompt
    assert f"{RENT:.2f}" not in prompt
    assert f": {RENT:.2f}." in answer.sentences[0].text
    assert answer.table is not None
    assert (answer.outcome, answer.table.plan.operation) == ("answered", "sum")
    assert "-03-" in library.page(answer.citations[0].document_id, 1).text


@pytest.mark.parametrize("reply", ['{"number": 0}', '{"number": 99}', "None of these."])
def test_where_it_chooses_none_passages_answer(library: Library, script: Script, reply: str) -> None:
    script.texts = (reply,)
    answer = library.ask(QUESTION)
    assert answer.table is None
    assert len(script.requests) == 2


def test_what_the_planner_is_sure_of_asks_no_model(library: Library, script: Script) -> None:
    assert library.ask("What is the total Amount of Books?").table is not None
    assert script.requests == []


def test_a_plan_of_few_of_the_words_is_not_offered_where_prose_was_found(library: Library, script: Script) -> None:
    add_text(library, "charity.md", "# Report\n\nIn March the Power Kitchen gave out 5,491 meals to 300 guests.")
    script.texts = ('{"number"', ": 1}")
    assert library.ask("How many meals did the Power Kitchen hand out to guests in March?").table is None
