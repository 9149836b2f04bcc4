"""Cutting at paragraphs: each is a chunk, a short one with the next, a long one cut between sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_core.chunking.sentences import Opens, Sentences, Unit, paragraphs_of, tokens_of

# Of a chunk's longest length: less than this says too little to be found.
_LEAST = 0.15


class Paragraphs(Sentences):
    """A paragraph a chunk, with the heading above it. One of few tokens takes the next of its section along."""

    def _grouped(self, text: str, units: Sequence[Unit]) -> Iterator[Sequence[Unit]]:
        group: list[Unit] = []
        least = _LEAST * self._settings.tokens
        for paragraph in paragraphs_of(units):
            is_whole = tokens_of(group) >= least and not group[-1].is_heading
            if group and (is_whole or paragraph[0].opens is Opens.SECTION):
                yield group
                group = []
            group = group + paragraph
        if group:
            yield group
