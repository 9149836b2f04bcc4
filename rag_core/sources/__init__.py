"""Where documents come from: uploads, files, folders, web addresses; one connector a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from rag_core.domain import Upload, WebAddress
from rag_core.errors import UnexpectedFailure, UnreadableDocument
from rag_core.settings import SourcesSettings
from rag_core.sources.base import Fetching, Found, Inside, Item, Keyed, Looking, PassedOver, Refused, Source, Unchanged
from rag_core.sources.containers import CONTAINERS, container_items, container_of, is_container
from rag_core.sources.files import file_item, location, location_of, path_of, read_item, unreadable
from rag_core.sources.folders import Listing, folder_items, is_folder, list_folder
from rag_core.unexpected import stage

__all__ = [
    "CONTAINERS", "Fetching", "Found", "Inside", "Item", "Keyed", "Listing", "Looking", "PassedOver", "Refused",
    "Source", "Unchanged", "container_items", "container_of", "expand", "file_item", "folder_items", "guarded", "here",
    "is_container", "is_folder", "list_folder", "location", "location_of", "path_of", "read_item", "unreadable",
]  # fmt: skip


def expand(sources: Iterable[Source], looking: Looking) -> Iterator[Found]:
    """What is found at sources, as it is found: folders and sites have many."""
    for source in sources:
        yield from guarded(_name_of(source), _found(source, looking))


def guarded(name: str, found: Iterable[Found]) -> Iterator[Found]:
    """What is found at one source; a failure that nobody foresaw is its own, and the next source has its turn."""
    try:
        with stage("source", name):
            yield from found
    except UnexpectedFailure as error:
        yield Refused(name, error)


def _found(source: Source, looking: Looking) -> Iterator[Found]:
    if isinstance(source, Keyed):
        yield from _items(replace(_item(source.source), key=source.key), looking)
    elif isinstance(source, Upload):
        yield from _items(_item(source), looking)
    elif isinstance(source, WebAddress) or str(source).startswith(("http://", "https://")):
        from rag_core.sources.web import crawl  # httpx and lxml, for those who need them

        yield from crawl(source if isinstance(source, WebAddress) else WebAddress(str(source)), looking)
    elif isinstance(source, Inside):
        if is_folder(source.path):
            yield from folder_items(source.path, looking, within=source.folder)
        else:
            yield from _items(file_item(source.path, within=source.folder), looking)
    elif not str(source):  # Path would take it for the working directory
        yield Refused("", UnreadableDocument("The file has no name.", help="Name a file or a folder."))
    elif is_folder(Path(source)):
        yield from folder_items(Path(source), looking)
    else:
        yield from _items(_item(Path(source)), looking)


def _name_of(source: Source) -> str:
    if isinstance(source, Keyed):
        return source.key
    return source.name if isinstance(source, Upload | WebAddress) else str(source)


def here(suffixes: frozenset[str], stopped: Callable[[str], bool]) -> Looking:
    """To look at files of this machine without a library: nothing is known of them."""
    return Looking(
        SourcesSettings(), suffixes, known=lambda _: {}, known_below=lambda _: {}, left_out=dict,
        original=lambda _: None, kept=dict, stopped=stopped, follow=lambda _: None,
    )  # fmt: skip


def _items(item: Item, looking: Looking) -> Iterator[Found]:
    """A document, or those that a container holds."""
    yield from container_items(item, looking) if is_container(item.name) else (item,)


def _item(source: Path | Upload) -> Item:
    return Item(source.name, source.data) if isinstance(source, Upload) else file_item(source)
