"""The command `evaluate` as a build uses it: exit codes, bars, files, reports."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_core import Library, Settings
from rag_core.cli import main
from rag_core.domain import Gold, Question
from tests.conftest import PROJECT
from tests.rag_core.samples import TEXTS

Evaluate = Callable[..., tuple[int, str, str]]
ROWS = [
    "id,question,answer,document,page,excerpt,answerable",
    "bread,What does rye bread cost?,4.20 euros,bakery.md,1,rye bread costs 4.20,",
    "keeper,Who was the last keeper?,Ada Holm,lighthouse.txt,1,,",
    "cup,Who won the football world cup?,,,,,no",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Path]:
    """A working directory with a library, a file of questions and one of a configuration, named by the environment."""
    made = tmp_path_factory.mktemp("command")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", new_database())
        patch.setenv("LECTERN_DATA_DIR", str(made / "library"))
        patch.chdir(made)
        for name, text in TEXTS.items():
            (made / name).write_text(text)
        (made / "questions.csv").write_text("\n".join(ROWS))
        (made / "few.json").write_text('{"name": "Few", "retrieval.k": 1}')
        assert main(["add", *TEXTS]) == 0
        yield made


@pytest.fixture
def evaluate(folder: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Evaluate]:
    """The command on the file of questions, unless another is named."""

    def call(*arguments: str, of: str = "questions.csv") -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["evaluate", of, *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    yield call


def lines(output: str) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]


def test_passages_are_measured_for_people(evaluate: Evaluate) -> None:
    code, out, err = evaluate()
    assert (code, err) == (0, "")
    assert "The library as it is: 3 of 3 questions" in out
    assert re.search(r"Hit rate +1\.000  95 % interval 1\.000 to 1\.000, n = 2", out)
    assert "Correct" not in out


def test_answers_of_two_configurations_are_compared(evaluate: Evaluate, folder: Path) -> None:
    (folder / "more.toml").write_text('name = "More"\n[retrieval]\nk = 4\n')
    arguments = ("--answers", "--configuration", "few.json", "--configuration", "more.toml", "--json", "--seed", "3")
    code, out, err = evaluate(*arguments)
    assert (code, err) == (0, "")
    first, second, *differences = lines(out)
    assert [run["configuration"] for run in (first, second)] == ["Few", "More"]
    assert [run["settings"]["retrieval.k"] for run in (first, second)] == [1, 4]
    assert {run["seed"] for run in (first, second)} == {3}
    assert {run["state"] for run in (first, second)} == {"done"}
    assert first["metrics"]["correct"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "count": 3}
    assert {"hit_rate", "correct"} <= {difference["metric"] for difference in differences}
    assert all(difference["sentence"] for difference in differences)


@pytest.mark.parametrize(
    ("bars", "code"),
    [
        (["hit_rate=1", " mrr = 0.5"], 0),
        (["mrr=0.5", "context_precision=0.99"], 1),
        (["correct=0.5"], 2),  # that needs answers
        (["hit_rate=1.01"], 2),
        (["hit_rate=-1"], 2),
        (["hit_rate=nan"], 2),
        (["hit_rate"], 2),
        (["hit_rate="], 2),
        (["hit_rate=high"], 2),
        (["nothing=1"], 2),
        (["=1"], 2),
    ],
)
def test_a_bar_decides_the_exit_code(evaluate: Evaluate, bars: list[str], code: int) -> None:
    found, out, err = evaluate(*(argument for bar in bars for argument in ("--fail-under", bar)))
    assert found == code
    assert bool(err) == bool(code)
    assert bool(out) == (code != 2)


def test_a_bar_on_passages_fails_where_their_places_are_gone(evaluate: Evaluate, folder: Path) -> None:
    (folder / "gone.csv").write_text("\n".join((*ROWS, "harbour,How deep is the harbour?,9 m,harbour.pdf,2,,")))
    code, _, err = evaluate("--fail-under", "hit_rate=0.5", of="gone.csv")
    assert code == 1
    assert "“gone.csv”: 1 of the places that its questions name are not in the library, so the bars" in err
    code, out, err = evaluate("--answers", "--fail-under", "correct=0.1", of="gone.csv")
    assert code == 0
    shares = [line for line in out.splitlines() if "interval 0." in line or "interval 1." in line]
    assert "not found" in "".join(shares)
    assert len({line.index("  95 %") for line in shares}) == 1
    assert "they are left out" in err


def test_of_times_less_is_better(evaluate: Evaluate) -> None:
    code, _, err = evaluate("--answers", "--fail-under", "answer_ms=1e9", "--fail-under", "search_ms=0.001")
    assert code == 1
    assert "search_ms" in err
    assert "answer_ms" not in err


def test_every_run_must_clear_the_bar(evaluate: Evaluate, folder: Path) -> None:
    (folder / "both.json").write_text('[{"name": "One", "retrieval.k": 1}, {"name": "Four", "retrieval.k": 4}]')
    code, out, err = evaluate("--configuration", "both.json", "--fail-under", "context_precision=0.6")
    assert code == 1
    assert "in “Four”" in out
    assert "Four: context_precision" in err
    assert "One" not in err


@pytest.mark.parametrize(("form", "begin"), [("html", b"<!"), ("json", b"{"), ("csv", b"")])
def test_a_report_is_written(evaluate: Evaluate, folder: Path, form: str, begin: bytes) -> None:
    assert evaluate("--report", f"report.{form.upper()}", "--configuration", "few.json")[0] == 0
    data = (folder / f"report.{form.upper()}").read_bytes()
    assert data.lstrip(b"\xef\xbb\xbf").startswith(begin)
    assert b"Few" in data


@pytest.mark.parametrize(
    ("report", "code"), [("report.txt", 2), ("report", 2), ("none/r.html", 1), ("folder.json", 1), ("", 2)]
)
def test_a_report_without_a_place_is_refused_before_any_run(
    evaluate: Evaluate, folder: Path, report: str, code: int
) -> None:
    (folder / "folder.json").mkdir(exist_ok=True)
    found, out, err = evaluate("--report", report)
    assert (found, out) == (code, "")
    assert err


@pytest.mark.parametrize(
    "text",
    ["", "3", "nonsense", "[3]", "[]", '{"retrieval.k": 0}', '{"retrieval.kk": 3}', '{"changes": {}, "k": 1}',
     '{"generation.gemini_endpoint": "http://127.0.0.1:9"}', '{"retrieval.k": NaN}', '{"name": 5}', "[" * 100_000],
)  # fmt: skip
def test_a_configuration_that_cannot_be_used_is_said(evaluate: Evaluate, folder: Path, text: str) -> None:
    (folder / "wrong.json").write_text(text)
    code, out, err = evaluate("--configuration", "few.json", "--configuration", "wrong.json")
    assert (code, out) == (1, "")
    assert err
    assert "Traceback" not in err


def test_files_of_odd_bytes(evaluate: Evaluate, folder: Path) -> None:
    (folder / "bom.json").write_bytes(b'\xef\xbb\xbf{"name": "Mark", "retrieval.k": 2}')
    assert "Mark: 3 of 3" in evaluate("--configuration", "bom.json")[1]
    (folder / "latin.json").write_bytes(b'{"name": "\xff"}')
    assert evaluate("--configuration", "latin.json")[0] == 1
    assert evaluate("--configuration", "missing.json")[0] == 1
    (folder / "zero.csv").write_bytes(b"")
    assert evaluate(of="zero.csv")[0] == 1
    (folder / "columns.csv").write_text("a,b\n1,2\n")
    code, _, err = evaluate(of="columns.csv")
    assert code == 1
    assert "question" in err


def test_wrong_arguments(evaluate: Evaluate) -> None:
    assert evaluate("--model", "gguf:none.gguf", "--answers")[0] == 1
    assert evaluate("--judge", "extractive")[0] == 1
    assert evaluate("--seed", "-1")[0] == 1
    assert [evaluate(*arguments)[0] for arguments in (("--seed", "x"), ("--fly",))] == [2, 2]
    for name in ("no such set", "", ".", "x" * 200, "x" * 5000):
        code, _, err = evaluate(of=name)
        assert code == 1
        assert "There is no file and no question set" in err


def test_bad_rows_are_told_with_their_numbers(evaluate: Evaluate, folder: Path) -> None:
    rows = [*ROWS, ",,,,,,", "page,Which?,,bakery.md,x,,", "gone,Where?,,gone.pdf,1,,", "far,Where?,,bakery.md,9,,"]
    (folder / "rows.csv").write_text("\n".join(rows))
    code, out, err = evaluate(of="rows.csv")
    assert code == 0
    assert "5 of 5 questions" in out
    assert "rows.csv, row 6: There should be a page number" in err
    assert "rows.csv, row 7: There is no document “gone.pdf”" in err
    assert "rows.csv, row 8: “bakery.md” has no page 9" in err


def test_a_file_is_one_set_however_often_and_never_one_that_was_made_otherwise(
    evaluate: Evaluate, folder: Path
) -> None:
    (folder / "my  set.csv").write_text("\n".join(ROWS))
    assert evaluate(of="my  set.csv")[0] == 0
    (folder / "my  set.csv").write_text("\n".join([*ROWS[:2], "new,A new one?,,,,,"]))
    assert "2 of 2" in evaluate(of="my  set.csv")[1]
    with Library.open(Settings.load()) as library:
        (found,) = [item for item in library.evaluation.sets() if "my set" in item.name]
        assert [question.id for question in library.evaluation.questions(found.id)] == ["bread", "new"]
        own = Question("own", "Typed by hand?", gold=(Gold("bakery.md"),))
        made = library.evaluation.create("hand.csv", [own]).id
    (folder / "hand.csv").write_text("\n".join(ROWS))
    assert "3 of 3" in evaluate(of="hand.csv")[1]
    with Library.open(Settings.load()) as library:
        assert library.evaluation.questions(made) == [own]
    assert evaluate(of=made)[0] == 0
    (folder / "samples.jsonl").write_text('{"question": "What does rye bread cost?", "origin": "sample"}')
    for _ in range(2):
        assert evaluate(of="samples.jsonl")[0] == 0
    with Library.open(Settings.load()) as library:
        assert [item.name for item in library.evaluation.sets()].count("samples.jsonl") == 1
    (folder / "hand.csv").unlink()
    code, _, err = evaluate(of="hand.csv")
    assert code == 1
    assert "2 question sets are called" in err


def test_ctrl_c_stops_and_nothing_goes_on_by_itself(folder: Path) -> None:
    many = [f"q{number},What does loaf {number} cost?,4.20 euros,bakery.md,1,," for number in range(3000)]
    (folder / "many.csv").write_text("\n".join([ROWS[0], *many]))
    arguments = [sys.executable, "-m", "rag_core", "evaluate", str(folder / "many.csv"), "--answers"]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    with subprocess.Popen(
        arguments, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # A shell has what it runs in the background ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as command:  # fmt: skip
        for _ in range(600):
            if _running(environment["DATABASE_URL"]):
                break
            try:
                command.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
        command.send_signal(signal.SIGINT)
        _, err = command.communicate(timeout=60)
    assert command.returncode == 130
    assert "Traceback" not in err
    with Library.open(Settings.load()) as library:
        run = library.evaluation.runs()[0]
        assert (run.state, run.total) == ("cancelled", 3000)
        assert 0 < run.done < 3000
        assert list(library.evaluation.carry_out()) == []


def _running(url: str) -> bool:
    """Whether some question of a run that is under way has its result."""
    import psycopg

    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM evaluation_results e JOIN evaluation_runs r ON r.id = e.run_id"
            " WHERE r.state = 'running'"
        ).fetchone()
    return bool(row and row[0] > 3)
