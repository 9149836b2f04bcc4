"""How well a search finds: `python -m tests.benchmarks.retrieval [--sets spans people] [--modes auto dense lexical]`.

Each set is added to a library of its own and asked through `Library.search` with its defaults, and once for each other
mode. One JSON object for each set and mode: the means of its metrics over the questions that nothing was tuned on, each
with a 95 % bootstrap interval, then one line with the mean nDCG@10 of the classic collections.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rag_core import Hit, Library, Settings
from tests.benchmarks.measure import SHARED, emit
from tests.benchmarks.retrieval_sets import COLLECTIONS, NAMES, Case, Set, sets
from tests.rag_core.evaluation.one_metric import estimate

_DEFAULT = "auto"


def measure(chosen: Set, modes: Sequence[str], splits: Sequence[str], folder: Path) -> dict[str, float]:
    """Add a set's documents, ask its questions in every mode; returns nDCG@10 by mode, where the set has it."""
    found = {}
    with opened(chosen, folder) as library:
        for mode in modes:
            values = asked(library, [case for case in chosen.cases if case.split in splits], chosen.k, mode)
            means = {name: estimate(column) for name, column in sorted(values.items())}
            emit(
                benchmark="retrieval", set=chosen.name, mode=mode, split="+".join(splits),
                questions=max(map(len, values.values())),
                **{name: round(one.mean, 3) for name, one in means.items()},
                intervals={name: [round(one.low, 3), round(one.high, 3)] for name, one in means.items()},
            )  # fmt: skip
            if "ndcg@10" in means:
                found[mode] = means["ndcg@10"].mean
    return found


@contextmanager
def opened(chosen: Set, folder: Path, models_dir: Path | None = None) -> Iterator[Library]:
    """A library in a folder, with a set's documents."""
    settings = Settings(_env_file=None, data_dir=folder)
    with Library.open(settings.model_copy(update={"models_dir": models_dir} if models_dir else {})) as library:
        for event in library.add(chosen.documents):
            if event.error is not None:
                emit(benchmark="retrieval", set=chosen.name, left_out=event.source, reason=str(event.error))
        library.storage.settle()
        yield library


def asked(library: Library, cases: Sequence[Case], k: int, mode: str) -> dict[str, list[float]]:
    """What each metric gives for every question, asked in a mode."""
    values: dict[str, list[float]] = {}
    for case in cases:
        for name, value in case.judge(_hits(library, case.question, k, mode)).items():
            values.setdefault(name, []).append(value)
    return values


def _hits(library: Library, question: str, k: int, mode: str) -> Sequence[Hit]:
    return library.search(question, k=k) if mode == _DEFAULT else library.search(question, k=k, mode=mode)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--modes", nargs="+", default=["auto", "dense", "lexical"])
    parser.add_argument("--splits", nargs="+", default=["report"], choices=["tune", "report"])
    parser.add_argument("--libraries", type=Path, help="keep the libraries in this folder for another run")
    options = parser.parse_args()
    if not SHARED.is_dir():
        emit(benchmark="retrieval", skipped=f"{SHARED} is not there")
        return
    ranks: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
        for chosen in sets(options.sets):
            found = measure(chosen, options.modes, options.splits, (options.libraries or Path(folder)) / chosen.name)
            for mode, value in found.items():
                ranks.setdefault(mode, []).append(value)
    for mode, values in ranks.items():
        if len(values) == len(COLLECTIONS):
            emit(benchmark="retrieval", mode=mode, mean_ndcg_at_10=round(sum(values) / len(values), 4))


if __name__ == "__main__":
    main()
