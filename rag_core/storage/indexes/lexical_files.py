"""The files of the lexical index: whether they are whole, and by which terms they were made. Reads alone."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

from rag_core.text.terms import ANALYSIS_VERSION

STAMP = "lectern.json"
"""The file that says what made the terms of an index; written last when one is begun."""
# Of the layout; with another an index is made anew.
_VERSION = 1
_PARTS = ("idx", "pos", "term", "store", "fast", "fieldnorm")
_FOOTER = struct.Struct("<II")
_FOOTER_MAGIC = 1337
_FOOTER_BYTES = 1024
_BLOCK_BYTES = 2**20


def stamp() -> dict[str, int]:
    """What an index is made by: its layout, and what cuts texts into terms."""
    return {"version": _VERSION, "terms": ANALYSIS_VERSION}


def stamp_fault(folder: Path) -> str:
    """Why an index is not the one that this library would make; empty where it is."""
    try:
        written = json.loads((folder / STAMP).read_bytes())
    except FileNotFoundError:
        return "it is missing" if not folder.exists() else "it was not begun whole"
    except (OSError, ValueError):
        return f"{STAMP} cannot be read"
    return "" if written == stamp() else "its terms were cut by another version"


def files_fault(folder: Path) -> str:
    """What is wrong with the files of an index, by the checksum at the end of each; all of them are read."""
    try:
        meta = json.loads((folder / "meta.json").read_bytes())
        for segment in meta["segments"]:
            stem = segment["segment_id"].replace("-", "")
            names = [f"{stem}.{part}" for part in _PARTS]
            if segment["deletes"]:
                names.append(f"{stem}.{segment['deletes']['opstamp']}.del")
            for name in names:
                if not _is_sound(folder / name):
                    return f"{name} is damaged"
    except FileNotFoundError as error:
        return f"{Path(error.filename).name} is missing"
    except OSError as error:
        return f"{Path(error.filename or '').name} cannot be read: {error.strerror}"
    except (ValueError, KeyError, TypeError, AttributeError):
        return "meta.json is damaged"
    return ""


def _is_sound(path: Path) -> bool:
    """Whether the CRC-32 in a file's footer is that of the bytes before it."""
    with path.open("rb") as file:
        end = file.seek(0, 2) - _FOOTER.size
        if end < 0:
            return False
        file.seek(end)
        size, magic = _FOOTER.unpack(file.read())
        if magic != _FOOTER_MAGIC or not 0 < size <= min(end, _FOOTER_BYTES):
            return False
        file.seek(end - size)
        try:
            wanted = json.loads(file.read(size))["crc"]
        except (ValueError, KeyError, TypeError):
            return False
        file.seek(0)
        left, crc = end - size, 0
        while left and (block := file.read(min(left, _BLOCK_BYTES))):
            crc = zlib.crc32(block, crc)
            left -= len(block)
        return bool(crc == wanted)
