"""Downloads from a server that speaks the hub's protocol: whole, on from the middle, wrong, stopped."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_core.domain import Progress
from rag_core.errors import AddressRefused, Cancelled, LecternError, LimitExceeded, ModelUnavailable
from rag_core.models import downloads as module
from rag_core.models.downloads import Downloads
from tests.rag_core.models.hub_server import Hub, hub_server
from tests.rag_core.models.tiny_gguf import write_tiny_gguf


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_tiny_gguf(tmp_path_factory.mktemp("made") / "tiny.gguf").read_bytes()


@pytest.fixture
def hub(content: bytes) -> Iterator[Hub]:
    with hub_server() as running:
        running.files = {f"me/tiny/tiny-{kind}.gguf": content for kind in ("F16", "Q4_K_M", "Q8_0")}
        running.files["me/notes/read.me"] = b"x"
        running.files["me/parts/big-00001-of-00002.gguf"] = content
        yield running


@pytest.fixture
def downloads(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Downloads:
    monkeypatch.setattr(module, "_WAIT_S", 0.01)
    monkeypatch.setattr(module, "_TELL_S", 0.0)
    return Downloads(tmp_path / "models", hub=hub.url)


def fetch(downloads: Downloads, wanted: str, **options: Any) -> list[Progress]:
    return list(downloads.download(wanted, cancelled=lambda: False, **options))


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("me/tiny", "tiny-Q4_K_M.gguf"),
        ("me/tiny:q8_0", "tiny-Q8_0.gguf"),
        (" me/tiny/tiny-F16.gguf ", "tiny-F16.gguf"),
        ("{hub}/me/tiny/blob/main/tiny-F16.gguf", "tiny-F16.gguf"),
        ("{hub}/me/tiny/resolve/main/tiny-Q8_0.gguf?download=true", "tiny-Q8_0.gguf"),
    ],
)
def test_by_name_and_by_address(
    downloads: Downloads, hub: Hub, tmp_path: Path, content: bytes, wanted: str, name: str
) -> None:
    steps = fetch(downloads, wanted.format(hub=hub.url))
    assert list(dict.fromkeys(step.stage for step in steps)) == ["finding", "downloading", "checking", "done"]
    assert steps[-1].note == name
    told = [step for step in steps if step.stage == "downloading"]
    assert told[-1].done == told[-1].total == len(content)
    assert (tmp_path / "models" / name).read_bytes() == content
    assert downloads.unfinished() == ()


def test_goes_on_where_the_connection_broke(downloads: Downloads, hub: Hub, content: bytes) -> None:
    hub.breaks_after = [300_000]
    fetch(downloads, "me/tiny")
    ranges = [wanted for method, path, wanted in hub.asked if method == "GET" and path.startswith("/store/")]
    assert ranges[0] == ""
    assert 0 < int(ranges[1].removeprefix("bytes=").rstrip("-")) < len(content)


def test_goes_on_after_a_stop_and_can_be_thrown_away(downloads: Downloads, hub: Hub, content: bytes) -> None:
    hub.hang_after = 300_000
    stop = threading.Event()
    steps = downloads.download("me/tiny", cancelled=stop.is_set)
    for step in steps:
        if step.stage == "downloading":
            break
    stop.set()
    hub.release.set()
    with pytest.raises(Cancelled, match="stopped"):
        list(steps)
    (unfinished,) = downloads.unfinished()
    assert (unfinished.wanted, unfinished.size_bytes) == ("me/tiny", len(content))
    assert 0 < unfinished.done_bytes < len(content)
    hub.asked.clear()
    fetch(downloads, unfinished.wanted)
    assert f"bytes={unfinished.done_bytes}-" in [wanted for _, _, wanted in hub.asked]


def test_begins_again_where_the_server_has_another_file_or_no_ranges(
    downloads: Downloads, hub: Hub, tmp_path: Path, content: bytes
) -> None:
    hub.breaks_after = [300_000, *[10] * 5]
    with pytest.raises(ModelUnavailable, match="broke off") as caught:
        fetch(downloads, "me/tiny")
    assert caught.value.retryable
    assert downloads.unfinished()
    other = content + bytes(1000)
    hub.files["me/tiny/tiny-Q4_K_M.gguf"], hub.ranges = other, False
    hub.breaks_after = [400_000]
    fetch(downloads, "me/tiny")
    assert (tmp_path / "models" / "tiny-Q4_K_M.gguf").read_bytes() == other


@pytest.mark.parametrize("told", ["server", "user"])
def test_what_is_not_what_it_should_be_is_thrown_away(
    downloads: Downloads, hub: Hub, tmp_path: Path, content: bytes, told: str
) -> None:
    hub.sha256 = "a" * 64 if told == "server" else ""
    with pytest.raises(ModelUnavailable, match=hashlib.sha256(content).hexdigest()) as caught:
        fetch(downloads, "me/tiny", sha256="b" * 64 if told == "user" else "")
    assert "again" in caught.value.help
    assert list((tmp_path / "models").glob("*.gguf")) == []
    assert downloads.unfinished() == ()


def test_a_server_that_tells_no_sha_256_is_said(downloads: Downloads, hub: Hub, tmp_path: Path) -> None:
    hub.linked = False
    assert fetch(downloads, "me/tiny")[-1].note.endswith("whose server tells no SHA-256")
    assert (tmp_path / "models" / "tiny-Q4_K_M.gguf").exists()


def test_a_page_is_no_model(downloads: Downloads, hub: Hub) -> None:
    hub.files["me/tiny/page.gguf"] = b"<html>sign in</html>"
    with pytest.raises(ModelUnavailable, match="not a model in GGUF form"):
        fetch(downloads, "me/tiny/page.gguf")


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("", "no model's name"),
        ("tiny", "no model's name"),
        ("me/none", "has no me/none"),
        ("me/notes", "no GGUF file of one part"),
        ("me/parts/big-00001-of-00002.gguf", "several parts"),
        ("me/tiny:Q2_K", "has no Q2_K.*tiny-F16"),
        ("me/tiny/none.gguf", "no none.gguf at that place"),
        ("me/tiny/../x.gguf", "no .*gguf at that place|is no model's name"),
        ("http://example.org/a.gguf", "not an https address"),
        ("file:///etc/passwd", "not an https address"),
        ("{hub}/me/tiny/resolve/main/tiny.bin", "is no GGUF file"),
    ],
)
def test_what_cannot_be_found_is_said(downloads: Downloads, hub: Hub, wanted: str, words: str) -> None:
    with pytest.raises(ModelUnavailable, match=words) as caught:
        fetch(downloads, wanted.format(hub=hub.url))
    assert caught.value.help


def test_there_already_no_room_and_nobody_there(downloads: Downloads, hub: Hub, tmp_path: Path) -> None:
    fetch(downloads, "me/tiny")
    with pytest.raises(ModelUnavailable, match="already"):
        fetch(downloads, "me/tiny")
    full = Downloads(tmp_path / "models", hub=hub.url, min_free_bytes=1 << 60)
    with pytest.raises(LimitExceeded, match="disk"):
        fetch(full, "me/tiny:F16")
    with hub_server() as gone:
        url = gone.url
    with pytest.raises(LecternError, match="cannot be reached"):
        fetch(Downloads(tmp_path / "models", hub=url), "me/tiny")


def test_an_address_of_this_machine_is_for_its_owner_alone(hub: Hub, tmp_path: Path) -> None:
    downloads, wanted = Downloads(tmp_path / "models"), f"{hub.url}/me/tiny/resolve/main/tiny-Q8_0.gguf"
    with pytest.raises(AddressRefused, match="private network"):
        fetch(downloads, wanted)
    assert not hub.asked
    opened = Downloads(tmp_path / "models", allowed=[hub.url.removeprefix("http://")])
    assert fetch(opened, wanted)[-1].stage == "done"
    (tmp_path / "models" / "tiny-Q8_0.gguf").unlink()
    assert fetch(downloads, wanted, owner=True)[-1].stage == "done"


@pytest.mark.parametrize("linked", [True, False])
def test_a_redirect_leads_to_no_other_place_of_the_network(hub: Hub, tmp_path: Path, linked: bool) -> None:
    wanted, downloads = f"{hub.url}/me/tiny/resolve/main/tiny-Q8_0.gguf", Downloads(tmp_path / "models")
    hub.linked = linked
    with hub_server() as other:
        other.files = hub.files
        hub.elsewhere = f"{other.url}/store/me/tiny/tiny-Q8_0.gguf"
        with pytest.raises(AddressRefused, match="private network"):
            fetch(downloads, wanted, owner=True)
        assert not other.asked
    for elsewhere in ("http://example.com/x.gguf", "http://u:p@127.0.0.1/x.gguf", "file:///etc/passwd"):
        hub.elsewhere = elsewhere
        with pytest.raises(ModelUnavailable):
            fetch(downloads, wanted, owner=True)


def test_an_address_with_a_password_is_refused(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="user name or password"):
        fetch(Downloads(tmp_path), hub.url.replace("//", "//u:p@") + "/x/y/resolve/main/x.gguf", owner=True)
    assert not hub.asked


def test_the_owner_goes_by_the_proxy_of_the_environment(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", hub.url)
    wanted = "http://127.0.0.1:9/me/tiny/resolve/main/tiny-Q8_0.gguf"
    with pytest.raises(LecternError):
        fetch(Downloads(tmp_path / "models"), wanted)
    assert not hub.asked
    with pytest.raises(ModelUnavailable):  # this proxy has no such file
        fetch(Downloads(tmp_path / "models"), wanted, owner=True)
    assert hub.asked[0][:2] == ("HEAD", wanted)
