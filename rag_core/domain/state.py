"""How a library and its stores are, and the steps of long work on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A language model that can be chosen. `reason` says what is missing and what to do when it is not ready."""

    id: str
    label: str
    ready: bool
    reason: str = ""
    remote: bool = False


@dataclass(frozen=True, slots=True)
class RuntimeTrial:
    """How fast a runtime of GGUF files was on this machine, tokens a second of a prompt and of an answer.

    `threads` is 0 where the runtime chose; `problem` says why it cannot open the file.
    """

    runtime: str
    threads: int = 0
    read_per_s: float = 0.0
    written_per_s: float = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file in the models folder, by what it says of itself; `problem` says why it cannot be used.

    `context_tokens` is what it was made for, `memory_bytes` about what it takes with the context of the settings;
    `fits` says whether that much is free. `loaded`: it is in memory now. `trials`: of each runtime that was tried, the
    one that opens the file first.
    """

    id: str
    name: str
    size_bytes: int
    title: str = ""
    architecture: str = ""
    quantisation: str = ""
    context_tokens: int = 0
    has_template: bool = False
    memory_bytes: int = 0
    fits: bool = False
    loaded: bool = False
    problem: str = ""
    trials: tuple[RuntimeTrial, ...] = ()


@dataclass(frozen=True, slots=True)
class Machine:
    """What models have to run on.

    `device` says where llama.cpp computes, "" where `missing` says why it cannot. `openvino`: OpenVINO GenAI is there,
    which opens the commoner model files as well.
    """

    memory_bytes: int
    free_bytes: int
    device: str
    missing: str = ""
    openvino: bool = False


@dataclass(frozen=True, slots=True)
class SuggestedModel:
    """A model worth having: `wanted` is its name on the hub, `memory_bytes` what it needs with a usual context."""

    title: str
    wanted: str
    size_bytes: int
    memory_bytes: int
    purpose: str
    fits: bool = False
    present: bool = False


@dataclass(frozen=True, slots=True)
class UnfinishedDownload:
    """A download that stopped: `wanted` is what was asked for, `done_bytes` of `size_bytes` are there."""

    wanted: str
    name: str
    done_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ModelServer:
    """The server of models that is set. `here`: it is this machine; `problem` says why it cannot be asked."""

    address: str = ""
    models: tuple[str, ...] = ()
    has_key: bool = False
    here: bool = True
    problem: str = ""


@dataclass(frozen=True, slots=True)
class TargetProfile:
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
class LibraryServer:
    """A process that has the library's database: a server, or a worker, which takes jobs of some `lanes` alone.

    `behind` counts the documents that are in the library and that a server does not find yet.
    """

    name: str
    lanes: tuple[str, ...] = ()
    is_this: bool = False
    behind: int = 0


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """How the library is: counts, profile, engine and what is worth saying, one line each.

    `indexes` are what is made from PostgreSQL, by name, each in a few words. `target` is there where the library is to
    be re-embedded; its note is among the notes. `servers` are all processes where several may have the database.
    """

    data_dir: str
    documents: int
    chunks: int
    pending: int
    failed: int
    profile: str
    postgresql: str
    indexes: Mapping[str, str]
    models: tuple[ModelStatus, ...]
    notes: tuple[str, ...] = ()
    target: TargetProfile | None = None
    servers: tuple[LibraryServer, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a store differs from what it should hold. `store` is "PostgreSQL", "Files", or an index's name.

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

    `repaired` are the findings of the report before that a repair put right.
    """

    documents: int
    chunks: int
    findings: tuple[Finding, ...]
    deep: bool
    took_s: float
    repaired: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of long work. `done` of `total` counts chunks when embedding, bytes when downloading, else documents."""

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
