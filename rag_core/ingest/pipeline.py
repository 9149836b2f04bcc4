"""The pipeline: accepted documents through all stages at once, a batch in each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag_core.ingest.batches import chunk, commit, embed, parse
from rag_core.ingest.context import RunContext
from rag_core.ingest.executor import Executor
from rag_core.ingest.work import BATCH_CHUNKS, BATCH_DOCUMENTS, Work


def carry(run: RunContext, accepted: Iterable[Sequence[Work]], *, room: float) -> None:
    """Bring documents to their end. No more are taken from `accepted` while `room` small ones wait to be read.

    Documents that are read at the same time may end in another order than they came in: none waits for one that hangs,
    nor for a long one that is embedded. Whatever goes wrong and is none of a document's ends the run.
    """

    def embed_all(works: Sequence[Work]) -> None:
        embedding.put([work for work in works if work.is_short])
        embedding_long.put([work for work in works if not work.is_short])

    with (
        Executor(
            lambda works: commit(run, works),
            weigh=lambda work: work.size, batch=BATCH_CHUNKS, room=1, broken=run.interrupt,
        ) as committing,
        Executor(
            lambda works: committing.put(embed(run, works)),
            weigh=lambda work: work.size, batch=BATCH_CHUNKS, room=BATCH_CHUNKS, broken=run.interrupt,
            workers=run.stages.embedders,
        ) as embedding,
        Executor(
            lambda works: committing.put(embed(run, works)),
            weigh=lambda work: work.size, batch=BATCH_CHUNKS, room=BATCH_CHUNKS, broken=run.interrupt,
            workers=run.stages.embedders,
        ) as embedding_long,
        Executor(
            lambda works: embed_all(chunk(run, parse(run, works, embedding_long))),
            weigh=lambda work: work.files, batch=BATCH_DOCUMENTS, room=room, broken=run.interrupt,
            workers=run.stages.readers,
        ) as reading,
    ):  # fmt: skip
        for works in accepted:
            reading.put(works)
