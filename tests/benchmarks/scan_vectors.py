"""The vectors that `scan` searches: real ones of passages and sentences, and noisy repeats where more are needed.

Real are the documents of the collections in shared/data/ir, the paragraphs of spans' Markdown, the contexts of XQuAD,
and every sentence of four words or more of the collections' documents: about 41,000 different texts as the default
model embeds them. A repeat is a real vector with Gaussian noise in every dimension, made of unit length again; the
noise is such that its cosine with its origin is about .9. Questions are those of the collections and of XQuAD.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.embedding import open_embedder
from rag_core.settings import Settings

COSINE = 0.9
_SEED = 384
_BATCH = 65_536

Floats = NDArray[np.float32]


def real_vectors(data: Path, cache: Path) -> tuple[Floats, Floats]:
    """The vectors of all texts and of all questions, float32 (n, d) each, of unit length.

    Embedding takes some minutes, so they are kept in the cache. Raises ModelUnavailable, OSError.
    """
    texts, asked = _texts(data)
    settings = Settings.load()
    content = hashlib.sha256("\0".join([*texts, "", *asked]).encode()).hexdigest()[:16]
    with open_embedder(settings.embedding, settings.models_dir) as embedder:
        path = cache / f"{embedder.profile.id}-{content}.npz"
        if not path.exists():
            cache.mkdir(parents=True, exist_ok=True)
            questions = np.stack([embedder.encode_query(question) for question in asked])
            work = path.with_suffix(".work.npz")
            np.savez(work, texts=embedder.encode(texts), questions=questions)
            work.replace(path)
    with np.load(path) as kept:
        return kept["texts"], kept["questions"]


def write_vectors(path: Path, real: Floats, rows: int) -> float:
    """Write `rows` vectors as an .npy file, float32 (rows, d), and return the share of real ones.

    Fewer than there are: a draw by a seed. More: the real ones, then noisy repeats of each in turn.
    """
    write_rows(path, np.dtype(np.float32), (rows, real.shape[1]), _blocks(real, rows))
    return min(1.0, len(real) / rows)


def write_rows(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...], blocks: Iterable[NDArray[Any]]) -> None:
    """Write an .npy file block by block; not through a map: its pages are scattered then, and slower to read."""
    with path.open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=dtype).data)


def _blocks(real: Floats, rows: int) -> Iterator[Floats]:
    chance = np.random.default_rng(_SEED)
    if rows <= len(real):
        yield real[chance.choice(len(real), rows, replace=False)]
        return
    yield real
    dimensions = real.shape[1]
    sigma = np.float32(math.sqrt((1 / COSINE**2 - 1) / dimensions))
    for start in range(len(real), rows, _BATCH):
        origins = np.arange(start, min(start + _BATCH, rows)) % len(real)
        repeats = real[origins] + sigma * chance.standard_normal((len(origins), dimensions), dtype=np.float32)
        yield repeats / np.linalg.norm(repeats, axis=1, keepdims=True)


def drawn(questions: Floats, count: int) -> Floats:
    """Some of the questions, by a seed."""
    chosen = np.random.default_rng(_SEED + 1).choice(len(questions), min(count, len(questions)), replace=False)
    return questions[chosen]


def floors(vectors: Floats, questions: Floats, k: int) -> NDArray[np.float64]:
    """The exact cosine of each question's k-th best row, float64 (m,)."""
    best = np.empty((len(questions), 0), dtype=np.float32)
    rows = np.empty((len(questions), 0), dtype=np.intp)
    for start in range(0, len(vectors), _BATCH):
        scores = questions @ vectors[start : start + _BATCH].T
        places = np.broadcast_to(np.arange(start, start + scores.shape[1]), scores.shape)
        best, rows = np.hstack((best, scores)), np.hstack((rows, places))
        if best.shape[1] > 4 * k:  # float32 finds candidates, float64 judges them
            kept = np.argpartition(best, best.shape[1] - 4 * k, axis=1)[:, -4 * k :]
            best, rows = np.take_along_axis(best, kept, 1), np.take_along_axis(rows, kept, 1)
    exact = np.einsum("mkd,md->mk", vectors[rows].astype(np.float64), questions.astype(np.float64))
    return np.sort(exact, axis=1)[:, -min(k, exact.shape[1])]


def _texts(data: Path) -> tuple[list[str], list[str]]:
    collections = sorted(path for path in (data / "ir").iterdir() if path.is_dir())
    documents = [text for folder in collections for text in _lines(folder / "documents.jsonl")]
    asked = [text for folder in collections for text in _lines(folder / "queries.jsonl")]
    sentences = [part.strip() for text in documents for part in re.split(r"(?<=[.!?])\s+", text)]
    for path in sorted((data / "spans").glob("*.md")):
        documents += [part for part in path.read_text(encoding="utf-8").split("\n\n") if len(part) > 40]
    articles = json.loads((data / "xquad_en_half.json").read_text(encoding="utf-8"))["data"]
    for paragraph in (paragraph for article in articles for paragraph in article["paragraphs"]):
        documents.append(paragraph["context"])
        asked += [entry["question"] for entry in paragraph["qas"]]
    long_enough = [sentence for sentence in sentences if len(sentence.split()) >= 4]
    return list(dict.fromkeys([*documents, *long_enough])), asked


def _lines(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)["text"]
