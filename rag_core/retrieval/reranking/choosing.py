"""Which re-rankers a search asks: the user's cross-encoder where there is one, else the automatic ones."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from rag_core.errors import ModelUnavailable
from rag_core.retrieval.candidates import Candidates, Scores
from rag_core.retrieval.fusion import identity, scaled
from rag_core.retrieval.query import Query
from rag_core.retrieval.reranking.base import Reranker
from rag_core.retrieval.reranking.cross_encoder import CrossEncoderReranker, cross_encoders
from rag_core.retrieval.reranking.feedback import FeedbackReranker
from rag_core.retrieval.reranking.pieces import PiecesReranker, with_pieces
from rag_core.retrieval.reranking.rows import RowsReranker

RERANKERS: dict[str, type[Reranker]] = {
    reranker.name: reranker for reranker in (PiecesReranker, FeedbackReranker, RowsReranker)
}
AUTOMATIC: tuple[str, ...] = ("pieces", "feedback", "rows")
"""Those that a hybrid search asks, in order, unless it is told not to.

One learned score behind them (a conditional logit over all that is known of a candidate, what they say included,
cross-validated on 578 tuning questions) ordered no better.
"""
FIRST = 30
"""So many candidates a cross-encoder reads."""

_log = logging.getLogger(__name__)


class Rerankers:
    """The re-rankers of a library, whose cross-encoder is loaded once, with the first search. Thread-safe.

    models_dir: where cross-encoders are looked for, None for nowhere.
    """

    def __init__(self, models_dir: Path | None = None) -> None:
        self._models_dir = models_dir
        self._lock = threading.Lock()
        self._loaded: dict[Path, CrossEncoderReranker] = {}
        self._failed: dict[Path, tuple[list[tuple[str, int]], str]] = {}

    def reranked(
        self, query: Query, candidates: Candidates, wanted: str, notes: list[str], lap: Callable[[str], None]
    ) -> Candidates:
        """Candidates scored once more, best first.

        wanted: "none", "auto", or the name of a cross-encoder's folder. `notes` are told of a model that cannot serve,
        in whose place the automatic re-rankers are asked; `lap` of each that was.
        """
        if wanted == "none" or not len(candidates):
            return candidates
        try:
            if model := self.cross_encoder(wanted):
                candidates = _read(model, query, candidates)
                lap(model.name)
                return candidates
        except ModelUnavailable as error:
            note = f"{error}. The automatic re-rankers took its place."
            if note not in notes:  # many questions of one search share them
                notes.append(note)
        candidates = with_pieces(query, candidates)
        for name in AUTOMATIC:
            scores = RERANKERS[name]().scores(query, candidates)
            if scores is not None:
                candidates = candidates.scored(scores, "rerank", "rerank")
            lap(name)
        return candidates

    def cross_encoder(self, wanted: str) -> CrossEncoderReranker | None:
        """The model of a name, for "auto" the first by name that there is; None where there is none.

        Raises ModelUnavailable for one that cannot be loaded, which is tried again once its files have changed.
        """
        held = {} if self._models_dir is None else {folder.name: folder for folder in cross_encoders(self._models_dir)}
        if wanted == "auto":
            folder = next(iter(held.values()), None)
            return None if folder is None else self._open(folder)
        if wanted not in held:
            raise ModelUnavailable(f"There is no cross-encoder called {wanted[:100]} in the models folder")
        return self._open(held[wanted])

    def warm(self, wanted: str) -> None:
        """Load the cross-encoder that searches will ask, where there is one; a search tells of one that cannot."""
        try:
            if wanted != "none":
                self.cross_encoder(wanted)
        except ModelUnavailable as error:
            _log.warning("%s", error)

    def _open(self, folder: Path) -> CrossEncoderReranker:
        with self._lock:
            if folder not in self._loaded:
                files = sorted((path.name, path.stat().st_size) for path in folder.iterdir())
                before, reason = self._failed.get(folder, (None, ""))
                if before == files:
                    raise ModelUnavailable(reason)
                try:
                    self._loaded[folder] = CrossEncoderReranker(folder)
                except ModelUnavailable as error:
                    self._failed[folder] = (files, str(error))
                    raise
            return self._loaded[folder]


def _read(model: CrossEncoderReranker, query: Query, candidates: Candidates) -> Candidates:
    """The first candidates in the model's order, the others behind them in their own."""
    first = candidates.take(list(range(min(FIRST, len(candidates)))))
    told = model.scores(query, first)
    # Between 0 and 1, as what MMR weighs against the likeness of passages, and as documents that are meant gain.
    score = scaled(told, float(told.min())) + identity(query, first.refs)
    rest = candidates.score[len(first) :]
    behind = rest - rest[:1] + np.nextafter(score.min(), np.float32(-np.inf))
    columns = {**candidates.scores, model.name: np.append(told, np.full(len(rest), np.nan, np.float32))}
    whole: Scores = np.append(score, behind).astype(np.float32)
    return replace(candidates, scores=columns).scored(whole, "rerank", "rerank")
