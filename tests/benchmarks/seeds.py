"""The five seeds beside Lectern's defaults: `python -m tests.benchmarks.seeds [--sets spans med time]`.

Each set is added to a library of its own, summarised and clustered, and its questions are asked of each configuration
(`rag_core/evaluation/seeds.py`) as answers get their passages. One JSON object for each set and configuration: the
means over the questions that nothing was tuned on, with what one question took. `--plain` leaves MMR and the number of
passages out: the same of `Library.search` in the modes hybrid, dense, clusters and scaler. `--model FILE` has SCALER's
new questions written by a GGUF file as well, in a row of its own.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_core import Library
from rag_core.domain import Configuration
from rag_core.evaluation.configurations import applied
from rag_core.evaluation.seeds import SEEDS
from rag_core.retrieval import for_passages
from rag_core.settings import Settings
from tests.benchmarks.measure import SHARED, emit
from tests.benchmarks.retrieval import opened
from tests.benchmarks.retrieval_sets import NAMES, Case, Set, sets
from tests.rag_core.evaluation.one_metric import estimate

_DEFAULTS = Configuration("Lectern's defaults")
_MODES = [Configuration(mode, {"retrieval.mode": mode}) for mode in ("hybrid", "dense", "clusters", "scaler")]


def measured(library: Library, cases: Sequence[Case], settings: Settings, k: int) -> dict[str, list[float]]:
    """What each metric gives for every question; milliseconds among them. k: hits of a plain search, 0 for passages."""
    corpus = library.asking.corpus(settings)
    list(corpus.prepare(lambda: False))
    how = settings.changed("retrieval", k=k).retrieval if k else for_passages(settings)
    values: dict[str, list[float]] = {}
    for case in cases:
        started = time.perf_counter()
        (found,) = corpus.search([case.question], how)
        values.setdefault("ms", []).append((time.perf_counter() - started) * 1000)
        for name, value in case.judge(found.hits).items():
            values.setdefault(name, []).append(value)
    return values


def compared(
    chosen: Set, folder: Path, most: int, *, plain: bool, model: Path | None, only: Sequence[str]
) -> Iterator[dict[str, object]]:
    """A row for each configuration whose name has one of the words of `only`."""
    cases = [case for case in chosen.cases if case.split == "report"][:most]
    configurations = _MODES if plain else [_DEFAULTS, *SEEDS]
    if model is not None:
        configurations = [*configurations, *(by(model, one) for one in configurations if "scaler" in one.name.lower())]
    with opened(chosen, folder, models_dir=model.parent if model else None) as library:
        list(library.clusters.update())
        for configuration in configurations:
            if only and not any(word.lower() in configuration.name.lower() for word in only):
                continue
            settings = applied(configuration, library.settings)
            values = measured(library, cases, settings, chosen.k if plain else 0)
            means = {name: estimate(column) for name, column in sorted(values.items())}
            yield {
                "set": chosen.name, "configuration": configuration.name, "questions": len(cases),
                **{name: round(one.mean, 3) for name, one in means.items()},
                "intervals": {name: [round(one.low, 3), round(one.high, 3)] for name, one in means.items()},
            }  # fmt: skip


def by(model: Path, configuration: Configuration) -> Configuration:
    """A configuration whose questions a model writes anew."""
    changes = {**configuration.changes, "generation.model": f"gguf:{model.name}"}
    return Configuration(f"{configuration.name}, questions by {model.stem}", changes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["spans", "med", "time"], choices=NAMES)
    parser.add_argument("--most", type=int, default=1000, help="questions of each set")
    parser.add_argument("--plain", action="store_true", help="modes of search, in the place of configurations")
    parser.add_argument("--model", type=Path, help="a GGUF file that writes SCALER's new questions")
    parser.add_argument("--only", nargs="+", default=[], help="configurations whose names have one of these words")
    options = parser.parse_args()
    if not SHARED.is_dir():
        emit(benchmark="seeds", skipped=f"{SHARED} is not there")
        return
    for chosen in sets(options.sets):
        with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
            for row in compared(
                chosen, Path(folder), options.most, plain=options.plain, model=options.model, only=options.only
            ):
                emit(benchmark="seeds", **row)


if __name__ == "__main__":
    main()
