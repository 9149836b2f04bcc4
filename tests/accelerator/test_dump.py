from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from accelerator.dump import MAGIC, Dump, Layout, write_dump, write_dumps
from accelerator.errors import DumpCorrupt, DumpError, DumpMismatch, DumpTruncated
from tests.accelerator.conftest import PROFILE, MakeDump, some_hashes, unit_rows

SIZES = (0, 1, 3, 97, 256, 16385)
VERSIONS = pytest.mark.parametrize("version", [1, 2], ids=["v1", "v2"])


@VERSIONS
@pytest.mark.parametrize("rows", SIZES)
def test_what_is_written_is_read(tmp_path: Path, rows: int, version: int) -> None:
    vectors, hashes = unit_rows(rows, 48), some_hashes(rows)
    path = tmp_path / "dump"
    write_dump(path, vectors, hashes, profile=PROFILE, version=version)
    dump = Dump.open(path)
    assert len(dump) == rows
    assert dump.dimensions == 48
    assert dump.layout.profile == (PROFILE if version == 2 else "")
    assert dump.normalised is (version == 2)
    np.testing.assert_array_equal(dump.vectors, vectors)
    np.testing.assert_array_equal(dump.hashes, hashes)
    assert not dump.vectors.flags.writeable
    assert not dump.hashes.flags.writeable
    dump.verify()


def test_version_1_is_the_layout_of_the_seed(tmp_path: Path) -> None:
    vectors, hashes = unit_rows(3, 4), some_hashes(3)
    write_dump(tmp_path / "dump", vectors, hashes, profile="", version=1)
    expected = struct.pack("<IIII", 3, 16, 16, 4) + vectors.astype("<f4").tobytes() + hashes.tobytes()
    assert (tmp_path / "dump").read_bytes() == expected


def test_version_1_with_hashes_of_8_bytes_is_read(tmp_path: Path) -> None:
    vectors, hashes = unit_rows(2, 4), some_hashes(2)[:, :8]
    path = tmp_path / "dump"
    path.write_bytes(struct.pack("<IIII", 2, 8, 16, 4) + vectors.tobytes() + hashes.tobytes())
    np.testing.assert_array_equal(Dump.open(path).hashes, hashes)


def test_rows_of_version_2_are_aligned(make_dump: MakeDump) -> None:
    assert make_dump(5, dimensions=384).vectors.ctypes.data % 64 == 0


@VERSIONS
@pytest.mark.parametrize(
    ("change", "word"),
    [(lambda data: data[:-1], "truncated"), (lambda data: data + b"\0", "too long"), (lambda data: data[:10], "short")],
    ids=["one byte less", "one byte more", "half a header"],
)
def test_a_wrong_size_is_refused(make_dump: MakeDump, version: int, change: object, word: str) -> None:
    path = make_dump(9, version=version).path
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(DumpTruncated, match=word):
        Dump.open(path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dump").touch()
    with pytest.raises(DumpTruncated):
        Dump.open(tmp_path / "dump")


@pytest.mark.parametrize("place", [0, 3, 9, 20, 40, 61], ids=lambda place: f"byte {place}")
def test_a_damaged_header_is_refused(make_dump: MakeDump, place: int) -> None:
    path = make_dump(9).path
    data = bytearray(path.read_bytes())
    data[place] ^= 0x55
    path.write_bytes(data)
    with pytest.raises(DumpError):
        Dump.open(path)


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dump").write_bytes(b"%PDF-1.7 " * 20)
    with pytest.raises(DumpCorrupt, match="does not begin like"):
        Dump.open(tmp_path / "dump")


def test_a_newer_version_is_named(tmp_path: Path) -> None:
    head = struct.pack("<8sHBBIQIII24s", MAGIC, 3, 1, 16, 0, 0, 4, 0, 0, b"")
    (tmp_path / "dump").write_bytes(head + struct.pack("<I", zlib.crc32(head)))
    with pytest.raises(DumpError, match="version 3"):
        Dump.open(tmp_path / "dump")


@pytest.mark.parametrize(("place", "what"), [(64 + 5, "vectors"), (-1, "hashes")])
def test_changed_bytes_fail_their_checksum(make_dump: MakeDump, place: int, what: str) -> None:
    path = make_dump(9).path
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    dump = Dump.open(path)
    with pytest.raises(DumpCorrupt, match=what):
        dump.verify()


def test_version_1_with_values_that_are_no_numbers_fails(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    write_dump(path, unit_rows(2, 4), some_hashes(2), profile="", version=1)
    data = bytearray(path.read_bytes())
    data[16:20] = struct.pack("<f", float("nan"))
    path.write_bytes(data)
    with pytest.raises(DumpCorrupt, match="not finite"):
        Dump.open(path).verify()


def test_another_profile_or_width_is_refused(make_dump: MakeDump) -> None:
    path = make_dump(2).path
    assert Dump.open(path, profile=PROFILE, dimensions=48).layout.profile == PROFILE
    with pytest.raises(DumpMismatch, match="profile"):
        Dump.open(path, profile="another")
    with pytest.raises(DumpMismatch, match="48 dimensions, not 384"):
        Dump.open(path, dimensions=384)
    with pytest.raises(DumpMismatch, match="unknown"):
        Dump.open(make_dump(2, version=1).path, profile=PROFILE)


NAN = unit_rows(3, 4)
NAN[1, 2] = np.nan
INFINITE = unit_rows(3, 4)
INFINITE[1, 2] = np.inf


@pytest.mark.parametrize(
    ("vectors", "word"),
    [
        (NAN, "finite"),
        (INFINITE, "finite"),
        (unit_rows(3, 4) * 2, "unit length"),
        (np.zeros((3, 4), dtype=np.float32), "unit length"),
        (unit_rows(3, 4).astype(np.float64), "float32"),
        (unit_rows(3, 4)[0], "float32"),
        (unit_rows(2, 4), "uint8"),
    ],
    ids=["NaN", "infinite", "long", "zero", "float64", "flat", "other count"],
)
def test_vectors_that_cannot_be_kept_are_refused(tmp_path: Path, vectors: np.ndarray, word: str) -> None:
    with pytest.raises(DumpError, match=word):
        write_dump(tmp_path / "dump", vectors, some_hashes(3), profile=PROFILE)
    assert not list(tmp_path.iterdir())


def test_unknown_versions_and_long_profiles_are_refused(tmp_path: Path) -> None:
    for options in ({"profile": "p", "version": 3}, {"profile": "ä" * 13}, {"profile": "a\0b"}):
        with pytest.raises(DumpError):
            write_dump(tmp_path / "dump", unit_rows(1, 4), some_hashes(1), **options)


def test_rows_of_any_length_are_kept_when_said(make_dump: MakeDump) -> None:
    dump = make_dump(np.zeros((2, 4), dtype=np.float32), normalised=False)
    assert not dump.normalised
    dump.verify()


def test_a_file_replaced_or_removed_under_a_live_map(tmp_path: Path) -> None:
    path, old = tmp_path / "dump", unit_rows(500, 48)
    write_dump(path, old, some_hashes(500), profile=PROFILE)
    dump = Dump.open(path)
    write_dump(path, unit_rows(3, 48, seed=9), some_hashes(3), profile=PROFILE)
    np.testing.assert_array_equal(dump.vectors, old)
    path.unlink()
    np.testing.assert_array_equal(dump.vectors, old)


# 2,796,203 rows of 384 float32 are 4 GiB and 512 bytes: in 32 bits, 512.
WRAPPING_ROWS = 2_796_203


def sparse_file(path: Path, head: bytes, size: int) -> None:
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)


def test_files_above_4_gib(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    layout = Layout(2, WRAPPING_ROWS, 384, 16, profile=PROFILE, vectors_crc=0, hashes_crc=0)
    assert layout.file_bytes > 2**32
    sparse_file(path, layout.pack(), layout.file_bytes)
    dump = Dump.open(path)
    assert len(dump) == WRAPPING_ROWS
    assert not dump.vectors[-1].any()
    assert not dump.hashes[-1].any()


@VERSIONS
def test_a_size_that_fits_in_32_bits_alone_is_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "dump"
    layout = Layout(version, WRAPPING_ROWS, 384, 16, vectors_crc=0, hashes_crc=0)
    wrapped = layout.header_bytes + layout.vectors_bytes % 2**32 + WRAPPING_ROWS * 16
    sparse_file(path, layout.pack(), wrapped)
    with pytest.raises(DumpTruncated, match=f"expected {layout.file_bytes} bytes, got {wrapped}"):
        Dump.open(path)


def test_many_dumps_are_those_written_one_by_one(tmp_path: Path) -> None:
    rows = {n: (unit_rows(n, 8, seed=n), some_hashes(n)) for n in (0, 1, 3, 97)}
    write_dumps({tmp_path / f"{n} together": both for n, both in rows.items()}, profile=PROFILE)
    for n, (vectors, hashes) in rows.items():
        write_dump(tmp_path / f"{n} alone", vectors, hashes, profile=PROFILE)
        assert (tmp_path / f"{n} together").read_bytes() == (tmp_path / f"{n} alone").read_bytes()


def test_one_bad_dump_among_many_is_refused_before_any_is_written(tmp_path: Path) -> None:
    dumps = {tmp_path / "a": (unit_rows(2, 8), some_hashes(2)), tmp_path / "b": (unit_rows(2, 8), some_hashes(3))}
    with pytest.raises(DumpError):
        write_dumps(dumps, profile=PROFILE)
    assert list(tmp_path.iterdir()) == []
