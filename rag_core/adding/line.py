"""The line: windows are embedded in one thread and stored in another, in the order in which they come."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from rag_core.adding.course import Course
from rag_core.adding.turn import Turn
from rag_core.adding.window import Work, parts
from rag_core.domain import Profile
from rag_core.embedding import Embedder
from rag_core.errors import LecternError
from rag_core.storage import Storage, Stored

# One that is embedded and one that is stored: more would only take memory.
_WINDOWS = 2


class Line:
    """Embeds and commits the windows of one run. As a context manager it ends when all of them have."""

    def __init__(self, storage: Storage, embedder: Callable[[], Embedder], turn: Turn, course: Course) -> None:
        self._storage = storage
        self._embedder = embedder
        self._turn = turn
        self._course = course
        self._embedding = ThreadPoolExecutor(1, thread_name_prefix="lectern-embed")
        self._storing = ThreadPoolExecutor(1, thread_name_prefix="lectern-store")
        self._room = threading.BoundedSemaphore(_WINDOWS)
        self._under_way: deque[Future[None]] = deque()

    def put(self, works: Sequence[Work]) -> None:
        """Send a window on its way, once there is room for it."""
        self._room.acquire()
        self._under_way.append(self._embedding.submit(self._embed, works))

    def drain(self) -> None:
        """Wait until every window has been stored or given up."""
        while self._under_way:
            self._under_way.popleft().result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.drain()
        finally:
            self._embedding.shutdown()
            self._storing.shutdown()

    def _embed(self, works: Sequence[Work]) -> None:
        handed_on = False
        self._turn.enter()
        try:
            works = self._course.unstopped(works)
            if works:
                profile, batch = self._embedded(works)
                self._under_way.append(self._storing.submit(self._store, works, batch, profile))
                handed_on = True
        except LecternError as error:
            self._give_up(works, error)
        finally:
            if not handed_on:
                self._leave()

    def _embedded(self, works: Sequence[Work]) -> tuple[Profile, list[Stored]]:
        embedder = self._embedder()
        alone = works[0].source if len(works) == 1 else None

        def tell(done: int, total: int) -> None:
            for work in works if alone is not None or done in (0, total) else ():
                share = len(work.chunks)
                self._course.tell(work.source, "embedding", done * share // max(total, 1), share)

        texts = [chunk.text for work in works for chunk in work.chunks]
        tell(0, len(texts))
        contexts = [work.context(chunk) for work in works for chunk in work.chunks]
        vectors, pieces = embedder.encode_with_pieces(
            texts, contexts, progress=tell, cancelled=lambda: self._course.stopped(alone)
        )
        batch = [
            Stored(work.document.id, work.parsed, work.chunks, vectors[part], pieces[part], work.replaces)
            for work, part in zip(works, parts(works), strict=True)
            if work.parsed is not None
        ]
        return embedder.profile, batch

    def _store(self, works: Sequence[Work], batch: Sequence[Stored], profile: Profile) -> None:
        try:
            works = self._course.unstopped(works)
            for work in works:
                self._course.tell(work.source, "storing", len(work.chunks), len(work.chunks))
            if works:
                left = {work.document.id for work in works}
                self._storage.commit([item for item in batch if item.document_id in left], profile)
                self._course.end(works)
        except LecternError as error:
            self._give_up(works, error)
        finally:
            self._leave()

    def _give_up(self, works: Sequence[Work], error: LecternError) -> None:
        for work in works:
            self._course.give_up(work, error)

    def _leave(self) -> None:
        self._turn.leave()
        self._room.release()
