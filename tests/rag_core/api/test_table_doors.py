"""One list of orders asked by number, by city, for the largest and on: the same through REST, the shell and MCP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from rag_core import Library, Settings
from rag_core.cli import main
from tests.conftest import add_text
from tests.rag_core.api.conftest import Served, serve
from tests.rag_core.api.test_mcp import talked, told

CITIES = ("Oslo", "Bern", "Ghent")
ROWS = [(f"QX-{400 + 7 * row}", CITIES[row % 5 % 3], f"{(row * 37 % 90) + 5}.50") for row in range(80)]
ORDERS = "\n".join(",".join(row) for row in (("Order", "City", "Amount"), *ROWS))
OF_BERN = sum(city == "Bern" for _, city, _ in ROWS)
OF_OSLO = sum(city == "Oslo" for _, city, _ in ROWS)
LARGEST = max(ROWS, key=lambda row: float(row[2]))
ASKED = [
    ("What is the amount of QX-477?", dict((key, amount) for key, _, amount in ROWS)["QX-477"], 1),
    ("Which order has the largest amount?", LARGEST[0], sum(row[2] == LARGEST[2] for row in ROWS)),
    ("How many orders came from Oslo?", str(OF_OSLO), OF_OSLO),
    ("and from Bern?", str(OF_BERN), OF_BERN),
]


def judged(text: str, citations: list[dict[str, Any]], table: dict[str, Any], at: int) -> None:
    """Whether an answer says its figure and how it was found, cites a row, and has its rows with the plan."""
    question, said, count = ASKED[at]
    first, _, how = text.partition("\n")
    assert said in first.replace("[1]", ""), (question, text)
    assert "rows of “orders”" in how
    assert citations and all(one["text"] for one in citations)
    assert (table["count"], len(table["rows"])) == (count, min(count, 20))
    assert table["heads"] == ["Order", "City", "Amount"]
    cells = [row["cells"] for row in table["rows"]]
    assert all(tuple(row) in ROWS for row in cells)
    assert [one["values"] for one in table["plan"]["conditions"]] == [[["QX-477"]], [], [["Oslo"]], [["Bern"]]][at]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("doors")
    settings = Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())
    with Library.open(settings) as library:
        add_text(library, "orders.csv", ORDERS)
        with serve(library) as running:
            yield running


def test_rest_tells_rows_and_derivation_and_goes_on(served: Served) -> None:
    with served.client() as client:
        given: dict[str, Any] = {}
        for at, (question, *_) in enumerate(ASKED):
            answer = client.post("/api/v1/ask", json={"question": question, **given}, timeout=60).json()
            judged(answer["text"], answer["citations"], answer["table"], at)
            given = {"conversation": answer["conversation"]}
        rows = client.post("/api/v1/table-plans/rows", json={"plan": answer["table"]["plan"]}).text.splitlines()
        assert len(rows) == 1 + OF_BERN


def test_mcp_tells_them_and_is_told_what_was_asked_before(served: Served) -> None:
    async def talk(client: Client) -> None:
        for at, (question, *_) in enumerate(ASKED):
            given = {"question": question, "earlier": [ASKED[at - 1][0]] if at == len(ASKED) - 1 else []}
            answer = told(await client.call_tool("ask", given))
            judged(answer["answer"], answer["citations"], answer["table"], at)

    talked(f"{served.url}/mcp", talk)


def test_the_shell_tells_them_and_goes_on(
    tmp_path: Path, new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", new_database())
    monkeypatch.setenv("LECTERN_DATA_DIR", str(tmp_path / "library"))
    (tmp_path / "orders.csv").write_text(ORDERS)
    assert main(("add", "orders.csv")) == 0
    more: tuple[str, ...] = ()
    for at, (question, *_) in enumerate(ASKED):
        capsys.readouterr()
        assert main(("ask", "--json", question, *more)) == 0
        answer = json.loads(capsys.readouterr().out)
        judged(answer["text"], answer["citations"], answer["table"], at)
        more = ("--conversation", answer["conversation"])
    assert main(("ask", ASKED[0][0])) == 0
    printed = capsys.readouterr().out
    assert f"Amount: {ASKED[0][1]}." in printed and "1 of 80 rows of “orders” where Order is “QX-477”" in printed
