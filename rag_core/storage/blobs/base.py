"""What every store of bytes offers. A new one is a class in a file of its own, and one line in `STORES`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from urllib.parse import urlsplit

from rag_core.errors import ConfigurationError
from rag_core.settings import Settings

# The scheme of an address to the module and class that opens it.
STORES = {
    "file": ("rag_core.storage.blobs.folder", "FolderBlobs"),
    "s3": ("rag_core.storage.blobs.s3", "S3Blobs"),
}
_LEFT_S = 24 * 3600.0


class Blobs(ABC):
    """Bytes that are written once under a key and never changed. Thread-safe.

    address: by which another process, or another machine, opens the same store.
    """

    address: str

    @classmethod
    @abstractmethod
    def at(cls, address: str) -> Blobs:
        """The store of an address, as it is: nothing is made or cleared."""

    @abstractmethod
    def prepare(self, copies: Path, older_s: float = 0.0) -> None:
        """Make it where it is not there, and clear what a killed writer left so many seconds ago.

        copies: a folder of this process alone, for what is fetched. Raises ConfigurationError, StoreUnavailable.
        """

    @abstractmethod
    def path(self, key: str) -> Path:
        """A file of this machine with the bytes of a key, fetched where they are elsewhere; it may not exist."""

    @abstractmethod
    def named(self, key: str, name: str) -> Path:
        """The same under a name, which tells what opens it; by key where it cannot be given."""

    def open(self, key: str) -> BufferedReader:
        """The bytes of a key to be read, of which no copy stays. Raises OSError where they are lost."""
        return self.path(key).open("rb")

    @abstractmethod
    def has(self, key: str) -> bool:
        """Whether there are bytes of a key."""

    @abstractmethod
    def keys(self, prefix: str) -> list[str]:
        """The keys that begin so."""

    @abstractmethod
    def listing(self) -> dict[str, tuple[int, float]]:
        """What is kept of documents by id: its size in bytes and when it was written, seconds since 1970."""

    @abstractmethod
    def read(self, key: str) -> bytes | None:
        """The bytes of a key; None where they are lost."""

    @abstractmethod
    def write(self, key: str, parts: Iterable[bytes | memoryview]) -> None:
        """Keep bytes. Raises StoreUnavailable when they are refused."""

    @abstractmethod
    def write_many(self, blobs: Mapping[str, bytes]) -> None:
        """Keep many, synced together. Raises StoreUnavailable; some may then be kept."""

    @abstractmethod
    def remove(self, key: str) -> None:
        """Remove the bytes of a key; harmless when there are none. Raises StoreUnavailable."""

    @abstractmethod
    def free(self) -> float:
        """How many more bytes find room, as far as there is a bound."""

    def tidy(self) -> None:  # noqa: B027  not every store has copies
        """Clear away copies that nobody asked for lately; called every minute or so."""

    def holds(self, key: str, data: bytes) -> bool:
        """Whether the bytes of a key are here and sound."""
        return self.read(key) == data


@cache
def open_blobs(address: str) -> Blobs:
    """The store of an address, opened once in a process. Raises ConfigurationError."""
    scheme = urlsplit(address).scheme
    if scheme not in STORES:
        raise ConfigurationError(
            f"Originals cannot be kept at {address}.",
            help="LECTERN_STORAGE__ORIGINALS takes a folder, or a bucket: s3://bucket/prefix.",
        )
    module, name = STORES[scheme]
    store: Blobs = getattr(import_module(module), name).at(address)
    return store


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes by where they are: what is sent to another machine in their place."""

    store: str
    key: str

    def path(self) -> Path:
        """A file of this machine that holds them."""
        return open_blobs(self.store).path(self.key)


def originals(settings: Settings) -> Blobs:
    """The store of the originals as it is. Raises ConfigurationError."""
    place = settings.storage.originals
    if place and "://" in str(place):
        return open_blobs(str(place))
    return open_blobs(Path(place or settings.data_dir / "files").expanduser().absolute().as_uri())


def prepared_originals(settings: Settings) -> Blobs:
    """The same, made and cleared of what a killed writer left; where servers share it, of what is older than a day.

    Raises ConfigurationError, StoreUnavailable.
    """
    store = originals(settings)
    copies = settings.data_dir.expanduser().absolute() / "fetched"
    store.prepare(copies, _LEFT_S if settings.storage.originals else 0.0)
    return store
