"""PyTorch through sentence-transformers: runs everywhere, several times slower than OpenVINO."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rag_core.embedding.base import Embedder, Forward
from rag_core.embedding.source import ModelSource
from rag_core.errors import ModelUnavailable


class TorchEmbedder(Embedder):
    """One pass at a time, on all cores. Importing sentence-transformers takes seconds."""

    kind = "torch"
    backend: ClassVar[Literal["torch", "onnx"]] = "torch"

    def __init__(
        self, source: ModelSource, precision: str = "float32", *, batch_size: int = 8, notes: Sequence[str] = ()
    ) -> None:
        super().__init__(source, precision, batch_size=batch_size, notes=notes)
        self._lock = threading.Lock()
        try:
            from sentence_transformers import SentenceTransformer

            self._model = SentenceTransformer(
                str(source.folder), device="cpu", backend=self.backend, local_files_only=True
            )
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            raise ModelUnavailable(f"sentence-transformers cannot load {source.folder}: {error}") from error

    def _forward(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Forward:
        import torch

        features = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
        if self.backend == "onnx" and "token_type_ids" in self._model.tokenizer.model_input_names:
            # A graph has fixed inputs; PyTorch fills this one in by itself.
            features["token_type_ids"] = torch.zeros_like(features["input_ids"])
        try:
            with self._lock, torch.inference_mode():
                found = self._model(features)
        except RuntimeError as error:
            raise ModelUnavailable(f"The embedding model failed on {self.kind}: {error}") from error
        return found["sentence_embedding"].numpy(), found["token_embeddings"].numpy()


class OnnxEmbedder(TorchEmbedder):
    """The same on ONNX Runtime, for machines that OpenVINO does not know: about three times faster.

    A folder without `onnx/model.onnx` is exported at each start.
    """

    kind = "onnx"
    backend = "onnx"
