"""The report of the Neural Engine's trial: every step, with an interpreter in Core ML's place, and without any."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from accelerator import trial
from accelerator.backends import trial as trials
from tests.accelerator.mil_interpreter import InterpreterRuntime


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "_DIMENSIONS", 32)
    monkeypatch.setattr(trial, "SMALL", (64,))


def test_the_whole_path_is_gone_and_told(tmp_path: Path) -> None:
    steps = list(trial.report(tmp_path, InterpreterRuntime, full=512))
    assert [(name, outcome) for name, outcome, _ in steps] == [
        ("machine", "ok"), ("build", "ok"), *[(name, "ok") for name in ("compile", "predict", "compare")] * 2,
        ("fall back", "ok"),
    ]  # fmt: skip
    told = {name: found for name, _, found in steps}
    assert told["build"]["programs"] == 1
    assert told["compare"]["furthest_off"] <= told["compare"]["allowed"]
    assert told["predict"].keys() == {"rows", "ms", "processor_ms"}
    assert "made to fail" in str(told["fall back"]["note"])


@pytest.mark.skipif(platform.system() == "Darwin", reason="shows what is said where there is no Core ML")
def test_where_core_ml_is_missing_that_is_said_and_the_rest_is_tried(tmp_path: Path) -> None:
    steps = {name: (outcome, found) for name, outcome, found in trial.report(tmp_path, full=512)}
    assert {name for name, (outcome, _) in steps.items() if outcome == "missing"} == {"compile", "predict", "compare"}
    assert steps["predict"][1] == {"why": "Core ML predicts on macOS only"}
    assert steps["build"][0] == steps["fall back"][0] == "ok"


def test_a_step_that_fails_ends_its_size_and_is_told(tmp_path: Path) -> None:
    class Refusing(InterpreterRuntime):
        def compile(self, package: Path, compiled: Path) -> None:
            raise RuntimeError("no compiler")

    steps = list(trial.report(tmp_path, Refusing, full=512))
    failed = [found for name, outcome, found in steps if outcome == "failed"]
    assert len(failed) == 2
    assert all("no compiler" in str(found["why"]) for found in failed)
