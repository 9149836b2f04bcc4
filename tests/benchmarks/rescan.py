"""A second pass over a folder that did not change: `python -m tests.benchmarks.rescan --files 10000`.

`second_s` is the second `add` of the folder, from its call to its last event; `watched_s` a look of a watched folder
that knows its files already, as happens every few seconds; `one_s` an update of it after one file changed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from rag_core import Library, Settings
from tests.benchmarks.bulk import paragraphs, write_files
from tests.benchmarks.measure import emit


def measure(files: int, work: Path) -> None:
    """Add a folder twice, then watch it."""
    folder = work / "notes"
    folder.mkdir()
    write_files(folder, paragraphs(files))
    for path in folder.iterdir():  # written long ago, so that a time tells whether a file changed
        os.utime(path, (time.time() - 3600,) * 2)
    settings = Settings(_env_file=None, data_dir=work / "library").changed("sources", watch_every_s=3600)
    with Library.open(settings) as library:
        first = _timed(library.add([folder]))
        library.storage.settle()
        second = _timed(library.add([folder]))
        watched = library.sources.watch(folder).location
        _timed(library.sources.update([watched]))
        look = _timed(library.sources.update([watched]))
        (folder / "note 00000.txt").write_text("This note changed and says that the harbour has two cranes.")
        os.utime(folder / "note 00000.txt", (time.time() - 60,) * 2)
        one = _timed(library.sources.update([watched]))
    emit(
        benchmark="rescan", files=files, first_s=round(first, 2), second_s=round(second, 2), watched_s=round(look, 3),
        one_s=round(one, 2),
    )  # fmt: skip


def _timed(events: object) -> float:
    started = time.perf_counter()
    for _ in events:  # type: ignore[attr-defined]
        pass
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as work:
        measure(options.files, Path(work))


if __name__ == "__main__":
    main()
