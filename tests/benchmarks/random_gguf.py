"""A GGUF with random weights in the shape of a language model of 0.5 billion parameters, for measuring speed alone.

24 layers of width 896, 14 heads that share 2 for keys and values, feed-forward 4864, 151,936 tokens, one matrix for
reading and writing tokens: 494 million parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray

from tests.rag_core.models.tiny_gguf import CHAT_TEMPLATE

LAYERS, WIDTH, HEADS, SHARED_HEADS, INNER, VOCABULARY = 24, 896, 14, 2, 4864, 151_936
_CONTEXT = 32_768
_DEVIATION = 0.03
# Of quantisations whose blocks are a float16, the scale, and any bytes: the standard deviation of what the bytes mean.
QUANTISATIONS = {"Q8_0": 73.9, "Q4_0": 4.6, "IQ4_NL": 69.2}
_NORMAL, _UNKNOWN, _CONTROL, _UNUSED, _BYTE = 1, 2, 3, 5, 6


def write_random_gguf(path: Path, words: Sequence[str], *, quantisation: str = "Q8_0", seed: int = 0) -> Path:
    """Write the model to `path` and return it; same arguments, same bytes. `quantisation` is one of QUANTISATIONS.

    Each word is one token with a blank before it, and the model writes words alone: all other tokens have zeros for
    weights. So what it wrote is read again as the same tokens, as text of real models mostly is.
    """
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("random 0.5B")
    writer.add_context_length(_CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(SHARED_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(gguf.LlamaFileType[f"MOSTLY_{quantisation}"])
    tokens = _tokens(words)
    _add_vocabulary(writer, tokens)
    whole = {f"\u2581{word}" for word in words}
    written = [place for place, token in enumerate(tokens) if token in whole]
    _add_tensors(writer, written, quantisation, seed)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _tokens(words: Iterable[str]) -> list[str]:
    """The vocabulary: the words with all their beginnings, as llama.cpp joins a token from its left to its right."""
    begun = sorted({f"\u2581{word[:end]}" for word in words for end in range(1, len(word) + 1)})
    letters = sorted({"\u2581", *(letter for token in begun for letter in token), *map(chr, range(33, 127))})
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *letters, *begun]
    return [*tokens, *(f"<unused {number}>" for number in range(VOCABULARY - len(tokens)))]


def _add_vocabulary(writer: gguf.GGUFWriter, tokens: Sequence[str]) -> None:
    kinds = {"<unk>": _UNKNOWN, "<s>": _CONTROL, "</s>": _CONTROL}
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(
        [
            kinds.get(token, _BYTE if token.startswith("<0x") else _UNUSED if " " in token else _NORMAL)
            for token in tokens
        ]
    )
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(CHAT_TEMPLATE)


def _add_tensors(writer: gguf.GGUFWriter, written: Sequence[int], quantisation: str, seed: int) -> None:
    chance = np.random.default_rng(seed)
    kind = gguf.GGMLQuantizationType[quantisation]

    def add(name: str, rows: int, columns: int, kept: Sequence[int] | None = None) -> None:
        weights = _random(rows, columns, kind, chance)
        if kept is not None:
            weights[np.setdiff1d(np.arange(rows), kept)] = 0
        writer.add_tensor(f"{name}.weight", weights, raw_dtype=kind)

    def add_ones(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))

    add("token_embd", VOCABULARY, WIDTH, written)
    add_ones("output_norm")
    shared = WIDTH // HEADS * SHARED_HEADS
    for layer in (f"blk.{number}" for number in range(LAYERS)):
        add_ones(f"{layer}.attn_norm")
        add_ones(f"{layer}.ffn_norm")
        add(f"{layer}.attn_q", WIDTH, WIDTH)
        add(f"{layer}.attn_k", shared, WIDTH)
        add(f"{layer}.attn_v", shared, WIDTH)
        add(f"{layer}.attn_output", WIDTH, WIDTH)
        add(f"{layer}.ffn_gate", INNER, WIDTH)
        add(f"{layer}.ffn_up", INNER, WIDTH)
        add(f"{layer}.ffn_down", WIDTH, INNER)


def _random(rows: int, columns: int, kind: gguf.GGMLQuantizationType, chance: np.random.Generator) -> NDArray[np.uint8]:
    """Random weights as the quantisation keeps them: uint8 (rows, bytes of a row). A scale of zero makes zeros."""
    weights, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = chance.integers(0, 256, (rows, columns // weights, size), np.uint8)
    blocks[:, :, :2] = np.frombuffer(np.float16(_DEVIATION / QUANTISATIONS[kind.name]).tobytes(), np.uint8)
    return blocks.reshape(rows, -1)
