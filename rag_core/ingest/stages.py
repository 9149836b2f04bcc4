"""The stages of a file's road as functions of values: parse, chunk, embed.

What they take and return can be pickled and holds nothing of a library, so that they can run on another machine. What
computes, reading processes or an embedding model, a process opens from the values and keeps; a caller that has its own
open passes it along. `batches` has a run go through them, wherever `Stages` carries them out: `LocalStages` here,
`ray_stages` on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_core.chunking import chunk_document
from rag_core.domain import Chunk, ParsedDocument, Profile
from rag_core.embedding import Embedder, open_profile
from rag_core.embedding.pieces import Pieces
from rag_core.errors import Cancelled, LecternError
from rag_core.reading import Reader, make_card
from rag_core.reading.base import RawPage
from rag_core.reading.reader import Begun, Progress
from rag_core.settings import ChunkingSettings, EmbeddingSettings, ReadingSettings, Settings
from rag_core.storage.blobs import Blob
from rag_core.unexpected import stage

_COUNT_TEXTS = 1000
Stopped = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class File:
    """A document's bytes and names, the first it came by first; what else reading it needs.

    recognised: what text recognition has read of its pages by now, None where it is not to be used.
    """

    blob: Blob
    names: tuple[str, ...]
    password: str | None = None
    recognised: Mapping[int, RawPage] | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """The embedding model of a profile: where it is found, and how it is run."""

    profile: Profile
    place: str
    settings: EmbeddingSettings
    models_dir: Path


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a model makes of texts: vectors, float32 (n, d), rows of unit length, and the pieces of each, int8 (p, d).

    pieces: empty where the model gives none.
    """

    profile: Profile
    vectors: NDArray[np.float32]
    pieces: Sequence[Pieces]


def parse(
    file: File, settings: ReadingSettings, *, reader: Reader | None = None, progress: Progress | None = None,
    stopped: Stopped | None = None, begun: Begun | None = None,
) -> ParsedDocument:  # fmt: skip
    """A file read, with its card. Raises what `Reader.read` raises."""
    parsed = (reader or _reader(settings)).read(
        file.blob.path(), file.names[0], password=file.password, progress=progress, cancelled=stopped,
        recognised=file.recognised, begun=begun,
    )  # fmt: skip
    return with_card(file, parsed)


def parse_small(
    files: Sequence[File], settings: ReadingSettings, *, reader: Reader | None = None, stopped: Stopped | None = None
) -> list[ParsedDocument | LecternError]:
    """Small files without passwords and pictures read together: each with its card, or what kept it from being read."""
    found = (reader or _reader(settings)).read_small(
        [(file.blob.path(), file.names[0]) for file in files], cancelled=stopped
    )
    return [_card_or_error(file, parsed) for file, parsed in zip(files, found, strict=True)]


def with_card(file: File, parsed: ParsedDocument) -> ParsedDocument:
    """A document, or as much of it as was read by now, with its card."""
    with stage("card", file.blob.key):
        return replace(parsed, card=make_card(parsed, file.names))


def chunk(
    document_id: str, parsed: ParsedDocument, settings: ChunkingSettings, model: Model, *,
    embedder: Embedder | None = None, stopped: Stopped | None = None,
) -> tuple[Chunk, ...]:  # fmt: skip
    """A document cut into chunks, by the tokens of a model. Raises Cancelled, ModelUnavailable."""
    encoder = embedder or _embedder(model)

    def counted(texts: Sequence[str]) -> list[int]:
        # A long document takes many seconds: it can be cancelled in between.
        counts: list[int] = []
        for first in range(0, len(texts), _COUNT_TEXTS):
            if stopped and stopped():
                raise Cancelled("Cancelled.")
            counts += encoder.count_tokens(texts[first : first + _COUNT_TEXTS])
        return counts

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        return encoder.encode(texts, cancelled=stopped)

    return tuple(chunk_document(document_id, parsed, settings, counted, encode))


def embed(
    texts: Sequence[str], contexts: Sequence[str], model: Model, *, embedder: Embedder | None = None,
    progress: Progress | None = None, stopped: Stopped | None = None,
) -> Embedded:  # fmt: skip
    """The vectors of chunks that stand in these contexts. Raises Cancelled, ModelUnavailable."""
    encoder = embedder or _embedder(model)
    return Embedded(
        encoder.profile, *encoder.encode_with_pieces(texts, contexts, progress=progress, cancelled=stopped)
    )  # fmt: skip


class Stages(Protocol):
    """Where the stages are carried out; each is as the function of its name. Thread-safe.

    readers, embedders: how many calls of `parse` and of `embed` it takes at a time. embedder: the model as this process
    has it open. close: ends what it has begun.
    """

    readers: int
    embedders: int

    def open(self) -> str:
        """Begin, harmless where it has begun. Returns what carries them out, for people. Raises LecternError."""

    def parse(
        self, file: File, settings: ReadingSettings, *, progress: Progress, stopped: Stopped, begun: Begun
    ) -> ParsedDocument:
        """See the function."""

    def parse_small(
        self, files: Sequence[File], settings: ReadingSettings, *, stopped: Stopped
    ) -> list[ParsedDocument | LecternError]:
        """See the function."""

    def chunk(
        self, documents: Sequence[tuple[str, ParsedDocument]], settings: ChunkingSettings, model: Model, *,
        embedder: Embedder, stopped: Stopped,
    ) -> list[tuple[Chunk, ...]]:  # fmt: skip
        """The same of several, each with its id."""

    def embed(
        self, texts: Sequence[str], contexts: Sequence[str], model: Model, *, embedder: Embedder,
        progress: Progress | None = None, stopped: Stopped,
    ) -> Embedded:  # fmt: skip
        """See the function."""

    def close(self) -> None:
        """Nothing is carried out from now on."""


class LocalStages:
    """The stages in this process, by its reader and its model."""

    embedders = 1

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.readers = reader.processes

    def open(self) -> str:
        """Nothing is to begin."""
        return "in this process"

    def parse(
        self, file: File, settings: ReadingSettings, *, progress: Progress, stopped: Stopped, begun: Begun
    ) -> ParsedDocument:
        """By a process of the reader."""
        return parse(file, settings, reader=self._reader, progress=progress, stopped=stopped, begun=begun)

    def parse_small(
        self, files: Sequence[File], settings: ReadingSettings, *, stopped: Stopped
    ) -> list[ParsedDocument | LecternError]:
        """By a process of the reader."""
        return parse_small(files, settings, reader=self._reader, stopped=stopped)

    def chunk(
        self, documents: Sequence[tuple[str, ParsedDocument]], settings: ChunkingSettings, model: Model, *,
        embedder: Embedder, stopped: Stopped,
    ) -> list[tuple[Chunk, ...]]:  # fmt: skip
        """One after another."""
        return [chunk(key, parsed, settings, model, embedder=embedder, stopped=stopped) for key, parsed in documents]

    def embed(
        self, texts: Sequence[str], contexts: Sequence[str], model: Model, *, embedder: Embedder,
        progress: Progress | None = None, stopped: Stopped,
    ) -> Embedded:  # fmt: skip
        """By the model that is open."""
        return embed(texts, contexts, model, embedder=embedder, progress=progress, stopped=stopped)

    def close(self) -> None:
        """Whoever opened the reader closes it."""


def _card_or_error(file: File, parsed: ParsedDocument | LecternError) -> ParsedDocument | LecternError:
    try:
        return parsed if isinstance(parsed, LecternError) else with_card(file, parsed)
    except LecternError as error:
        return error


@cache
def _reader(settings: ReadingSettings) -> Reader:
    return Reader(settings)


@cache
def _embedder(model: Model) -> Embedder:
    return open_profile(model.profile, [model.place], model.settings, model.models_dir)


def open_stages(settings: Settings, reader: Reader) -> Stages:
    """Those of the executor that the settings name; one on other machines is joined when it is first needed."""
    if settings.jobs.executor == "ray":
        from rag_core.ingest.ray_stages import RayStages

        return RayStages(settings)
    return LocalStages(reader)
