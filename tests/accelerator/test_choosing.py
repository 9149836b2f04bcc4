"""Which engine is taken, why, and what is said where it cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from accelerator.backends import choosing
from accelerator.backends.base import Backend, BackendUnavailable
from accelerator.backends.choosing import NAMES, choose, threads
from accelerator.backends.cpu import CpuBackend


@pytest.fixture(autouse=True)
def quick_probe(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The probe's times are made up: two threads are much faster than one, more are slower."""
    asked: list[int] = []

    def time_of(backend: CpuBackend, *_: object) -> float:
        asked.append(backend.threads)
        return {1: 1.0, 2: 0.5}.get(backend.threads, 2.0)

    monkeypatch.setattr(choosing, "_time", time_of)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    return asked


class Made(CpuBackend):
    name = "made up"


def raising(reason: str) -> object:
    def fail(*_: object) -> Backend:
        raise BackendUnavailable(reason)

    return fail


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="gpu is not among auto, cpu, coreml, torch"):
        choose("gpu", tmp_path)


def test_the_cpu_as_set(tmp_path: Path) -> None:
    backend, why = choose("cpu", tmp_path)
    assert (backend.describe(), why) == ("cpu (2 threads)", "as set")


@pytest.mark.parametrize(("name", "function"), [("torch", "_torch"), ("coreml", "_coreml")])
def test_what_cannot_run_is_replaced_and_the_reason_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, function: str
) -> None:
    monkeypatch.setattr(choosing, function, raising("no such card"))
    backend, why = choose(name, tmp_path)
    assert type(backend) is CpuBackend
    assert why == f"{name} cannot run: no such card"


@pytest.mark.parametrize(("name", "function"), [("torch", "_torch"), ("coreml", "_coreml")])
def test_what_is_set_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, function: str) -> None:
    monkeypatch.setattr(choosing, function, lambda *_: Made())
    backend, why = choose(name, tmp_path)
    assert (backend.name, why) == ("made up", "as set")


@pytest.mark.parametrize("likely", ["coreml", "torch", "cpu"])
@pytest.mark.parametrize("passes", [True, False])
def test_auto_takes_what_is_here_and_passes_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, likely: str, passes: bool
) -> None:
    monkeypatch.setattr(choosing, "_likely", lambda: likely)
    monkeypatch.setattr(choosing, "_torch", Made)
    monkeypatch.setattr(choosing, "_coreml", lambda _: Made())
    monkeypatch.setattr(choosing, "tried", lambda *_: (passes, "as the trial says"))
    backend, why = choose("auto", tmp_path)
    taken = passes and likely != "cpu"
    assert (backend.name, why) == (
        "made up" if taken else "cpu", "no Neural Engine or CUDA card here" if likely == "cpu" else "as the trial says"
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_name_gives_an_engine_and_a_reason_here(tmp_path: Path, name: str) -> None:
    backend, why = choose(name, tmp_path / "not there yet")
    assert isinstance(backend, Backend)
    assert why
    assert backend.describe()


def test_the_count_of_threads_is_found_out_once_and_kept(tmp_path: Path, quick_probe: list[int]) -> None:
    assert threads(tmp_path) == 2
    assert quick_probe == [1, 2, 4]
    assert threads(tmp_path) == 2
    assert quick_probe == [1, 2, 4]


def test_a_further_thread_must_be_worth_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "_time", lambda backend, *_: 1.0 if backend.threads == 1 else 0.95)
    assert threads(tmp_path) == 1


def test_another_machine_finds_out_for_itself(tmp_path: Path, quick_probe: list[int]) -> None:
    (tmp_path / "threads.json").write_text(json.dumps({"machine": "another", "threads": 7}))
    assert threads(tmp_path) == 2
    assert quick_probe
    assert threads(tmp_path) == json.loads((tmp_path / "threads.json").read_bytes())["threads"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff", b"3", b'{"machine": 3}', b"null"])
def test_what_is_kept_and_makes_no_sense_is_found_out_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "threads.json").write_bytes(content)
    assert threads(tmp_path) == 2
    assert json.loads((tmp_path / "threads.json").read_bytes())["threads"] == 2


@pytest.mark.parametrize(("kept", "expected"), [(0, 1), (-4, 1), ("3", 3), ("x", 2), (None, 2)])
def test_a_kept_count_is_a_sound_one(tmp_path: Path, kept: object, expected: int) -> None:
    threads(tmp_path)
    path = tmp_path / "threads.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "threads": kept}))
    assert threads(tmp_path) == expected


def test_where_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert threads(tmp_path / "file") == 2


def test_the_probe_is_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(choosing, "_PROBE_S", 0.004)
    monkeypatch.setattr(choosing, "_PROBE_SHAPE", (100, 8))
    assert 1 <= threads(tmp_path) <= 8
