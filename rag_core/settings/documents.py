"""How documents come in: where from, how they are read and cut, which vectors are made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from rag_core.settings.group import Group, Several

# What shapes chunks beside the strategy, where it is not tokens and those that are shared.
_SIZES = {"characters": ("size", "overlap"), "semantic": ("tokens",)}


class ReadingSettings(Group):
    """Limits on what is read; a document beyond them fails with a message, never the program."""

    max_file_bytes: int = Field(default=512 * 2**20, ge=1, description="largest file taken, bytes")
    max_pages: int = Field(default=5_000, ge=1, description="most pages of one document")
    max_text_chars: int = Field(default=50_000_000, ge=1, description="most characters of one document")
    timeout_s: float = Field(default=300.0, gt=0, description="longest time for reading one document, seconds")
    page_timeout_s: float = Field(default=30.0, gt=0, description="longest silence of a reading process, seconds")
    processes: int = Field(
        default=0, ge=0, le=64, description="processes that read, 0 for as many as there are cores, 2 to 4"
    )
    memory_bytes: int = Field(default=1536 * 2**20, ge=64 * 2**20, description="memory of a reading process, bytes")


class SourcesSettings(Group):
    """What is fetched from the web and how watched folders are followed."""

    allowed_hosts: Several[str] = Field(
        default=(), description="hosts, or host:port, that may be fetched from though their addresses are not public"
    )
    max_bytes: int = Field(default=50 * 2**20, ge=1, description="largest answer of a web server, unpacked, bytes")
    timeout_s: float = Field(default=60.0, gt=0, description="longest time for fetching one address, seconds")
    max_redirects: int = Field(default=5, ge=0, le=20, description="most redirects of one address")
    watch_every_s: float = Field(default=5.0, gt=0, description="least time between two looks at a folder, seconds")


class OcrSettings(Group):
    """Text recognition (OCR), of images and of pages whose text is a picture; its process is the least urgent one."""

    engine: Literal["rapidocr", "tesseract", "none"] = Field(
        default="rapidocr",
        description="rapidocr reads English, Chinese and other Latin text without accents; tesseract, a program of its"
        " own, what its language data are for; none leaves such pages unread",
    )
    languages: str = Field(
        default="eng", pattern=r"^[\w/]+(\+[\w/]+)*$", description="what tesseract reads, as it names them: eng+deu"
    )
    threads: int = Field(default=0, ge=0, le=256, description="threads, 0 for as many as there are cores")
    page_timeout_s: float = Field(default=120.0, gt=0, description="longest time for one page, seconds")
    memory_bytes: int = Field(default=3072 * 2**20, ge=256 * 2**20, description="memory of its process, bytes")


class ChunkingSettings(Group):
    """How pages are cut into chunks. Whoever gives sizes in the unit of one strategy alone has chosen that strategy."""

    strategy: Literal["sentences", "paragraphs", "semantic", "tokens", "characters"] = Field(
        default="sentences",
        description="sentences fills chunks with whole sentences, rows and paragraphs of a section; paragraphs gives"
        " each paragraph a chunk; semantic breaks where neighbouring sentences differ most by the embedding model, and"
        " takes twice as long; tokens cuts windows of equal length, as 512 with 50 shared; characters cuts at"
        " paragraphs, lines and words (LangChain's recursive splitter)",
    )
    tokens: int = Field(
        default=220, ge=16, le=8192, description="longest chunk of all strategies but characters, tokens"
    )
    overlap_tokens: int = Field(
        default=40, ge=0, description="shared by neighbours, tokens: whole sentences, or words of the tokens strategy"
    )
    size: int = Field(default=1000, ge=50, le=20_000, description="longest chunk of the characters strategy")
    overlap: int = Field(default=200, ge=0, description="characters shared by neighbours")

    separators: Literal["words", "sentences"] = Field(
        default="words", description="whether characters, before it cuts between words, cuts at the ends of sentences"
    )

    @classmethod
    def implied(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The strategy that sizes speak of, so that settings from before there were strategies mean what they did."""
        if "strategy" in values or not values:
            return {}
        if {"tokens", "overlap_tokens"} & values.keys():
            return {"strategy": "sentences"}
        return {"strategy": "characters"} if {"size", "overlap"} & values.keys() else {}

    def implied_by_change(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same; another size in the unit of the strategy that is set keeps it."""
        implied = self.implied(values)
        stays = implied.get("strategy") == "sentences" and self.strategy != "characters"
        return {} if stays else implied

    @model_validator(mode="before")
    @classmethod
    def _with_implied(cls, values: Any) -> Any:
        return {**values, **cls.implied(values)} if isinstance(values, Mapping) else values

    @model_validator(mode="after")
    def _overlap_fits(self) -> ChunkingSettings:
        if self.overlap >= self.size:
            raise ValueError(f"the overlap ({self.overlap}) must be smaller than the chunk's size ({self.size})")
        if self.overlap_tokens >= self.tokens:
            raise ValueError(f"the overlap ({self.overlap_tokens}) must be smaller than the chunk ({self.tokens})")
        return self

    @property
    def key(self) -> str:
        """What of the settings shapes chunks, as a text: settings of one key cut alike."""
        names = _SIZES.get(self.strategy, ("tokens", "overlap_tokens"))
        if self.strategy == "characters" and self.separators != "words":
            names = (*names, "separators")
        return json.dumps({name: getattr(self, name) for name in ("strategy", *names)})


class EmbeddingSettings(Group):
    """The model that makes vectors. Together these values are the profile that stamps every derived store."""

    model: str = Field(default="all-MiniLM-L6-v2", description="packaged model, or a sentence-transformers folder")
    precision: Literal["auto", "float32", "bf16", "int8"] = Field(
        default="auto", description="auto takes int8 where the processor computes it fast"
    )
    backend: Literal["auto", "openvino", "onnx", "torch"] = Field(default="auto", description="runtime of the model")
    batch_size: int = Field(default=0, ge=0, le=1024, description="texts in one pass, 0 for the usual 8")
    cores: int = Field(default=0, ge=0, le=1024, description="processor cores that OpenVINO takes, 0 for all of them")
    context: bool = Field(default=True, description="embed title and section before each chunk's text")
