"""What the program needs of its machine: its stores, its workers, its doors, its log."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from rag_core.settings.group import Group, Several

WorkerLane = Literal["adding", "recognising", "clustering"]
"""The lanes of jobs that need nothing but PostgreSQL and the originals."""


class StorageSettings(Group):
    """Where things are kept."""

    shared: bool = Field(
        default=False, description="several servers, each with this set, have the database of `DATABASE_URL` at a time"
    )
    originals: Path | str | None = Field(
        default=None,
        description="folder of the originals, or bucket, `s3://bucket/prefix`, which servers share, instead of `files`"
        " of the data directory",
    )
    milvus: str = Field(
        default="",
        description="address of a Milvus, `http://host:19530`, of this library alone, where all its servers keep a"
        " graph of the vectors",
    )
    milvus_token: SecretStr | None = Field(
        default=None, description="what Milvus lets in by, user:password or a key; never shown or logged"
    )
    statement_timeout_s: float = Field(default=30.0, gt=0, description="longest database statement, seconds")
    # Whoever stands still within a transaction keeps its locks from all others until the server ends it.
    pause_timeout_s: float = Field(default=30.0, gt=0, description="longest pause within a transaction, seconds")
    connect_timeout_s: float = Field(default=10.0, gt=0, description="longest wait for the database, seconds")
    # Each index follows the change log in a thread of its own, beside those who add, search and answer.
    pool_size: int = Field(default=8, ge=5, le=64, description="database connections held")
    min_free_bytes: int = Field(default=256 * 2**20, ge=0, description="disk that must stay free, bytes")


class JobSettings(Group):
    """Which jobs are carried out by which process, where several share a database."""

    left: Several[WorkerLane] = Field(
        default=(), description="lanes whose jobs this server leaves to workers: adding, recognising, clustering"
    )
    taken: Several[WorkerLane] = Field(
        default=(), description="lanes whose jobs this process takes as a worker, which serves nothing"
    )
    executor: Literal["local", "ray"] = Field(
        default="local",
        description="what reads and embeds for `add`, `reembed` and `worker`: this machine, or the Ray cluster of"
        " `RAY_ADDRESS`",
    )


class DoorSettings(Group):
    """The doors for other programs, beside the pages: REST, OpenAI's protocol, MCP."""

    hosts: Several[str] = Field(
        default=(), description="names, besides this machine's own, by which requests may call the server"
    )
    ask_here: bool = Field(
        default=False, description="ask for a key on this machine too; the address that is printed opens the pages once"
    )
    users: Several[str] = Field(
        default=(),
        description="who may use the pages where people sign in: e-mail addresses, or @example.org for all of it",
    )
    apart: bool = Field(
        default=False,
        description="whoever signs in to the pages has documents and conversations of their own, and what is shared",
    )
    run_by: Several[str] = Field(
        default=(),
        description="who has the whole library where others have their own: e-mail addresses among the users",
    )
    folders: Several[Path] = Field(default=(), description="folders whose files programs may add by their path")
    max_body_bytes: int = Field(default=4 * 2**20, ge=1024, description="largest request that is no upload, bytes")
    timeout_s: float = Field(default=600.0, gt=0, description="longest wait for the beginning of an answer, seconds")
    concurrency: int = Field(
        default=20, ge=1, le=1000, description="requests at work at a time, half of them of one client; others wait"
    )
    streams: int = Field(
        default=200, ge=2, le=10_000, description="streams of jobs open at a time, half of them of one client"
    )
    visitors: int = Field(
        default=64,
        ge=2,
        le=10_000,
        description="pages open at a time of people who have not signed in, half of them of one address",
    )
    rate_per_s: float = Field(default=200.0, gt=0, description="requests a second of one client, in the long run")
    telemetry: str = Field(
        default="", description="collector that gets requests as spans (OpenTelemetry, OTLP over gRPC); empty: none"
    )


class LogSettings(Group):
    """What is written down of what happens, in `logs/` of the data directory."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="INFO", description="least weight of a line")
    max_bytes: int = Field(default=5 * 2**20, ge=10_000, description="a file of the log is followed by another, bytes")
    files: int = Field(default=5, ge=1, le=100, description="older files that are kept")
