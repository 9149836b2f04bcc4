"""Lectern: questions to a person's own documents, answers with the page and the passage.

from rag_core import Library, Settings

with Library.open(Settings(data_dir="data/library")) as library:
    for event in library.add(["report.pdf"]):
        ...
    answer = library.ask("What did sales do?")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_core.cancellation import Cancellation
    from rag_core.domain import (
        AddEvent,
        Answer,
        BackupReport,
        Chunk,
        Citation,
        Conversation,
        Document,
        Hit,
        LibraryStatus,
        Message,
        Page,
        PageImage,
        Question,
        Retrieval,
        Scope,
        StreamEvent,
        Table,
        Upload,
        WebAddress,
    )
    from rag_core.errors import LecternError
    from rag_core.library import Library
    from rag_core.remote.library import RemoteLibrary
    from rag_core.settings import Settings
    from rag_core.sources import Source

__version__ = "1.0.0"
__all__ = [
    "AddEvent",
    "Answer",
    "BackupReport",
    "Cancellation",
    "Chunk",
    "Citation",
    "Conversation",
    "Document",
    "Hit",
    "LecternError",
    "Library",
    "LibraryStatus",
    "Message",
    "Page",
    "PageImage",
    "Question",
    "RemoteLibrary",
    "Retrieval",
    "Scope",
    "Settings",
    "Source",
    "StreamEvent",
    "Table",
    "Upload",
    "WebAddress",
]

_ELSEWHERE = {
    "Cancellation": "cancellation",
    "LecternError": "errors",
    "Library": "library",
    "RemoteLibrary": "remote.library",
    "Settings": "settings",
    "Source": "sources",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is used (PEP 562): a command that asks a running server needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"rag_core.{_ELSEWHERE.get(name, 'domain')}"), name)
