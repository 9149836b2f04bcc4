"""Libraries that borrow an embedding model, so that opening one again and again does not load it again and again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rag_core import Library, Settings
from rag_core.embedding import Embedder


@contextmanager
def opened(settings: Settings, model: Embedder) -> Iterator[Library]:
    """Open a library that embeds with `model`, which stays open when the library is closed."""
    with Library.open(settings) as library, lent(library, model):
        yield library


@contextmanager
def lent(library: Library, model: Embedder) -> Iterator[None]:
    """Lend a model to a library that has none loaded."""
    assert library.embedding.embedder is None
    library.embedding.embedder = model
    try:
        yield
    finally:
        library.embedding.embedder = None
