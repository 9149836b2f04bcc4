"""An answer that was cut at its limit of tokens, and what of it stays where it is gone on with.

Its last sentence was broken off, so that is written anew; what stands before it stays as it was kept and checked, with
its citations. New ones are numbered on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_core.answering.citations import sentences_of, without_markers
from rag_core.domain import Answer, Citation, Hit, Sentence
from rag_core.errors import ModelUnavailable
from rag_core.models.messages import ChatMessage

_MARKERS = re.compile(r"(?:\s*\[\d{1,3}\])*")
_MARKER = re.compile(r"\s*\[(\d{1,3})\]")
_WHOLE = re.compile(r"[.!?…。！？][\"'”’)\]]*(?:\s*\[\d{1,3}\])*\s*$")
_BREAK = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Beginning:
    """The part of an answer that stays. `between`: what stood between it and what was broken off."""

    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    between: str
    confidence: Mapping[str, float]

    def messages(self, hits: Sequence[Hit] = ()) -> tuple[ChatMessage]:
        """It as the model's own words, its numbers those of `hits` in a prompt; without hits it has no numbers."""
        if not hits:
            return (ChatMessage("assistant", without_markers(self.text)),)
        chunks = {citation.number: citation.chunk_id for citation in self.citations}
        places = {one.chunk_id: place for place, hit in enumerate(hits, 1) for one in (*hit.around, hit)}
        places |= {hit.chunk_id: place for place, hit in enumerate(hits, 1)}

        def number(marker: re.Match[str]) -> str:
            place = places.get(chunks.get(int(marker[1]), ""))
            return f" [{place}]" if place else ""

        return (ChatMessage("assistant", _MARKER.sub(number, self.text)),)

    def joined(self, pieces: Iterator[str]) -> Iterator[str]:
        """What a model wrote to go on with it, behind what stands between."""
        first = next((piece for piece in pieces if piece), "")
        if first:
            yield first if first[0].isspace() or not self.between else self.between + first
        yield from pieces


def longer(before: Answer, begun: Beginning, made: Answer) -> Answer:
    """The answer that `made` goes on with, longer by that; where nothing came, as it was, and whole."""
    if not made.text.startswith(begun.text) or len(made.text.strip()) <= len(begun.text):
        if not made.stopped and made.text.strip() != begun.text:
            raise ModelUnavailable("The answer cannot be gone on with now.", help="Ask the question again.")
        return replace(before, cut=made.stopped)
    tokens = {name: before.trace.tokens.get(name, 0) + count for name, count in made.trace.tokens.items()}
    return replace(
        made, conversation=before.conversation, message_id=before.message_id, trace=replace(made.trace, tokens=tokens)
    )


def beginning(answer: Answer) -> Beginning:
    """What stays of a cut answer: all but the sentence that was broken off, where there is another before it."""
    text, said = answer.text.rstrip(), sentences_of(answer.text)
    end = len(text)
    if len(said) > 1 and not _WHOLE.search(text):
        behind = _MARKERS.match(text, said[-2].end)
        end = behind.end() if behind else said[-2].end
    kept = text[:end].rstrip()
    found = _BREAK.match(answer.text, len(kept))
    whole = bool(_WHOLE.search(kept)) or end < len(text)
    between = (found[0] if found else "") or (" " if whole else "")
    numbers, texts = {int(number) for number in _MARKER.findall(kept)}, {one.text for one in sentences_of(kept)}
    return Beginning(
        kept, tuple(one for one in answer.sentences if one.text in texts or one.text in without_markers(kept)),
        tuple(one for one in answer.citations if one.number in numbers), between, answer.trace.confidence,
    )  # fmt: skip
