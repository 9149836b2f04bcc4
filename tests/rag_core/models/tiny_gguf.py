"""A GGUF with random weights that the real llama.cpp loads: two layers, width 64, under a megabyte."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

WORDS = ("the", "of", "and", "sales", "rose", "by", "percent", "passage", "answer", "found", "1", "2")
WIDTH, HEADS, INNER, LAYERS = 64, 4, 128, 2
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}</s>\n{% endfor %}<|assistant|>\n"
)


def write_tiny_gguf(path: Path, *, chat_template: str | None = None, context_length: int = 2048, seed: int = 0) -> Path:
    """Write the model to `path`; same arguments, same bytes. Returns `path`."""
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("tiny")
    writer.add_context_length(context_length)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    tokens = [b"<unk>", b"<s>", b"</s>", *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    tokens += [f"\u2581{word}".encode() for word in WORDS]
    types = [2, 3, 3] + [6] * 256 + [1] * len(WORDS)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * 259 + [-float(place) for place in range(1, len(WORDS) + 1)])
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    if chat_template is not None:
        writer.add_chat_template(chat_template)
    _add_tensors(writer, len(tokens), np.random.default_rng(seed))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tensors(writer: gguf.GGUFWriter, vocabulary: int, random: np.random.Generator) -> None:
    def add(name: str, *shape: int) -> None:
        weights = random.normal(0, 0.08, shape) if len(shape) == 2 else np.ones(shape)
        writer.add_tensor(name, weights.astype(np.float32))

    add("token_embd.weight", vocabulary, WIDTH)
    for layer in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{part}.weight", WIDTH, WIDTH)
        add(f"blk.{layer}.attn_norm.weight", WIDTH)
        add(f"blk.{layer}.ffn_norm.weight", WIDTH)
        add(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
    add("output_norm.weight", WIDTH)
    add("output.weight", vocabulary, WIDTH)
