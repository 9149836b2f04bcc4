"""The PyTorch engine: bit for bit what the CPU engine finds, on every device that is here."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from accelerator.backends.base import BackendUnavailable, Block
from accelerator.backends.cpu import CpuBackend
from accelerator.backends.torch import TorchBackend, _sums_integers
from accelerator.quantise import quantise
from tests.accelerator.conftest import unit_rows

cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA here")
mps = pytest.mark.skipif(not torch.backends.mps.is_available(), reason="PyTorch finds no MPS here")
DEVICES = [
    pytest.param(("cpu", True), id="cpu-integers"),
    pytest.param(("cpu", False), id="cpu-floats"),
    pytest.param(("cuda", None), id="cuda", marks=cuda),
    pytest.param(("cuda", False), id="cuda-floats", marks=cuda),
    pytest.param(("mps", None), id="mps", marks=mps),
]


def block_of(rows: np.ndarray, head: int, digest: str = "b10c") -> Block:
    first, rest = quantise(rows[:, :head]), quantise(rows[:, head:])
    return Block(digest, first.codes, rest.codes, first.scales, rest.scales)


def same(backend: TorchBackend, block: Block, queries: np.ndarray) -> None:
    scores, errors = backend.scores(block, queries)
    expected, expected_errors = CpuBackend().scores(block, queries)
    assert (scores.dtype, errors.dtype) == (np.float32, np.float32)
    assert scores.flags.c_contiguous
    assert scores.flags.writeable
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(errors, expected_errors)


@pytest.fixture(params=DEVICES)
def backend(request: pytest.FixtureRequest) -> TorchBackend:
    device, integers = request.param
    return TorchBackend(device, integers=integers)


@pytest.mark.parametrize("queries", [1, 2, 33])
@pytest.mark.parametrize("rows", [1, 3, 97, 256, 16385])
def test_same_as_the_cpu(backend: TorchBackend, rows: int, queries: int) -> None:
    same(backend, block_of(unit_rows(rows, 384), 192), unit_rows(queries, 384, seed=7))


@pytest.mark.parametrize(("dimensions", "head"), [(1, 1), (13, 13), (33, 16), (77, 38), (1040, 520), (2080, 1040)])
def test_odd_widths(backend: TorchBackend, dimensions: int, head: int) -> None:
    same(backend, block_of(unit_rows(97, dimensions), head), unit_rows(3, dimensions, seed=7))


def test_greatest_sums(backend: TorchBackend) -> None:
    rows = np.full((40, 2080), 2080**-0.5, dtype=np.float32)
    rows[1::2] *= -1
    same(backend, block_of(rows, 1040), rows[:2])


def test_zeros_and_nothing(backend: TorchBackend) -> None:
    rows = unit_rows(9, 48)
    rows[3] = 0
    rows[5, 24:] = 0
    same(backend, block_of(rows, 24), unit_rows(2, 48, seed=7))
    same(backend, block_of(rows[:0], 24, "none"), unit_rows(2, 48, seed=7))


def test_damaged_scales_are_as_on_the_cpu(backend: TorchBackend) -> None:
    block = block_of(unit_rows(20, 48), 24)
    block.head_scales[4] = np.nan
    block.tail_scales[6] = np.inf
    same(backend, block, unit_rows(2, 48, seed=7))


def test_mapped_codes(backend: TorchBackend, tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    block = block_of(unit_rows(300, 48), 24)
    parts = []
    for number, part in enumerate((block.head, block.tail, block.head_scales, block.tail_scales)):
        np.save(tmp_path / f"{number}.npy", part)
        parts.append(np.load(tmp_path / f"{number}.npy", mmap_mode="r"))
    same(backend, Block("mapped", *parts), unit_rows(2, 48, seed=7))
    assert not [warning for warning in recwarn if "writable" in str(warning.message)]


def test_a_block_is_copied_once_until_it_is_forgotten(backend: TorchBackend) -> None:
    first, other = block_of(unit_rows(30, 48), 24, "first"), block_of(unit_rows(30, 48, seed=3), 24, "other")
    query = unit_rows(1, 48, seed=7)
    same(backend, first, query)
    same(backend, other, query)
    held = backend._blocks["first"]
    same(backend, first, query)
    assert backend._blocks["first"] is held
    backend.forget("first")
    backend.forget("first")
    backend.forget("never seen")
    assert list(backend._blocks) == ["other"]
    same(backend, first, query)


def test_many_threads(backend: TorchBackend) -> None:
    blocks = [block_of(unit_rows(200 + number, 48, seed=number), 24, str(number)) for number in range(3)]
    failed = []

    def ask(number: int) -> None:
        try:
            for turn in range(20):
                same(backend, blocks[(number + turn) % 3], unit_rows(2, 48, seed=turn))
                if turn % 5 == number:
                    backend.forget(str(turn % 3))
        except Exception as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("no memory\nlong list"), RuntimeError("lost"), RuntimeError()]
)
def test_failures_are_translated(monkeypatch: pytest.MonkeyPatch, error: RuntimeError) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    backend = TorchBackend("cpu", integers=True)
    monkeypatch.setattr(torch, "_int_mm", fail)
    with pytest.raises(BackendUnavailable, match="PyTorch failed: ") as caught:
        backend.scores(block_of(unit_rows(3, 48), 24), unit_rows(1, 48))
    assert caught.value.__cause__ is error
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("device", ["cuda", "mps", "no such device"])
def test_devices_that_are_not_here(device: str) -> None:
    if {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}.get(device):
        pytest.skip(f"{device} is here")
    with pytest.raises(BackendUnavailable, match="PyTorch failed"):
        TorchBackend(device)


def test_best_finds_a_device_or_says_that_there_is_none() -> None:
    if torch.cuda.is_available() or torch.backends.mps.is_available():
        assert TorchBackend.best().describe().startswith("torch (")
    else:
        with pytest.raises(BackendUnavailable, match="neither CUDA nor MPS"):
            TorchBackend.best()


def test_integers_are_tried_before_they_are_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("CUBLAS_STATUS_NOT_SUPPORTED")

    device = torch.device("cpu")
    assert _sums_integers(device)
    monkeypatch.setattr(torch, "_int_mm", lambda a, b: torch.zeros((len(a), b.shape[1]), dtype=torch.int32))
    assert not _sums_integers(device)
    monkeypatch.setattr(torch, "_int_mm", fail)
    assert not _sums_integers(device)
    same(TorchBackend("cpu"), block_of(unit_rows(9, 48), 24), unit_rows(2, 48))
    assert TorchBackend("cpu").describe() == "torch (cpu)"
