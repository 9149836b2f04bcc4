"""What a GGUF file says of itself, read without loading it.

The layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The package gguf reads it too, but takes some
ten seconds for a vocabulary of 150,000 words, of which nothing is wanted here: lists are stepped over.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rag_core.errors import ModelUnavailable
from rag_core.models.gguf_files import check_gguf

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT, _LIST = 8, 9
_MOST_KEYS, _MOST_ITEMS, _MOST_CHARS = 10_000, 10_000_000, 16 * 2**20
# How the bulk of the weights is kept, by llama.cpp's number for it (`llama_ftype`).
_QUANTISATIONS = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
    21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}  # fmt: skip
_BYTES_OF_A_CACHED_NUMBER = 2
_TOKEN_KINDS, _CONTROL, _INT32 = "tokenizer.ggml.token_type", 3, (5).to_bytes(4, "little")
_BEGINNING = ("llama3", "llama-v3", "llama-bpe")  # vocabularies whose texts begin with a token, unless they say not


@dataclass(frozen=True, slots=True)
class Header:
    """What is known of a model. `context_tokens` is what it was made for, 0 where the file does not say.

    `cache_bytes_per_token` is what llama.cpp keeps for each token of the context. `vocabulary` is its kind,
    `control_tokens` are those that no text may spell; `adds_begin`: a text begins with a token of its own.
    """

    name: str
    architecture: str
    quantisation: str
    context_tokens: int
    has_template: bool
    cache_bytes_per_token: int
    vocabulary: str = ""
    chat_template: str = ""
    end_token: int = -1
    adds_begin: bool = False
    control_tokens: tuple[int, ...] = ()


def header_of(path: Path) -> Header:
    """The header of a file as it is now, read once. Raises ModelUnavailable."""
    try:
        about = path.stat()
    except OSError as error:
        raise ModelUnavailable(f"The model file {path.name} cannot be read: {error.strerror}.") from error
    return _header_of(path, about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=64)
def _header_of(path: Path, size_bytes: int, changed_ns: int) -> Header:
    check_gguf(path)
    return read_header(path)


def read_header(path: Path) -> Header:
    """The header of a GGUF file. Raises ModelUnavailable for one that is damaged or cut short."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            values = _values(data)
    except (OSError, ValueError, struct.error, IndexError, UnicodeError) as error:
        raise ModelUnavailable(f"The header of {path.name} cannot be read: it is damaged.") from error
    architecture = str(values.get("general.architecture", ""))

    def number(key: str, default: int = 0) -> int:
        value = values.get(f"{architecture}.{key}", default)
        return int(value) if isinstance(value, int | float) else default

    heads = number("attention.head_count") or 1
    width = number("embedding_length") // heads
    each = number("attention.key_length", width) + number("attention.value_length", width)
    kind = values.get("general.file_type")
    return Header(
        name=str(values.get("general.name", "")),
        architecture=architecture,
        quantisation=_QUANTISATIONS.get(kind, "") if isinstance(kind, int) else "",
        context_tokens=number("context_length"),
        has_template=bool(values.get("tokenizer.chat_template")),
        cache_bytes_per_token=(
            number("block_count") * number("attention.head_count_kv", heads) * each * _BYTES_OF_A_CACHED_NUMBER
        ),
        **_about_tokens(values),
    )


def _about_tokens(values: Mapping[str, object]) -> dict[str, Any]:
    """What the file says of its vocabulary."""
    end, begins = values.get("tokenizer.ggml.eos_token_id"), values.get("tokenizer.ggml.add_bos_token")
    kinds = values.get(_TOKEN_KINDS)
    return {
        "vocabulary": str(values.get("tokenizer.ggml.model", "")),
        "chat_template": str(values.get("tokenizer.chat_template", "")),
        "end_token": end if isinstance(end, int) else -1,
        "adds_begin": bool(begins) if begins is not None else values.get("tokenizer.ggml.pre") in _BEGINNING,
        "control_tokens": tuple(place for place, kind in enumerate(kinds) if kind == _CONTROL)
        if isinstance(kinds, tuple)
        else (),
    }


def _values(data: mmap.mmap) -> dict[str, object]:
    """Keys with their values; of lists only the one of tokens' kinds."""
    if data[:4] != b"GGUF":
        raise ValueError("no GGUF file")
    count = struct.unpack_from("<Q", data, 16)[0]
    if count > _MOST_KEYS:
        raise ValueError("too many keys")
    values: dict[str, object] = {}
    place = 24
    for _ in range(count):
        key, place = _text(data, place)
        kind = struct.unpack_from("<I", data, place)[0]
        begin = place + 4
        value, place = _value(data, begin, kind)
        if key == _TOKEN_KINDS and kind == _LIST and data[begin : begin + 4] == _INT32:
            value = struct.unpack_from(f"<{(place - begin - 12) // 4}i", data, begin + 12)
        values[key] = value
    return values


def _value(data: mmap.mmap, place: int, kind: int) -> tuple[object, int]:
    """A value and where the next thing begins; None for a list."""
    if kind == _TEXT:
        return _text(data, place)
    if kind == _LIST:
        return None, _behind_list(data, place)
    form = _SCALARS.get(kind, "")
    if not form:
        raise ValueError("a kind that there is not")
    return struct.unpack_from(form, data, place)[0], place + struct.calcsize(form)


def _behind_list(data: mmap.mmap, place: int) -> int:
    kind, count = struct.unpack_from("<IQ", data, place)
    place += 12
    if count > _MOST_ITEMS:
        raise ValueError("too long a list")
    if kind in _SCALARS:
        return int(place + count * struct.calcsize(_SCALARS[kind]))
    for _ in range(count):
        if kind == _TEXT:
            place += 8 + int.from_bytes(data[place : place + 8], "little")
        elif kind == _LIST:
            place = _behind_list(data, place)
        else:
            raise ValueError("a kind that there is not")
        if place > len(data):
            raise ValueError("cut short")
    return place


def _text(data: mmap.mmap, place: int) -> tuple[str, int]:
    length = struct.unpack_from("<Q", data, place)[0]
    end = place + 8 + length
    if length > _MOST_CHARS or end > len(data):
        raise ValueError("cut short")
    return data[place + 8 : end].decode("utf-8", "replace"), end
