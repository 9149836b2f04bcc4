"""What a request narrows a search to, and what its caller may see."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rag_core.api.callers import Caller
from rag_core.api.problems import Refused, there
from rag_core.domain import Document, DocumentFilter, Scope
from rag_core.library import Library
from rag_core.storage.postgres.database import storable

# No document has this id.
_NOTHING = ("none",)


class Closed(BaseModel):
    """A request's body; a misspelt field fails. Characters that no database keeps are replaced by U+FFFD."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _keepable(cls, given: Any) -> Any:
        return _keepable(given)


class ScopeGiven(Closed):
    """What is searched; the values of one field are alternatives. `names` are titles, file names and tags."""

    names: list[str] = Field(default=[], max_length=1000)
    documents: list[str] = Field(default=[], max_length=10_000)
    tags: list[str] = Field(default=[], max_length=1000)
    folders: list[str] = Field(default=[], max_length=1000)
    sections: list[str] = Field(default=[], max_length=1000)
    years: list[int] = Field(default=[], max_length=1000)
    added_since: date | None = None
    added_until: date | None = None


def _keepable(given: Any) -> Any:
    if isinstance(given, str):
        return storable(given)
    if isinstance(given, list):
        return [_keepable(one) for one in given]
    if isinstance(given, dict):
        return {_keepable(key): _keepable(value) for key, value in given.items()}
    return given


def scope_of(library: Library, given: ScopeGiven | None, caller: Caller) -> Scope | None:
    """The scope of a request, within what its caller sees; None where nothing narrows it."""
    scope = Scope()
    if given is not None:
        named = _named(library, given.names, caller) if given.names else Scope()
        scope = Scope(
            documents=(*given.documents, *named.documents), tags=(*given.tags, *named.tags),
            folders=tuple(given.folders), sections=tuple(given.sections), years=tuple(given.years),
            added_since=given.added_since, added_until=given.added_until,
        )  # fmt: skip
    if caller.tags:
        seen = DocumentFilter(seen=caller.tags, ids=scope.documents or None)
        scope = replace(scope, documents=tuple(library.catalogue.ids(seen)) or _NOTHING, sealed=True)
    return scope or None


def _named(library: Library, names: list[str], caller: Caller) -> Scope:
    """What names stand for. What a caller does not see has no name for them either."""
    try:
        return library.scope_of(names, seen=caller.tags)
    except KeyError as error:
        raise Refused(422, f"No document or tag is called “{error.args[0]}”.") from error


def _sees(library: Library, caller: Caller, document: Document) -> bool:
    """Whether a caller sees a document."""
    return not caller.tags or bool(library.catalogue.ids(DocumentFilter(seen=caller.tags, ids=(document.id,))))


def document_of(library: Library, document_id: str, caller: Caller) -> Document:
    """One document; answers 404 for one that the caller does not see."""
    with there("document"):
        document = library.document(document_id)
        if not _sees(library, caller, document):
            raise KeyError(document_id)
        return document
