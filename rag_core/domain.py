"""The words of the house as frozen dataclasses without behaviour.

Pages count from 1. Spans are character offsets into a page's text, end exclusive. Boxes are fractions of the page's
width and height, measured from its top left corner, so that they fit a picture of any size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Stage = Literal["waiting", "reading", "embedding", "storing", "ready", "failed", "cancelled"]
State = Literal["pending", "stored", "ready", "failed", "removing"]
ScoreKind = Literal["cosine", "bm25", "fused", "rerank"]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in fractions of its width and height from the top left."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page: its span in the page's text and where it stands."""

    start: int
    end: int
    box: Box


@dataclass(frozen=True, slots=True)
class Page:
    """One page as read. `error` says why it could not be read; its text is then empty."""

    number: int
    text: str
    label: str = ""
    width_pt: float = 0.0
    height_pt: float = 0.0
    lines: tuple[Line, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A heading: from the outline of a PDF or the headings of a Markdown file. `start` is its place on the page."""

    title: str
    level: int
    page: int
    start: int = 0


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What reading makes of a file's bytes."""

    media_type: str
    pages: tuple[Page, ...]
    title: str = ""
    authors: str = ""
    year: int | None = None
    language: str = ""
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is embedded: a span of one page. `md5` is of the text's UTF-8 bytes, in hexadecimal."""

    document_id: str
    index: int
    page: int
    start: int
    end: int
    text: str
    md5: str
    section: str = ""
    boxes: tuple[Box, ...] = ()
    token_count: int = 0


@dataclass(frozen=True, slots=True)
class Profile:
    """What makes vectors comparable: the embedding model and its settings. `id` is a short hash of the rest."""

    id: str
    name: str
    revision: str
    dimensions: int
    pooling: str
    precision: str


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the library. `id` is made from the SHA-256 of its bytes; `sources` are its names."""

    id: str
    title: str
    media_type: str
    byte_size: int
    state: State
    page_count: int = 0
    chunk_count: int = 0
    sources: tuple[str, ...] = ()
    authors: str = ""
    year: int | None = None
    language: str = ""
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    error: str | None = None
    help: str = ""
    added_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Upload:
    """Bytes with a name, as a browser hands them over."""

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class AddEvent:
    """One step of adding a source. `done` of `total` counts pages when reading and chunks when embedding."""

    source: str
    stage: Stage
    done: int = 0
    total: int = 0
    document: Document | None = None
    error: Exception | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found for a question. `score` is of the kind `score_kind`; kinds are never compared."""

    chunk_id: str
    document: Document
    index: int
    page: int
    page_label: str
    section: str
    text: str
    start: int
    end: int
    boxes: tuple[Box, ...]
    score: float
    score_kind: ScoreKind = "cosine"


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage in an answer: what the number behind a sentence opens. The span is on the page, boxes within it."""

    number: int
    chunk_id: str
    document_id: str
    title: str
    page: int
    page_label: str
    section: str
    text: str
    start: int
    end: int
    boxes: tuple[Box, ...]
    score: float
    score_kind: ScoreKind = "cosine"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer with the numbers of its citations. `supported` is False where no passage holds it."""

    text: str
    citations: tuple[int, ...] = ()
    supported: bool = True


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about: engine, search query, milliseconds by stage, and whatever was left out or replaced."""

    engine: str = ""
    query: str = ""
    latency_ms: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with all that is needed to check it. `conversation` and `message_id` say where it is kept."""

    question: str
    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    hits: tuple[Hit, ...]
    confidence: float
    abstained: bool
    model: str
    conversation: str = ""
    message_id: str = ""
    stopped: bool = False
    trace: Trace = field(default_factory=Trace)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a streamed answer: new text, a stage that begins, or, last of all, the whole answer."""

    text: str = ""
    stage: str = ""
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation's heading; its messages are fetched apart."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Message:
    """One question and, unless it failed or was never given, its answer."""

    id: str
    question: str
    created_at: datetime
    answer: Answer | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A language model that can be chosen. `reason` says what is missing and what to do when it is not ready."""

    id: str
    label: str
    ready: bool
    reason: str = ""
    remote: bool = False


@dataclass(frozen=True, slots=True)
class Successor:
    """The embedding model that is to take the place of the one in use. `done` of `total` chunks have its vectors.

    `begun` says whether some of them were made already; `note` tells all of it in one line.
    """

    present: str
    wanted: str
    done: int
    total: int
    begun: bool
    note: str


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """How the library is: counts, profile, engine and what is worth saying, one line each.

    `successor` is there where the library is to be embedded anew; its note is among the notes.
    """

    data_dir: str
    documents: int
    chunks: int
    pending: int
    failed: int
    profile: str
    engine: str
    postgresql: str
    chroma: str
    models: tuple[ModelStatus, ...]
    notes: tuple[str, ...] = ()
    successor: Successor | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a store differs from what it should hold. `store` is "PostgreSQL", "Dumps", "Files" or "Chroma".

    `document_id` is empty where the whole store is meant. What is not `repairable` says in `help` what the user can do.
    """

    store: str
    document_id: str
    title: str
    message: str
    repairable: bool
    help: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What a comparison of all stores found: nothing, or findings. `deep` ones read every text and every vector.

    `mended` are the findings of the report before that a repair put right.
    """

    documents: int
    chunks: int
    findings: tuple[Finding, ...]
    deep: bool
    took_s: float
    mended: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page drawn as PNG, with the boxes of the passage asked for, in fractions of its size."""

    png: bytes = field(repr=False)
    width_px: int
    height_px: int
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of long work on the library. `done` of `total` counts chunks when embedding, documents otherwise."""

    stage: str
    done: int = 0
    total: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What an archive holds. `notes` tells of originals that were missing or damaged when it was made."""

    path: str
    size_bytes: int
    created_at: datetime
    documents: int
    chunks: int
    files: int
    conversations: int
    notes: tuple[str, ...] = ()
