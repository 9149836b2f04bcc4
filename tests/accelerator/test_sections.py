"""Files of named arrays: what was written is what is mapped, and what was not is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from accelerator.errors import DumpCorrupt, DumpError, DumpTruncated
from accelerator.sections import Sections, SectionWriter, write_sections
from tests.accelerator.making import packed_head, write_sparse

ARRAYS = {
    "floats": np.arange(15, dtype=np.float32).reshape(5, 3),
    "none": np.empty((0, 4), dtype=np.float32),
    "thin": np.empty((7, 0), dtype=np.int8),
    "numbers": np.arange(100, dtype=np.uint32),
    "codes": np.arange(-70, 70, dtype=np.int8).reshape(2, 70),
    "bytes": np.frombuffer(b"some text", np.uint8),
    "last": np.zeros((3, 0), dtype=np.float32),
}


def shapes_of(arrays: dict[str, np.ndarray]) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {name: (array.dtype.str, array.shape) for name, array in arrays.items()}


def write(path: Path, arrays: dict[str, np.ndarray] | None = None, meta: object = None) -> Sections:
    arrays = ARRAYS if arrays is None else arrays

    def fill(writer: SectionWriter) -> None:
        for name, array in arrays.items():
            writer.append(name, array)

    write_sections(path, shapes_of(arrays), {"about": meta}, fill, kind="segment")
    return Sections.open(path)


def flip(path: Path, place: int, bit: int = 0) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(data)


def test_what_was_written_is_mapped(tmp_path: Path) -> None:
    found = write(tmp_path / "file", meta=["ü", 3, None])
    found.verify()
    assert found.meta == {"about": ["ü", 3, None]}
    assert list(found.arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)
        assert found.directory[name].offset % 64 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_maps_are_read_only(tmp_path: Path) -> None:
    found = write(tmp_path / "file")
    with pytest.raises(ValueError, match="read-only"):
        found.arrays["floats"][0, 0] = 1


def test_sections_are_filled_in_any_order_and_in_parts(tmp_path: Path) -> None:
    def fill(writer: SectionWriter) -> None:
        for name in reversed(ARRAYS):
            for part in np.array_split(ARRAYS[name], 3):
                writer.append(name, part)

    write(tmp_path / "one")
    write_sections(tmp_path / "other", shapes_of(ARRAYS), {"about": None}, fill, kind="segment")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize("change", [lambda array: array[:-1], lambda array: np.concatenate((array, array))])
@pytest.mark.parametrize("name", ["floats", "numbers"])
def test_a_section_that_is_not_filled_exactly_leaves_no_file(tmp_path: Path, name: str, change: object) -> None:
    def fill(writer: SectionWriter) -> None:
        for each, array in ARRAYS.items():
            writer.append(each, change(array) if each == name else array)

    with pytest.raises(DumpError, match=f"{name} has"):
        write_sections(tmp_path / "file", shapes_of(ARRAYS), {}, fill, kind="segment")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_grows_beside_checksums_has_room(tmp_path: Path) -> None:
    meta = {"error": 0.0}

    def fill(writer: SectionWriter) -> None:
        writer.append("a", np.zeros(4, dtype=np.float32))
        meta["error"] = 0.012345678901234567

    write_sections(tmp_path / "file", {"a": ("<f4", (4,))}, meta, fill, kind="segment")
    assert Sections.open(tmp_path / "file").meta == {"error": 0.012345678901234567}


def test_every_bit_of_header_and_directory_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "file"
    length = int.from_bytes(write(path).path.read_bytes()[12:16], "little")
    sound = path.read_bytes()
    for place in [*range(24), *range(64, 64 + length)]:
        flip(path, place, place % 8)
        with pytest.raises(DumpError, match=str(path)):
            Sections.open(path)
        path.write_bytes(sound)


def test_every_byte_of_a_section_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "file"
    directory = write(path).directory
    sound = path.read_bytes()
    for name, section in directory.items():
        for place in range(section.offset, section.offset + section.size_bytes):
            flip(path, place, place % 8)
            found = Sections.open(path)
            with pytest.raises(DumpCorrupt, match=name):
                found.verify()
            path.write_bytes(sound)


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 300])
def test_cut_short(tmp_path: Path, length: int) -> None:
    path = write(tmp_path / "file").path
    os.truncate(path, length)
    with pytest.raises(DumpError, match=str(path)):
        Sections.open(path)


def test_one_byte_short_or_long(tmp_path: Path) -> None:
    path = write(tmp_path / "file").path
    size = path.stat().st_size
    for wrong, word in ((size - 1, "is truncated"), (size + 1, "is too long")):
        os.truncate(path, wrong)
        with pytest.raises(DumpTruncated, match=f"{word}: expected {size} bytes, got {wrong}"):
            Sections.open(path)


@pytest.mark.parametrize("content", [b"\x89LVDUMP\n" + bytes(200), bytes(200), b"\xff" * 200, b"PK" * 100])
def test_another_magic(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DumpCorrupt, match="does not begin like a segment"):
        Sections.open(tmp_path / "file")


def test_another_version(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(packed_head(b'{"meta":{},"sections":{}}', version=2))
    with pytest.raises(DumpCorrupt, match="version 2"):
        Sections.open(tmp_path / "file")


@pytest.mark.parametrize(
    "directory",
    [
        b"", b"no json", b"\xff\xfe", b"[]", b"3", b"{}", b'{"meta":{}}', b'{"meta":{},"sections":[1]}',
        b'{"meta":{},"sections":{"a":[]}}', b'{"meta":{},"sections":{"a":["<f8",[1],64,0]}}',
        b'{"meta":{},"sections":{"a":["<f4",[-4],64,0]}}', b'{"meta":{},"sections":{"a":["<f4",["4"],64,0]}}',
        b'{"meta":{},"sections":{"a":["<f4",[4],-64,0]}}', b'{"meta":{},"sections":{"a":["<f4",[4],"64",0]}}',
        b'{"meta":{},"sections":{"a":["<f4",4,64,0]}}', b'{"meta":{},"sections":{"a":["<f4",[4],64,0,9]}}',
        b'{"sections":{"a":["|i1",[4],64,0]}}',
    ],
    ids=lambda directory: directory.decode(errors="replace")[-40:] or "empty",
)  # fmt: skip
def test_directories_that_mean_nothing_though_their_checksum_fits(tmp_path: Path, directory: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(packed_head(directory))
    with pytest.raises(DumpError, match=str(path)):
        Sections.open(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("pipe", "folder", "loop", "missing"):
        with pytest.raises((OSError, DumpError)):
            Sections.open(tmp_path / name)


def test_what_is_refused_holds_no_descriptor(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(300))
    before = os.dup(0)
    os.close(before)
    for _ in range(5):
        with pytest.raises(DumpCorrupt):
            Sections.open(tmp_path / "file")
    after = os.dup(0)
    os.close(after)
    assert after == before


def test_a_map_outlives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    first = write(path)
    second = write(path, {name: array[::-1].copy() for name, array in ARRAYS.items()})
    path.unlink()
    first.verify()
    second.verify()
    np.testing.assert_array_equal(first.arrays["floats"], ARRAYS["floats"])
    np.testing.assert_array_equal(second.arrays["floats"], ARRAYS["floats"][::-1])


def test_files_above_four_gibibytes(tmp_path: Path) -> None:
    path, rows = tmp_path / "file", 2**30 + 5
    last = np.arange(7, dtype=np.uint32)
    write_sparse(path, {"hole": ("<f4", (rows,)), "last": ("<u4", (7,))}, {}, {"last": last})
    assert path.stat().st_size > 2**32
    assert path.stat().st_blocks * 512 < 2**20
    found = Sections.open(path)
    assert found.directory["last"].offset > 2**32
    assert found.arrays["hole"].shape == (rows,)
    assert found.arrays["hole"][-1] == 0
    np.testing.assert_array_equal(found.arrays["last"], last)
    os.truncate(path, path.stat().st_size - 2**32)  # what 32 bits would not tell
    with pytest.raises(DumpTruncated):
        Sections.open(path)


def test_the_directory_is_plain_json(tmp_path: Path) -> None:
    data = write(tmp_path / "file").path.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    content = json.loads(data[64 : 64 + length])
    assert content["sections"]["numbers"][:2] == ["<u4", [100]]
