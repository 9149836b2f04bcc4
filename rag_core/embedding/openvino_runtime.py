"""OpenVINO on the processor: the fast road. Needs only openvino and tokenizers, which import in a third of a second."""

from __future__ import annotations

import queue
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.embedding.base import Embedder, Forward
from rag_core.embedding.processor import usable_cores
from rag_core.embedding.source import ModelSource
from rag_core.errors import ModelUnavailable

MODEL_FILE = "model.xml"

_MOST_STREAMS = 16  # each has memory of its own

_WARM_TEXT = "What were the total net sales in the fiscal year?"


class OpenVinoEmbedder(Embedder):
    """An exported model, one stream for each core: for models of this size cores work best apart."""

    kind = "openvino"

    def __init__(
        self, source: ModelSource, precision: str, exported: Path, *, batch_size: int = 8, notes: Sequence[str] = ()
    ) -> None:
        cores = usable_cores()
        streams = min(cores, _MOST_STREAMS)
        super().__init__(source, precision, batch_size=batch_size, workers=streams, notes=notes)
        self._model = _compile(exported / MODEL_FILE, precision, cores, streams)
        self._free: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.encode_query(_WARM_TEXT)  # the first pass lays out the weights: 40 ms that no question should wait for

    def _forward(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Forward:
        try:
            request = self._free.get_nowait()
        except queue.Empty:
            request = self._model.create_infer_request()
        try:
            outputs = request.infer([ids, mask], share_inputs=True)
            found: Forward = outputs[0], outputs[1]
        except RuntimeError as error:
            raise ModelUnavailable(f"OpenVINO failed: {error}") from error
        self._free.put(request)
        return found


def capabilities() -> frozenset[str]:
    """What OpenVINO computes on this processor, such as FP32, BF16, INT8. Raises ModelUnavailable."""
    return frozenset(_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"))


def _core() -> Any:
    try:
        import openvino

        return openvino.Core()
    except (ImportError, RuntimeError) as error:
        raise ModelUnavailable(f"OpenVINO does not start: {error}", help="Run: pip install openvino") from error


def _compile(path: Path, precision: str, cores: int, streams: int) -> Any:
    core = _core()
    # What is not 8-bit in an int8 model is computed as bfloat16 where the processor has it.
    half = precision != "float32" and "BF16" in capabilities()
    settings = {
        "INFERENCE_PRECISION_HINT": "bf16" if half else "f32",
        "NUM_STREAMS": str(streams),
        "INFERENCE_NUM_THREADS": cores,
    }
    try:
        return core.compile_model(str(path), "CPU", settings)
    except RuntimeError as error:
        help = f"Remove the folder {path.parent}: the model is then exported anew."
        raise ModelUnavailable(f"OpenVINO cannot load {path}: {error}", help=help) from error
