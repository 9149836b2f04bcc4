"""How much of a watched folder is read, and why not the rest of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from rag_core.domain import Coverage, KnownSource
from rag_core.errors import LecternError
from rag_core.sources import Listing
from rag_core.storage import Storage

_MOST = 500  # whose reasons are looked up


def coverage(storage: Storage, place: str, listing: Listing, failed: Mapping[str, BaseException]) -> Coverage:
    """A folder as it was listed. failed: what went wrong with files that no document was made of, by path from there.

    Raises StoreUnavailable.
    """
    refused = [(one.name, *_words(one.error)) for one in listing.refused()]
    held = _held(storage.sources.led_by(place), len(place.rstrip("/")) + 1, listing)
    ready = sum(any(one.state == "ready" for one in held[name]) for name in listing.files)
    lost = [name for name in sorted(listing.files) if not any(one.state == "ready" for one in held[name])]
    unread = [(name, *why) for name in lost[:_MOST] if (why := _why(storage, held[name], failed.get(name)))]
    return Coverage(
        place, len(listing.files) + len(refused) + len(listing.others), ready, (*unread, *refused),
        tuple(sorted(listing.others)),
    )  # fmt: skip


def _held(known: Mapping[str, KnownSource], start: int, listing: Listing) -> Mapping[str, list[KnownSource]]:
    """The sources that each file of a folder led to: an archive has many."""
    held = defaultdict[str, list[KnownSource]](list)
    for at, one in known.items():
        if (name := next((path for path in _upwards(at[start:]) if path in listing.files), None)) is not None:
            held[name].append(one)
    return held


def _upwards(path: str) -> Iterator[str]:
    yield path
    yield from map(str, PurePosixPath(path).parents)


def _why(storage: Storage, held: list[KnownSource], error: BaseException | None) -> tuple[str, str] | None:
    """Why a file is not read, and what to do; None while it waits for its turn."""
    if error is not None:
        return _words(error)
    documents = (storage.documents.get(one.document_id) for one in held if one.state == "failed")
    return next(((one.error or "", one.help) for one in documents if one is not None), None)


def _words(error: BaseException | None) -> tuple[str, str]:
    return str(error), error.help if isinstance(error, LecternError) else ""
