"""Downloading a model file: with progress, on from where it stopped, and checked by its SHA-256 before it counts."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from rag_core.domain import Progress, UnfinishedDownload
from rag_core.errors import (
    Cancelled,
    LecternError,
    LimitExceeded,
    ModelUnavailable,
    SourceUnavailable,
    StoreUnavailable,
)
from rag_core.models.gguf_files import GGUF_MAGIC, check_gguf
from rag_core.models.hub import Remote, checked, default_hub, find
from rag_core.models.server_errors import unavailable

if TYPE_CHECKING:
    import httpx

_FOLDER = ".downloads"
_BLOCK_BYTES = 1 << 18
_TELL_S = 0.2
_SILENCE_S = 30.0
_TRIES = 5
_WAIT_S = 1.0


class Downloads:
    """Downloads into a models folder; what is not whole yet lies in a folder of its own inside it.

    allowed: hosts, or host:port, that may be fetched from though their addresses are not public, beside the hub's.
    """

    def __init__(self, folder: Path, *, hub: str = "", min_free_bytes: int = 0, allowed: Collection[str] = ()) -> None:
        self._folder = folder
        self._parts = folder / _FOLDER
        self._hub = hub
        self._min_free_bytes = min_free_bytes
        self._allowed = allowed

    def unfinished(self) -> tuple[UnfinishedDownload, ...]:
        """Downloads that can go on, by name."""
        found = []
        for note in sorted(self._parts.glob("*.json")) if self._parts.is_dir() else []:
            try:
                told = json.loads(note.read_text(encoding="utf-8"))
                done = note.with_suffix(".part").stat().st_size
                found.append(UnfinishedDownload(str(told["wanted"]), str(told["name"]), done, int(told["size_bytes"])))
            except (OSError, ValueError, KeyError, TypeError):
                continue  # a note that was cut short by a crash: the next download of that name begins again
        return tuple(found)

    def discard(self, name: str) -> None:
        """Throw away what an unfinished download has fetched. Raises StoreUnavailable."""
        for path in (self._part(name), self._part(name).with_suffix(".json")):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StoreUnavailable(f"{path.name} cannot be removed: {error.strerror}.") from error

    def download(
        self, wanted: str, *, sha256: str = "", owner: bool = False, cancelled: Callable[[], bool]
    ) -> Iterator[Progress]:
        """Yield how far it is, in bytes: "finding", "downloading", "checking", last "done" with the file's name.

        wanted: a hub name or an address, see `rag_core.models.hub`. sha256: what the file must have, beside what the
        server says. owner: whoever asks may name an address of this machine or its network, and goes by the proxy that
        the environment names. What was fetched stays when it is stopped or fails, save where it is wrong. Raises
        Cancelled, ModelUnavailable, AddressRefused, LimitExceeded for a full disk, and StoreUnavailable.
        """
        import httpx

        yield Progress("finding", note=wanted)
        hub = self._hub or default_hub()
        allowed = [*self._allowed, _place(hub), *([_place(wanted)] if owner and "://" in wanted else [])]
        with _client(allowed, cancelled, proxied=owner) as client, _translated(wanted):
            remote = find(client, wanted, hub)
            expected = {value.strip().lower() for value in (sha256, remote.sha256) if value.strip()}
            if (self._folder / remote.name).exists():
                raise ModelUnavailable(
                    f"{remote.name} is in the models folder already.", help="Remove it first to download it again."
                )
            part = self._begun(remote, wanted)
            self._check_room(remote, part)
            failed = 0
            while True:
                before = part.stat().st_size
                try:
                    yield from _fetched(client, remote, part, cancelled)
                    break
                except (httpx.TransportError, LimitExceeded, SourceUnavailable) as error:
                    failed = 0 if part.stat().st_size > before else failed + 1
                    if failed >= _TRIES:
                        raise _broke_off(wanted) from error
                    _wait(_WAIT_S * 2**failed, cancelled)
            digest = yield from _hashed(part, cancelled)
            self._accept(remote, part, digest, expected)
        yield Progress("done", note=remote.name if expected else f"{remote.name}, whose server tells no SHA-256")

    def _part(self, name: str) -> Path:
        return self._parts / f"{Path(name).name}.part"

    def _begun(self, remote: Remote, wanted: str) -> Path:
        """The file that grows, empty where what is there is of another version. Raises StoreUnavailable."""
        part = self._part(remote.name)
        note = part.with_suffix(".json")
        about = {**asdict(remote), "wanted": wanted}
        try:
            self._parts.mkdir(parents=True, exist_ok=True)
            told: Any = json.loads(note.read_text(encoding="utf-8")) if note.exists() else {}
        except ValueError:
            told = {}
        if not remote.etag or told.get("etag") != remote.etag or told.get("url") != remote.url:
            part.unlink(missing_ok=True)
        part.touch()
        note.write_text(json.dumps(about), encoding="utf-8")
        if remote.size_bytes and part.stat().st_size > remote.size_bytes:
            part.write_bytes(b"")
        return part

    def _check_room(self, remote: Remote, part: Path) -> None:
        wanted = remote.size_bytes - part.stat().st_size + self._min_free_bytes
        free = shutil.disk_usage(self._folder).free
        if free < wanted:
            raise LimitExceeded(
                f"{remote.name} needs {remote.size_bytes / 1e9:.1f} GB; the disk has {free / 1e9:.1f} GB left.",
                help="Make room on the disk, or choose a smaller model.",
            )

    def _accept(self, remote: Remote, part: Path, digest: str, expected: set[str]) -> None:
        """Put a whole file into the models folder. Raises ModelUnavailable for one that is not what it should be."""
        size = part.stat().st_size
        wrong = bool(expected - {digest}) or (remote.size_bytes and size != remote.size_bytes)
        if not wrong:
            try:
                check_gguf(part)
            except ModelUnavailable:
                wrong = True
        if wrong:
            self.discard(remote.name)
            raise ModelUnavailable(
                f"{remote.name} is not what its server says it is: its SHA-256 is {digest}.",
                help="It was thrown away. Download it again, or from elsewhere.",
            )
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(self._folder / remote.name)
        self.discard(remote.name)


def _fetched(client: httpx.Client, remote: Remote, part: Path, cancelled: Callable[[], bool]) -> Iterator[Progress]:
    """Fetch what is missing."""
    done = part.stat().st_size
    if remote.size_bytes and done == remote.size_bytes:
        return
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    with client.stream("GET", remote.url, headers=headers) as response:
        if response.status_code not in (200, 206):
            raise ModelUnavailable(f"{remote.name} was refused ({response.status_code}).", help="Try again later.")
        if response.status_code == 200:  # the whole file: not every server can go on from the middle
            done = 0
        told = 0.0
        with part.open("ab" if done else "wb") as file:
            for block in response.iter_bytes(_BLOCK_BYTES):
                if cancelled():
                    raise _stopped()
                if not done and not block.startswith(GGUF_MAGIC):
                    raise ModelUnavailable(f"{remote.name} is not a model in GGUF form.", help="Check the address.")
                file.write(block)
                done += len(block)
                if time.monotonic() - told > _TELL_S:
                    told = time.monotonic()
                    yield Progress("downloading", done, remote.size_bytes, remote.name)


def _hashed(part: Path, cancelled: Callable[[], bool]) -> Generator[Progress, None, str]:
    """Read the whole file for its SHA-256, in lower-case hexadecimal digits."""
    digest, done, size = hashlib.sha256(), 0, part.stat().st_size
    with part.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            if cancelled():
                raise _stopped()
            digest.update(block)
            done += len(block)
            if done % (256 * _BLOCK_BYTES) == 0 or done == size:
                yield Progress("checking", done, size)
    return digest.hexdigest()


def _client(allowed: Collection[str], cancelled: Callable[[], bool], *, proxied: bool) -> httpx.Client:
    """What asks servers: by way of the guard, or of the environment's proxy, which then judges. Each redirect is looked
    at as the first address is."""
    import httpx

    from rag_core.network.guard import GuardedNetwork, GuardedTransport

    hooks: dict[str, Any] = {"request": [lambda request: checked(str(request.url))]}
    if proxied and not {"http", "https", "all"}.isdisjoint(getproxies()):
        return httpx.Client(timeout=_SILENCE_S, follow_redirects=True, event_hooks=hooks)
    transport = GuardedTransport(GuardedNetwork(allowed, cancelled, silence_s=_SILENCE_S))
    return httpx.Client(transport=transport, trust_env=False, follow_redirects=True, event_hooks=hooks)


def _place(address: str) -> str:
    """The host and port of an address, as the guard has them; "" for what is none."""
    try:
        parts = urlsplit(address)
        return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    except ValueError:
        return ""


def _wait(seconds: float, cancelled: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if cancelled():
            raise _stopped()
        time.sleep(0.05)


def _stopped() -> Cancelled:
    return Cancelled("The download was stopped.", help="It goes on from there when you like.")


@contextmanager
def _translated(wanted: str) -> Iterator[None]:
    """Failures of the network and of the disk, in words that a person can use."""
    import httpx

    try:
        yield
    except Cancelled as error:
        raise _stopped() from error
    except (httpx.ConnectError, SourceUnavailable) as error:
        raise unavailable(
            f"The server of {wanted[:100]} cannot be reached.", "Check the connection and the name."
        ) from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise _broke_off(wanted) from error
    except OSError as error:
        raise StoreUnavailable(f"The models folder cannot be written: {error.strerror or error}.") from error


def _broke_off(wanted: str) -> LecternError:
    return unavailable(f"The download of {wanted[:100]} broke off.", "Try again: it goes on from there.")
