from __future__ import annotations

import threading

from rag_core import Library
from tests.conftest import add_text
from tests.rag_core.samples import TEXTS

PATIENCE_S = 120


def test_an_answer_is_whole_while_documents_keep_the_embedder_busy(library: Library) -> None:
    """Nothing that an answer needs, to its last event, waits behind texts that are added."""
    for name, text in TEXTS.items():
        add_text(library, name, text)
    library.warm_up()
    embedder, go_on, stages = library.embedding.get(), threading.Event(), list[str]()

    def ask() -> None:
        for event in library.stream("How much does a loaf of rye bread cost?"):
            stages.append("whole" if event.answer is not None else "words" if event.text else event.stage or "")

    busy = [embedder._pool.submit(go_on.wait, PATIENCE_S) for _ in range(embedder._workers)]
    asking = threading.Thread(target=ask)
    asking.start()
    asking.join(PATIENCE_S / 2)
    was_whole = "whole" in stages
    go_on.set()
    asking.join()
    for job in busy:
        job.result()
    assert was_whole, stages
