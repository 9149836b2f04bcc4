"""Where the library is kept: PostgreSQL is the truth, Chroma and the dump files are made from it."""

from rag_core.storage.blobs.notes import note_originals
from rag_core.storage.maintenance.archive import Archive
from rag_core.storage.maintenance.backup import back_up_beside, report
from rag_core.storage.maintenance.restore import check_known
from rag_core.storage.postgres.rows import Accepted, Stored
from rag_core.storage.storage import Storage

__all__ = ["Accepted", "Archive", "Storage", "Stored", "back_up_beside", "check_known", "note_originals", "report"]
