"""The real embedding model and the reader, opened once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.answering.encoding import Encoder
from rag_core.embedding import Embedder, open_embedder, open_reader
from rag_core.settings import Settings


@pytest.fixture(scope="session")
def real_embedder() -> Iterator[Embedder]:
    """The packaged model."""
    settings = Settings()
    with open_embedder(settings.embedding, settings.models_dir) as embedder:
        yield embedder


@pytest.fixture(scope="session")
def real_encoder(real_embedder: Embedder) -> Iterator[Encoder]:
    """The token vectors of the packaged model, and the trained reader."""
    settings = Settings()
    reader = open_reader(settings.embedding, settings.models_dir)
    yield Encoder(real_embedder.encode_tokens, reader.read)
    reader.close()
