"""What people get who ask: everyday questions of documents of all kinds in one library, through `Library.ask`.

`python -m tests.benchmarks.people [--questions people abstention cells households abroad] [--splits tune report]
[--libraries DIR] [--answers FILE] [--model ID --models DIR] [--every N]`, all defaults, no language model or the one
named, which is looked for in the folder DIR; then quoting is asked beside it. Follow-ups are asked in the conversation
of the question before. `people` are everyday questions, `abstention` near misses and for each one like it that is
answered, `cells` figures of tables in long filings, which count within the first 20 words; `households` are everyday
questions of what households, schools, clubs and small companies have, in a library of their own, and `abroad` of papers
in German, French and Spanish, mostly asked in their own language. One JSON object for each of them and
split: of the answerable questions `right` (every part of the answer stands in its first 40 words), `right_anywhere`,
`wrong` (neither right nor refused) and `refused`; of the near misses those `near_misses_refused`; of all answers called
"High confidence" those right, and `calibration_error` over all; then `right` by kind and the milliseconds of an answer.
Only the half "tune" may be looked at in choosing anything.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rag_core import Answer, Library, Settings
from rag_core.answering.citations import without_markers
from rag_core.answering.quotations import PERHAPS
from rag_core.domain import Question, Result
from rag_core.evaluation.measuring.calibration import calibration
from rag_core.models.registry import EXTRACTIVE
from tests.benchmarks.measure import SHARED, emit, percentile
from tests.benchmarks.retrieval_sets import QUESTIONS, Set, _plain, _rows, _stands, abroad, households, people

_WORDS = {"people": 40, "abstention": 40, "cells": 20, "households": 40, "abroad": 40}
_LIBRARIES = {"people": ("people", "abstention", "cells"), "households": ("households",), "abroad": ("abroad",)}
_HIGH = 0.7  # what pages/parts/chat_widget.py calls "High confidence"


@dataclass(frozen=True)
class Outcome:
    """What became of one question. `row` is its line in its file, `took_ms` the whole call, `words` how many count."""

    row: Mapping
    answer: Answer
    took_ms: float
    words: int

    @property
    def text(self) -> str:
        return "" if self.answer.abstained else without_markers(self.answer.text)

    @property
    def right(self) -> bool:
        """Whether the first words hold every part, or a question without an answer is refused."""
        return self._holds(" ".join(self.text.split()[: self.words]))

    @property
    def right_anywhere(self) -> bool:
        return self._holds(self.text)

    @property
    def near_right(self) -> bool:
        """Whether what is said, as a perhaps too, holds every part."""
        text = without_markers(self.answer.text).removeprefix(PERHAPS)
        parts = [] if self.row["refuse"] else self.row["parts"]
        first = _plain(" ".join(text.split()[: self.words]))
        return bool(parts) and all(any(_stands(one, first) for one in part) for part in parts)

    def _holds(self, text: str) -> bool:
        if self.row["refuse"] or self.answer.abstained:
            return self.row["refuse"] and self.answer.abstained
        return all(any(_stands(one, _plain(text)) for one in part) for part in self.row["parts"])

    @property
    def result(self) -> Result:
        """As the evaluation counts it."""
        return Result(
            Question(self.row["id"], self.row["question"]), abstained=self.answer.abstained,
            confidence=self.answer.confidence, metrics={"correct": float(self.right)},
        )  # fmt: skip


def asked(
    library: Library, name: str, splits: Sequence[str], *, model: str = EXTRACTIVE, every: int = 1
) -> list[Outcome]:
    """The answers to each `every`th question of some splits; the one that a follow-up follows is asked before it."""
    by_id = {row["id"]: row for row in _rows(QUESTIONS / f"{name}.jsonl")}
    chosen = [row for row in by_id.values() if row["split"] in splits][::every]
    return [_outcome(library, row, by_id, _WORDS[name], model) for row in chosen]


def _outcome(library: Library, row: Mapping, by_id: Mapping[str, Mapping], words: int, model: str) -> Outcome:
    before = [row]
    while before[0].get("after"):
        before.insert(0, by_id[before[0]["after"]])
    conversation = None
    for earlier in before[:-1]:
        conversation = library.ask(earlier["question"], conversation=conversation, model=model).conversation
    began = time.perf_counter()
    answer = library.ask(row["question"], conversation=conversation, model=model)
    return Outcome(row, answer, (time.perf_counter() - began) * 1000, words)


def summed_up(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """The figures of some outcomes, by name; shares are 0..1."""
    answerable = [one for one in outcomes if not one.row["refuse"]]
    misses = [one for one in outcomes if one.row["refuse"]]
    high = [one for one in outcomes if not one.answer.abstained and one.answer.confidence >= _HIGH]
    kinds = sorted({one.row["kind"] for one in answerable})
    return {
        "questions": len(outcomes),
        "right": _share([one.right for one in answerable]),
        "right_anywhere": _share([one.right_anywhere for one in answerable]),
        "wrong": _share([not one.right and not one.answer.abstained for one in answerable]),
        "refused": _share([one.answer.abstained for one in answerable]),
        "near_misses_refused": _share([one.right for one in misses]),
        "high_right": _share([one.right for one in high]),
        "high": len(high),
        "calibration_error": round(calibration([one.result for one in outcomes]).error, 3),
        "right_by_kind": {kind: _share([one.right for one in answerable if one.row["kind"] == kind]) for kind in kinds},
        "first_text_p50_ms": round(percentile([_first(one) for one in outcomes], 0.5), 1),
        "prompt_tokens": round(fmean(one.answer.trace.tokens.get("prompt", 0) for one in outcomes)),
        "p50_ms": round(percentile([one.took_ms for one in outcomes], 0.5), 1),
        "p95_ms": round(percentile([one.took_ms for one in outcomes], 0.95), 1),
    }


def _first(one: Outcome) -> float:
    """Milliseconds to an answer's first words."""
    return one.answer.trace.latency_ms.get("first_text", one.took_ms)


def _share(values: Sequence[bool]) -> float:
    return round(sum(values) / len(values), 3) if values else 0.0


def _line(one: Outcome) -> str:
    """An outcome for reading, as JSON."""
    fields = {name: one.row[name] for name in ("id", "kind", "split", "question", "answer")}
    cited = [f"{citation.title}, p. {citation.page}" for citation in one.answer.citations]
    found = {
        "model": one.answer.model, "right": one.right, "abstained": one.answer.abstained,
        "confidence": round(one.answer.confidence, 3),
        "said": one.answer.text, "cited": cited, "asked": one.answer.trace.query,
    }  # fmt: skip
    return json.dumps(fields | found, ensure_ascii=False) + "\n"


@contextmanager
def filled(libraries: Path, chosen: Set, **settings: Any) -> Iterator[Library]:
    """A library of a set's documents, in its own folder."""
    with Library.open(Settings(_env_file=None, data_dir=libraries / chosen.name, **settings)) as library:
        for event in library.add(chosen.documents):
            if event.error is not None:
                emit(benchmark="people", left_out=event.source, reason=str(event.error))
        library.storage.settle()
        library.warm_up()
        yield library


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", nargs="+", default=list(_WORDS), choices=list(_WORDS))
    parser.add_argument("--splits", nargs="+", default=["report"], choices=["tune", "report"])
    parser.add_argument(
        "--libraries", type=Path, help="keep the library in this folder, as the benchmark retrieval does"
    )
    parser.add_argument("--answers", type=Path, help="write every question with what was answered to this file")
    parser.add_argument("--model", help="ask this language model too, such as gguf:qwen.gguf")
    parser.add_argument("--models", type=Path, help="the folder of models that has it")
    parser.add_argument("--every", type=int, default=1, help="ask each nth question of a split alone")
    options = parser.parse_args()
    models = [EXTRACTIVE, *([options.model] if options.model else [])]
    settings = {"models_dir": options.models} if options.models else {}
    if not SHARED.is_dir():
        emit(benchmark="people", skipped=f"{SHARED} is not there")
        return
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
        outcomes: dict[tuple[str, str], list[Outcome]] = {}
        for chosen in (people(), households(), abroad()):
            names = [name for name in _LIBRARIES[chosen.name] if name in options.questions]
            if names:
                with filled(options.libraries or Path(folder), chosen, **settings) as library:
                    for name, model in itertools.product(names, models):
                        some = asked(library, name, options.splits, model=model, every=options.every)
                        outcomes[name, model] = some
    for (name, model), some in outcomes.items():
        for split in options.splits:
            of_split = [one for one in some if one.row["split"] == split]
            emit(benchmark="people", questions_of=name, split=split, model=model, **summed_up(of_split))
    if options.answers:
        lines = [_line(one) for some in outcomes.values() for one in some]
        options.answers.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
