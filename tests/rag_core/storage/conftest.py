from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.storage.blobs import Blobs, open_blobs


@pytest.fixture(params=["a folder", "a bucket"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    """Every store of originals, empty."""
    is_bucket = request.param == "a bucket"
    store = open_blobs(request.getfixturevalue("bucket") if is_bucket else (tmp_path / "files").as_uri())
    store.prepare(tmp_path / "fetched")
    return store
