"""What a compaction writes: the rows as they were, and about each of them nothing that is not true."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from accelerator import atomic, sections
from accelerator.compaction import CompactionStopped, Source, compact
from accelerator.errors import DumpCorrupt
from accelerator.segment import Segment, head_width
from tests.accelerator.conftest import PROFILE, some_hashes, unit_rows
from tests.accelerator.making import Meddling, sources_of, write_segment


def mixed_blocks(dimensions: int) -> dict[str, np.ndarray]:
    sizes = {"none": 0, "one": 1, "large": 1500, "three": 3, "empty": 0, "some": 1023, "full": 1024}
    return {key: unit_rows(size, dimensions, seed=size) for key, size in sizes.items()}


def hostile_blocks(dimensions: int) -> dict[str, np.ndarray]:
    lengths = (10.0 ** np.random.default_rng(0).uniform(-12, 12, (1200, 1))).astype(np.float32)
    rows = unit_rows(1200, dimensions) * lengths
    rows[::7] = 0
    return {
        "lengths": rows,
        "equal": np.repeat(unit_rows(1, dimensions), 300, axis=0),
        "hot": np.eye(dimensions, dtype=np.float32),
    }


SEGMENTS = {
    "1 dimension": (mixed_blocks(1), True),
    "17 dimensions": (mixed_blocks(17), True),
    "48 dimensions": (mixed_blocks(48), True),
    "384 dimensions": (mixed_blocks(384), True),
    "hostile, 17": (hostile_blocks(17), False),
    "hostile, 48": (hostile_blocks(48), False),
    "one row": ({"a": unit_rows(1, 48)}, True),
    "zeros": ({"a": np.zeros((40, 48), dtype=np.float32)}, False),
}


@pytest.fixture(scope="module", params=SEGMENTS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Segment, dict]:
    blocks, unit = SEGMENTS[request.param]
    return write_segment(tmp_path_factory.mktemp("compaction") / "a.segment", blocks, unit=unit), blocks


def units_of(segment: Segment) -> np.ndarray:
    rows = segment.rows.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def test_rows_hashes_and_origins_are_those_of_the_dumps_bit_for_bit(made: tuple[Segment, dict]) -> None:
    segment, blocks = made
    segment.verify()
    assert list(segment.keys) == list(blocks)
    assert set(segment.generations) == {1}
    assert len(segment) == sum(map(len, blocks.values()))
    hashes, origins = segment.sections.arrays["hashes"], segment.sections.arrays["origins"]
    for number, block in enumerate(blocks.values()):
        places = segment.places(number)
        assert segment.rows[places].tobytes() == block.tobytes()
        assert hashes[places].tobytes() == some_hashes(len(block)).tobytes()
        assert origins[places].tolist() == [[number, row] for row in range(len(block))]


def test_places_name_every_row_once(made: tuple[Segment, dict]) -> None:
    segment, blocks = made
    arrays = segment.sections.arrays
    np.testing.assert_array_equal(np.sort(arrays["places"]), np.arange(len(segment)))
    np.testing.assert_array_equal(arrays["key_starts"], np.cumsum([0, *map(len, blocks.values())]))


def test_axes_are_orthogonal(made: tuple[Segment, dict]) -> None:
    axes = made[0].axes.astype(np.float64)
    assert np.abs(axes @ axes.T - np.eye(len(axes))).max() <= 1e-5


def test_measured_errors_hold_in_float64(made: tuple[Segment, dict]) -> None:
    segment, _ = made
    rotated, block = units_of(segment) @ segment.axes.astype(np.float64).T, segment.block
    width = head_width(segment.rows.shape[1])
    assert block.head.shape[1] == width
    head = block.head * block.head_scales.astype(np.float64)[:, None]
    tail = block.tail * block.tail_scales.astype(np.float64)[:, None]
    # Float32 arithmetic of the rotation itself: a tenth of what a search allows for.
    assert (np.linalg.norm(rotated[:, width:], axis=1) <= segment.tails + 1e-5).all()
    assert (np.linalg.norm(rotated - np.hstack((head, tail)), axis=1) <= segment.errors + 1e-5).all()
    assert np.linalg.norm(rotated[:, :width] - head, axis=1).max() <= segment.head_error + 1e-5
    assert segment.errors.max() < 0.1


def test_clusters_hold_all_rows_and_none_is_empty(made: tuple[Segment, dict]) -> None:
    segment, _ = made
    arrays = segment.sections.arrays
    sizes = np.diff(arrays["cluster_starts"].astype(int))
    assert arrays["cluster_starts"][0] == 0
    assert (sizes > 0).all()
    assert sizes.sum() == len(segment)
    assert len(sizes) == len(arrays["centroids"])


def test_spreads_are_the_mean_distances_from_the_centroids(made: tuple[Segment, dict]) -> None:
    segment, _ = made
    arrays = segment.sections.arrays
    starts = arrays["cluster_starts"].astype(int)
    heads = (units_of(segment) @ segment.axes.T)[:, : segment.block.head.shape[1]]
    centroids = arrays["centroids"] * arrays["cluster_scales"].astype(np.float64)[:, None]
    distances = np.linalg.norm(heads - np.repeat(centroids, np.diff(starts), axis=0), axis=1)
    expected = np.add.reduceat(distances, starts[:-1]) / np.diff(starts)
    np.testing.assert_allclose(arrays["spreads"], expected, atol=0.03)  # centroids are rounded


def test_the_head_tells_rows_apart_best(tmp_path: Path) -> None:
    rows = unit_rows(2000, 48)
    rows[:, ::2] *= 0.2
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    segment = write_segment(tmp_path / "a.segment", {"a": rows})
    assert np.mean(segment.tails**2) < 0.06


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (write_segment(tmp_path / name, mixed_blocks(48)) for name in "ab")
    assert first.path.read_bytes() == second.path.read_bytes()
    assert first.block.digest == second.block.digest
    other = write_segment(tmp_path / "c", {**mixed_blocks(48), "one": unit_rows(1, 48, seed=77)})
    assert other.block.digest != first.block.digest


def test_older_segments_and_dumps_are_compacted_together(tmp_path: Path) -> None:
    old = write_segment(tmp_path / "old", mixed_blocks(48))
    hashes = old.sections.arrays["hashes"]
    again = [
        Source(key, 7, old.rows, hashes, old.unit, old.places(number))
        for number, key in enumerate(old.keys)
        if key != "large"
    ]
    blocks = {"new": unit_rows(40, 48, seed=9), "wide": unit_rows(2000, 48, seed=10)}
    compact(tmp_path / "new", [*again, *sources_of(blocks)], profile=PROFILE)
    segment = Segment.open(tmp_path / "new")
    segment.verify()
    expected = {key: block for key, block in mixed_blocks(48).items() if key != "large"} | blocks
    assert dict(zip(segment.keys, segment.generations, strict=True)) == dict.fromkeys(expected, 7) | {
        "new": 1, "wide": 1,
    }  # fmt: skip
    for number, key in enumerate(segment.keys):
        places = segment.places(number)
        assert segment.rows[places].tobytes() == expected[key].tobytes()
        assert segment.sections.arrays["hashes"][places].tobytes() == some_hashes(len(expected[key])).tobytes()


def test_unit_only_where_all_are(tmp_path: Path) -> None:
    both = [*sources_of({"a": unit_rows(9, 48)}), *sources_of({"b": 3 * unit_rows(9, 48)}, unit=False)]
    compact(tmp_path / "both", both, profile=PROFILE)
    assert not Segment.open(tmp_path / "both").unit
    assert write_segment(tmp_path / "one", {"a": unit_rows(9, 48)}).unit


@pytest.mark.parametrize("size", [5, 3000], ids=["small", "large"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_are_refused(tmp_path: Path, size: int, value: float) -> None:
    bad = unit_rows(size, 48)
    bad[size - 1, 3] = value
    with pytest.raises(DumpCorrupt, match="bad has vectors that are not finite"):
        write_segment(tmp_path / "a.segment", {"good": unit_rows(70, 48), "bad": bad, "other": unit_rows(70, 48)})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", [1e-35, 1e-30, 1e-20, 1e20, 1e30, 1e37])
@pytest.mark.filterwarnings("error")
def test_rows_of_any_length_are_made_unit(tmp_path: Path, length: float) -> None:
    rows = unit_rows(50, 48) * np.float32(length)
    segment = write_segment(tmp_path / "a.segment", {"a": rows}, unit=False)
    rotated = units_of(segment) @ segment.axes.astype(np.float64).T
    head = segment.block.head * segment.block.head_scales.astype(np.float64)[:, None]
    tail = segment.block.tail * segment.block.tail_scales.astype(np.float64)[:, None]
    assert (np.linalg.norm(rotated - np.hstack((head, tail)), axis=1) <= segment.errors + 1e-5).all()
    assert segment.errors.max() < 0.1


def calls_of_a_whole_compaction(tmp_path: Path) -> int:
    asked = []
    compact(tmp_path / "whole", sources_of(mixed_blocks(48)), profile=PROFILE, stopped=lambda: bool(asked.append(1)))
    return len(asked)


def test_stopped_at_any_time_it_leaves_nothing(tmp_path: Path) -> None:
    count = calls_of_a_whole_compaction(tmp_path)
    assert count >= 4
    for at in range(1, count + 1):
        left = iter([False] * (at - 1))
        with pytest.raises(CompactionStopped):
            compact(
                tmp_path / "part",
                sources_of(mixed_blocks(48)),
                profile=PROFILE,
                stopped=lambda left=left: next(left, True),
            )
        assert [path.name for path in tmp_path.iterdir()] == ["whole"]


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, written = os.pwrite, []

    def full(descriptor: int, data: memoryview, offset: int) -> int:
        written.append(len(data))
        if len(written) > 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data, offset)

    monkeypatch.setattr(sections.os, "pwrite", full)
    with pytest.raises(OSError, match="No space"):
        write_segment(tmp_path / "a.segment", mixed_blocks(48))
    assert list(tmp_path.iterdir()) == []


def test_short_writes_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = write_segment(tmp_path / "a.segment", mixed_blocks(17)).path.read_bytes()
    write = os.pwrite
    monkeypatch.setattr(sections.os, "pwrite", lambda descriptor, data, offset: write(descriptor, data[:4097], offset))
    assert write_segment(tmp_path / "b.segment", mixed_blocks(17)).path.read_bytes() == expected


def test_a_failed_sync_leaves_the_older_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = write_segment(tmp_path / "a.segment", {"a": unit_rows(9, 48)}).path.read_bytes()

    def fail(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(atomic, "sync_descriptor", fail)
    with pytest.raises(OSError, match="Input/output"):
        write_segment(tmp_path / "a.segment", mixed_blocks(48))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [old]


def test_rows_that_change_amid_a_gathering_are_caught_or_written_as_one_version(tmp_path: Path) -> None:
    rows = unit_rows(3000, 48)
    meddling = Meddling(lambda: rows.__setitem__(slice(None), np.nan), at=3)
    with pytest.raises(DumpCorrupt, match="not finite"):
        compact(tmp_path / "a", sources_of({"a": rows}), profile=PROFILE, stopped=meddling)
    assert list(tmp_path.iterdir()) == []
