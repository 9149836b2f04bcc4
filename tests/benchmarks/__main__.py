"""Every benchmark, one after another: `python -m tests.benchmarks`. One JSON line for each result."""

from __future__ import annotations

import subprocess
import sys

from tests.benchmarks.measure import SHARED, emit

_FILING = SHARED / "data" / "filings" / "NETFLIX_2018_10K.pdf"
_REFERENCE = SHARED / "bench" / "langchain_reference.py"
_ALONE = [
    ["search", "--chunks", "10000"], ["start", "--chunks", "10000"], ["bulk", "--files", "10000"],
    ["rescan", "--files", "10000"],
    ["recovery", "--files", "10000"], ["evaluate", "--questions", "500", "--chunks", "10000"],
    ["generation"], ["real_models"], ["crowd", "--chunks", "10000"], ["serve", "--chunks", "10000"],
    ["locked"], ["long_table"], ["face", "--documents", "500"],
]  # fmt: skip
_WITH_SHARED = [
    ["ingest", "--reference", str(_REFERENCE), str(_FILING)], ["embedding_quality"], ["prose"], ["people"],
    ["statements"], ["tables", "--rows", "100000"], ["reading"], ["layout"], ["grounding"], ["ocr"], ["retrieval"],
    ["seeds"], ["seeds", "--plain"], ["scan", "--rows", "10000", "100000"],
]  # fmt: skip


def main() -> int:
    """Run them all; exit code 1 when one fails."""
    failed = 0
    if not SHARED.is_dir():
        emit(skipped=[name for name, *_ in _WITH_SHARED], reason=f"the data they measure on is not at {SHARED}")
    for name, *arguments in [*(_WITH_SHARED if SHARED.is_dir() else []), *_ALONE]:
        failed += subprocess.run([sys.executable, "-m", f"tests.benchmarks.{name}", *arguments]).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
