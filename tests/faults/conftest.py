"""What the fault tests share: how much to do, what to count into, documents to add."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from rag_core import Settings
from rag_core.embedding import Embedder, open_embedder
from tests.faults.shelf import Shelf, make_shelf
from tests.faults.summary import Tally, tally_of

ALL = bool(os.environ.get("ALL_FAULTS"))


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Tally:
    """What this test counts into."""
    return tally_of(request.node)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Documents to add. Their list is kept beside their folder, for other processes."""
    return make_shelf(tmp_path_factory.mktemp("shelf") / "documents", 40, 1)


@pytest.fixture(scope="session")
def model() -> Iterator[Embedder]:
    """The embedding model, loaded once: it is lent to libraries that are opened again and again."""
    settings = Settings(_env_file=None)
    with open_embedder(settings.embedding, settings.models_dir) as embedder:
        yield embedder
