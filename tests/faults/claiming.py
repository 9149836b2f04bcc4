"""A process that wants a library which another one may have."""

from __future__ import annotations

import os
import time
from multiprocessing.connection import Connection

from rag_core import Library
from rag_core.errors import LibraryInUse
from tests.faults.judge import Verdict
from tests.faults.worker import Plan, Said


def claim(plan: Plan, pipe: Connection) -> None:
    """Open the library and say so, with this process's id, or say what it was told; keep it for a while."""
    try:
        with Library.open(plan.settings()) as library:
            library.documents()
            pipe.send(Said(Verdict(held=[str(os.getpid())])))
            time.sleep(plan.work_s)
    except LibraryInUse as error:
        pipe.send(Said(error=str(error)))
