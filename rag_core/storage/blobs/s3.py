"""A bucket of an S3-compatible store, each object named by its key; by s3fs, which the extra `s3` brings.

Where it is and who asks is said as to every other client of such stores: AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, AWS_REGION, a profile, or a machine's role. An object is there whole or not at all.
"""

from __future__ import annotations

import errno
import math
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib.util import find_spec
from io import BufferedReader
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from accelerator.atomic import work_path
from rag_core.errors import ConfigurationError, StoreUnavailable
from rag_core.storage.blobs.base import Blobs
from rag_core.storage.blobs.folder import ID, FolderBlobs
from rag_core.storage.disk import disk_failure, prepare_folder

# A copy is kept so long after it was last asked for: pages of a document are drawn one after the other.
_LATELY_S = 600.0
_WAITS = {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 2}}
_SETTING = "LECTERN_STORAGE__ORIGINALS=s3://bucket/prefix"


class S3Blobs(Blobs):
    """The objects of a bucket below a prefix. What needs a file gets a copy of this machine."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._root = f"{parts.netloc}{parts.path}".rstrip("/")
        self.address = f"s3://{self._root}"
        if not parts.netloc:
            raise ConfigurationError(f"{address} names no bucket.", help=_SETTING)
        if find_spec("s3fs") is None:
            raise ConfigurationError(
                "Originals in a bucket need the package s3fs.", help="pip install 'lectern[s3]', or: pip install s3fs"
            )
        from s3fs import S3FileSystem

        # What others write and remove is seen at once.
        self._bucket: Any = S3FileSystem(use_listings_cache=False, skip_instance_cache=True, config_kwargs=_WAITS)

    @classmethod
    def at(cls, address: str) -> S3Blobs:
        """The store of `s3://bucket/prefix`."""
        return cls(address)

    def prepare(self, copies: Path, older_s: float = 0.0) -> None:
        """Look whether the bucket answers, which is not made. Copies of before are removed."""
        shutil.rmtree(copies, ignore_errors=True)
        prepare_folder(copies)
        self._copies = copies
        self.keys("note-")

    def path(self, key: str) -> Path:
        """The copy."""
        copy = self._copies / key
        with suppress(FileNotFoundError):
            os.utime(copy)
            return copy
        with suppress(FileNotFoundError):
            self._fetched(key).replace(copy)
        return copy

    def named(self, key: str, name: str) -> Path:
        """A link of that name beside the copies."""
        self.path(key)
        return FolderBlobs(self._copies).named(key, name)

    def open(self, key: str) -> BufferedReader:
        """A copy that has no name."""
        work = self._fetched(key)
        try:
            return work.open("rb")
        finally:
            work.unlink()

    def has(self, key: str) -> bool:
        """Whether the object is there. Raises StoreUnavailable."""
        with suppress(FileNotFoundError), self._asked(key):
            self._bucket.info(self._place(key))
            return True
        return False

    def keys(self, prefix: str) -> list[str]:
        """The names that begin so. Raises StoreUnavailable."""
        return list(self._found(prefix))

    def listing(self) -> dict[str, tuple[int, float]]:
        """By size and date of the objects. Raises StoreUnavailable."""
        found = {key: one for key, one in self._found("").items() if ID.fullmatch(key)}
        return {key: (one["size"], one["LastModified"].timestamp()) for key, one in found.items()}

    def read(self, key: str) -> bytes | None:
        """What the object holds. Raises StoreUnavailable."""
        with suppress(FileNotFoundError), self._asked(key):
            return bytes(self._bucket.cat_file(self._place(key)))
        return None

    def write_many(self, blobs: Mapping[str, bytes]) -> None:
        """Each whole or not at all, several at a time."""
        with self._asked():
            self._bucket.pipe({self._place(key): data for key, data in blobs.items()})

    def write(self, key: str, parts: Iterable[bytes | memoryview]) -> None:
        """Whole or not at all, by a file of this machine: what breaks off on the way leaves nothing there."""
        work = work_path(self._copies / key)
        try:
            with self._asked():
                with work.open("wb") as file:
                    file.writelines(parts)
                self._bucket.put_file(str(work), self._place(key))
        finally:
            work.unlink(missing_ok=True)

    def remove(self, key: str) -> None:
        """The object, and the copy of it."""
        with self._asked():
            self._bucket.rm_file(self._place(key))
        FolderBlobs(self._copies).remove(key)

    def free(self) -> float:
        """There is no bound."""
        return math.inf

    def tidy(self) -> None:
        """Remove the copies that nobody asked for in ten minutes."""
        copies = FolderBlobs(self._copies)
        with os.scandir(self._copies) as entries:
            old = time.time() - _LATELY_S
            for name in [one.name for one in entries if one.is_file() and one.stat().st_mtime < old]:
                copies.remove(name)

    @cached_property
    def _copies(self) -> Path:
        """The folder of the copies: until it is said where, one that goes with the process."""
        self._own = tempfile.TemporaryDirectory(prefix="lectern-")
        return Path(self._own.name)

    def _place(self, key: str) -> str:
        return f"{self._root}/{key}"

    def _found(self, prefix: str) -> dict[str, dict[str, Any]]:
        with self._asked():
            found = self._bucket.find(self._root, prefix=prefix, detail=True)
        keys = {place.removeprefix(f"{self._root}/"): one for place, one in found.items()}
        return {key: one for key, one in keys.items() if "/" not in key}

    def _fetched(self, key: str) -> Path:
        """A new file with the bytes of an object. Raises FileNotFoundError, StoreUnavailable."""
        work = work_path(self._copies / key)
        try:
            with self._asked(key):
                self._bucket.get_file(self._place(key), str(work))
        except BaseException:
            work.unlink(missing_ok=True)
            raise
        return work

    @contextmanager
    def _asked(self, key: str = "") -> Iterator[None]:
        """What the bucket answers amiss as an error of the house. key: of what may not be there."""
        from botocore.exceptions import BotoCoreError

        try:
            yield
        except (OSError, BotoCoreError) as error:
            if isinstance(error, FileNotFoundError) and key:
                raise
            raise self._told(error) from error

    def _told(self, error: Exception) -> StoreUnavailable:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return disk_failure(error)
        if isinstance(error, FileNotFoundError):
            return StoreUnavailable(
                f"There is no bucket for {self.address}.", help=f"Make it, or name another: {_SETTING}"
            )
        if isinstance(error, PermissionError):
            return StoreUnavailable(
                f"{self.address} may not be used: {error}.",
                help="Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to those of somebody who may list the bucket, and"
                " get, put and delete what is in it.",
            )
        return StoreUnavailable(
            f"{self.address} does not answer: {error}.",
            help="Check AWS_ENDPOINT_URL, AWS_REGION, the keys and the network; what waits for it is tried again.",
        )
