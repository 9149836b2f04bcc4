"""How questions are answered: what is found, what writes of it, and how much."""

from __future__ import annotations

import string
from typing import Literal

from pydantic import Field, SecretStr, field_validator

from rag_core.settings.group import Group, Several


class RetrievalSettings(Group):
    """How a question becomes hits."""

    mode: Literal["auto", "hybrid", "dense", "lexical", "clusters", "scaler"] = Field(
        default="auto",
        description="dense goes by meaning, lexical by words, hybrid by both, clusters adds what they find,"
        " scaler looks nowhere but in clusters, by a new question; auto is hybrid",
    )
    index: str = Field(
        default="auto",
        description="where vectors are looked up: auto takes the dumps and falls back to pgvector; hnsw keeps a"
        " graph in PostgreSQL, milvus asks the one of `storage.milvus`, chroma asks Chroma's",
    )
    scan: Literal["auto", "exact", "fast"] = Field(
        default="auto",
        description="exact finds the true nearest always, fast nearly always; auto by the library's size",
    )
    fusion: Literal["convex", "reciprocal"] = Field(
        default="convex", description="how a hybrid search joins its lists: by scores, or by ranks alone"
    )
    rerank: str = Field(
        default="auto",
        min_length=1,
        description="whether the first candidates of a hybrid search are scored once more: none, or by the"
        " cross-encoder of a name in the models folder; auto takes one that is there, else what needs none",
    )
    backend: Literal["auto", "cpu", "coreml", "torch"] = Field(
        default="auto",
        description="what scores the dumps; auto takes the Neural Engine or a CUDA card where there is one",
    )
    k: int = Field(default=6, ge=1, le=100, description="hits returned")
    k_by_kind: bool = Field(default=True, description="lists, comparisons and summaries are answered from more")
    neighbours: int = Field(
        default=0, ge=0, le=10, description="chunks before and behind each passage that a written answer may get too"
    )
    fetch_k: int = Field(default=100, ge=1, le=10_000, description="candidates of each ranker")
    mmr: bool = Field(default=False, description="a search thins its hits by maximal marginal relevance")
    mmr_lambda: float = Field(default=0.5, ge=0, le=1, description="1 is relevance alone, 0 is diversity alone")


class HierarchySettings(Group):
    """The two levels of a library: summaries of documents, clusters of their chunks, clusters of documents."""

    background: bool = Field(default=True, description="kept up to date while no document is being added")
    summaries: str = Field(default="extractive", description="'extractive', or the model that writes them")
    method: Literal["mixture", "kmeans"] = Field(default="mixture", description="how clusters are found")
    reduction: Literal["pca", "umap"] = Field(
        default="pca", description="how dimensions are reduced before; umap needs the package umap-learn"
    )


class AnsweringSettings(Group):
    """What makes an answer."""

    max_question_chars: int = Field(default=4_000, ge=1, description="longest question, characters")
    max_sentences: int = Field(default=3, ge=1, le=20, description="sentences quoted by the extractive model")
    # With retrieval's 0.5 the passage that answers is often passed over for being like another: on XQuAD's even
    # articles it was among the six for 89 % of the questions, with 0.85 for 99 %, and the first quote held the
    # answer for 79 instead of 71 % (tests/benchmarks/prose.py).
    mmr_lambda: float = Field(default=0.85, ge=0, le=1, description="MMR's lambda for the passages of an answer")
    cached_answers: int = Field(
        default=1000,
        ge=0,
        le=1_000_000,
        description="kept answers that are given again at once to the same question of the same documents, at most; 0"
        " for none",
    )
    agent: bool = Field(default=False, description="an agent plans several searches for each question")
    agent_s: float = Field(default=60.0, gt=0, description="longest time that an agent searches, seconds")
    prompt: str = Field(
        default="",
        max_length=20_000,
        description="prompt of written answers, with {context} and {question}; empty for Lectern's own",
    )

    @field_validator("prompt")
    @classmethod
    def _prompt_has_its_places(cls, prompt: str) -> str:
        if prompt.strip():
            parts = [part for part in string.Formatter().parse(prompt) if part[1] is not None]
            places = {name for _, name, _, _ in parts}
            if any(form or conversion for _, _, form, conversion in parts):
                raise ValueError("a prompt's places are names in braces, without a form")
            if not {"context", "question"} <= places <= {"context", "question", "history", "not_found"}:
                raise ValueError("a prompt needs {context} and {question}, may have {history} and {not_found}, no more")
        return prompt.strip()


class GenerationSettings(Group):
    """Which model writes answers, and its limits."""

    model: str = Field(default="extractive", description="'extractive', 'gguf:FILE', 'server:NAME' or 'gemini'")
    form: Literal["auto", "plain", "numbered"] = Field(
        default="auto",
        description="what a model is asked for: plain sentences from a few lines, numbered ones from whole passages, "
        "or by its size",
    )
    max_tokens: int = Field(default=512, ge=1, le=32_768, description="longest answer, tokens")
    context_tokens: int = Field(default=8192, ge=256, description="context window of a local model, tokens")
    temperature: float = Field(default=0.3, ge=0, le=2, description="sampling temperature")
    top_p: float = Field(default=0.95, gt=0, le=1, description="share of likelihood that local models draw words from")
    runtime: Literal["auto", "llama.cpp", "OpenVINO"] = Field(
        default="auto", description="what opens a GGUF file: 'llama.cpp', 'OpenVINO', or 'auto' for the faster by trial"
    )
    gpu_layers: int = Field(default=-1, ge=-1, description="layers on the GPU where there is one, -1 for all")
    memory_lock: bool = Field(default=False, description="llama.cpp keeps a local model from being swapped out")
    threads: int = Field(default=0, ge=0, description="threads of a local model, 0 for the fastest by trial")
    idle_s: float = Field(
        default=600.0,
        ge=0,
        description="how long a local model stays in memory unused, seconds; 0 always",
    )
    gemini_model: str = Field(
        default="", description="name of the Gemini model; empty for the one chosen, or the newest small one it lists"
    )
    gemini_endpoint: str = Field(default="", description="another address that speaks Gemini's protocol")
    timeout_s: float = Field(
        default=60.0,
        gt=0,
        description="longest wait for a model's next words, seconds; ten times as long for a GGUF file",
    )


class ServerSettings(Group):
    """A server of language models that speaks OpenAI's protocol: Ollama, LM Studio, vLLM, llama-server."""

    address: str = Field(default="", max_length=500, description="its address, such as http://localhost:11434/v1")
    key: SecretStr | None = Field(default=None, description="key, where it wants one; never shown or logged")
    models: Several[str] = Field(default=(), description="names of the models that can be chosen")
    context_tokens: int = Field(
        default=4096, ge=256, description="context window of a model whose server does not tell it, tokens"
    )
