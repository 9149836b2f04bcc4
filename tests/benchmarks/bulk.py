"""Many small files from a folder against embedding them alone: `python -m tests.benchmarks.bulk --files 10000`.

Each file is one paragraph of whole sentences: `mean_chars` says how long. `total_s` runs from the call of `add` until
its last event, every document ready: in PostgreSQL and its dump, found by searches. `settled_s` ends when Chroma holds
them too. `embedding_s` is what the library's embedder takes for the same texts in the same batches, half before and
half after the adding; `ratio` is total_s / embedding_s.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_core import Library, Settings, Upload
from rag_core.ingest.work import BATCH_DOCUMENTS
from tests.benchmarks.measure import SHARED, emit, sentences

_SEED = 20_261_121
_LEAST_CHARS = 500


def paragraphs(count: int) -> list[str]:
    """Different paragraphs: whole sentences of the shared collections, in their order, then shuffled anew."""
    chance = random.Random(_SEED)
    known = list(_sentences())
    found: dict[str, None] = {}
    while len(found) < count:
        text = ""
        for sentence in known:
            text += sentence + " "
            if len(text) >= _LEAST_CHARS:
                found[text[:980].strip()] = None
                text = ""
        chance.shuffle(known)
    return list(found)[:count]


def write_files(folder: Path, texts: Sequence[str]) -> None:
    """Fill a folder with one paragraph a file, in this order."""
    for number, text in enumerate(texts):
        (folder / f"note {number:05d}.txt").write_text(text, encoding="utf-8")


def _sentences() -> Iterator[str]:
    if not SHARED.is_dir():
        yield from sentences()
    for file in sorted(SHARED.glob("data/ir/*/documents.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield from (part.strip(" .") + "." for part in json.loads(line)["text"].split(". ") if part.strip(" ."))


def embed_alone(library: Library, texts: Sequence[str]) -> float:
    """Seconds that embedding alone takes, in the batches in which adding embeds."""
    embedder = library.embedding.get()
    started = time.perf_counter()
    for first in range(0, len(texts), BATCH_DOCUMENTS):
        embedder.encode(texts[first : first + BATCH_DOCUMENTS])
    return time.perf_counter() - started


def measure(files: int, work: Path) -> None:
    """Add a folder to a new library, and embed its texts alone."""
    folder = work / "notes"
    folder.mkdir()
    texts = paragraphs(files)
    write_files(folder, texts)
    with Library.open(Settings(_env_file=None, data_dir=work / "library")) as library:
        for _ in library.add([Upload("warm up.txt", b"The models are loaded and the stores are there.")]):
            pass
        library.storage.settle()
        half = len(texts) // 2
        embedding = embed_alone(library, texts[:half])
        started = time.perf_counter()
        ready = sum(event.stage == "ready" for event in library.add([folder]))
        total = time.perf_counter() - started
        library.storage.settle()
        settled = time.perf_counter() - started
        embedding += embed_alone(library, texts[half:])
        status = library.maintenance.status()
    if ready != files or status.documents != files + 1:
        raise RuntimeError(f"{ready} of {files} files were told ready, {status.documents} documents are there")
    emit(
        benchmark="bulk", files=files, ratio=round(total / embedding, 2), total_s=round(total, 2),
        embedding_s=round(embedding, 2), settled_s=round(settled, 2), chunks=status.chunks - 1,
        mean_chars=round(sum(map(len, texts)) / files),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as work:
        measure(options.files, Path(work))


if __name__ == "__main__":
    main()
