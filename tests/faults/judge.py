"""Judges a library after a fault by what its journal says: nothing acknowledged is lost, and the stores agree."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_core import Library
from rag_core.errors import LecternError
from rag_core.storage.maintenance import checks
from tests.faults.journal import Expected
from tests.faults.shelf import Item, Shelf

_SEARCHES = 6


@dataclass(slots=True)
class Verdict:
    """What is wrong with a library, a line each, and the documents that it holds."""

    lost: list[str] = field(default_factory=list)
    disagreeing: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    took_s: float = 0.0


def judge(library: Library, shelf: Shelf, expected: Expected, seed: int = 0) -> Verdict:
    """Recover an opened library and compare it with what must be there. Searches are judged before it settled too."""
    began = time.monotonic()
    verdict = Verdict(disagreeing=list(expected.wrong))
    draw = random.Random(seed)
    verdict.lost += [f"{e.source} was not resumed: {e.error}" for e in library.resume() if e.error is not None]
    verdict.lost += _lost(library, shelf, expected)
    verdict.held = [document.id for document in library.documents()]
    verdict.disagreeing += _ghosts(verdict.held, shelf, expected)
    verdict.disagreeing += _searches(library, shelf, draw, "auto")
    library.storage.settle()
    verdict.disagreeing += _findings(library)
    for engine in ("pgvector", "chroma") if verdict.held else ():
        verdict.disagreeing += _searches(library, shelf, draw, engine)
    verdict.took_s = time.monotonic() - began
    return verdict


def _lost(library: Library, shelf: Shelf, expected: Expected) -> Iterator[str]:
    """Documents that must be there and are not, and those that are there by half."""
    items = shelf.by_id()
    documents = {document.id: document for document in library.documents()}
    for key in sorted(expected.ids("present") - documents.keys()):
        yield f"{items[key].path} ({key}) was acknowledged and is gone"
    for key, document in documents.items():
        if document.state != "ready":
            yield f"{document.title} ({key}) is {document.state}: {document.error}"
        elif key in items:
            texts = as_read(library, key)
            if texts != items[key].texts or document.chunk_count != len(library.chunks(key)):
                yield f"{document.title} ({key}) has {len(texts)} chunks, {document.chunk_count} noted, or other texts"


def as_read(library: Library, document_id: str) -> tuple[str, ...]:
    """The texts of a document's chunks as they were read, whatever was made of them by hand."""
    edits = {(edit.page, edit.start, edit.end): edit for edit in library.chunk_edits.of(document_id)}
    texts = {(chunk.page, chunk.start, chunk.end): chunk.text for chunk in library.chunks(document_id)}
    texts |= {place: edit.original for place, edit in edits.items()}
    return tuple(texts[place] for place in sorted(texts))


def _ghosts(held: list[str], shelf: Shelf, expected: Expected) -> Iterator[str]:
    """Documents that must not be there."""
    for key in held:
        if key not in shelf.by_id():
            yield f"{key} was never added"
        elif expected.states.get(key, "absent") == "absent":
            yield f"{shelf.by_id()[key].path} ({key}) is there although it was removed or never added"


def _searches(library: Library, shelf: Shelf, draw: random.Random, engine: str) -> Iterator[str]:
    """Ask with the texts of chunks: each must come first, and a document that is not there never."""
    ready = {document.id for document in library.documents() if document.state == "ready"}
    as_they_were = [item for item in shelf.items if not library.chunk_edits.of(item.id)]
    for item in draw.sample(as_they_were, min(_SEARCHES, len(as_they_were))):
        try:
            fault = search_fault(library, item, draw.randrange(len(item.texts)), ready, engine)
        except LecternError as error:
            fault = f"a search by {engine} failed: {error!r}"
        if fault:
            yield fault


def search_fault(library: Library, item: Item, index: int, ready: set[str], engine: str = "auto") -> str:
    """What is wrong with the hits for the very text of a chunk; empty when nothing is."""
    hits = library.search(item.texts[index], k=5, index=engine)
    ghosts = [hit.document.id for hit in hits if hit.document.id not in ready]
    if ghosts:
        return f"a search by {engine} returned {ghosts}, which are not there"
    if item.id in ready and (not hits or hits[0].text != item.texts[index]):
        return f"a search by {engine} for chunk {index} of {item.path} did not find it first"
    return ""


def _findings(library: Library) -> Iterator[str]:
    """What a thorough comparison finds. Nobody is adding anything, so that no file is young."""
    age_s, checks._SETTLED_S = checks._SETTLED_S, -1.0
    try:
        report = library.maintenance.verify(deep=True)
    finally:
        checks._SETTLED_S = age_s
    for finding in report.findings:
        yield f"verify: {finding.store}: {finding.document_id} {finding.title}: {finding.message}"
