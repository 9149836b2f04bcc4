"""The executor: carries what comes through a stage of the road, with a bounded queue before it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from rag_core.ingest.work import Work


class Executor:
    """Carries out a stage in threads of this process. As a context manager it ends when all that was put is through.

    act: the stage; what it makes it puts into the next one's executor. workers: how many batches at a time. weigh: what
    an item adds to a batch; a batch is what waits when a worker is free, the first item and as many more as keep it
    within `batch`. room: who puts waits while this much is waiting. broken: called when the stage fails for a reason
    that is none of its items'; leaving the context raises that.

    A stage on other machines is another class with these methods: `put`, `idle`, and those of a context manager.
    """

    def __init__(
        self,
        act: Callable[[list[Work]], None],
        *,
        weigh: Callable[[Work], int],
        batch: int,
        room: float,
        broken: Callable[[], None],
        workers: int = 1,
    ) -> None:
        self._act = act
        self._weigh = weigh
        self._batch = batch
        self._room = room
        self._broken = broken
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._waiting: deque[Work] = deque()
        self._weight = 0
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="lectern-ingest")

    def put(self, items: Collection[Work]) -> None:
        """Have items carried through, once there is room for them."""
        if not items:
            return
        with self._changed:
            self._changed.wait_for(lambda: self._weight < self._room)
            self._waiting.extend(items)
            self._weight += sum(map(self._weigh, items))
        for _ in items:  # one of these takes a batch; where all went with an earlier one, it has nothing to do
            self._threads.submit(self._step).add_done_callback(self._end)

    @property
    def idle(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()
        if self._error is not None:
            raise self._error

    def _step(self) -> None:
        if batch := self._take():
            self._act(batch)

    def _take(self) -> list[Work]:
        taken: list[Work] = []
        weight = 0
        with self._changed:
            while self._waiting:
                more = self._weigh(self._waiting[0])
                if taken and weight + more > self._batch:
                    break
                taken.append(self._waiting.popleft())
                weight += more
            self._weight -= weight
            self._changed.notify_all()
        return taken

    def _end(self, step: Future[None]) -> None:
        error = step.exception()
        if error is not None:
            self._error = self._error or error
            self._broken()
