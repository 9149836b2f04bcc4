"""The stages on a Ray cluster: each is tasks of one processor, named by the hash of what they are made of.

Tasks are pure, so that one of a node that is lost is carried out again elsewhere; what a result is worth is decided
where it is committed, by this process, as with any executor. A cluster that fails leaves documents pending: they are
gone on with. A worker process keeps its model and its reader from one task to the next.
"""

from __future__ import annotations

import atexit
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from socket import gethostname
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np

from rag_core import __version__
from rag_core.domain import Chunk, ParsedDocument
from rag_core.embedding import Embedder
from rag_core.errors import Cancelled, ConfigurationError, LecternError, ModelUnavailable, StoreUnavailable
from rag_core.ingest import stages
from rag_core.ingest.ray_cluster import Cluster, first_line, join
from rag_core.ingest.stages import Embedded, File, Model, Stopped
from rag_core.reading.reader import Begun, Progress
from rag_core.runtime.interpreter import share_cores
from rag_core.settings import ChunkingSettings, ReadingSettings, Settings
from rag_core.storage.blobs import Blobs, open_blobs, originals

_MODEL_BYTES = 2**30
"""Memory of a task that embeds or cuts."""
_RETRIES = 3
_LOOK_S = 0.2
_DOCUMENTS = 16  # small ones that a task reads or cuts
_TEXTS = 64
Made = TypeVar("Made")
Item = TypeVar("Item")


class RayStages:
    """The stages as tasks of the cluster of RAY_ADDRESS, joined by `open`."""

    def __init__(self, settings: Settings) -> None:
        self._originals = originals(settings).address
        self._reading_bytes = settings.reading.memory_bytes
        self._joining = threading.Lock()
        self._cluster: Cluster | None = None
        self.readers = self.embedders = 1

    def open(self) -> str:
        """Join it. Raises ConfigurationError, StoreUnavailable."""
        with self._joining:
            if self._cluster is None:
                most = max(self._reading_bytes, _MODEL_BYTES)
                self._cluster = join(most, _look, __version__, self._originals)
                self.readers = self._cluster.slots + 1
                self.embedders = self._cluster.slots // 2 + 1
            return self._cluster.how

    def close(self) -> None:
        """Leave it; what is under way there is dropped."""
        with self._joining:
            if self._cluster is not None:
                import ray

                ray.shutdown()
                self._cluster = None

    def parse(
        self, file: File, settings: ReadingSettings, *, progress: Progress, stopped: Stopped, begun: Begun
    ) -> ParsedDocument:
        """One task, which tells how far it is. Nothing is begun early: other documents keep the cluster at work."""
        return retried(lambda: self._parsed(file, settings, progress, stopped))

    def parse_small(
        self, files: Sequence[File], settings: ReadingSettings, *, stopped: Stopped
    ) -> list[ParsedDocument | LecternError]:
        """A task for some files."""
        given = [(part[0].blob.key, (part, _alone(settings))) for part in _parts(files, _DOCUMENTS)]
        return _joined(self._carry(read_small, self._reading_bytes, given, stopped))

    def chunk(
        self, documents: Sequence[tuple[str, ParsedDocument]], settings: ChunkingSettings, model: Model, *,
        embedder: Embedder, stopped: Stopped,
    ) -> list[tuple[Chunk, ...]]:  # fmt: skip
        """A task for some documents."""
        parts = _parts(documents, _DOCUMENTS)
        given = [(part[0][0], (part, settings, _sent(model))) for part in parts]
        return _joined(self._carry(_chunk, _MODEL_BYTES, given, stopped))

    def embed(
        self, texts: Sequence[str], contexts: Sequence[str], model: Model, *, embedder: Embedder,
        progress: Progress | None = None, stopped: Stopped,
    ) -> Embedded:  # fmt: skip
        """A task for some texts, so that those of a long document are embedded side by side."""
        pairs = list(zip(texts, contexts, strict=True))
        given = [(_key(part), (part, _sent(model))) for part in _parts(pairs, _TEXTS)]

        def told(tasks: int) -> None:
            if progress is not None:
                progress(min(tasks * _TEXTS, len(texts)), len(texts))

        made: list[Embedded] = self._carry(_embed, _MODEL_BYTES, given, stopped, told)
        vectors = [part.vectors for part in made] or [np.empty((0, model.profile.dimensions), np.float32)]
        return Embedded(model.profile, np.concatenate(vectors), _joined([part.pieces for part in made]))

    def _carry(
        self, function: Callable[..., Any], memory: int, given: Sequence[tuple[str, tuple[Any, ...]]],
        stopped: Stopped, told: Callable[[int], None] | None = None,
    ) -> list[Any]:  # fmt: skip
        """What a function makes of some arguments each, by their keys, in order. Raises what one of them raised."""
        import ray

        waiting: list[Any] = []
        with _translated():
            try:
                made = [_task(function, memory, key).remote(__version__, *values) for key, values in given]
                waiting = made
                while waiting:
                    done, waiting = ray.wait(waiting, timeout=_LOOK_S)
                    if stopped():
                        raise Cancelled("Cancelled.")
                    if told and done:
                        told(len(made) - len(waiting))
                return [_sound(ray.get(one)) for one in made]
            finally:
                for one in waiting:
                    ray.cancel(one)

    def _parsed(self, file: File, settings: ReadingSettings, progress: Progress, stopped: Stopped) -> ParsedDocument:
        import ray

        with _translated():
            task = _task(read_file, self._reading_bytes, file.blob.key, num_returns="streaming", max_retries=0)
            steps = task.remote(__version__, file, _alone(settings))
            while True:
                done, _ = ray.wait([steps], timeout=_LOOK_S)
                if stopped():
                    ray.cancel(steps)
                    raise Cancelled("Cancelled.")
                if done:
                    step = _sound(ray.get(next(steps)))
                    if isinstance(step, ParsedDocument):
                        return step
                    progress(*step)


class NodeLost(StoreUnavailable):
    """A task ended with its process or its node."""


def retried(act: Callable[[], Made]) -> Made:
    """What comes of an action, tried again where its node is lost. Raises what it raises."""
    for _ in range(_RETRIES):
        try:
            return act()
        except NodeLost:
            continue
    return act()


@contextmanager
def _translated() -> Iterator[None]:
    """Around what is asked of the cluster: raises what a task raised, or NodeLost, which leaves documents pending."""
    import ray

    try:
        yield
    except ray.exceptions.RayTaskError as error:
        raise error.cause or error from None
    except (ray.exceptions.RayError, StopIteration) as error:
        raise NodeLost(
            f"The Ray cluster lost a task: {first_line(error)}", help="Nothing is lost: start it again, it goes on."
        ) from error


@cache
def _remote(function: Callable[..., Any]) -> Any:
    """A function as Ray knows it: made anew, it would be sent to every process again."""
    import ray

    return ray.remote(function)


def _task(function: Callable[..., Any], memory: int, key: str, **options: Any) -> Any:
    name = f"{function.__name__.strip('_')} {key}"
    usual = {"num_cpus": 1, "memory": memory, "max_retries": _RETRIES, "name": name}
    return _remote(function).options(**usual | options)


def _parts(items: Sequence[Item], most: int) -> list[Sequence[Item]]:
    return [items[first : first + most] for first in range(0, len(items), most)]


def _joined(parts: Sequence[Sequence[Item]]) -> list[Item]:
    return [item for part in parts for item in part]


def _key(texts: object) -> str:
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:32]


def _alone(settings: ReadingSettings) -> ReadingSettings:
    return settings.model_copy(update={"processes": 1})


def _sent(model: Model) -> Model:
    """A model as a task opens it."""
    settings = model.settings.model_copy(update={"cores": 1})
    return replace(model, settings=settings, models_dir=model.models_dir.absolute())


def _sound(made: Any) -> Any:
    if isinstance(made, LecternError):
        raise made
    return made


# What is carried out by the nodes. What a task cannot do comes back as a value, whole.


def _look(version: str, store: str) -> None:
    """Whether a node can carry out tasks. Raises ConfigurationError."""
    if version != __version__:
        raise ConfigurationError(
            f"The node {gethostname()} of the Ray cluster has Lectern {__version__}, this one is {version}.",
            help="Install the same release on every node.",
        )
    try:
        _store(store).free()
    except (OSError, StoreUnavailable) as error:
        raise ConfigurationError(
            f"The node {gethostname()} of the Ray cluster does not reach the originals at {store}.",
            help="docs/scale.md: LECTERN_STORAGE__ORIGINALS is a folder that every machine has, or a bucket.",
        ) from error


def _caught(version: str, act: Callable[[], Made]) -> Made | LecternError:
    """What an action makes, or raised. What this node lacks is no fault of a document."""
    try:
        if version != __version__:
            raise StoreUnavailable(f"The node {gethostname()} has Lectern {__version__}, not {version}.")
        share_cores()
        return act()
    except ModelUnavailable as error:
        return StoreUnavailable(f"The node {gethostname()} lacks the model. {error}", help=error.help)
    except LecternError as error:
        return error


@cache
def _store(address: str) -> Blobs:
    """The originals, with a place for the copies of this process where they are fetched."""
    store = open_blobs(address)
    if urlsplit(address).scheme != "file":
        copies = TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True)
        atexit.register(copies.cleanup)
        store.prepare(Path(copies.name))
    return store


def _check_here(files: Sequence[File]) -> None:
    store = _store(files[0].blob.store)
    store.tidy()
    for file in files:
        if not store.has(file.blob.key):
            raise StoreUnavailable(f"The node {gethostname()} does not have the original {file.blob.key}.")


def read_file(version: str, file: File, settings: ReadingSettings) -> Iterator[object]:
    """Steps of reading a file, pages done and in all, and last the document."""
    told: SimpleQueue[tuple[int, int] | None] = SimpleQueue()
    ended = threading.Event()

    def read() -> ParsedDocument:
        _check_here([file])
        return stages.parse(file, settings, progress=lambda *step: told.put(step), stopped=ended.is_set)

    with ThreadPoolExecutor(1) as thread:
        made: Future[object] = thread.submit(_caught, version, read)
        made.add_done_callback(lambda _: told.put(None))
        try:
            while (step := told.get()) is not None:  # no `yield from`: it passes on what Ray sends
                yield step
            yield made.result()
        finally:
            ended.set()


def read_small(version: str, files: Sequence[File], settings: ReadingSettings) -> object:
    """What `stages.parse_small` makes of files, or what kept this node from it."""

    def read() -> list[ParsedDocument | LecternError]:
        _check_here(files)
        return stages.parse_small(files, settings)

    return _caught(version, read)


def _chunk(
    version: str, documents: Sequence[tuple[str, ParsedDocument]], settings: ChunkingSettings, model: Model
) -> object:
    return _caught(version, lambda: [stages.chunk(key, parsed, settings, model) for key, parsed in documents])


def _embed(version: str, pairs: Sequence[tuple[str, str]], model: Model) -> object:
    texts, contexts = [text for text, _ in pairs], [context for _, context in pairs]
    return _caught(version, lambda: stages.embed(texts, contexts, model))
