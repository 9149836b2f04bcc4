"""What stands in the lexical index and how it is asked: its fields, the entry of a chunk, the query of a search."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import tantivy
from tantivy import Occur, Query

from rag_core.storage.postgres.contents import IndexedChunk
from rag_core.text.terms import terms as terms_of

FIELDS: Final = ("body", "title", "section")
BOOSTS: Final[Mapping[str, float]] = {"body": 1.0, "title": 0.5, "section": 0.5}
"""What a match in a field counts for."""
_LOW = 2**64 - 1
_LONG_TERM = 6  # characters from which two letters may be wrong

Terms = Sequence[str]


@cache
def schema() -> tantivy.Schema:
    """The fields of an index."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("document", tokenizer_name="raw", index_option="basic")
    # A document's id is 128 bits; texts cannot be read back from a column, numbers can.
    for column in ("id_high", "id_low", "index", "hash"):
        builder.add_unsigned_field(column, fast=True)
    for field in FIELDS:
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="position")
    return builder.build()


def entry(document_id: str, title: str, language: str, chunk: IndexedChunk) -> tantivy.Document:
    """A chunk of a document, whose title is given as its terms."""
    made = tantivy.Document(
        document=document_id, title=title, section=joined(chunk.section, language), body=joined(chunk.text, language)
    )
    number = int(document_id, 16)
    columns = {"id_high": number >> 64, "id_low": number & _LOW, "index": chunk.index}
    for column, value in {**columns, "hash": hash_of(bytes.fromhex(chunk.md5))}.items():
        made.add_unsigned(column, value)
    return made


def places_of(searcher: Any, addresses: list[Any]) -> list[tuple[str, int]]:
    """Document id and index of chunks."""
    if not addresses:
        return []
    columns = (searcher.fast_field_values(column, addresses) for column in ("id_high", "id_low", "index"))
    return [(f"{high << 64 | low:032x}", index) for high, low, index in zip(*columns, strict=True)]


def hash_of(md5: bytes) -> int:
    """What a column keeps of a text's MD5."""
    return int.from_bytes(md5[:8], "big")


def joined(text: str, language: str) -> str:
    """The terms of a text, as tantivy takes them apart."""
    return " ".join(map(token, terms_of(text, language)))


def token(term: str) -> str:
    """A term without spaces, at which tantivy splits."""
    return "_".join(term.split())


def any_of(
    weights: Mapping[Any, float],
    within: Collection[str] | None,
    phrases: Sequence[Terms],
    required: Terms,
    excluded: Terms,
) -> Query:
    """The query of a search. See `LexicalIndex.search`."""
    return _among(list(_clauses(weights, phrases, required, excluded)), within)


def of_document(document_id: str) -> Query:
    """Every chunk of a document."""
    return _term("document", document_id)


def alike(term: str, within: Collection[str] | None = None) -> Query:
    """Chunks, of some documents alone where they are given, whose bodies hold a term that is spelt much alike."""
    found = Query.fuzzy_term_query(schema(), "body", token(term), distance=1 if len(term) < _LONG_TERM else 2)
    return found if within is None else _among([(Occur.Must, found)], within)


def holding(term: str, within: Collection[str]) -> Query:
    """Chunks of some documents whose bodies hold a term."""
    return _among([(Occur.Must, _term("body", term))], within)


def _among(clauses: list[tuple[Occur, Query]], within: Collection[str] | None) -> Query:
    """What fits all clauses, among the chunks of some documents."""
    if within is not None:
        documents = Query.term_set_query(schema(), "document", list(within))
        clauses.append((Occur.Must, Query.const_score_query(documents, 0.0)))
    return Query.boolean_query(clauses)


def _clauses(
    weights: Mapping[Any, float], phrases: Sequence[Terms], required: Terms, excluded: Terms
) -> Iterator[tuple[Occur, Query]]:
    if weights:
        some = [
            (Occur.Should, Query.boost_query(_best_form(field, forms), boost * weight))
            for forms, weight in weights.items()
            for field, boost in BOOSTS.items()
            if weight > 0
        ]
        # What must be there anyway need not hold any of the others.
        yield (Occur.Should if any(phrases) or required else Occur.Must), Query.boolean_query(some)
    for phrase in (*phrases, *([term] for term in required)):
        if phrase:
            yield Occur.Must, _in_any(phrase)
    for term in excluded:
        yield Occur.MustNot, _in_any([term])


def _best_form(field: str, forms: str | frozenset[str]) -> Query:
    if isinstance(forms, str):
        return _term(field, forms)
    each = [_term(field, form) for form in sorted(forms)]
    return each[0] if len(each) == 1 else Query.disjunction_max_query(each)


def _in_any(phrase: Terms) -> Query:
    words = [token(term) for term in phrase]
    alternatives = [
        _term(field, words[0]) if len(words) == 1 else Query.phrase_query(schema(), field, list(words))
        for field in FIELDS
    ]
    return Query.boolean_query([(Occur.Should, query) for query in alternatives])


def _term(field: str, term: str) -> Query:
    return Query.term_query(schema(), field, token(term), index_option="freq")
