"""A process whose files may not grow beyond a few kilobytes for a while; its embedded PostgreSQL's may."""

from __future__ import annotations

import resource
from multiprocessing.connection import Connection

from tests.faults.bench import HELD, Bench, add, answers, catch_up
from tests.faults.journal import Journal
from tests.faults.judge import judge
from tests.faults.shelf import Shelf
from tests.faults.worker import Plan, Said

# Enough for a short text and the dump of one chunk, too little for a longer document or for Chroma.
_LIMIT_BYTES = 3000


def live_limited(plan: Plan, pipe: Connection) -> None:
    """Add every document of the shelf under the limit, then again without it, and judge."""
    shelf = Shelf.load(plan.shelf)
    bench = Bench(plan.settings(), shelf)
    library = bench.open()
    add(bench, library, shelf.items[:HELD])
    library.storage.settle()
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LIMIT_BYTES, most))
    failed = add(bench, library, shelf.items)
    answers(bench, library)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert 0 < failed < len(shelf.items) - HELD, failed
    assert add(bench, library, shelf.items) == 0
    catch_up(library)
    verdict = judge(library, shelf, bench.expected)
    Journal(plan.journal).write(judged=verdict.held)
    bench.end()
    pipe.send(Said(verdict))
