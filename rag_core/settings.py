"""Every setting of Lectern, in nested, closed groups: a misspelt name fails.

Values come from arguments first, then from the environment (`LECTERN_DATA_DIR`, `LECTERN_CHUNKING__SIZE=800`), then
from a `.env` file in the working directory, then from the defaults below. `DATABASE_URL`, `CHROMA_URL` and
`GOOGLE_API_KEY` keep the names that other programs use for them.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from rag_core.errors import ConfigurationError
from rag_core.places import APP_DIR as APP_DIR
from rag_core.places import PROJECT_DIR as PROJECT_DIR
from rag_core.places import data_dir

DATA_DIR = data_dir()
"""Where libraries and models are kept by default."""


# What a run of an evaluation may change and a library may apply. Never where a remote model's key and passages go.
_TUNABLE = ("retrieval", "answering", "chunking", "generation")
_NOT_TUNABLE = ("generation.gemini_endpoint",)


class Group(BaseModel):
    """A closed group of settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def implied(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """What giving some values says about others."""
        return {}

    def implied_by_change(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same where these values take the places of some that were set."""
        return self.implied(values)


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

    allowed_hosts: tuple[str, ...] = Field(
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


# What shapes chunks beside the strategy, where it is not tokens and those that are shared.
_SIZES = {"characters": ("size", "overlap"), "semantic": ("tokens",)}


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
        return json.dumps({name: getattr(self, name) for name in ("strategy", *names)})


class EmbeddingSettings(Group):
    """The model that makes vectors. Together these values are the profile that stamps every derived store."""

    model: str = Field(default="all-MiniLM-L6-v2", description="packaged model, or a sentence-transformers folder")
    precision: Literal["auto", "float32", "bf16", "int8"] = Field(
        default="auto", description="auto takes int8 where the processor computes it fast"
    )
    backend: Literal["auto", "openvino", "onnx", "torch"] = Field(default="auto", description="runtime of the model")
    batch_size: int = Field(default=8, ge=1, le=1024, description="texts in one pass")
    context: bool = Field(default=True, description="embed title and section before each chunk's text")


class StorageSettings(Group):
    """Where things are kept."""

    statement_timeout_s: float = Field(default=30.0, gt=0, description="longest database statement, seconds")
    connect_timeout_s: float = Field(default=10.0, gt=0, description="longest wait for the database, seconds")
    # Each index follows the change log in a thread of its own, beside those who add, search and answer.
    pool_size: int = Field(default=8, ge=5, le=64, description="database connections held")
    min_free_bytes: int = Field(default=256 * 2**20, ge=0, description="disk that must stay free, bytes")


class RetrievalSettings(Group):
    """How a question becomes hits."""

    mode: Literal["auto", "hybrid", "dense", "lexical", "scaler"] = Field(
        default="auto",
        description="dense goes by meaning, lexical by words, hybrid by both, scaler also by clusters; auto is hybrid,"
        " ordered by clusters for comparisons, lists and summaries",
    )
    index: Literal["auto", "dumps", "pgvector", "chroma"] = Field(
        default="auto", description="where vectors are looked up; auto takes the dumps and falls back to pgvector"
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


class GenerationSettings(Group):
    """Which model writes answers, and its limits."""

    model: str = Field(default="extractive", description="'extractive', 'gguf:FILE', 'server:NAME' or 'gemini'")
    max_tokens: int = Field(default=512, ge=1, le=32_768, description="longest answer, tokens")
    context_tokens: int = Field(default=8192, ge=256, description="context window of a local model, tokens")
    temperature: float = Field(default=0.3, ge=0, le=2, description="sampling temperature")
    gpu_layers: int = Field(default=-1, ge=-1, description="layers on the GPU where there is one, -1 for all")
    threads: int = Field(default=0, ge=0, description="threads of a local model, 0 to choose")
    idle_s: float = Field(
        default=600.0,
        ge=0,
        description="how long a local model stays in memory unused, seconds; 0 always",
    )
    gemini_model: str = Field(default="gemini-2.0-flash", description="name of the Gemini model")
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
    models: tuple[str, ...] = Field(default=(), description="names of the models that can be chosen")
    context_tokens: int = Field(
        default=4096, ge=256, description="context window of a model whose server does not tell it, tokens"
    )


class DoorSettings(Group):
    """The doors for other programs, beside the pages: REST, OpenAI's protocol, MCP."""

    hosts: tuple[str, ...] = Field(
        default=(), description="names, besides this machine's own, by which requests may call the server"
    )
    users: tuple[str, ...] = Field(
        default=(),
        description="who may use the pages where people sign in: e-mail addresses, or @example.org for all of it",
    )
    folders: tuple[Path, ...] = Field(default=(), description="folders whose files programs may add by their path")
    max_body_bytes: int = Field(default=4 * 2**20, ge=1024, description="largest request that is no upload, bytes")
    timeout_s: float = Field(default=600.0, gt=0, description="longest wait for the beginning of an answer, seconds")
    concurrency: int = Field(default=20, ge=1, le=1000, description="requests at work at a time; others wait")
    rate_per_s: float = Field(default=200.0, gt=0, description="requests a second of one client, in the long run")
    telemetry: str = Field(
        default="", description="collector that gets requests as spans (OpenTelemetry, OTLP over gRPC); empty: none"
    )


class LogSettings(Group):
    """What is written down of what happens, in `logs/` of the data directory."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="INFO", description="least weight of a line")
    max_bytes: int = Field(default=5 * 2**20, ge=10_000, description="a file of the log is followed by another, bytes")
    files: int = Field(default=5, ge=1, le=100, description="older files that are kept")


class AnsweringSettings(Group):
    """What makes an answer."""

    max_question_chars: int = Field(default=4_000, ge=1, description="longest question, characters")
    max_sentences: int = Field(default=3, ge=1, le=20, description="sentences quoted by the extractive model")
    # With retrieval's 0.5 the passage that answers is often passed over for being like another: on XQuAD's even
    # articles it was among the six for 89 % of the questions, with 0.85 for 99 %, and the first quote held the
    # answer for 79 instead of 71 % (tests/benchmarks/prose.py).
    mmr_lambda: float = Field(default=0.85, ge=0, le=1, description="MMR's lambda for the passages of an answer")
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


class Settings(BaseSettings):
    """All settings. Raises ConfigurationError through `Settings.load` for values that cannot be used."""

    model_config = SettingsConfigDict(
        env_prefix="LECTERN_",
        env_nested_delimiter="__",
        env_file=".env",
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        # .env may hold other programs' variables; only unknown arguments are refused.
        dotenv_filtering="match_prefix",
    )

    data_dir: Path = Field(default=DATA_DIR / "library", description="the library's folder")
    models_dir: Path = Field(default=DATA_DIR / "models", description="GGUF files, cross-encoders, exported models")
    database_url: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("database_url", "DATABASE_URL"),
        description="another PostgreSQL instead of the embedded one",
    )
    chroma_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("chroma_url", "CHROMA_URL"),
        description="a Chroma server instead of the embedded one",
    )
    google_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("google_api_key", "GOOGLE_API_KEY", "GEMINI_API_KEY"),
        description="key for Gemini; never shown or logged",
    )
    hub_url: str = Field(default="", description="another hub to download models from, of the same protocol")
    allow_remote: bool = Field(default=False, description="passages may leave the machine for a remote model")
    reading: ReadingSettings = ReadingSettings()
    sources: SourcesSettings = SourcesSettings()
    ocr: OcrSettings = OcrSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    storage: StorageSettings = StorageSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    hierarchy: HierarchySettings = HierarchySettings()
    generation: GenerationSettings = GenerationSettings()
    server: ServerSettings = ServerSettings()
    answering: AnsweringSettings = AnsweringSettings()
    doors: DoorSettings = DoorSettings()
    logs: LogSettings = LogSettings()

    def changed(self, group: str, **values: Any) -> Settings:
        """The same settings with some values of one group replaced and checked. Raises ConfigurationError."""
        try:
            old = getattr(self, group)
            return self.model_copy(
                update={group: type(old)(**{**old.model_dump(), **old.implied_by_change(values), **values})}
            )
        except ValidationError as error:
            raise ConfigurationError(f"Settings cannot be used: {_faults(error)}") from error

    def with_values(self, values: Mapping[str, object]) -> Settings:
        """The same settings with values of any group replaced: `{"retrieval.k": 10}`. Raises ConfigurationError.

        Names of earlier versions are understood.
        """
        groups: dict[str, dict[str, object]] = {}
        for key, value in translated(values).items():
            group, _, name = key.partition(".")
            if not isinstance(getattr(self, group, None), Group) or name not in type(getattr(self, group)).model_fields:
                raise ConfigurationError(f"{key} is no setting.", help="rag_core/settings.py has them all.")
            groups.setdefault(group, {})[name] = value
        settings = self
        for group, changes in groups.items():
            settings = settings.changed(group, **changes)
        return settings

    def tunable(self) -> dict[str, Any]:
        """What a run may change and a library may apply, by its name with a dot: no keys, no addresses."""
        groups = {group: getattr(self, group).model_dump(mode="json") for group in _TUNABLE}
        flat = {f"{group}.{name}": value for group, values in groups.items() for name, value in values.items()}
        return {key: value for key, value in flat.items() if key not in _NOT_TUNABLE}

    def with_key(self, key: str | None) -> Settings:
        """The same settings with another Gemini key."""
        return self.model_copy(update={"google_api_key": SecretStr(key) if key else None})

    @classmethod
    def load(cls, **values: Any) -> Settings:
        """Build settings, turning pydantic's report into one readable ConfigurationError."""
        try:
            return cls(**values)
        except ValidationError as error:
            raise ConfigurationError(f"Settings cannot be used: {_faults(error)}") from error


def translated(values: Mapping[str, object]) -> dict[str, object]:
    """Settings by their names with a dot, those that an earlier version kept under another name under today's.

    `retrieval.engine` is `retrieval.index`; the scanner's `retrieval.mode` is `retrieval.scan`.
    """
    found = dict(values)
    if "retrieval.engine" in found:
        index = found.pop("retrieval.engine")
        found.setdefault("retrieval.index", index)
    if found.get("retrieval.mode") in ("exact", "fast"):
        scan = found.pop("retrieval.mode")
        found.setdefault("retrieval.scan", scan)
    return found


def _faults(error: ValidationError) -> str:
    return "; ".join(
        ": ".join(part for part in (".".join(map(str, item["loc"])), item["msg"].removeprefix("Value error, ")) if part)
        for item in error.errors()
    )
