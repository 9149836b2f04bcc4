"""What every test may use: one PostgreSQL for the whole run, a database and a data directory for each test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from rag_core import Library, Settings, Upload
from rag_core.domain import Document
from rag_core.embedding import openvino_engine
from rag_core.storage.embedded.server import EmbeddedServer

PROJECT = Path(__file__).resolve().parents[1]
SHARED = PROJECT.parent / "shared" / "data"
pytest_plugins = ["tests.faults.summary"]
_FOREIGN = ("DATABASE_URL", "CHROMA_URL", "GOOGLE_API_KEY", "GEMINI_API_KEY")


@pytest.fixture(scope="session", autouse=True)
def clean_environment() -> Iterator[None]:
    """No setting of the machine reaches a test, save where exported models are kept."""
    kept = {"LECTERN_MODELS_DIR", "LECTERN_REQUIRE_BROWSER"}
    names = [name for name in os.environ if name in _FOREIGN or (name.startswith("LECTERN_") and name not in kept)]
    saved = {name: os.environ.pop(name) for name in names}
    yield
    os.environ.update(saved)


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """A model is compiled once for all the libraries of this process: that takes half a second of both cores."""
    compiled: dict[tuple[object, ...], object] = {}
    compile_anew = openvino_engine._compile

    def compile_once(path: Path, *how: object) -> object:
        files = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in sorted(path.parent.iterdir())]
        key = (os.getpid(), path, *how, *files)  # a forked process cannot use its parent's
        if key not in compiled:
            compiled[key] = compile_anew(path, *how)  # type: ignore[arg-type]
        return compiled[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openvino_engine, "_compile", compile_once)
        yield


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real PostgreSQL for this run."""
    server = EmbeddedServer(tmp_path_factory.mktemp("pg") / "data")
    url = server.start()
    with psycopg.connect(url, autocommit=True) as connection:
        # Hundreds of small databases: what the disk would take to sync them tells nothing about Lectern.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    yield url
    server.stop()


@pytest.fixture(scope="session")
def new_database(postgresql: str) -> Callable[[], str]:
    """Makes an empty database and returns its address."""
    count = iter(range(10_000))

    def make() -> str:
        name = f"t{next(count)}"
        with psycopg.connect(postgresql, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return postgresql.replace("/postgres?", f"/{name}?")

    return make


@pytest.fixture
def settings(tmp_path: Path, new_database: Callable[[], str]) -> Settings:
    """Settings of a library of its own; nothing of the machine's environment or .env is in them."""
    settings = Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database())
    return settings.changed("hierarchy", background=False)  # it would take the processor from what is tested


@pytest.fixture
def library(settings: Settings) -> Iterator[Library]:
    """An empty library with real stores."""
    with Library.open(settings) as opened:
        yield opened


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of data to develop on; the test is skipped where there is none."""
    if not SHARED.is_dir():
        pytest.skip(f"the shared data is not at {SHARED}")
    return SHARED


def add_text(library: Library, name: str, text: str) -> Document:
    """Add a text document and return it, ready."""
    *_, last = library.add([Upload(name, text.encode())])
    assert last.stage == "ready", last.error
    assert last.document is not None
    return last.document
