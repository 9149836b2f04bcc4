"""How soon a library answers after a kill: `python -m tests.benchmarks.recovery --files 10000`.

A library of that many documents is being added to when its process and its PostgreSQL are killed together, as by a
power cut. `ready_s` runs from the start of a new process until it has printed the answer to a question, so it holds
the start of Python, PostgreSQL's own recovery, the mapping of the dumps, loading the model and searching; whatever is
still rebuilt or resumed then goes on behind. Median of some kills; `lost` counts documents that were told ready before
a kill and are not there after it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from tests.benchmarks.bulk import paragraphs, write_files
from tests.benchmarks.measure import PROJECT, emit

# Documents of which some are under way when the kill comes.
_MORE = 1_000


def command(data_dir: Path, *words: str) -> subprocess.Popen[str]:
    """The command line on a library of its own."""
    environment = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "CHROMA_URL")}
    return subprocess.Popen(
        [sys.executable, "-m", "rag_core", *words], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, env=environment | {"LECTERN_DATA_DIR": str(data_dir)},
    )  # fmt: skip


def add_and_kill(data_dir: Path, folder: Path, new: int) -> set[str]:
    """Add a folder and kill everything once `new` documents more are ready. Returns all that were told ready."""
    process = command(data_dir, "add", "--json", str(folder))
    ready: set[str] = set()
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)
        if event["stage"] == "ready":
            ready.add(event["document"])
            new -= not event["note"]
        if new <= 0:
            break
    postmaster = psutil.Process(int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0]))
    doomed = [psutil.Process(process.pid), postmaster]
    doomed += [child for parent in doomed for child in parent.children(recursive=True)]
    for each in doomed:
        with contextlib.suppress(psutil.NoSuchProcess):  # the others' end was its own
            each.kill()
    psutil.wait_procs(doomed, timeout=10)
    process.communicate()
    return ready


def answer(data_dir: Path, question: str) -> float:
    """Seconds from the start of a process until it has printed its answer."""
    started = time.perf_counter()
    process = command(data_dir, "ask", "--json", question)
    assert process.stdout is not None
    line = process.stdout.readline()
    took = time.perf_counter() - started
    process.communicate()
    if process.returncode or not json.loads(line)["citations"]:
        raise RuntimeError(f"the question was not answered after a kill: {line}")
    return took


def lost(data_dir: Path, ready: set[str]) -> int:
    """How many of these documents are not ready in the library."""
    out, _ = command(data_dir, "documents", "--json").communicate()
    documents = map(json.loads, out.splitlines())
    return len(ready - {document["id"] for document in documents if document["state"] == "ready"})


def measure(files: int, kills: int, work: Path, texts: Sequence[str]) -> None:
    """Fill a library, then kill and ask again and again."""
    folder, data_dir = work / "notes", work / "library"
    folder.mkdir()
    write_files(folder, texts[:files])
    ready = add_and_kill(data_dir, folder, files)
    took = []
    gone = 0
    for kill in range(kills):
        more = work / f"more {kill}"
        more.mkdir()
        write_files(more, texts[files + kill * _MORE : files + (kill + 1) * _MORE])
        ready |= add_and_kill(data_dir, more, _MORE // 2)
        took.append(answer(data_dir, f"What is said of this: {texts[kill][:100]}?"))
        gone += lost(data_dir, ready)
    emit(
        benchmark="recovery", files=files, kills=kills, ready_s=round(statistics.median(took), 2),
        ready_all_s=[round(value, 2) for value in took], told_ready=len(ready), lost=gone,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args()
    texts = paragraphs(options.files + options.kills * _MORE)
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as work:
        measure(options.files, options.kills, Path(work), texts)


if __name__ == "__main__":
    main()
