"""The trial of an engine: right and faster, or not taken; its outcome is kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from accelerator.backends import trial
from accelerator.backends.base import Backend, BackendUnavailable, Block
from accelerator.backends.cpu import CpuBackend
from tests.accelerator.conftest import unit_rows
from tests.accelerator.making import Shelf


class Made(CpuBackend):
    """An engine that scores as the processor does, plus what is `wrong`, or fails."""

    name = "made up"
    wrong: object = 0.0
    scored = 0

    def scores(self, block: Block, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.scored += 1
        if isinstance(self.wrong, Exception):
            raise self.wrong
        scores, errors = super().scores(block, queries)
        return np.roll(scores, 1, axis=1) if self.wrong == "rolled" else scores + self.wrong, errors


class Apart(Backend):
    """An engine of another kind than the processor, which scores as that does."""

    name = "apart"
    scored = 0

    def scores(self, block: Block, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.scored += 1
        return CpuBackend().scores(block, queries)


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> CpuBackend:
    """The processor, with a sample that is quick to make; times are those that `quick` and `slow` say."""
    monkeypatch.setattr(trial, "_ROWS", 512)
    monkeypatch.setattr(trial, "_DIMENSIONS", 32)
    monkeypatch.setattr(trial, "SMALL", ())
    return CpuBackend()


@pytest.mark.parametrize(
    ("wrong", "times", "passed", "words"),
    [
        (0.0, (0.001, 0.002), True, "the same hits on trial, and faster: 1.00 ms against 2.00 for 512 vectors"),
        (0.0, (0.002, 0.001), False, "made up is slower here: 2.00 ms against 1.00"),
        ("rolled", (0.001, 0.002), False, "made up gives other hits than the processor on 8 of 8"),
        (np.nan, (0.001, 0.002), False, "made up gives other hits"),
        (BackendUnavailable("The card is gone."), (0.001, 0.002), False, "made up failed on trial: The card is gone."),
    ],
    ids=["right and faster", "slower", "wrong", "no numbers", "failing"],
)
def test_an_engine_is_taken_where_it_is_right_and_faster(
    judge: CpuBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    wrong: object, times: tuple[float, float], passed: bool, words: str,
) -> None:  # fmt: skip
    left = list(times)
    monkeypatch.setattr(trial, "median_s", lambda work: left.pop(0))
    engine = Made()
    engine.wrong = wrong
    found, why = trial.tried(engine, judge, tmp_path / "new")
    assert found is passed
    assert words in why
    count = engine.scored
    assert trial.tried(engine, judge, tmp_path / "new") == (found, why), "the outcome is kept"
    assert engine.scored == count


@pytest.mark.parametrize("kept", [b"", b"[]", b'{"here": "another machine", "passed": true, "words": "x"}'])
def test_another_machine_or_version_tries_for_itself(judge: CpuBackend, tmp_path: Path, kept: bytes) -> None:
    (tmp_path / "trial.json").write_bytes(kept)
    engine = Made()
    trial.tried(engine, judge, tmp_path)
    assert engine.scored
    assert json.loads((tmp_path / "trial.json").read_bytes())["here"] != "another machine"


@pytest.mark.parametrize(
    ("times", "least"),
    [((0.001, 0.002, 0.3, 0.2, 0.1, 0.2), 64), ((0.001, 0.002, 0.3, 0.2, 0.3, 0.2), 4096)],
    ids=["faster from the second size on", "never faster"],
)
def test_few_vectors_are_given_to_an_engine_that_is_faster_with_them(
    judge: CpuBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: tuple[float, ...], least: int
) -> None:
    left = list(times)
    monkeypatch.setattr(trial, "SMALL", (32, 64))
    monkeypatch.setattr(trial, "median_s", lambda work: left.pop(0))
    engine = Made()
    passed, words = trial.tried(engine, judge, tmp_path / "new")
    assert passed
    assert engine.least_rows == least
    assert f"asked from {least:,} vectors on" in words
    again = Made()
    trial.tried(again, judge, tmp_path / "new")
    assert again.least_rows == least, "the outcome is kept"


def test_a_segment_is_made_for_an_engine_that_is_worth_it(tmp_path: Path) -> None:
    engine = Apart()
    shelf = Shelf(tmp_path, backend=engine)
    shelf.add("a", unit_rows(600, 48))
    assert not shelf.segments.due()
    engine.least_rows = 512
    assert shelf.segments.due()
    assert shelf.compact()
    shelf.check()
    assert engine.scored
