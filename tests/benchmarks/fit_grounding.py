"""Makes rag_core/answering/claims/weights.json: `python -m tests.benchmarks.fit_grounding [--libraries DIR]`.

Fitted on the half "tune" of the sentences of `tests.benchmarks.grounding`, each held to its own passage. Every side of
a sentence (its words, names, figures, negation) is a ridge logistic regression of the clean sentences against those
whose fault is of its kinds; signs can only speak one way. A sentence is supported from the score that, with the
sentences' own passage left out of fitting, `_CLEAN_MARKED` of the clean ones miss.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from rag_core import Settings
from rag_core.answering.citations import Passages
from rag_core.answering.claims.features import Claim, ClaimMatch
from rag_core.answering.claims.source import sources_of
from rag_core.answering.claims.weights import PATH, Judge
from rag_core.answering.encoding import EncodeTokens
from rag_core.embedding import open_embedder
from tests.benchmarks.grounding import KINDS, Case, cases
from tests.benchmarks.measure import emit

_OF_KIND = {"words": ("added",), "names": ("name",), "figures": ("number", "unit", "year"), "negation": ("negation",)}
_FOR = {"cover", "cover_every", "cover_best", "worst", "near", "back", "forth", "weakest", "order"}  # the rest: against
# What is judged by itself, and the signs of each.
_SIDES = {
    "words": ("cover", "cover_every", "cover_best", "worst", "near", "back", "forth", "weakest", "order", "short"),
    "names": ("names_missing", "names_far", "other_name", "weakest"),
    "figures": ("other_cell", "other_figure", "other_near", "other_year", "figures_far", "rate_missing"),
    "negation": (
        "denied_alone", "denied_not_best", "denial_gone", "denials_gone", "odd", "odd_said",
    ),
}  # fmt: skip
_FOLDS, _RIDGE, _CLEAN_MARKED = 10, 1.0, 0.03


@dataclass(frozen=True)
class Example:
    """A sentence's signs. `unheld`: one of its figures stands nowhere, so that nothing is left to weigh."""

    group: str
    kind: str
    signs: dict[str, float]
    unheld: bool

    @property
    def fold(self) -> int:
        """Sentences of one passage are in one fold."""
        return zlib.crc32(self.group.encode()) % _FOLDS


def examples(every: Sequence[Case], encode: EncodeTokens) -> list[Example]:
    """The sentences and their faulty versions."""
    found = []
    for case in every:
        sources = sources_of(Passages(case.hits).parts[case.own], encode)
        texts = {"clean": [case.row["text"]]}
        for fault in case.row["faults"]:
            texts.setdefault(fault["kind"], []).append(fault["text"])
        pairs = [(kind, text) for kind, same in texts.items() if kind in (*KINDS, "clean") for text in same]
        for (kind, text), (vectors, spans) in zip(pairs, encode([text for _, text in pairs]), strict=True):
            held = ClaimMatch(Claim(text, vectors, spans), sources)
            group = f"{case.row['document']} {case.row['anchor']}"
            found.append(Example(group, kind, held.signs(), bool(held.unheld())))
    return found


def fitted(every: Sequence[Example]) -> Judge:
    """The weights of each side."""
    return Judge({side: _side(side, every) for side in _SIDES}, 0.0)


def _side(side: str, every: Sequence[Example]) -> dict[str, float]:
    used = [one for one in every if one.kind == "clean" or (one.kind in _OF_KIND[side] and not one.unheld)]
    rows = np.array([[one.signs[name] for name in _SIDES[side]] for one in used])
    clean = np.array([float(one.kind == "clean") for one in used])
    middle, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-3
    known = np.column_stack([(rows - middle) / scale, np.ones(len(rows))])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        odds = known @ weights
        ridge = _RIDGE * np.append(weights[:-1], 0.0)
        slope = known.T @ (1 / (1 + np.exp(-odds)) - clean) + ridge
        return float((np.logaddexp(0, odds) - clean * odds).sum() + ridge @ weights / 2), slope

    bounds = [(0, None) if name in _FOR else (None, 0) for name in _SIDES[side]]
    found = minimize(loss, np.zeros(known.shape[1]), jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)]).x
    weights = found[:-1] / scale
    named = {name: round(float(weight), 4) for name, weight in zip(_SIDES[side], weights, strict=True)}
    return named | {"bias": round(float(found[-1] - weights @ middle), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", type=Path, help="keep the library in this folder")
    options = parser.parse_args()
    settings = Settings()
    with (
        tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder,
        open_embedder(settings.embedding, settings.models_dir) as embedder,
    ):
        every = examples(cases(options.libraries or Path(folder), ["tune"]), embedder.encode_tokens)
    scores = {}
    for fold in range(_FOLDS):
        without = fitted([one for one in every if one.fold != fold])
        scores |= {id(one): 0.0 if one.unheld else without.score(one.signs) for one in every if one.fold == fold}
    clean = sorted(scores[id(one)] for one in every if one.kind == "clean")
    least = round(clean[int(len(clean) * _CLEAN_MARKED)], 3)
    made = {"sides": fitted(every).sides, "supported_from": least}
    PATH.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    marked = {
        kind: round(float(np.mean([scores[id(one)] < least for one in every if one.kind == kind])), 3)
        for kind in ("clean", *KINDS)
    }
    emit(benchmark="fit_grounding", sentences=len(every), supported_from=least, marked=marked, written=PATH.name)


if __name__ == "__main__":
    main()
