"""Files that come over the wire: written to disk as they come, so that memory holds none of them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.datastructures import UploadFile
from starlette.requests import Request

from rag_core.api.doors import Doors
from rag_core.api.limits import too_large
from rag_core.api.problems import Refused
from rag_core.domain import Upload
from rag_core.library import Library

FOLDER = "uploads"
_NAME_BYTES = 200
_BLOCK_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Received:
    """Files as they came, each in a folder of its own under the name that it was sent with, and their digest."""

    paths: tuple[Path, ...]
    digest: str
    password: str | None = None

    def uploads(self) -> Iterator[Upload]:
        """Each read when its turn comes. Added by their paths, which end with the request, they would be looked for."""
        return (Upload(path.name, path.read_bytes()) for path in self.paths)


@asynccontextmanager
async def received(request: Request, library: Library) -> AsyncIterator[Received]:
    """The files of a request, until the block ends: the parts of a form, or a body with its name in `?name=`.

    Raises Refused for a file that is too large, or a request without one.
    """
    parent = library.folder / FOLDER
    parent.mkdir(mode=0o700, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent))
    digest, paths = hashlib.sha256(), list[Path]()
    password: str | None = None
    most = library.settings.reading.max_file_bytes
    try:
        if request.headers.get("content-type", "").startswith("multipart/form-data"):
            async with request.form(max_files=1000) as form:
                for name, value in form.multi_items():
                    if isinstance(value, UploadFile):
                        path = _place(folder, len(paths), value.filename or "")
                        digest.update(await to_thread.run_sync(_copy, value, path, most))
                        paths.append(path)
                    elif name == "password":
                        password = value
        else:
            path = _place(folder, 0, request.query_params.get("name", ""))
            password = request.headers.get("x-document-password")
            size = 0
            with path.open("wb") as file:
                async for block in request.stream():
                    size += len(block)
                    if size > most:
                        raise too_large(most)
                    digest.update(block)
                    file.write(block)
            paths.append(path)
        if not paths:
            raise Refused(422, "The request has no file.", "Send it as a part of a form, or as the body with ?name=.")
        yield Received(tuple(paths), digest.hexdigest(), password or None)
    finally:
        await to_thread.run_sync(shutil.rmtree, folder, True)


def turn(doors: Doors, who: str, key: str) -> AbstractAsyncContextManager[None]:
    """Held while a request is carried out: others under its idempotency key, if it has one, wait for its answer."""
    return doors.turns.setdefault((who, key), asyncio.Lock()) if key else nullcontext()


def repeated(library: Library, who: str, key: str, digest: str) -> Any | None:
    """The answer to the same request before. Raises Refused for another request under the same idempotency key."""
    found = library.access.answered(who, key)
    if found is not None and found[0] != digest:
        raise Refused(422, "This Idempotency-Key was used for another request.", "Take a new one.")
    return json.loads(found[1]) if found else None


def keep_answer(library: Library, who: str, key: str, digest: str, answer: Any) -> None:
    """Keep an answer under an idempotency key."""
    library.access.keep_answer(who, key, digest, json.dumps(answer))


def _place(folder: Path, number: int, name: str) -> Path:
    """Where a file is written: under its own name, which its document will be called by."""
    name = Path(name.replace("\\", "/").replace("\0", "")).name
    stem, suffix = os.path.splitext(name)  # noqa: PTH122  Path.suffix takes less for one
    suffix = suffix if len(suffix.encode()) <= 20 else ""
    stem = stem.encode("utf-8", "ignore")[: _NAME_BYTES - 20].decode("utf-8", "ignore")
    inside = folder / str(number)
    inside.mkdir()
    return inside / (f"{stem}{suffix}" if stem.strip(". ") else f"upload{suffix}")


def _copy(upload: UploadFile, path: Path, most: int) -> bytes:
    """Copy a part of a form that lies in a temporary file; returns its digest."""
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        while block := upload.file.read(_BLOCK_BYTES):
            size += len(block)
            if size > most:
                raise too_large(most)
            digest.update(block)
            file.write(block)
    return digest.digest()
