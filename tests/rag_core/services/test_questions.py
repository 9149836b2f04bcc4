from __future__ import annotations

from typing import Any

from rag_core import Library
from rag_core.embedding import Embedder
from tests.conftest import add_text
from tests.rag_core.samples import TEXTS


class Crowded:
    """An embedder whose queue of documents never comes to an end."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def __getattr__(self, name: str) -> Any:
        assert name not in ("encode", "encode_with_pieces"), "an answer waits behind documents"
        return getattr(self.embedder, name)


def test_an_answer_is_whole_while_documents_keep_the_embedder_busy(library: Library) -> None:
    """Nothing that an answer needs, to its last event, waits behind texts that are added."""
    for name, text in TEXTS.items():
        add_text(library, name, text)
    library.embedding.embedder = Crowded(library.embedding.get())  # type: ignore[assignment]
    library.warm_up()
    *_, last = library.stream("How much does a loaf of rye bread cost?")
    assert last.answer is not None
    assert "4.20" in last.answer.text
    assert library.search("Who was the last keeper of the lighthouse at CV (Cape Varn)?")
