"""Fits rag_core/answering/strategies/model_choice.json: which is said, what a small model wrote or what is quoted.

`python -m tests.benchmarks.fit_written --model gguf:FILE --models DIR [--questions people households abstention cells]
[--libraries DIR] [--records FILE] [--every N]`. Each question of the tuning halves is asked of quoting and of the
model, whose first sentence is said whatever it is; the signs of the choice and whether either is right are added to
`--records`, one JSON object for each. Those that are there already are not asked again, so that it can be stopped and
gone on with; without `--model` none are asked. Two logistic regressions (for the model, for what is quoted) are fitted.
One JSON line: right, wrong, and near misses answered on these questions, for quoting alone, the model alone and the
choice.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from rag_core.answering.strategies import plain_writing
from rag_core.answering.strategies.model_choice import PATH, SIGNS, Choice, choose, weights
from tests.benchmarks.measure import emit
from tests.benchmarks.people import asked, filled
from tests.benchmarks.retrieval_sets import households, people

_SETS = {"people": people, "abstention": people, "cells": people, "households": households}
_VARIANCE, _STEPS = 0.5, 30  # of the prior on each weight; of the fit

Record = Mapping[str, Any]


def recorded(options: argparse.Namespace, known: Set[tuple[str, str]]) -> Iterator[Record]:
    """The questions that are not known, with the signs of the choice, where the model was asked, and what is right."""
    for name in options.questions:
        with filled(options.libraries, _SETS[name](), models_dir=options.models) as library:
            quoting = asked(library, name, ["tune"], every=options.every)
            told: dict[str, Mapping[str, float]] = {}

            def note(signs: Mapping[str, float], *, quotes: bool, told: dict = told) -> Choice:
                told["now"] = dict(signs)
                return Choice(is_models=not signs["refused"], right=1.0, enough=True)

            for before in quoting:
                if (name, before.row["id"]) in known:
                    continue
                told.clear()
                with mock.patch.object(plain_writing, "choose", note):
                    written = library.ask(before.row["question"], model=options.model)
                after = before.__class__(before.row, written, 0.0, before.words)
                yield {
                    "set": name, "id": before.row["id"], "absent": before.row["refuse"], "signs": told.get("now"),
                    "quotes": not before.answer.abstained, "quoted_right": before.right and not before.row["refuse"],
                    "near_right": before.near_right, "model_right": after.right and not before.row["refuse"],
                }  # fmt: skip


def fitted(records: Sequence[Record], truth: str, start: Mapping[str, float]) -> dict[str, float]:
    """The weights of a logistic regression by sign, with a Gaussian prior around `start`: there are few questions."""
    names = [*SIGNS, "bias"]
    rows = np.array([[*(one["signs"][name] for name in SIGNS), 1.0] for one in records])
    is_right = np.array([float(one[truth]) for one in records])
    prior = np.array([start[name] for name in names])
    found = prior.copy()
    for _ in range(_STEPS):  # Newton's
        chances = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (chances - is_right) + (found - prior) / _VARIANCE
        bend = (rows * (chances * (1 - chances))[:, None]).T @ rows + np.eye(len(names)) / _VARIANCE
        found = found - np.linalg.solve(bend, slope)
    return {name: round(float(value), 4) for name, value in zip(names, found, strict=True)}


def measured(records: Sequence[Record]) -> dict[str, object]:
    """What would be said of the questions, by the weights as they stand."""
    answerable = [one for one in records if not one["absent"]]
    misses = [one for one in records if one["absent"]]

    def said(one: Record) -> tuple[bool, bool]:
        """Whether it is answered, and right."""
        if one["signs"] is None:
            return one["quotes"], one["quoted_right"]
        choice = choose(one["signs"], quotes=one["quotes"])
        return choice.enough, one["model_right"] if choice.is_models else one["near_right"]

    ways = {
        "quoting": lambda one: (one["quotes"], one["quoted_right"]),
        "model": lambda one: (bool(one["signs"]) and not one["signs"]["refused"], one["model_right"]),
        "choice": said,
    }
    return {
        name: {
            "right": round(float(np.mean([all(way(one)) for one in answerable])), 3),
            "wrong": round(float(np.mean([way(one)[0] and not way(one)[1] for one in answerable])), 3),
            "near_misses_answered": round(float(np.mean([way(one)[0] for one in misses] or [0])), 3),
        }
        for name, way in ways.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="such as gguf:qwen.gguf")
    parser.add_argument("--models", type=Path, help="the folder of models that has it")
    parser.add_argument("--questions", nargs="+", default=list(_SETS), choices=list(_SETS))
    parser.add_argument("--libraries", type=Path)
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    options.records.touch()
    every = [json.loads(line) for line in options.records.read_text(encoding="utf-8").splitlines()]
    if options.model:
        with options.records.open("a", encoding="utf-8", buffering=1) as file:
            for one in recorded(options, {(before["set"], before["id"]) for before in every}):
                file.write(json.dumps(one) + "\n")
                every.append(one)
    signed = [one for one in every if one["signs"] is not None]
    spoken = [one for one in signed if not one["signs"]["refused"]]
    start = weights()
    made = {
        "model": fitted(spoken, "model_right", start.model),
        "quoted": fitted(signed, "near_right", start.quoted),
        "answer_from": start.answer_from,
    }
    PATH.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    weights.cache_clear()
    emit(benchmark="fit_written", questions=len(every), **measured(every))


if __name__ == "__main__":
    main()
