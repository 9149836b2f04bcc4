"""The five systems that Lectern grew from, as configurations: how each cuts, finds and chooses passages.

What a seed leaves open is as little as it can be: the nearest by cosine, without a second look.
"""

from __future__ import annotations

from rag_core.domain import Configuration

_PLAIN = {"retrieval.mode": "dense", "answering.mmr_lambda": 1.0}

SEEDS = (
    Configuration("VBRAG: 1000/200, MMR 6/20/.5", {
        "chunking.strategy": "characters", "chunking.size": 1000, "chunking.overlap": 200,
        "chunking.separators": "sentences", "retrieval.mode": "dense", "retrieval.k": 6, "retrieval.fetch_k": 20,
        "answering.mmr_lambda": 0.5, "generation.temperature": 0.3,
    }),
    Configuration("TLDR: windows of 256 tokens, nearest 6", {
        "chunking.strategy": "tokens", "chunking.tokens": 256, "chunking.overlap_tokens": 0, "retrieval.k": 6, **_PLAIN,
    }),
    Configuration("SCALER: two levels, nearest 6", {
        "retrieval.mode": "scaler", "retrieval.k": 6, "answering.mmr_lambda": 1.0,
    }),
    Configuration("Research assistant: 512/50 tokens, nearest 5", {
        "chunking.strategy": "sentences", "chunking.tokens": 512, "chunking.overlap_tokens": 50, "retrieval.k": 5,
        "generation.temperature": 0.3, "generation.max_tokens": 500, **_PLAIN,
    }),
    Configuration("CLI-RAG: 500/50 characters, nearest 5", {
        "chunking.strategy": "characters", "chunking.size": 500, "chunking.overlap": 50, "retrieval.k": 5, **_PLAIN,
    }),
)  # fmt: skip
