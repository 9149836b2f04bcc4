"""Ways to damage a dump file: cut at its boundaries, bits flipped in every part of it, other things in its place."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

from accelerator.dump import Dump, Layout, write_dump

Damage = Callable[[Path], None]
Place = Callable[[Layout], int]
Region = Callable[[Layout], tuple[int, int]]


def vectors_end(layout: Layout) -> int:
    return layout.header_bytes + layout.vectors_bytes


CUTS: dict[str, Place] = {
    "at its beginning": lambda layout: 0,
    "after one byte": lambda layout: 1,
    "after the magic number": lambda layout: 8,
    "in the header": lambda layout: layout.header_bytes - 1,
    "at the header's end": lambda layout: layout.header_bytes,
    "after a row": lambda layout: layout.header_bytes + 4 * layout.dimensions,
    "one byte short of the vectors' end": lambda layout: vectors_end(layout) - 1,
    "at the vectors' end": vectors_end,
    "one byte after the vectors": lambda layout: vectors_end(layout) + 1,
    "one byte short of its end": lambda layout: layout.file_bytes - 1,
}
# Offsets of the header's fields stand in accelerator/dump.py.
FLIPS: dict[str, Place] = {
    "magic number": lambda layout: 0,
    "version": lambda layout: 8,
    "element type": lambda layout: 10,
    "hash size": lambda layout: 11,
    "flags": lambda layout: 12,
    "entries": lambda layout: 16,
    "entries' highest byte": lambda layout: 23,
    "dimensions": lambda layout: 24,
    "checksum of the vectors": lambda layout: 28,
    "checksum of the hashes": lambda layout: 32,
    "profile": lambda layout: 36,
    "profile's padding": lambda layout: 59,
    "checksum of the header": lambda layout: 60,
    "first vector": lambda layout: layout.header_bytes,
    "exponent of a vector": lambda layout: layout.header_bytes + 4 * (layout.dimensions // 2) + 3,
    "last vector": lambda layout: vectors_end(layout) - 1,
    "first hash": vectors_end,
    "last hash": lambda layout: layout.file_bytes - 1,
}
ZEROED: dict[str, Region] = {
    "file": lambda layout: (0, layout.file_bytes),
    "header": lambda layout: (0, layout.header_bytes),
    "vectors": lambda layout: (layout.header_bytes, vectors_end(layout)),
    "hashes": lambda layout: (vectors_end(layout), layout.file_bytes),
    "last row": lambda layout: (vectors_end(layout) - 4 * layout.dimensions, vectors_end(layout)),
}


def _cut(place: Place) -> Damage:
    return lambda path: os.truncate(path, place(_layout(path)))


def _flip(place: Place, bit: int) -> Damage:
    def damage(path: Path) -> None:
        where = place(_layout(path))
        with path.open("r+b", buffering=0) as file:
            byte = os.pread(file.fileno(), 1, where)[0]
            os.pwrite(file.fileno(), bytes([byte ^ 1 << bit]), where)

    return damage


def _zero(region: Region) -> Damage:
    def damage(path: Path) -> None:
        first, last = region(_layout(path))
        with path.open("r+b", buffering=0) as file:
            os.pwrite(file.fileno(), bytes(last - first), first)

    return damage


def _grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\0")


def _version_1(path: Path) -> None:
    dump = Dump.open(path)
    write_dump(path, np.array(dump.vectors), np.array(dump.hashes), profile="", version=1)


def _of_another_profile(path: Path) -> None:
    dump = Dump.open(path)
    write_dump(path, np.array(dump.vectors), np.array(dump.hashes), profile="another")


def _of_other_dimensions(path: Path) -> None:
    dump = Dump.open(path)
    half = np.array(dump.vectors[:, : dump.dimensions // 2])
    write_dump(path, half, np.array(dump.hashes), profile=dump.layout.profile, normalised=False)


def _of_other_vectors(path: Path) -> None:
    """Every checksum is right, and no vector."""
    dump = Dump.open(path)
    write_dump(path, -np.array(dump.vectors), np.array(dump.hashes), profile=dump.layout.profile)


def _of_other_texts(path: Path) -> None:
    dump = Dump.open(path)
    write_dump(path, np.array(dump.vectors), ~np.array(dump.hashes), profile=dump.layout.profile)


def _without_rows(path: Path) -> None:
    dump = Dump.open(path)
    write_dump(path, np.array(dump.vectors[:0]), np.array(dump.hashes[:0]), profile=dump.layout.profile)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _full_folder(path: Path) -> None:
    _folder(path)
    (path / "something").write_text("else")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link(target: str) -> Damage:
    def damage(path: Path) -> None:
        path.unlink()
        path.symlink_to(target)

    return damage


def _circle(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


# Those that leave the size as it is, and so may be done to a file that is mapped: a shorter one ends the process.
IN_PLACE: dict[str, Damage] = {
    **{f"bit of the {name}": _flip(place, number % 8) for number, (name, place) in enumerate(FLIPS.items())},
    **{f"zeroed {name}": _zero(region) for name, region in ZEROED.items()},
}
REPLACING: dict[str, Damage] = {
    **{f"cut {name}": _cut(place) for name, place in CUTS.items()},
    "one byte too long": _grow,
    "of version 1": _version_1,
    "of another profile": _of_another_profile,
    "of other dimensions": _of_other_dimensions,
    "of other vectors": _of_other_vectors,
    "of other texts": _of_other_texts,
    "without rows": _without_rows,
}
ELSE: dict[str, Damage] = {
    "deleted": Path.unlink,
    "a folder": _folder,
    "a folder with a file": _full_folder,
    "a pipe": _pipe,
    "a link to nothing": _link("nothing"),
    "a link to itself": _circle,
}
if os.geteuid():
    ELSE["unreadable"] = lambda path: path.chmod(0)
DAMAGES = {**IN_PLACE, **REPLACING, **ELSE}


def by_rename(damage: Damage) -> Damage:
    """The same as a new file in the old one's place, which lives on for whoever has it mapped."""

    def replaced(path: Path) -> None:
        copy = path.with_name(f"{path.stem}.copy")
        copy.write_bytes(path.read_bytes())
        damage(copy)
        copy.replace(path)

    return replaced


def at_random(draw: random.Random) -> Damage:
    """Some bytes of it changed, wherever they are."""

    def damage(path: Path) -> None:
        size = path.stat().st_size
        count = draw.choice([1, 1, 1, 2, 16, 512])
        first = draw.randrange(max(size - count, 1))
        with path.open("r+b", buffering=0) as file:
            old = os.pread(file.fileno(), count, first)
            os.pwrite(file.fileno(), bytes(byte ^ draw.randrange(1, 256) for byte in old), first)

    return damage


def _layout(path: Path) -> Layout:
    with path.open("rb") as file:
        return Layout.unpack(file.read(64))
