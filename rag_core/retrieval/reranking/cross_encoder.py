"""A cross-encoder of the user's own: question and passage are read together, which is slow and tells most.

Nogueira and Cho, "Passage Re-ranking with BERT", 2019. It is a folder below the models folder as sentence-transformers
saves a CrossEncoder: `config.json` of a model for sequence classification with one label, its tokenizer, and its
weights as safetensors. Code that comes with a model is never run, and nothing is fetched. OpenVINO takes a fifth of
PyTorch's time for a search, and some seconds more to load a model.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rag_core.embedding.offline import keep_offline
from rag_core.errors import ModelUnavailable
from rag_core.retrieval.candidates import Candidates, Scores
from rag_core.retrieval.query import Query
from rag_core.retrieval.reranking.base import Reranker
from rag_core.runtime.precedence import PRECEDENCE
from rag_core.text.context import context_of

# Tokens of question and passage together: as many as these models were trained with. A longer passage is cut off.
_WINDOW = 512
_BATCH = 8

_log = logging.getLogger(__name__)


class CrossEncoderReranker(Reranker):
    """Scores each candidate by what the model says of it, its logit. Thread-safe: one search at a time."""

    name = "cross_encoder"

    def __init__(self, folder: Path) -> None:
        """Raises ModelUnavailable."""
        self._folder = folder
        self._lock = threading.Lock()
        self._model = _loaded(folder)

    def scores(self, query: Query, candidates: Candidates) -> Scores:
        """See the base class; a passage is read with its document's title and its section before it. Raises
        ModelUnavailable."""
        pairs = [(query.text, _text(candidates, place)) for place in range(len(candidates))]
        try:
            with self._lock, PRECEDENCE.question():
                found = self._model.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
        except (RuntimeError, ValueError, IndexError) as error:
            raise ModelUnavailable(f"The cross-encoder {self._folder.name} failed: {error}") from error
        scores = np.asarray(found, dtype=np.float32)
        if not np.isfinite(scores).all():
            raise ModelUnavailable(f"The cross-encoder {self._folder.name} gave scores that are no numbers")
        return scores


def cross_encoders(models_dir: Path) -> Iterator[Path]:
    """The folders of the cross-encoders in the models folder, by name."""
    try:
        folders = sorted(path for path in models_dir.iterdir() if path.is_dir())
    except OSError:  # there is no such folder, or it is not for us
        return
    yield from (folder for folder in folders if _is_cross_encoder(folder))


def _is_cross_encoder(folder: Path) -> bool:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kinds, labels = config["architectures"], config["id2label"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return len(labels) == 1 and any(str(kind).endswith("ForSequenceClassification") for kind in kinds)


def _loaded(folder: Path) -> Any:
    if not any(folder.glob("*.safetensors")):
        raise ModelUnavailable(
            f"The cross-encoder {folder.name} has no weights as safetensors, and others are not read"
        )
    keep_offline()
    reasons: list[str] = []
    for backend in ("openvino", "torch"):
        try:
            return _opened(folder, backend)
        except Exception as error:  # noqa: BLE001 - a foreign model's files make the libraries raise anything
            reasons.append(f"{backend}: {' '.join(str(error).split())[:200]}")
            _log.warning("The cross-encoder %s does not run on %s", folder.name, reasons[-1])
    raise ModelUnavailable(f"The cross-encoder {folder.name} cannot be loaded ({'; '.join(reasons)})")


def _opened(folder: Path, backend: Literal["openvino", "torch"]) -> Any:
    import torch
    from sentence_transformers import CrossEncoder

    return CrossEncoder(
        str(folder), device="cpu", backend=backend, local_files_only=True, trust_remote_code=False,
        max_length=_window(folder), activation_fn=torch.nn.Identity(),
        model_kwargs={"use_safetensors": True} if backend == "torch" else {},
    )  # fmt: skip


def _window(folder: Path) -> int:
    """The most tokens of a pair that the model takes."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    try:
        told = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8")).get("model_max_length")
    except FileNotFoundError:
        told = None
    return min(_WINDOW, int(told or _WINDOW), int(config.get("max_position_embeddings") or _WINDOW))


def _text(candidates: Candidates, place: int) -> str:
    row = candidates.rows[place]
    return context_of(candidates.documents[row.document_id].title, row.section) + row.text
