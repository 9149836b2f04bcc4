"""Fewer dimensions before clustering: distances of hundreds of dimensions say little about few rows."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rag_core.errors import ConfigurationError

Reduction = Literal["pca", "umap"]
Floats = NDArray[np.float32]

_MOST_DIMENSIONS = 16
_ROWS_PER_DIMENSION = 8
_BLOCK = 16_384


def dimensions_for(rows: int) -> int:
    """How many dimensions so many rows can fill: 2 to 16."""
    return max(2, min(_MOST_DIMENSIONS, rows // _ROWS_PER_DIMENSION))


def reduce(vectors: Floats, sample: NDArray[np.intp], method: Reduction, seed: int) -> Floats:
    """Rows in fewer dimensions, float32 (n, r), by axes that are found on a sample of them.

    vectors: float32 (n, d), n at least 3. sample: numbers of rows. "pca" by default; "umap" (McInnes, Healy and
    Melville 2018) where the package umap-learn was installed. Raises ConfigurationError without it.
    """
    count = min(dimensions_for(len(sample)), vectors.shape[1])
    if method == "umap":
        return _umap(vectors, sample, count, seed)
    return _pca(vectors, sample, count, seed)


def _pca(vectors: Floats, sample: NDArray[np.intp], count: int, seed: int) -> Floats:
    from sklearn.decomposition import PCA

    axes = PCA(count, svd_solver="randomized", random_state=seed).fit(vectors[sample])
    blocks = [axes.transform(vectors[start : start + _BLOCK]) for start in range(0, len(vectors), _BLOCK)]
    return np.concatenate(blocks).astype(np.float32, copy=False)


def _umap(vectors: Floats, sample: NDArray[np.intp], count: int, seed: int) -> Floats:
    if find_spec("umap") is None:
        raise ConfigurationError(
            "UMAP is not installed.", help="Install it (pip install umap-learn), or reduce by PCA."
        )
    import umap

    neighbours = min(15, len(sample) - 1)
    axes = umap.UMAP(
        n_components=count, n_neighbors=neighbours, metric="cosine", init="pca", random_state=seed, n_jobs=1
    )
    axes.fit(vectors[sample])
    reduced: Floats = np.asarray(axes.transform(vectors), dtype=np.float32)
    return reduced
