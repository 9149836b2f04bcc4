"""The text of a stream as it is passed on: without thoughts, up to a stop."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

# Of Qwen, DeepSeek and many others; of Gemma 4; of gpt-oss, whose answer too has a channel.
_OPENING = ("<think>", "<thinking>", "<|channel>", "<|channel|>")
_CLOSING = ("</think>", "</thinking>", "<channel|>", "final<|message|>")
_OPENS = re.compile(rf"\s*(?:{'|'.join(map(re.escape, _OPENING))})")
_CLOSES = re.compile("|".join(map(re.escape, _CLOSING)))
THOUGHT_MARKS = (*_OPENING, "</think>", "</thinking>", "<channel|>", "<|message|>")
"""What a model's tokens may spell around its thoughts; as control tokens they would not show."""
_OVERLAP_LEAST, _OVERLAP_MOST = 12, 400  # characters of an answer that are said again before it goes on
_LOOP_CHARS, _LOOP_LEAST, _ROUNDS, _LOOK_CHARS = 1200, 160, 3, 20


def until_stop(pieces: Iterable[str], stops: Sequence[str]) -> Iterator[str]:
    """Pieces of text up to the first of `stops`; what may be its beginning is held back until that is clear."""
    held = ""
    for piece in pieces:
        held += piece
        found = [place for place in (held.find(stop) for stop in stops) if place >= 0]
        if found:
            held = held[: min(found)]
            break
        kept = _begun(held, stops)
        if ready := held[: len(held) - kept]:
            yield ready
        held = held[len(held) - kept :]
    if held:
        yield held


def until_loop(pieces: Iterable[str]) -> Iterator[str]:
    """Pieces of text up to where the text goes round: small models repeat a sentence or a few words without end."""
    tail, unseen = "", 0
    for piece in pieces:
        yield piece
        tail, unseen = (tail + piece)[-_LOOP_CHARS:], unseen + len(piece)
        if unseen >= _LOOK_CHARS:
            unseen = 0
            if _goes_round(tail):
                return


def _goes_round(text: str) -> bool:
    """Whether a text ends with the same words three times at least, and with much of them."""
    back = text[::-1]
    for period in range(1, len(back) // _ROUNDS + 1):
        length = max(_ROUNDS * period, _LOOP_LEAST)
        if length <= len(back) and back[period:length] == back[: length - period]:
            return any(character.isalpha() for character in back[:period])
    return False


def without_thoughts(pieces: Iterable[str], *, thinking: bool = False) -> Iterator[str]:
    """Pieces of text without what a model thinks aloud first, between <think> and </think> or the like.

    thinking: the prompt ends with the opening mark, as some templates have it.
    """
    held, begun = "", False
    for piece in pieces:
        if begun:
            yield piece
            continue
        held += piece
        if not thinking and (opening := _OPENS.match(held)):
            thinking, held = True, held[opening.end() :]
        if thinking and (closing := _CLOSES.search(held)):
            thinking, held = False, held[closing.end() :]
        if thinking:
            held = held[len(held) - _begun(held, _CLOSING) :]
        elif not any(mark.startswith(held.lstrip()) for mark in _OPENING):
            begun = True
            yield held.lstrip()
    if not begun and not thinking and held.strip():
        yield held.lstrip()


def without_overlap(pieces: Iterable[str], begun: str) -> Iterator[str]:
    """Pieces of text that go on with a `begun` one, without its end where they say that again first."""
    tail, held = begun[-_OVERLAP_MOST:], ""
    going = iter(pieces)
    for piece in going:
        held += piece
        if held.strip() and held.strip() not in tail:
            break
    text = held.lstrip()
    for length in range(min(len(text), len(tail)), _OVERLAP_LEAST - 1, -1):
        if tail.endswith(text[:length]):
            held = text[length:]
            break
    if held:
        yield held
    yield from going


def _begun(text: str, marks: Sequence[str]) -> int:
    """How many characters at the end of a text may be the beginning of a mark."""
    return max((n for mark in marks for n in range(1, len(mark)) if text.endswith(mark[:n])), default=0)
