"""Which runtime and precision a machine gets, and what is said when it is not the first choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from rag_core.domain import Profile
from rag_core.embedding.base import USUAL_BATCH, Embedder
from rag_core.embedding.exported import exported_model
from rag_core.embedding.offline import keep_offline
from rag_core.embedding.processor import has_fast_int8
from rag_core.embedding.source import ModelSource, find_source
from rag_core.errors import ModelUnavailable
from rag_core.settings import EmbeddingSettings

_NEEDS = {
    "openvino": ("openvino",),
    "onnx": ("sentence_transformers", "onnxruntime"),
    "torch": ("sentence_transformers",),
}


def open_embedder(settings: EmbeddingSettings, models_dir: Path) -> Embedder:
    """Load the embedding model, exporting it first where it never was (10 to 20 s, once).

    The fastest runtime that works here is taken; `notes` of what is returned say which ones did not, and why. Raises
    ModelUnavailable.
    """
    keep_offline()
    source = replace(find_source(settings.model), in_context=settings.context)
    failures: list[ModelUnavailable] = []
    for kind, precision in _choices(settings):
        notes = [f"Embedding does not run on {failure}" for failure in failures]
        try:
            return _open(kind, precision, source, settings, models_dir, notes)
        except ModelUnavailable as error:
            failures.append(ModelUnavailable(f"{kind} {precision}: {error}", help=error.help))
    reasons = "; ".join(map(str, failures)) or "this precision needs OpenVINO"
    help = failures[0].help if failures else "Set embedding.backend and embedding.precision to auto."
    raise ModelUnavailable(f"The embedding model cannot be loaded: {reasons}", help=help)


def open_profile(profile: Profile, models: Sequence[str], settings: EmbeddingSettings, models_dir: Path) -> Embedder:
    """Load the model of a profile from the first of some places that has it, with the other settings as they are.

    Raises ModelUnavailable, which says why none will do.
    """
    failures: list[str] = []
    for model in dict.fromkeys(filter(None, models)):
        try:
            source = replace(find_source(model), in_context=profile.in_context)
            if source.profile(profile.precision) != profile:
                failures.append(f"{model} is another model, or its files have changed")
                continue
            backend = "auto" if profile.precision != "float32" else settings.backend
            changes = {
                "model": model,
                "precision": profile.precision,
                "backend": backend,
                "context": profile.in_context,
            }
            return open_embedder(settings.model_copy(update=changes), models_dir)
        except ModelUnavailable as error:
            failures.append(str(error))
    raise ModelUnavailable("; ".join(failures) or "nobody knows where it is")


def _choices(settings: EmbeddingSettings) -> Iterator[tuple[str, str]]:
    """Runtimes with precisions, best first. Only OpenVINO has other precisions than float32."""
    automatic = settings.precision == "auto"
    if settings.backend in ("auto", "openvino"):
        if automatic and has_fast_int8():
            yield "openvino", "int8"
        yield "openvino", "float32" if automatic else settings.precision
    if settings.precision in ("auto", "float32"):
        for kind in ("onnx", "torch"):
            if settings.backend in ("auto", kind):
                yield kind, "float32"


def _open(
    kind: str, precision: str, source: ModelSource, settings: EmbeddingSettings, models_dir: Path, notes: list[str]
) -> Embedder:
    for package in _NEEDS[kind]:
        if find_spec(package) is None:
            raise ModelUnavailable(f"{package} is not installed", help=f"Run: pip install {package}")
    if kind == "openvino":
        from rag_core.embedding.openvino_runtime import OpenVinoEmbedder, RuntimeConfig, capabilities

        if precision == "int8" and "INT8" not in capabilities():
            raise ModelUnavailable("OpenVINO has no 8-bit runtime for this processor")
        folder = exported_model(source, precision, models_dir)
        config = RuntimeConfig.usual(settings.batch_size, settings.cores)
        return OpenVinoEmbedder(source, precision, folder, config, notes=notes)
    if kind == "onnx":
        from rag_core.embedding.torch_runtime import OnnxEmbedder

        return OnnxEmbedder(source, precision, batch_size=settings.batch_size or USUAL_BATCH, notes=notes)
    from rag_core.embedding.torch_runtime import TorchEmbedder

    return TorchEmbedder(source, precision, batch_size=settings.batch_size or USUAL_BATCH, notes=notes)
