from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from accelerator.dump import Dump, write_dump

PROFILE = "0123456789abcdef"

MakeDump = Callable[..., Dump]


def unit_rows(rows: int, dimensions: int, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def some_hashes(rows: int) -> np.ndarray:
    return np.random.default_rng(rows).integers(0, 256, (rows, 16), dtype=np.uint8)


@pytest.fixture
def make_dump(tmp_path: Path) -> MakeDump:
    """Write vectors (or so many random unit rows) as a dump and open it."""
    count = 0

    def make(vectors: np.ndarray | int, *, dimensions: int = 48, version: int = 2, normalised: bool = True) -> Dump:
        nonlocal count
        count += 1
        if isinstance(vectors, int):
            vectors = unit_rows(vectors, dimensions, seed=count)
        path = tmp_path / f"{count}.dump"
        write_dump(path, vectors, some_hashes(len(vectors)), profile=PROFILE, normalised=normalised, version=version)
        return Dump.open(path)

    return make
