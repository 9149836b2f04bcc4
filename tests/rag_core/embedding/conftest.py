from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_core.embedding import Embedder, open_embedder
from rag_core.embedding.base import Forward
from rag_core.embedding.processor import has_fast_int8
from rag_core.embedding.source import PACKAGED, ModelSource, find_source
from rag_core.settings import EmbeddingSettings, Settings

MODELS = Settings().models_dir


class FakeEmbedder(Embedder):
    """Sums of random vectors, one for each token: order of batches and padding must not be seen in the result."""

    kind = "fake"

    def __init__(self, source: ModelSource, **options: object) -> None:
        super().__init__(source, "float32", **options)
        self._table = np.random.default_rng(0).standard_normal((31_000, source.dimensions)).astype(np.float32)
        self.shapes: list[tuple[int, int]] = []

    def _forward(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Forward:
        self.shapes.append(ids.shape)
        tokens = np.where(mask[..., None], self._table[ids], np.float32(0))
        return tokens.sum(axis=1), tokens


@pytest.fixture(scope="session")
def source() -> ModelSource:
    return find_source(PACKAGED)


@pytest.fixture
def fake(source: ModelSource) -> Iterator[FakeEmbedder]:
    with FakeEmbedder(source, workers=2) as embedder:
        yield embedder


@pytest.fixture(scope="session")
def oracle() -> Iterator[Embedder]:
    with open_embedder(EmbeddingSettings(backend="torch", precision="float32"), MODELS) as embedder:
        yield embedder


@pytest.fixture(
    scope="session",
    params=["openvino float32", pytest.param("openvino bf16", marks=pytest.mark.slow), "openvino int8", "onnx float32"],
)
def runtime(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    kind, precision = request.param.split()
    if precision == "int8" and not has_fast_int8():
        pytest.skip("this processor has no fast 8-bit inner products")
    with open_embedder(EmbeddingSettings(backend=kind, precision=precision), MODELS) as embedder:
        yield embedder


@pytest.fixture
def model_folder(tmp_path: Path, source: ModelSource) -> Path:
    """A copy of the packaged model that a test may damage."""
    return Path(shutil.copytree(source.folder, tmp_path / "my model"))
