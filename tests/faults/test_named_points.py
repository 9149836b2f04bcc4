"""SIGKILL at every named point of the code: what was acknowledged is there, the rest whole or absent."""

from __future__ import annotations

import random
import secrets
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from rag_core import Library, Settings
from tests.faults.children import Child
from tests.faults.conftest import ALL
from tests.faults.journal import Journal, read_journal
from tests.faults.judge import Verdict
from tests.faults.points import fault_points
from tests.faults.scenarios import ARCHIVE, HELD, perform
from tests.faults.shelf import Shelf
from tests.faults.summary import Tally, seed
from tests.faults.worker import Plan, live

# Which scenario comes by a point, by the first part of its name; a new one is looked for in all of them.
_WHERE = {
    **dict.fromkeys(
        ("file", "original", "accept", "commit", "dump", "sync", "chroma", "lexical", "graph", "removal"), "changing"
    ),
    "rebuild": "rebuilding",
    "reembedding": "reembedding",
    "cutover": "reembedding",
    **dict.fromkeys(("segment", "manifest", "compaction"), "compaction"),
    "reading_again": "re-chunking",
    **dict.fromkeys(("edit", "aside", "back"), "editing"),
    "backup": "backing up",
    "restore": "restoring",
}
_SAMPLE = 4
_TIMES = (1, 3) if ALL else (1,)


def _cases() -> list[str]:
    points = fault_points()
    chosen = points if ALL else sorted(random.Random(seed()).sample(points, _SAMPLE))
    return [f"{point}:{times}" for point in chosen for times in _TIMES]


@dataclass(frozen=True, slots=True)
class Template:
    """A closed library of some documents, to be copied."""

    folder: Path
    database: str
    held: tuple[str, ...]


@pytest.fixture(scope="module")
def template(shelf: Shelf, new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Template:
    folder = tmp_path_factory.mktemp("template")
    url = new_database()
    with Library.open(Settings(_env_file=None, data_dir=folder / "library", database_url=url)) as library:
        assert all(event.error is None for event in library.add([item.path for item in shelf.items[:HELD]]))
        library.storage.settle()
        library.maintenance.backup(folder / ARCHIVE)
        held = tuple(document.id for document in library.documents())
    return Template(folder, url, held)


@pytest.fixture
def plan(template: Template, shelf: Shelf, postgresql: str, tmp_path: Path) -> Plan:
    """A copy of the template, and its journal."""
    shutil.copytree(template.folder, tmp_path, dirs_exist_ok=True)
    Journal(tmp_path / "journal").write(judged=template.held)
    source = conninfo_to_dict(template.database)["dbname"]
    name = f"{source}_{secrets.token_hex(4)}"
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {source}".encode())
    url = postgresql.replace("/postgres?", f"/{name}?")
    return Plan(tmp_path / "library", shelf.file, tmp_path / "journal", seed(), url)


@pytest.mark.parametrize("fault", _cases())
def test_a_kill_at_a_named_point(fault: str, plan: Plan, new_database: Callable[[], str], tally: Tally) -> None:
    point, _, times = fault.partition(":")
    scenario = _WHERE.get(point.partition(".")[0], "everything")
    plan = replace(plan, scenario=scenario)
    held = read_journal(plan.journal).ids("present")
    if scenario == "restoring":
        plan = replace(plan, data_dir=plan.data_dir.with_name("restored"), database_url=new_database())
        plan.journal.unlink()
        Journal(plan.journal).will("add", held)
    killed = _perform(replace(plan, fault=fault)) == -signal.SIGKILL
    assert killed or times != "1", f"{scenario} never came to {point}"
    tally.faults += killed
    verdict = _judge(plan, tally)
    if scenario == "restoring":
        assert len(verdict.held) in (0, HELD)
        if verdict.held:
            return
        Journal(plan.journal).will("add", held)
    if ALL and scenario != "changing":
        assert _perform(plan) == 0, "what was killed cannot be done again"
        _judge(plan, tally)


def _perform(plan: Plan) -> int | None:
    process = Child(perform, plan)
    said = process.hear()
    assert said is None or not said.error, said.error
    code = process.wait()
    process.kill()
    assert (code == 0) == (said is not None), code
    return code


def _judge(plan: Plan, tally: Tally) -> Verdict:
    process = Child(live, plan)
    said = process.hear()
    code = process.wait()
    process.kill()
    assert said is not None, code
    assert said.verdict is not None, said.error
    assert code == 0, code
    wrong = tally.judge(said.verdict.lost, said.verdict.disagreeing)
    assert not wrong, "\n".join(wrong)
    return said.verdict
