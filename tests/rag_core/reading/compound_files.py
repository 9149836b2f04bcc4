"""Compound files (MS-CFB) made by hand: streams and storages, as Outlook keeps its messages."""

from __future__ import annotations

import struct
from itertools import count
from typing import Any

SECTOR, SMALL, CUT = 512, 64, 4096
FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def compound(parts: dict[str, Any]) -> bytes:
    """The bytes of a file with these streams (bytes) and storages (dicts)."""
    entries: list[list[Any]] = [["Root Entry", 5, FREE, FREE, b""]]
    _list(entries, 0, parts)
    small, small_fat = bytearray(), list[int]()
    for entry in entries[1:]:
        if 0 < len(entry[4]) < CUT:
            entry.append(len(small) // SMALL)
            _chain(small, small_fat, entry[4], SMALL)
    entries[0][4] = bytes(small)
    body, fat = bytearray(), list[int]()
    for entry in entries:
        if len(entry) == 5:
            entry.append(len(fat) if entry[4] else END)
            _chain(body, fat, entry[4], SECTOR)
    first_small = len(fat) if small_fat else END
    _chain(body, fat, b"".join(struct.pack("<I", one) for one in small_fat), SECTOR)
    first_entry = len(fat)
    _chain(body, fat, b"".join(map(_entry, entries)), SECTOR)
    fat_sectors = next(number for number in count(1) if number * SECTOR // 4 >= len(fat) + number)
    places = range(len(fat), len(fat) + fat_sectors)
    fat += [FAT] * fat_sectors
    fat += [FREE] * (fat_sectors * SECTOR // 4 - len(fat))
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    smalls = len(small_fat) // 128 + 1
    head += struct.pack("<IIIIIIIII", 0, fat_sectors, first_entry, 0, CUT, first_small, smalls, END, 0)
    head += b"".join(struct.pack("<I", one) for one in [*places, *[FREE] * (109 - fat_sectors)])
    return head + bytes(body) + b"".join(struct.pack("<I", one) for one in fat)


def _list(entries: list[list[Any]], holder: int, parts: dict[str, Any]) -> None:
    """Entries of a storage, each with the next one to its right."""
    before = 0
    for name, held in parts.items():
        number = len(entries)
        entries.append([name, 1 if isinstance(held, dict) else 2, FREE, FREE, b"" if isinstance(held, dict) else held])
        entries[before or holder][2 if before else 3] = number
        before = number
        if isinstance(held, dict):
            _list(entries, number, held)


def _entry(entry: list[Any]) -> bytes:
    name, kind, right, child, data, start = entry
    written = name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII36xIQ", written, len(written), kind, 1, FREE, right, child, start, 0 if kind == 1 else len(data)
    )  # fmt: skip


def _chain(body: bytearray, fat: list[int], data: bytes, size: int) -> None:
    sectors = -(-len(data) // size)
    body += data.ljust(sectors * size, b"\0")
    fat += [*range(len(fat) + 1, len(fat) + sectors), END][:sectors] if sectors else []
