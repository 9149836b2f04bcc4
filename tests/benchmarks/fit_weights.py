"""Finds the numbers of rag_core/retrieval/weights.json: `python -m tests.benchmarks.fit_weights --libraries FOLDER`.

Every point of a small grid is asked the tuning halves of the sets of `retrieval_sets.py`, each set in a library of its
own. The best point is written into the file where it is better than what stands there; equals leave it as it is.

    --grid fusion.dense=0.5,0.6,0.7 pieces.own=0.2,0.3     the numbers to look for, and their values
    --sets med cran                                        some sets alone
    --check                                                only the objective of the present numbers; nothing is written

The objective is the mean over the sets of one measure each: nDCG@10 of the classic collections, recall@5 of spans,
hit@5 of filings, the parts of an answer in six passages, the paragraph in five for languages. One JSON line for each
point and for the outcome.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rag_core import Library
from rag_core.retrieval.weights import weights
from tests.benchmarks.measure import PROJECT, SHARED, emit
from tests.benchmarks.retrieval import asked, opened
from tests.benchmarks.retrieval_sets import NAMES, Set, sets

FILE = PROJECT / "rag_core" / "retrieval" / "weights.json"
GRID = {"fusion.dense": (0.5, 0.6, 0.7), "fusion.identity": (0.1, 0.2, 0.3), "pieces.own": (0.2, 0.3, 0.4)}
_MEASURES = ("ndcg@10", "recall@5", "hit@5", "parts@6", "found@5")

Point = Mapping[str, float]


def points(grid: Mapping[str, Sequence[float]], held: Mapping[str, Any]) -> Iterator[Point]:
    """The numbers as they are `held`, then every other point. Raises KeyError for a name that the file has not."""
    split = [(name, *name.split(".")) for name in grid]
    present = {name: held[group][key] for name, group, key in split}
    yield present
    for values in itertools.product(*grid.values()):
        point = dict(zip(grid, values, strict=True))
        if point != present:
            yield point


def with_point(held: Mapping[str, Any], point: Point) -> dict[str, Any]:
    """The file's values with those of a point."""
    changed = {group: dict(values) for group, values in held.items()}
    for name, value in point.items():
        group, _, key = name.partition(".")
        changed[group][key] = value
    return changed


def as_text(values: Mapping[str, Any]) -> str:
    """The file's text: a line for each group."""
    lines = ",\n".join(f"  {json.dumps(group)}: {json.dumps(numbers)}" for group, numbers in values.items())
    return f"{{\n{lines}\n}}\n"


def best(objectives: Sequence[float]) -> int:
    """The place of the greatest; of equals the first, so that the present numbers stay."""
    return max(range(len(objectives)), key=lambda place: (objectives[place], -place))


def _objective(library: Library, chosen: Set) -> float:
    cases = [case for case in chosen.cases if case.split == "tune"]
    found = asked(library, cases, chosen.k, "auto")
    return fmean(value for name, values in found.items() if name.endswith(_MEASURES) for value in values)


def _measured(names: Sequence[str], every: Sequence[Point], folder: Path) -> list[float]:
    """The objective of every point."""
    held = with_point(weights(), {})
    by_set = []
    for chosen in sets(names):
        with opened(chosen, folder / chosen.name) as library:
            rows = []
            for point in every:
                weights().update(with_point(held, point))  # searches read these very values
                rows.append(_objective(library, chosen))
                emit(benchmark="fit_weights", set=chosen.name, **point, objective=round(rows[-1], 4))
            by_set.append(rows)
    return [fmean(column) for column in zip(*by_set, strict=True)]


def _axis(text: str) -> tuple[str, tuple[float, ...]]:
    name, _, values = text.partition("=")
    return name, tuple(map(json.loads, values.split(",")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--grid", nargs="+", type=_axis, default=list(GRID.items()), metavar="NAME=VALUE,VALUE")
    parser.add_argument("--check", action="store_true", help="only the objective of the present numbers")
    parser.add_argument("--libraries", type=Path, help="keep the libraries in this folder for another run")
    options = parser.parse_args()
    if not SHARED.is_dir():
        emit(benchmark="fit_weights", skipped=f"{SHARED} is not there")
        return
    held = with_point(weights(), {})
    every = list(points({} if options.check else dict(options.grid), held))
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
        objectives = _measured(options.sets, every, options.libraries or Path(folder))
    place = best(objectives)
    emit(benchmark="fit_weights", before=round(objectives[0], 4), best=round(objectives[place], 4), point=every[place])
    if place:
        FILE.write_text(as_text(with_point(held, every[place])), encoding="utf-8")


if __name__ == "__main__":
    main()
