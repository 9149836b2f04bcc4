"""Export a sentence-transformers model to OpenVINO, in a process of its own.

The whole model, pooling included, becomes one graph from token numbers and mask to the texts'
vectors and those of their tokens. What comes out is compared with PyTorch, on padded batches too, before it is
published: a padding mask frozen by tracing would give wrong vectors for padded rows alone.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import work_path
from rag_core.embedding.exported import publish
from rag_core.embedding.offline import keep_offline
from rag_core.embedding.openvino_runtime import MODEL_FILE
from rag_core.embedding.source import ModelSource, find_source
from rag_core.embedding.tokens import TokenCounter, pad
from rag_core.errors import ModelUnavailable

_CALIBRATION = Path(__file__).with_name("calibration.txt")  # written for Lectern, of many registers
# Least cosine with PyTorch's vectors that is taken for the same model.
_LEAST_COSINE = {"float32": 0.9999, "int8": 0.97}


def export_quietly(folder: str, target: Path, precision: str) -> None:
    """`export` of a model's folder, as another process calls it. Raises ModelUnavailable, whatever went wrong."""
    keep_offline()
    warnings.simplefilter("ignore")
    try:
        export(find_source(folder), target, precision)
    except Exception as error:
        raise ModelUnavailable(f"{type(error).__name__}: {' '.join(str(error).split())}") from error


def export(source: ModelSource, target: Path, precision: str) -> None:
    """Write the OpenVINO model into the folder `target`. Raises ValueError where it differs from PyTorch."""
    import openvino
    from sentence_transformers import SentenceTransformer

    reference = SentenceTransformer(str(source.folder), device="cpu", local_files_only=True).eval()
    model = _convert(reference)
    if precision == "int8":
        model = _quantise(model, source)
    _compare(openvino.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}), reference, source, precision)
    work = work_path(target)
    work.mkdir(mode=0o700)
    try:
        openvino.save_model(model, str(work / MODEL_FILE), compress_to_fp16=False)
        publish(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _convert(reference: Any) -> Any:
    import openvino
    import torch

    class Whole(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = reference

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            found = self.model({"input_ids": input_ids, "attention_mask": attention_mask})
            return found["sentence_embedding"], found["token_embeddings"]

    ids = torch.arange(100, 118).reshape(2, 9)
    mask = torch.ones_like(ids)
    mask[1, 5:] = 0  # an example without padding would be traced to a model without a mask
    shape = openvino.PartialShape([-1, -1])
    inputs = [(name, shape, openvino.Type.i64) for name in ("input_ids", "attention_mask")]
    example = {"input_ids": ids, "attention_mask": mask}
    with torch.no_grad():
        return openvino.convert_model(Whole().eval(), example_input=example, input=inputs)


def _quantise(model: Any, source: ModelSource) -> Any:
    import nncf
    from nncf.quantization import range_estimator

    widest = range_estimator.RangeEstimatorParametersSet.MINMAX
    rows = _rows(source, calibration_texts())
    samples = [{"input_ids": row[None], "attention_mask": np.ones_like(row)[None]} for row in rows]
    return nncf.quantize(
        model,
        nncf.Dataset(samples),
        model_type=nncf.ModelType.TRANSFORMER,
        preset=nncf.QuantizationPreset.MIXED,
        subset_size=len(samples),
        # The widest range seen, not the mean over texts: unusual passages lose less.
        advanced_parameters=nncf.AdvancedQuantizationParameters(activations_range_estimator_params=widest),
    )


def _rows(source: ModelSource, texts: Sequence[str]) -> list[NDArray[np.int64]]:
    """Token numbers of each text, as far as the model takes them at once."""
    return [windows[0] for windows in TokenCounter(source).windows(texts)]


def _compare(compiled: Any, reference: Any, source: ModelSource, precision: str) -> None:
    texts = calibration_texts()[:: max(1, len(calibration_texts()) // 12)]
    truth = reference.encode(texts, normalize_embeddings=True, prompt="")
    rows = _rows(source, texts)
    padded = compiled(pad(rows, pad_id=source.pad_id, max_tokens=source.max_tokens))[0]
    single = np.concatenate([compiled([row[None], np.ones_like(row)[None]])[0] for row in rows])
    least = min(_cosines(truth, padded).min(), _cosines(truth, single).min())
    if not least >= _LEAST_COSINE[precision]:
        raise ValueError(f"the exported model differs from PyTorch's: cosine {least:.4f}")


def _cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    cosines: NDArray[np.float32] = (left * right).sum(axis=1) / np.linalg.norm(right, axis=1)
    return cosines


def calibration_texts() -> list[str]:
    """What 8-bit models are calibrated by: paragraphs, pairs of them as long as the usual model takes, and single
    sentences as short as questions."""
    paragraphs = _CALIBRATION.read_text(encoding="utf-8").strip().split("\n\n")
    pairs = [" ".join(pair) for pair in zip(paragraphs[::2], paragraphs[1::2], strict=False)]
    sentences = [text.replace("\n", " ").split(". ")[0] for text in paragraphs[::2]]
    return paragraphs + pairs + sentences
