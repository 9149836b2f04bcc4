"""What changed between two versions of a document: their lines that differ, the older beside the newer."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from rag_core.answering.citations import Register
from rag_core.answering.passages import Quote, merge_hits, quotes
from rag_core.answering.written import Written
from rag_core.domain import Document, Retrieval, Sentence, Trace
from rag_core.retrieval.contents import Contents

_MOST_LINES, _MOST_SHOWN = 3_000, 20
_CONFIDENCE = 0.9

Change = tuple[Quote | None, Quote | None]


def told_changes(query: str, versions: Sequence[Document], contents: Contents) -> Written | None:
    """Every line that the older of two versions has otherwise than the newer; None where they are too long, or alike.

    Raises StoreUnavailable.
    """
    older, newer = ([*_lines(one, contents)] for one in versions)
    if max(len(older), len(newer)) > _MOST_LINES or not (found := changes(older, newer)):
        return None
    register, names = Register(), [str(one.year) for one in versions]
    told = [_told(change, names, register) for change in found[:_MOST_SHOWN]]
    more = [Sentence(f"and {len(found) - len(told)} more")] if len(found) > len(told) else []
    shown = [quote for change in found[:_MOST_SHOWN] for quote in change if quote]
    return Written(
        Retrieval((), Trace(query=query)), tuple({quote.hit.chunk_id: quote.hit for quote in shown}.values()),
        "\n".join([*(text for text, _ in told), *(f"- {one.text}" for one in more)]),
        sentences=(*(one for _, some in told for one in some), *more), citations=tuple(register.citations),
        confidence=_CONFIDENCE,
    )  # fmt: skip


def changes(older: Sequence[Quote], newer: Sequence[Quote]) -> list[Change]:
    """The lines that differ, each beside the one in its place; None where a version has nothing there."""
    first, second = ([" ".join(quote.text.split()) for quote in some] for some in (older, newer))
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    return [
        pair
        for kind, start, end, from_, to in blocks
        if kind != "equal"
        for pair in zip_longest(older[start:end], newer[from_:to])
    ]


def _lines(document: Document, contents: Contents) -> list[Quote]:
    return quotes(merge_hits(sorted(contents.beginning(document, document.chunk_count), key=lambda hit: hit.index)))


def _told(change: Change, names: Sequence[str], register: Register) -> tuple[str, list[Sentence]]:
    """A line of a list for each change, and its sentences: "2022: 30 days. [1] 2024: 60 days. [2]"."""
    said = [
        Sentence(f"{name}: {quote.text}", (register.number(quote),)) if quote else Sentence(f"{name}: –")
        for name, quote in zip(names, change, strict=True)
    ]
    return "- " + " ".join(f"{one.text} [{one.citations[0]}]" if one.citations else one.text for one in said), said
