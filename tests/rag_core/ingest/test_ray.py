"""Work on a Ray cluster, as the page on scale says: a real one on 127.0.0.1, whose nodes and driver are killed."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from rag_core import Library, Settings, __version__
from rag_core.cli import main
from rag_core.embedding.openvino_runtime import RuntimeConfig
from rag_core.embedding.processor import has_fast_int8
from rag_core.errors import ConfigurationError, StoreUnavailable
from rag_core.ingest import ray_cluster, ray_stages
from rag_core.ingest.stages import File
from rag_core.storage.blobs import Blob, open_blobs
from tests.conftest import PROJECT
from tests.rag_core.api.servers import exports, section
from tests.rag_core.ingest.ray_nodes import Nodes, nodes

PAGE = section("Bulk on Ray")
COUNT = 40
pytestmark = pytest.mark.skipif(
    find_spec("ray") is None or sys.platform != "linux",
    reason="needs Ray, on Linux: pip install -r requirements-dev.txt",
)


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the page sets on every machine."""
    path = tmp_path_factory.mktemp("token") / "token"
    path.write_text(secrets.token_hex(32))
    return {name: value for name, value in exports(PAGE).items() if name != "RAY_ADDRESS"} | {
        "RAY_AUTH_TOKEN_PATH": str(path)
    }


@pytest.fixture(scope="module")
def cluster(token: dict[str, str]) -> Iterator[Nodes]:
    with nodes(3, token) as found:
        yield found


@pytest.fixture
def joined(cluster: Nodes, token: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a command that may join."""
    for name, value in {**token, "RAY_ADDRESS": cluster.address}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Notes of one chunk, and a document of several pages."""
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(COUNT):
        (folder / f"note{number}.txt").write_text(f"The harbour of number {number} has a pier of stone.")
    shutil.copy(PROJECT / "data" / "samples" / "veyra-ferry-handbook.pdf", folder)
    return folder


class Command:
    """A command of the page, in a process of its own."""

    def __init__(self, settings: Settings, name: str, papers: Path) -> None:
        (line,) = re.findall(rf"^lectern ({name} .*)$", PAGE, re.MULTILINE)
        words = [str(papers) if word == "/srv/papers" else word for word in line.split()]
        assert settings.database_url is not None
        environment = {
            "PYTHONPATH": str(PROJECT), "DATABASE_URL": settings.database_url.get_secret_value(),
            "LECTERN_DATA_DIR": f"{settings.data_dir}-ray",
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rag_core", *words, "--json"],
            env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def until(self, stage: str) -> None:
        """Wait for a document to come as far as that."""
        assert self.process.stdout is not None
        assert any(json.loads(line).get("stage") == stage for line in self.process.stdout)

    def end(self) -> list[dict[str, object]]:
        said, error = self.process.communicate(timeout=300)
        assert self.process.returncode == 0, error
        return [json.loads(line) for line in said.splitlines()]


def content(settings: Settings) -> dict[str, tuple[object, object, list[list[float]]]]:
    """What a library has of each document: pages, chunks, vectors. All stores must agree."""
    with Library.open(settings) as library:
        library.storage.settle()
        assert library.maintenance.verify(deep=True).findings == ()
        found = {}
        for document in library.documents():
            assert document.state == "ready"
            vectors = np.asarray(library.storage.dumps.open(document.id).vectors).tolist()
            found[document.id] = library.pages(document.id), library.chunks(document.id), vectors
        return found


@pytest.mark.slow  # three commands join, one after another
@pytest.mark.timeout(600)
def test_a_command_and_a_node_that_are_killed_amid_lose_and_double_nothing(
    cluster: Nodes, joined: None, settings: Settings, papers: Path, new_database: Callable[[], str]
) -> None:
    with Library.open(settings) as library:
        assert {event.stage for event in library.add([papers])} >= {"ready"}
    elsewhere = Settings(_env_file=None, data_dir=Path(f"{settings.data_dir}-ray"), database_url=new_database())
    on_ray = elsewhere.model_copy(update={"data_dir": settings.data_dir})

    killed = Command(on_ray, "add", papers)
    killed.until("embedding")
    killed.process.kill()
    killed.process.wait()
    going_on = Command(on_ray, "add", papers)
    going_on.until("embedding")
    cluster.kill()
    going_on.end()
    here, there = content(settings), content(elsewhere)
    assert len(there) == COUNT + 1
    assert there == here

    assert Command(on_ray, "reembed", papers).end()[-1]["stage"] == "done"
    again = content(elsewhere)
    assert again.keys() == here.keys()
    for key, (*_, vectors) in here.items():
        alike = (np.array(vectors) * again[key][-1]).sum(axis=1)
        assert alike.min() > 0.95
        assert alike.max() < 0.9999 or not has_fast_int8()  # of 8 bits those were


def refused(settings: Settings, capsys: pytest.CaptureFixture[str]) -> str:
    """What `add` says where it joins nothing; it ends with 1 and has added nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", settings.database_url.get_secret_value() if settings.database_url else "")
        assert main(["add", "--executor", "ray", "--data-dir", str(settings.data_dir), str(PROJECT / "README.md")]) == 1
    with Library.open(settings) as library:
        assert library.documents() == []
    return capsys.readouterr().err


def test_who_has_another_token_or_none_is_refused_and_told(
    joined: None,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = tmp_path / "other"
    other.write_text(secrets.token_hex(32))
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(other))
    assert "refuses the token of this machine" in refused(settings, capsys)
    other.unlink()
    assert f"There is no token for the Ray cluster at {other}" in refused(settings, capsys)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    assert "authentication by token off" in refused(settings, capsys)


@pytest.mark.slow
def test_a_cluster_that_lets_anybody_in_is_refused(
    token: dict[str, str], settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with nodes(1, {"RAY_AUTH_MODE": "disabled"}) as found:
        for name, value in {**token, "RAY_ADDRESS": found.address}.items():
            monkeypatch.setenv(name, value)
        assert "lets in whoever reaches it" in refused(settings, capsys)


@pytest.mark.parametrize(("address", "told"), [
    ("", "not said which"), ("10.0.0.5", "is no address"), ("ray://10.0.0.5:6379", "is no address"),
    ("127.0.0.1:1", "No Ray cluster answers at 127.0.0.1:1"),
])  # fmt: skip
def test_an_address_where_there_is_no_cluster_is_told(
    address: str, told: str, token: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**token, "RAY_ADDRESS": address}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ray_cluster.LecternError, match=re.escape(told)) as found:
        ray_cluster.join(1, int)
    assert found.value.help


def test_ray_that_is_missing_or_too_old_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(ray_cluster, "version", missing)
    with pytest.raises(ConfigurationError, match="not installed") as found:
        ray_cluster.check_package()
    (command,) = re.findall(r"`(pip install '.*?')` brings, and on every", PAGE)
    assert command in found.value.help
    monkeypatch.setattr(ray_cluster, "version", lambda _: "2.58.1")
    with pytest.raises(ConfigurationError, match=r"2\.58\.1 is installed, and 2\.59"):
        ray_cluster.check_package()
    monkeypatch.setattr(ray_cluster, "version", lambda _: "3.0.0")
    ray_cluster.check_package()


def test_nodes_on_the_internet_are_refused() -> None:
    assert "this machine alone" in ray_cluster.place_of(["127.0.0.1", "127.0.0.1"])
    assert "private network (10.0.0.5, 127.0.0.1)" in ray_cluster.place_of(["127.0.0.1", "10.0.0.5"])
    with pytest.raises(ConfigurationError, match=r"8\.8\.8\.8"):
        ray_cluster.place_of(["10.0.0.5", "8.8.8.8"])


def test_the_page_starts_nodes_by_options_that_there_are() -> None:
    from ray.scripts.scripts import start

    lines = re.findall(r"^ray start (.*)$", PAGE, re.MULTILINE) + re.findall(r"`RAY.*?ray start (.*?)`", PAGE)
    assert len(lines) == 3
    for line in lines:
        start.make_context("start", shlex.split(line))


def test_a_node_reads_originals_of_a_bucket_and_fails_no_document_for_one_it_does_not_have(
    bucket: str, tmp_path: Path
) -> None:
    store = open_blobs(bucket)
    store.prepare(tmp_path / "fetched")
    store.write("a" * 32, [b"The pier is of stone."])
    files = [File(Blob(bucket, key * 32), (f"{key}.txt",)) for key in "ab"]
    reading = Settings(_env_file=None).reading
    (read,) = ray_stages.read_small(__version__, files[:1], reading)
    assert read.pages[0].text == "The pier is of stone."
    *_, read_alone = ray_stages.read_file(__version__, files[0], reading)
    assert read_alone == read
    *_, missing = ray_stages.read_file(__version__, files[1], reading)
    for failed in (missing, ray_stages.read_small(__version__, files, reading)):
        assert isinstance(failed, StoreUnavailable)
        assert f"does not have the original {'b' * 32}" in str(failed)
    assert isinstance(ray_stages.read_small("0.1", files[:1], reading), StoreUnavailable)


def test_a_model_is_computed_on_as_many_cores_as_it_is_given() -> None:
    assert (RuntimeConfig.usual(0, 1).streams, RuntimeConfig.usual(0, 1).threads) == (1, 1)
    assert RuntimeConfig.usual(0, 10_000) == RuntimeConfig.usual()


def test_nothing_of_it_is_imported_without_being_asked_for() -> None:
    told = "import sys, rag_core.library, rag_core.ingest, rag_core.cli.worker; sys.exit('ray' in sys.modules)"
    subprocess.run([sys.executable, "-c", told], cwd=PROJECT, check=True)
