"""The road of a file into the library: intake, then parse, chunk, embed and commit.

`intake` keeps what sources hold and notes it as pending documents, far ahead of the rest; `pending` goes on with what
was noted before. From there `pipeline` carries documents through `batches`, whose functions take a batch and return
what goes on; what is done with a document is in `stages`, functions of values. Each stage has an `Executor` with a
bounded queue: while one batch is embedded others are read, in child processes, and the one before is stored. A long
document overlaps with itself as well: what was read of it by now is embedded while the rest is read. The caller draws
the events.
"""

from rag_core.ingest.ingest import TAKEN, Ingest
from rag_core.ingest.stages import open_stages

__all__ = ["TAKEN", "Ingest", "open_stages"]
