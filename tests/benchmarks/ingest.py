"""The same PDF through Lectern and through the reference stack, both with models and parsers loaded, in one run.

    python -m tests.benchmarks.ingest --reference ../shared/bench/langchain_reference.py FILE.pdf ...

Prints one JSON object per file. `total_s` ends when the document is ready: in PostgreSQL and its dump, and found by
searches. `with_chroma_s` ends when Chroma holds it too, which happens in the background. `embedding_alone_s` is what
the vectors of its chunks take by themselves.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rag_core import Document, Library, Settings
from rag_core.text.context import context_of
from tests.benchmarks.measure import PROJECT, PeakMemory, emit

WARM_UP = PROJECT / "data" / "samples" / "veyra-ferry-handbook.pdf"


def lectern(file: Path) -> dict[str, Any]:
    """Add one file to a new library."""
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
        with (
            Library.open(Settings(_env_file=None, data_dir=Path(folder))) as library,
            PeakMemory(Path(folder)) as memory,
        ):
            for _ in library.add([WARM_UP]):
                pass
            library.storage.settle()
            stages: dict[str, float] = {}
            started = time.perf_counter()
            for event in library.add([file]):
                if event.error is not None:
                    raise event.error
                stages.setdefault(event.stage, round(time.perf_counter() - started, 3))
            total = time.perf_counter() - started
            library.storage.settle()
            settled = time.perf_counter() - started
            (document,) = [d for d in library.documents() if file.name in d.sources]
            alone = embedding_alone_s(library, document)
        return {
            "total_s": round(total, 3), "with_chroma_s": round(settled, 3), "stage_begins_s": stages,
            "pages": document.page_count, "chunks": document.chunk_count,
            "embedding_alone_s": round(alone, 3), "share_of_embedding_alone": round(total / alone, 2),
            "peak_rss_mb": round(memory.peak_bytes / 2**20),
        }  # fmt: skip


def embedding_alone_s(library: Library, document: Document) -> float:
    """Seconds for the vectors of a document's chunks, and nothing else: no reading, no pieces, no storing."""
    embedder = library.embedding.get()
    named = document.title if embedder.profile.in_context else None
    texts = [
        chunk.text if named is None else context_of(named, chunk.section) + chunk.text
        for chunk in library.chunks(document.id)
    ]
    started = time.perf_counter()
    embedder.encode(texts)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--reference", type=Path, help="the reference stack's script; without it Lectern runs alone")
    options = parser.parse_args()
    for file in options.files:
        ours = lectern(file)
        peer: dict[str, Any] = {}
        if options.reference:
            done = subprocess.run(
                [sys.executable, options.reference, file], capture_output=True, text=True, check=True, timeout=570
            )
            peer = json.loads(done.stdout.splitlines()[-1])
        ratio = {"ratio_to_reference": round(peer["total_s"] / ours["total_s"], 2)} if peer else {}
        emit(benchmark="ingest", file=file.name, **ratio, **ours, reference=peer)


if __name__ == "__main__":
    main()
