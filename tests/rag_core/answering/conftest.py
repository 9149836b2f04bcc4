"""The real embedding model, opened once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.answering.encoding import EncodeTokens
from rag_core.embedding import open_embedder
from rag_core.settings import Settings


@pytest.fixture(scope="session")
def real_tokens() -> Iterator[EncodeTokens]:
    """The token vectors of the packaged model."""
    settings = Settings()
    with open_embedder(settings.embedding, settings.models_dir) as embedder:
        yield embedder.encode_tokens
