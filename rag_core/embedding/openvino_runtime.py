"""OpenVINO on the processor: the fast road. Needs only openvino and tokenizers, which import in a third of a second."""

from __future__ import annotations

import queue
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rag_core.embedding.base import USUAL_BATCH, Embedder, Forward
from rag_core.embedding.processor import usable_cores
from rag_core.embedding.source import ModelSource
from rag_core.errors import ModelUnavailable

MODEL_FILE = "model.xml"

_MOST_STREAMS = 16  # each has memory of its own

_WARM_TEXT = "What were the total net sales in the fiscal year?"


@dataclass(frozen=True, slots=True)
class RuntimeConfig:
    """How a model is computed: texts in one pass, passes side by side (streams), and threads for all of them.

    One stream for each core: for models of this size cores work best apart. Half as many, or half as many texts, were
    no tenth faster on any machine measured.
    """

    batch_size: int
    streams: int
    threads: int

    @classmethod
    def usual(cls, batch_size: int = 0, cores: int = 0) -> Self:
        """That of this machine; batch_size, cores: another than the usual one, and fewer than all."""
        cores = min(cores or usable_cores(), usable_cores())
        return cls(batch_size or USUAL_BATCH, min(cores, _MOST_STREAMS), cores)


class OpenVinoEmbedder(Embedder):
    """An exported model."""

    kind = "openvino"

    def __init__(
        self, source: ModelSource, precision: str, exported: Path, config: RuntimeConfig, *, notes: Sequence[str] = ()
    ) -> None:
        super().__init__(source, precision, batch_size=config.batch_size, workers=config.streams, notes=notes)
        self.how = f"on {self.kind}, {config.streams} at a time in batches of {config.batch_size}"
        self._model = _compile(exported / MODEL_FILE, precision, config.threads, config.streams)
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


def _compile(path: Path, precision: str, threads: int, streams: int) -> Any:
    core = _core()
    # What is not 8-bit in an int8 model is computed as bfloat16 where the processor has it.
    half = precision != "float32" and "BF16" in capabilities()
    settings = {
        "INFERENCE_PRECISION_HINT": "bf16" if half else "f32",
        "NUM_STREAMS": str(streams),
        "INFERENCE_NUM_THREADS": threads,
    }
    try:
        return core.compile_model(str(path), "CPU", settings)
    except RuntimeError as error:
        help = f"Remove the folder {path.parent}: the model is then exported anew."
        raise ModelUnavailable(f"OpenVINO cannot load {path}: {error}", help=help) from error
