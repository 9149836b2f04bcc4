"""OpenVINO on the processor: the fast road. Needs only openvino and tokenizers, which import in a third of a second."""

from __future__ import annotations

import queue
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.embedding.base import Embedder
from rag_core.embedding.processor import usable_cores
from rag_core.embedding.source import ModelSource
from rag_core.errors import ModelUnavailable

MODEL_FILE = "model.xml"

_WARM_TEXT = "What were the total net sales in the fiscal year?"


class OpenVinoEmbedder(Embedder):
    """An exported model, one stream for each core: for models of this size cores work best apart."""

    kind = "openvino"

    def __init__(
        self, source: ModelSource, precision: str, exported: Path, *, batch_size: int = 8, notes: Sequence[str] = ()
    ) -> None:
        cores = usable_cores()
        super().__init__(source, precision, batch_size=batch_size, workers=cores, notes=notes)
        self._model = _compile(exported / MODEL_FILE, precision, cores)
        self._free: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.encode_query(_WARM_TEXT)  # the first pass lays out the weights: 40 ms that no question should wait for

    def _forward(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        try:
            request = self._free.get_nowait()
        except queue.Empty:
            request = self._model.create_infer_request()
        try:
            vectors: NDArray[np.float32] = request.infer([ids, mask], share_inputs=True)[0]
        except RuntimeError as error:
            raise ModelUnavailable(f"OpenVINO failed: {error}") from error
        self._free.put(request)
        return vectors


def _compile(path: Path, precision: str, cores: int) -> Any:
    try:
        import openvino
    except ImportError as error:
        raise ModelUnavailable("OpenVINO is not installed", help="Run: pip install openvino") from error
    core = openvino.Core()
    settings = {
        # What is not 8-bit in an int8 model is computed as bfloat16 where the processor has it.
        "INFERENCE_PRECISION_HINT": "f32" if precision == "float32" else "bf16",
        "NUM_STREAMS": str(cores),
        "INFERENCE_NUM_THREADS": cores,
    }
    try:
        return core.compile_model(str(path), "CPU", settings)
    except RuntimeError as error:
        raise ModelUnavailable(f"OpenVINO cannot load {path}: {error}") from error
