"""A long sentence as the part of it that answers."""

from __future__ import annotations

import re
from collections.abc import Set
from itertools import accumulate

from rag_core.text.terms import terms

_PIECE = re.compile(r"(?:\S*[^\s,;:]\s+){0,14}\S+\s*")  # words up to the end of a clause, at most 15


def shortened(text: str, span: tuple[int, int], asked: Set[str], most_words: int) -> str:
    """The clauses of a sentence with what answers, `most_words` together, with "…" where others are left out.

    The first ones where what answers is among these, since they say what it is about, else those around it. span: the
    characters that answer; where there are none, what shares most terms with what is `asked` does.
    """
    if len(text.split()) <= most_words:
        return text
    pieces = list(_PIECE.finditer(text))
    wanted = [one for one, piece in enumerate(pieces) if piece.start() < span[1] and span[0] < piece.end()]
    if not wanted:
        wanted = [max(range(len(pieces)), key=lambda one: len(asked & set(terms(pieces[one][0]))))]
    begins = len(text[: pieces[wanted[-1]].end()].split()) <= most_words
    order = sorted(range(len(pieces)), key=lambda one: one if begins else max(wanted[0] - one, one - wanted[-1]))
    words = accumulate(len(pieces[one][0].split()) for one in order)
    kept = sorted(one for one, total in zip(order, words, strict=True) if total <= most_words)
    begin, end = pieces[kept[0]].start(), pieces[kept[-1]].end()
    cut = text[begin:end].rstrip() if end == len(text) else f"{text[begin:end].rstrip(',;: ')} …"
    return f"… {cut}" if begin else cut
