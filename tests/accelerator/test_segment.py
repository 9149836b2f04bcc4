"""A segment's file: what it holds, what opening reads of it, and what a search makes of one that is damaged."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

from accelerator import segment_search
from accelerator.backends.base import Backend, Block
from accelerator.backends.cpu import CpuBackend
from accelerator.errors import DumpCorrupt, DumpError, DumpMismatch
from accelerator.scanner import Scanner
from accelerator.sections import SectionWriter, write_sections
from accelerator.segment import Segment, shapes
from accelerator.selection import Selection
from tests.accelerator.conftest import PROFILE, unit_rows
from tests.accelerator.making import overwrite, write_segment, write_sparse
from tests.accelerator.test_scanner import assert_same, brute_force

BLOCKS = {"a": unit_rows(700, 48, seed=1), "b": unit_rows(1, 48, seed=2), "c": unit_rows(1300, 48, seed=3)}
SECTIONS = tuple(shapes(1, 48, 1, 1, 1))


@pytest.fixture
def segment(tmp_path: Path) -> Segment:
    return write_segment(tmp_path / "a.segment", BLOCKS)


def test_profile_and_dimensions_are_compared(segment: Segment) -> None:
    assert len(Segment.open(segment.path, profile=PROFILE, dimensions=48)) == 2001
    with pytest.raises(DumpMismatch, match="was made with the profile 0123456789abcdef, not other"):
        Segment.open(segment.path, profile="other")
    with pytest.raises(DumpMismatch, match="has 48 dimensions, not 384"):
        Segment.open(segment.path, dimensions=384)
    with pytest.raises(DumpMismatch, match="48 dimensions, not 24"):
        Scanner(24).attach(segment)


def rewritten(segment: Segment, path: Path, change: dict[str, np.ndarray], meta: dict[str, object]) -> Path:
    """The same with other sections or meta, its checksums right."""
    arrays = {name: change.get(name, array) for name, array in segment.sections.arrays.items()}

    def fill(writer: SectionWriter) -> None:
        for name, array in arrays.items():
            writer.append(name, array)

    kinds = {name: (array.dtype.str, array.shape) for name, array in arrays.items()}
    write_sections(path, kinds, {**segment.sections.meta, **meta}, fill, kind="segment")
    return path


def as_bytes(content: object) -> np.ndarray:
    return np.frombuffer(json.dumps(content).encode(), np.uint8)


@pytest.mark.parametrize(
    ("change", "meta"),
    [
        ({"head": np.zeros((2001, 23), dtype=np.int8)}, {}),
        ({"tail": np.zeros((2000, 24), dtype=np.int8)}, {}),
        ({"scales": np.zeros((2, 2000), dtype=np.float32)}, {}),
        ({"places": np.arange(2001, dtype=np.float32)}, {}),
        ({"axes": np.zeros((48, 24), dtype=np.float32)}, {}),
        ({"rows": np.zeros(48, dtype=np.float32)}, {}),
        ({"keys": as_bytes([["a", 1]])}, {}),
        ({"keys": as_bytes(["a", "b", "c"])}, {}),
        ({"keys": as_bytes({"a": 1})}, {}),
        ({"keys": as_bytes(3)}, {}),
        ({"keys": as_bytes([["a", 1], ["b", "one"], ["c", 1]])}, {}),
        ({"keys": np.frombuffer(b"\xff[[", np.uint8)}, {}),
        ({"keys": np.empty(0, dtype=np.uint8)}, {}),
        ({"key_starts": np.array([0, 700, 5000, 2001], dtype=np.uint32)}, {}),
        ({"key_starts": np.array([0, 700, 701, 2**32 - 1], dtype=np.uint32)}, {}),
        ({"key_starts": np.array([1, 700, 701, 2001], dtype=np.uint32)}, {}),
        ({}, {"unit": None, "head_error": None}),
        ({}, {"head_error": "much"}),
    ],
    ids=str,
)
def test_sections_that_do_not_fit_each_other(
    segment: Segment, tmp_path: Path, change: dict[str, np.ndarray], meta: dict[str, object]
) -> None:
    path = rewritten(segment, tmp_path / "other", change, meta)
    with pytest.raises(DumpCorrupt, match=str(path)):
        Segment.open(path)


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_that_is_missing(segment: Segment, tmp_path: Path, name: str) -> None:
    arrays = {other: array for other, array in segment.sections.arrays.items() if other != name}
    filling = {other: (array.dtype.str, array.shape) for other, array in arrays.items()}

    def fill(writer: SectionWriter) -> None:
        for other, array in arrays.items():
            writer.append(other, array)

    write_sections(tmp_path / "other", filling, segment.sections.meta, fill, kind="segment")
    with pytest.raises(DumpCorrupt):
        Segment.open(tmp_path / "other")


def test_the_digest_names_the_content_alone(segment: Segment, tmp_path: Path) -> None:
    rows = BLOCKS["a"].copy()
    rows[3, 5] = np.nextafter(rows[3, 5], np.float32(2))
    other = write_segment(tmp_path / "b.segment", {**BLOCKS, "a": rows})
    again = write_segment(tmp_path / "c.segment", BLOCKS)
    assert segment.block.digest == again.block.digest != other.block.digest


# Damage: four bytes of each value are tried in each section, at its beginning and its end.
VALUES = {
    "NaN": np.float32(np.nan).tobytes(),
    "inf": np.float32(np.inf).tobytes(),
    "zeros": bytes(4),
    "ones": b"\xff" * 4,
}


Scores = dict[tuple[str, int], float]


class Blocks(Backend):
    """The CPU's scores, of whole blocks as other engines make them."""

    name = "made up"

    def scores(self, block: Block, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return CpuBackend().scores(block, queries)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_segment(tmp_path_factory.mktemp("sound") / "a.segment", BLOCKS).path.read_bytes()


@pytest.fixture(scope="module")
def truth() -> Scores:
    return {(match.key, match.row): match.score for match in brute_force(BLOCKS, BLOCKS["c"][9], 3000)}


def places_in(segment: Segment, name: str) -> list[int]:
    size = segment.sections.directory[name].size_bytes
    return sorted({0, max(0, size // 4 * 4 - 4)})


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("value", VALUES)
def test_damage_is_refused_or_told_and_makes_no_search_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sound: bytes, truth: Scores, name: str, value: str
) -> None:
    """Opened after it, mapped before it: neither crashes, and a row is never given another's name or a wrong score."""
    monkeypatch.setattr(segment_search, "_FAST_ROWS", 500)
    (tmp_path / "a.segment").write_bytes(sound)
    segment = Segment.open(tmp_path / "a.segment")
    for place in places_in(segment, name):
        overwrite(segment, name, place, VALUES[value])
        if segment.path.read_bytes() == sound:
            continue
        with pytest.raises(DumpError):
            Segment.open(segment.path).verify()
        try:
            opened = [segment, Segment.open(segment.path)]
        except DumpError:
            opened = [segment]
        for each in opened:
            for backend in (CpuBackend(), CpuBackend(1, 2**40), Blocks()):
                check_answers(each, Scanner(48, backend), truth, rows_lie=name == "rows")
        segment.path.write_bytes(sound)


def check_answers(segment: Segment, scanner: Scanner, truth: Scores, *, rows_lie: bool) -> None:
    try:
        scanner.attach(segment)
        scanner.remove("b")
        found = [scanner.search(BLOCKS["c"][9], 10, mode=mode) for mode in ("exact", "fast")]
        found.append(scanner.search(BLOCKS["c"][9], 10, within=Selection(dict.fromkeys(["c", "a"]))))
        found.append(scanner.search(BLOCKS["c"][9], 10, within=Selection({"c": [range(20)]})))
        found.append(scanner.search_many(BLOCKS["c"][9:11], 10)[0])
    except DumpCorrupt:
        return
    for matches in found:
        assert "b" not in {match.key for match in matches}
        for match in matches:
            assert (match.key, match.row) in truth
            assert rows_lie or abs(match.score - truth[match.key, match.row]) < 1e-6


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["head", "tail", "scales", "bounds", "rows", "axes", "centroids", "spreads"])
def test_a_section_of_nothing_but_noise_makes_no_search_lie(segment: Segment, truth: Scores, name: str) -> None:
    size = segment.sections.directory[name].size_bytes
    for noise in (np.random.default_rng(0).bytes(size), b"\xff" * size, bytes(size)):
        overwrite(segment, name, 0, noise)
        for backend in (CpuBackend(), CpuBackend(1, 2**40), Blocks()):
            check_answers(Segment.open(segment.path), Scanner(48, backend), truth, rows_lie=name == "rows")


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
@pytest.mark.parametrize("k", [1, 2001])
def test_a_damaged_row_is_never_found_and_hides_no_other(segment: Segment, value: float, k: int) -> None:
    query = BLOCKS["c"][9]
    place = int(segment.places(2)[9])
    overwrite(segment, "rows", place * 48 * 4, np.float32(np.copysign(value, query[0])).tobytes())
    expected = [match for match in brute_force(BLOCKS, query, 2001) if (match.key, match.row) != ("c", 9)][:k]
    for backend in (CpuBackend(), CpuBackend(1, 2**40)):
        scanner = Scanner(48, backend)
        scanner.attach(segment)
        assert_same(scanner.search(query, k), expected)


def test_a_map_outlives_its_file(segment: Segment, tmp_path: Path) -> None:
    scanner = Scanner(48)
    scanner.attach(segment)
    write_segment(segment.path, {"other": unit_rows(500, 48, seed=9)})
    assert_same(scanner.search(BLOCKS["a"][4], 20), brute_force(BLOCKS, BLOCKS["a"][4], 20))
    segment.path.unlink()
    assert_same(scanner.search(BLOCKS["a"][5], 20), brute_force(BLOCKS, BLOCKS["a"][5], 20))


def write_sparse_segment(path: Path, rows: int, dimensions: int) -> dict[str, int]:
    """Two keys, a and b, of which b has the last 1,000 rows; every section of vectors is a hole."""
    keys = as_bytes([["a", 1], ["b", 1]])
    clusters = rows // 32
    origins = np.column_stack((np.zeros(rows), np.arange(rows)))
    origins[-1000:] = np.column_stack((np.ones(1000), np.arange(1000)))
    filled = {
        "keys": keys,
        "key_starts": np.array([0, rows - 1000, rows]),
        "places": np.arange(rows),
        "origins": origins,
        "cluster_starts": np.append(np.arange(clusters) * 32, rows),
    }
    meta = {"profile": PROFILE, "unit": True, "head_error": 0.02}
    return write_sparse(path, shapes(rows, dimensions, 2, len(keys), clusters), meta, filled)


def resident_bytes(path: Path) -> int:
    """How much of a mapped file this process has touched."""
    smaps = Path("/proc/self/smaps")
    if not smaps.exists():
        pytest.skip("this system does not say what is resident")
    kilobytes, counts = 0, False
    for line in smaps.read_text().splitlines():
        if line.split(maxsplit=1)[0].count("-") == 1 and not line.split(maxsplit=1)[0].endswith(":"):
            counts = line.endswith(str(path))
        elif counts and line.startswith("Rss:"):
            kilobytes += int(line.split()[1])
    return kilobytes * 1024


def test_opening_a_million_rows_reads_no_vectors(tmp_path: Path) -> None:
    path = tmp_path / "a.segment"
    write_sparse_segment(path, 1_000_000, 384)
    started = time.perf_counter()
    segment, scanner = Segment.open(path), Scanner(384)
    scanner.attach(segment)
    took = time.perf_counter() - started
    assert len(scanner) == 1_000_000
    # Where each row lies and what it was is read, some bytes a row, in a file of two gigabytes.
    assert resident_bytes(path) < 24e6
    assert took < 0.5  # 0.1 on an idle machine: the benchmark measures that


def test_a_segment_above_four_gibibytes(tmp_path: Path) -> None:
    path, rows = tmp_path / "a.segment", 2_300_000
    begins = write_sparse_segment(path, rows, 384)
    assert path.stat().st_size > 2**32
    vector = unit_rows(1, 384)[0]
    with path.open("r+b") as file:
        file.seek(begins["rows"] + (rows - 3) * 384 * 4)
        file.write(vector.tobytes())
    segment, scanner = Segment.open(path), Scanner(384)
    assert begins["rows"] + (rows - 3) * 384 * 4 > 2**31
    scanner.attach(segment)
    best = scanner.search(vector, 1, within=Selection({"b": [range(600, 1000)]}))[0]
    assert (best.key, best.row, best.score) == ("b", 997, 1.0)
    np.testing.assert_array_equal(scanner.vectors([best])[0], vector)
    assert resident_bytes(path) < 100e6


def test_what_is_in_the_file_s_place(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").touch()
    for name in ("pipe", "folder", "empty", "missing"):
        with pytest.raises((OSError, DumpError)):
            Segment.open(tmp_path / name)
