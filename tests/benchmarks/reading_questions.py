"""Questions that the reader is trained on, each amid the sentences or rows of its document.

Four sources: the invented documents of `questions/reading`, what a code alone tells apart (`coded`), PolicyQA's even
policies, and the sets of real questions in the shared data's `train`, whose licences let weights ship that learned from
them. docs/how.md names those that what ships has learned from.
"""

from __future__ import annotations

import json
import lzma
import random
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.benchmarks.coded import coded
from tests.benchmarks.drafted import Drafted, drafted
from tests.benchmarks.measure import SHARED

Sentences = Sequence[tuple[str, str]]

SETS: Mapping[str, int] = {
    "natural_questions": 7000, "squadshifts_wiki": 3000, "tydiqa_en": 3700, "clapnq": 550, "boolq": 900,
    "time_sensitive_qa": 1500, "covidqa": 1100, "medquad": 900, "doc2dial": 2200, "mtrag": 420, "qmsum": 1000,
    "sharc": 300, "privacyqa": 150, "cuad": 1500, "contractnli": 1200, "maud": 300, "hitab": 1300, "fetaqa": 1200,
    "ottqa_hybridqa": 900, "wikitablequestions": 2000, "aitqa": 480, "piaf": 500, "faquad": 200, "norquad": 250,
    "tydiqa_fi": 100, "tydiqa_id": 100,
}  # fmt: skip
"""The sets of real questions, and how many of each are learned from at most: people's own questions in full, what is
asked in the same words again and again, or is made of patterns, by about the root of what there is."""

_SAID_WITH_HEADS = 0.7  # of the tables; the others' rows are their cells alone
_BETWEEN_CELLS = "  "


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a document, with the places of the sentences that answer it and the answer's parts."""

    title: str
    kind: str
    sentences: Sentences
    text: str
    where: tuple[int, ...]
    answer: tuple[str, ...] = ()


def invented() -> tuple[list[Question], list[Question]]:
    """Those to train on, and those of one in ten invented documents."""
    return _split(drafted())


def of_codes() -> tuple[list[Question], list[Question]]:
    """The same of what a code alone tells apart."""
    return _split(coded())


def _split(documents: Iterable[Drafted]) -> tuple[list[Question], list[Question]]:
    kept: tuple[list[Question], list[Question]] = ([], [])
    for document in documents:
        for one in document.questions:
            kept[document.is_kept_out].append(
                Question(document.title, document.kind, document.sentences, one.text, one.where, one.answer)
            )
    return kept


def policies() -> Iterator[Question]:
    """Of the even policies of PolicyQA; none where the shared data is not there."""
    path = SHARED / "data" / "policyqa_dev.json"
    for policy in json.loads(path.read_text(encoding="utf-8"))["data"][::2] if path.exists() else ():
        for paragraph in policy["paragraphs"]:
            text = paragraph["context"]
            cuts = [0, *(match.end() for match in re.finditer(r"[.;!?:]\s+", text)), len(text)]
            spans = [(start, end) for start, end in pairwise(cuts) if end > start]
            golds: dict[str, list[tuple[int, int]]] = {}
            for one in paragraph["qas"]:
                places = [(gold["answer_start"], gold["answer_start"] + len(gold["text"])) for gold in one["answers"]]
                golds.setdefault(one["question"], []).extend(places)
            sentences = [(text[start:end].strip(), "") for start, end in spans]
            for asked, gold in golds.items():
                where = tuple(place for place, span in enumerate(spans) if any(_held(span, one) for one in gold))
                if where:
                    yield Question(f"{policy['title']} privacy policy", "privacy policy", sentences, asked, where)


def _held(span: tuple[int, int], gold: tuple[int, int]) -> bool:
    return min(span[1], gold[1]) - max(span[0], gold[0]) > min(20, (gold[1] - gold[0]) / 2)


def real(name: str, split: str = "train") -> list[Question]:
    """Those of a set of `SETS`, at most as many as it says; none where the shared data is not there.

    What is computed of several rows is left out: no sentence says it. A question that goes on is asked behind the one
    before it, as it is searched for.
    """
    path = SHARED / "data" / "train" / f"{name}.jsonl.xz"
    if not path.exists():
        return []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["split"] == split and _is_said(row)]
    chosen = random.Random(0).sample(rows, min(SETS[name], len(rows)))
    return [_question(row) for row in chosen]


def _is_said(row: Mapping[str, Any]) -> bool:
    computed = row.get("computed") or {"operation": "yes/no"}
    return bool(row["answer"]) or computed["operation"] == "yes/no"


def _question(row: Mapping[str, Any]) -> Question:
    sentences = [(text, section) for text, section in row["sentences"]]
    if row["kind"] in ("table", "statistics", "table with linked pages"):
        with_heads = zlib.crc32(row["document"].encode()) % 10 < 10 * _SAID_WITH_HEADS
        sentences = [(_row(text, with_heads=with_heads), section) for text, section in sentences]
    before = row["history"][-1][0] if row.get("history") else ""
    return Question(
        row["document"], row["kind"], sentences, f"{before} {row['question']}".strip(), tuple(row["where"]),
        tuple(row["answer"]),
    )  # fmt: skip


def _row(text: str, *, with_heads: bool) -> str:
    """A row "Head: value; Head: value" as the reader is given one, "value, Head: value"; any other text as it is."""
    cells = [cell.split(": ", 1) for cell in text.split("; ")]
    if len(cells) < 2 or any(len(cell) < 2 for cell in cells):
        return text
    (_, label), *rest = cells
    if not with_heads:
        return _BETWEEN_CELLS.join([label, *(value for _, value in rest)])
    return f"{label}, {'; '.join(f'{head}: {value}' for head, value in rest)}"
