"""`@name` in a question: the documents and tags that a person points at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from rag_core.domain import Document, Scope
from rag_core.text.tokens import words

# The preposition that would be left hanging, the name, and its genitive. An address (a@b.org) is no mention.
_MENTION = re.compile(
    r"(?:\b(?:of|in|for|from|by|at|about|according\s+to)\s+)?"
    r"(?<![\w@])@(?:\"(?P<quoted>[^\"\n]+)\"|[“„](?P<curly>[^”“\n]+)[”“]|(?P<bare>\w+(?:[.\-_/&]\w+)*))"
    r"(?:['’]s\b)?",
    re.IGNORECASE,
)
_EMPTY = re.compile(r"\(\s*\)|\[\s*\]")
_BEFORE_STOP = re.compile(r"[\s,;:]+([?!.,;:])")
_FIRST = re.compile(r"^(?:[,;:.&\s]+|(?:and|or)\b)+", re.IGNORECASE)
_PREFIX_CHARS = 3
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a question points at.

    text: the question without the names that meant something. scope: those, or None where there are none. unknown:
    names that meant nothing; they stay in the text.
    """

    text: str
    scope: Scope | None = None
    unknown: tuple[str, ...] = ()


def read(question: str, documents: Sequence[Document]) -> Mentions:
    """The mentions of a question among these documents, their file names and their tags."""
    found: list[Scope] = []
    unknown: list[str] = []

    def taken(match: re.Match[str]) -> str:
        name = match["quoted"] or match["curly"] or match["bare"]
        scope = named(name, documents)
        if scope is None:
            unknown.append(name)
            return match[0]
        found.append(scope)
        return " "

    text = _MENTION.sub(taken, question)
    if not found:
        return Mentions(question, None, tuple(unknown))
    return Mentions(_tidy(text), either(found, documents), tuple(unknown))


def named(name: str, documents: Sequence[Document]) -> Scope | None:
    """What is called so: a tag, else the documents whose title or file name is, holds or begins a word with it, or the
    sections whose title it is."""
    wanted = tuple(words(name))
    if not wanted:
        return None
    tags = {tag for document in documents for tag in document.tags if tuple(words(tag)) == wanted}
    if tags:
        return Scope(tags=tuple(sorted(tags)))
    for fits in (_is, _holds, _begins, _has_all):
        ids = tuple(document.id for document in documents if _any_name(document, wanted, fits))
        if ids:
            return Scope(documents=ids)
        if fits is _is and (titles := _sections(documents, wanted)):
            return Scope(sections=titles)
    return None


def _sections(documents: Sequence[Document], wanted: Words) -> tuple[str, ...]:
    found = (section.title for document in documents for section in document.sections)
    return tuple(dict.fromkeys(title for title in found if tuple(words(title)) == wanted))


def either(scopes: Sequence[Scope], documents: Iterable[Document]) -> Scope:
    """Scopes of documents and tags as one, in which each of them lies; sections narrow it."""
    sections = tuple(dict.fromkeys(title for scope in scopes for title in scope.sections))
    tags = tuple(dict.fromkeys(tag for scope in scopes for tag in scope.tags))
    ids = [document_id for scope in scopes for document_id in scope.documents]
    if not ids:
        return Scope(tags=tags, sections=sections)
    tagged = [document.id for document in documents if not set(tags).isdisjoint(document.tags)]
    return Scope(documents=tuple(dict.fromkeys([*ids, *tagged])), sections=sections)


def _any_name(document: Document, wanted: Words, fits: Callable[[Words, Words], bool]) -> bool:
    return any(fits(tuple(words(name)), wanted) for name in _names(document))


def _names(document: Document) -> Iterator[str]:
    yield document.title
    for source in document.sources:
        path = PurePath(source)
        yield path.name
        yield path.stem


def _is(name: Words, wanted: Words) -> bool:
    return name == wanted


def _holds(name: Words, wanted: Words) -> bool:
    return any(name[place : place + len(wanted)] == wanted for place in range(len(name) - len(wanted) + 1))


def _begins(name: Words, wanted: Words) -> bool:
    """Whether the words stand there in a row, the last of them perhaps only begun."""
    *whole, last = wanted
    if len(last) < _PREFIX_CHARS:
        return False
    rows = (name[place : place + len(wanted)] for place in range(len(name) - len(wanted) + 1))
    return any(list(row[:-1]) == whole and row[-1].startswith(last) for row in rows)


def _has_all(name: Words, wanted: Words) -> bool:
    return set(wanted) <= set(name)


def _tidy(text: str) -> str:
    """One line without the brackets, blanks, separators and conjunctions that names leave behind."""
    line = " ".join(_EMPTY.sub(" ", text).split())
    return _FIRST.sub("", _BEFORE_STOP.sub(r"\1", line)).strip()
