"""Lectern: questions to a person's own documents, answers with the page and the passage.

from rag_core import Library, Settings

with Library.open(Settings(data_dir="data/library")) as library:
    for event in library.add(["report.pdf"]):
        ...
    answer = library.ask("What did sales do?")
"""

from rag_core.cancellation import Cancellation
from rag_core.domain import (
    AddEvent,
    Answer,
    Citation,
    Conversation,
    Document,
    Hit,
    LibraryStatus,
    Message,
    Piece,
    Upload,
    WebAddress,
)
from rag_core.errors import LecternError
from rag_core.library import Library
from rag_core.settings import Settings

__all__ = [
    "AddEvent",
    "Answer",
    "Cancellation",
    "Citation",
    "Conversation",
    "Document",
    "Hit",
    "LecternError",
    "Library",
    "LibraryStatus",
    "Message",
    "Piece",
    "Settings",
    "Upload",
    "WebAddress",
]
