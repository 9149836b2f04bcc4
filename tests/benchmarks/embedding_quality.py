"""Does 8-bit embedding cost quality? nDCG@10 of dense search, for each precision, over classic retrieval collections.

    python -m tests.benchmarks.embedding_quality [--data ../shared/data/ir] [--precisions float32 bf16 int8]

Documents are cut into passages of 160 words with 30 of overlap, and a document counts by its best passage. Prints a
JSON line for each collection and precision (`set`, `precision`, `ndcg_at_10`, `queries`, `passages`, `passages_per_s`),
one with the mean for each precision, and last the greatest loss against float32 (`least_difference`) with the line that
int8 must hold to be the default (`passed`: within .003).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_core.embedding import Embedder, open_embedder
from rag_core.errors import ModelUnavailable
from rag_core.settings import EmbeddingSettings, Settings

WORDS, OVERLAP = 160, 30
TOLERANCE = 0.003

Grades = dict[str, dict[str, int]]


def passages(text: str) -> list[str]:
    words = text.split()
    starts = range(0, max(1, len(words) - OVERLAP), WORDS - OVERLAP)
    return [" ".join(words[start : start + WORDS]) for start in starts]


def read_lines(path: Path) -> dict[str, str]:
    items = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {item["id"]: item["text"] for item in items}


def read_grades(path: Path) -> Grades:
    grades: Grades = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        query, document, grade = line.split("\t")
        grades[query][document] = int(grade)
    return grades


def best_passages(scores: NDArray[np.float32], owners: NDArray[np.intp], documents: int) -> NDArray[np.float32]:
    best = np.full((documents, scores.shape[1]), -np.inf, dtype=np.float32)
    np.maximum.at(best, owners, scores)
    return best


def ndcg(ranking: list[str], grades: dict[str, int], k: int = 10) -> float:
    """Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002; linear gain."""
    gains = [max(0, grades.get(document, 0)) for document in ranking[:k]]
    ideal = sorted((max(0, grade) for grade in grades.values()), reverse=True)[:k]
    discount = [1 / math.log2(rank + 2) for rank in range(k)]
    best = sum(gain * weight for gain, weight in zip(ideal, discount, strict=False))
    return sum(gain * weight for gain, weight in zip(gains, discount, strict=False)) / best if best else 0.0


def evaluate(embedder: Embedder, folder: Path) -> dict[str, float | int | str]:
    documents = read_lines(folder / "documents.jsonl")
    grades = read_grades(folder / "qrels.tsv")
    queries = {key: text for key, text in read_lines(folder / "queries.jsonl").items() if key in grades}
    cut = [passages(text) for text in documents.values()]
    owners = np.repeat(np.arange(len(cut)), [len(part) for part in cut])
    start = time.perf_counter()
    vectors = embedder.encode([passage for part in cut for passage in part])
    elapsed = time.perf_counter() - start
    questions = np.stack([embedder.encode_query(text) for text in queries.values()])
    scores = best_passages(vectors @ questions.T, owners, len(cut))
    names = list(documents)
    values = [
        ndcg([names[place] for place in np.argsort(-scores[:, column], kind="stable")[:10]], grades[query])
        for column, query in enumerate(queries)
    ]
    return {
        "set": folder.name,
        "precision": embedder.profile.precision,
        "ndcg_at_10": round(float(np.mean(values)), 4),
        "queries": len(values),
        "passages": len(vectors),
        "passages_per_s": round(len(vectors) / elapsed, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/ir"))
    parser.add_argument("--precisions", nargs="+", default=["float32", "bf16", "int8"])
    parser.add_argument("--models", type=Path, default=Settings().models_dir)
    arguments = parser.parse_args()
    folders = sorted(path.parent for path in arguments.data.glob("*/qrels.tsv"))
    if not folders:
        print(json.dumps({"skipped": f"no collections at {arguments.data}"}))
        return 0
    means: dict[str, float] = {}
    for precision in arguments.precisions:
        try:
            embedder = open_embedder(EmbeddingSettings(precision=precision), arguments.models)
        except ModelUnavailable as error:
            print(json.dumps({"precision": precision, "skipped": str(error)}), flush=True)
            continue
        with embedder:
            results = [evaluate(embedder, folder) for folder in folders]
        means[precision] = round(float(np.mean([result["ndcg_at_10"] for result in results])), 4)
        for result in (*results, {"set": "mean", "precision": precision, "ndcg_at_10": means[precision]}):
            print(json.dumps(result), flush=True)
    if "float32" in means:
        least = round(min(mean - means["float32"] for mean in means.values()), 4)
        print(json.dumps({"least_difference": least, "passed": least >= -TOLERANCE}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
