"""SIGKILL at moments drawn by chance, while documents are added, removed and searched, and while a library is opened.

Each library is killed again and again, so that whatever a kill leaves behind meets the next one. Its PostgreSQL is the
embedded one, as users have it: it is killed too, all at once, or lives on without its owner.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.faults.children import Child, postmaster
from tests.faults.conftest import ALL
from tests.faults.shelf import Shelf
from tests.faults.summary import Tally, seed
from tests.faults.worker import Plan, live

_KILLS = 20 if ALL else 4
_LIBRARIES = 10 if ALL else 1
_LONGEST_S = 1.5
# So long it takes to make the files of a new PostgreSQL.
_FIRST_S = 0.6
# How many of the kills come amid opening and recovery.
_EARLY = 0.25 if ALL else 0.4


@pytest.mark.timeout(400)
@pytest.mark.parametrize("number", range(_LIBRARIES))
def test_nothing_is_lost_by_kills_at_any_moment(number: int, tmp_path: Path, shelf: Shelf, tally: Tally) -> None:
    draw = random.Random(seed() * 1000 + number)
    plan = Plan(tmp_path / "library", shelf.file, tmp_path / "journal", seed=0)
    wrong: list[str] = []
    for kill in range(_KILLS):
        wrong += _strike(plan, draw, tally, kill)
    wrong += _judge_and_close(plan, tally)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("number", range(12 if ALL else 2))
def test_a_kill_amid_the_first_opening_leaves_a_library_that_opens(
    number: int, tmp_path: Path, shelf: Shelf, tally: Tally
) -> None:
    draw = random.Random(seed() * 1000 + number)
    plan = Plan(tmp_path / "library", shelf.file, tmp_path / "journal", seed=0)
    process = Child(live, plan)
    deadline = time.monotonic() + 10
    while not (plan.data_dir / "postgres").exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    process.hear(draw.uniform(0, _FIRST_S))
    _kill(process, draw)
    tally.faults += 1
    wrong = _judge_and_close(plan, tally)
    assert not wrong, "\n".join(wrong)


def _strike(plan: Plan, draw: random.Random, tally: Tally, kill: int) -> list[str]:
    """Have a process judge what the last kill left, work on, and be killed. Returns what is wrong."""
    process = Child(live, Plan(plan.data_dir, plan.shelf, plan.journal, draw.randrange(10**9), work_s=60))
    wrong: list[str] = []
    try:
        if draw.random() < _EARLY:
            said = process.hear(draw.uniform(0, _LONGEST_S))
        else:
            said = process.hear()
            wrong += [] if said is not None else ["the process said nothing"]
            if process.wait(draw.uniform(0, _LONGEST_S)) is not None:
                wrong.append(f"the process ended by itself: {process.exitcode}")
        if said is not None:
            wrong += [said.error] if said.error else []
            wrong += tally.judge(said.verdict.lost, said.verdict.disagreeing) if said.verdict else []
    finally:
        _kill(process, draw)
        tally.faults += 1
    return [f"kill {kill}: {line}" for line in wrong]


def _kill(process: Child, draw: random.Random) -> None:
    if draw.random() < 0.5:
        process.pull_the_plug(draw)
    else:
        process.kill()


def _judge_and_close(plan: Plan, tally: Tally) -> list[str]:
    """Open once more, judge, and close as users do. Returns what is wrong."""
    process = Child(live, plan)
    said = process.hear()
    code = process.wait()
    process.pull_the_plug(random.Random(0))
    if said is None or said.verdict is None or code:
        return [f"the last opening ended with {code}: {said}"]
    wrong = tally.judge(said.verdict.lost, said.verdict.disagreeing)
    if postmaster(plan.data_dir) is not None:
        wrong.append("PostgreSQL runs on after the library was closed")
    return wrong
