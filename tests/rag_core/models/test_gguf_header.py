"""What a GGUF file says of itself, read without loading it."""

from __future__ import annotations

from pathlib import Path

import gguf
import pytest

from rag_core.errors import ModelUnavailable
from rag_core.models.gguf_header import read_header
from tests.rag_core.models.tiny_gguf import CHAT_TEMPLATE, HEADS, LAYERS, WIDTH, write_tiny_gguf


def test_what_a_file_says(tmp_path: Path) -> None:
    header = read_header(write_tiny_gguf(tmp_path / "a.gguf", chat_template=CHAT_TEMPLATE, context_length=512))
    assert (header.name, header.architecture, header.context_tokens, header.has_template) == (
        "tiny",
        "llama",
        512,
        True,
    )
    # Keys and values of every layer, two bytes a number.
    assert header.cache_bytes_per_token == LAYERS * HEADS * 2 * (WIDTH // HEADS) * 2
    assert not read_header(write_tiny_gguf(tmp_path / "b.gguf")).has_template


def test_agrees_with_the_package_gguf_on_a_header_with_every_kind(tmp_path: Path) -> None:
    path = tmp_path / "kinds.gguf"
    writer = gguf.GGUFWriter(str(path), "llama")
    for kind in ("uint8", "int8", "uint16", "int16", "int32", "uint64", "int64"):
        getattr(writer, f"add_{kind}")(f"x.{kind}", 1)
    writer.add_float32("x.float", 1.5)
    writer.add_bool("x.bool", True)
    writer.add_array("x.texts", ["a", "bc", ""])
    writer.add_array("x.numbers", [1, 2, 3])
    writer.add_file_type(15)
    writer.add_context_length(4096)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    header = read_header(path)
    fields = gguf.GGUFReader(str(path)).fields
    assert header.context_tokens == int(fields["llama.context_length"].parts[-1][0]) == 4096
    assert header.quantisation == "Q4_K_M"


@pytest.mark.parametrize("cut", [0, 4, 30, 200, 1000])
def test_cut_short(tmp_path: Path, cut: int) -> None:
    whole = write_tiny_gguf(tmp_path / "a.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[:cut])
    with pytest.raises(ModelUnavailable, match="damaged"):
        read_header(tmp_path / "cut.gguf")


@pytest.mark.parametrize("place", range(8, 140, 4))
def test_numbers_gone_wild_do_no_harm(tmp_path: Path, place: int) -> None:
    data = bytearray(write_tiny_gguf(tmp_path / "a.gguf").read_bytes())
    data[place : place + 4] = b"\xff\xff\xff\xff"
    (tmp_path / "wild.gguf").write_bytes(data)
    try:
        read_header(tmp_path / "wild.gguf")
    except ModelUnavailable as error:
        assert "damaged" in str(error)
