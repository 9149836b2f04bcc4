"""Counts what the fault tests did and found, over all of pytest's processes; one JSON line at the end says it."""

from __future__ import annotations

import functools
import json
import os
import secrets
import sys
from collections.abc import Generator, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
SEED_VARIABLE = "LECTERN_FAULTS_SEED"
_KEY = "lectern_faults"


@dataclass(slots=True)
class Tally:
    """Faults that were injected, documents that were lost by them, and stores or searches that then disagreed."""

    faults: int = 0
    lost: int = 0
    disagreeing: int = 0

    def add(self, other: Tally) -> None:
        self.faults += other.faults
        self.lost += other.lost
        self.disagreeing += other.disagreeing

    def judge(self, lost: Iterable[str], disagreeing: Iterable[str]) -> list[str]:
        """Count what a judgement found, and return it."""
        lost, disagreeing = list(lost), list(disagreeing)
        self.lost += len(lost)
        self.disagreeing += len(disagreeing)
        return lost + disagreeing


_TALLY = pytest.StashKey[Tally]()
_OWN = pytest.StashKey[Tally]()


def pytest_configure(config: pytest.Config) -> None:
    # Chosen once and inherited by every process of the run.
    os.environ.setdefault(SEED_VARIABLE, str(secrets.randbelow(10**6)))
    seed()
    config.stash[_TALLY] = Tally()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Count a fault test: what it counted itself, or one fault; a failure that names nothing is a disagreement."""
    report = yield
    if FOLDER in item.path.parents:
        own = item.stash.setdefault(_OWN, Tally())
        if report.when == "call":
            own.faults = own.faults or int(not report.skipped)
        if report.failed:
            own.disagreeing += not (own.lost or own.disagreeing)
            report.sections.append(("faults", f"{SEED_VARIABLE}={seed()}"))
        if report.when == "teardown":
            item.config.stash[_TALLY].add(own)
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_KEY] = asdict(session.config.stash[_TALLY])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A process of pytest-xdist has ended: take over its count."""
    node.config.stash[_TALLY].add(Tally(**getattr(node, "workeroutput", {}).get(_KEY, {})))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    tally = config.stash.get(_TALLY, Tally())
    if tally.faults and not hasattr(config, "workerinput"):
        sys.stdout.write(json.dumps({**asdict(tally), "seed": seed()}) + "\n")
        sys.stdout.flush()


@functools.cache
def seed() -> int:
    """The seed of this run: LECTERN_FAULTS_SEED, or drawn by chance. Read before the environment is cleaned."""
    return int(os.environ[SEED_VARIABLE])


def tally_of(item: pytest.Item) -> Tally:
    """What a test counts into."""
    return item.stash.setdefault(_OWN, Tally())
