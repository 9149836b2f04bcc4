"""Subtitles (SRT, WebVTT): what is said, in paragraphs under their minutes, without the numbers and times of cues."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rag_core.reading.base import Details
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.text import read_text

_ARROW = "-->"
_TIME = re.compile(r"(?:(\d+):)?(\d{1,2}):\d\d[.,]\d{1,3}[ \t]*-->")
_SPEAKER, _TAG = re.compile(r"<v(?:\.\S+)?\s+([^<>]+)>"), re.compile(r"</?\w[^<>]*>|\{\\[^{}]*\}")
_ENDED = re.compile(r"[.!?…][\"'”’)]*$")


def read(path: Path, max_chars: int) -> Flow:
    """Read a file of subtitles. Raises LimitExceeded for one that is too large."""
    text, note = read_text(path, max_chars)
    return Flow(_blocks(text), Details(notes=(note,) if note else ()))


def _blocks(text: str) -> Iterator[Block]:
    """A heading for each minute in which something is said, behind the sentence that was begun in the one before."""
    said: list[str] = []
    minute = ""
    for now, lines in _cues(text):
        if now != minute and (not said or _ENDED.search(said[-1])):
            yield Block("paragraph", " ".join(said))
            yield Block("heading", now, level=2)
            minute, said = now, []
        said += (line for line in lines if said[-1:] != [line])  # one that scrolls up is said again
    yield Block("paragraph", " ".join(said))


def _cues(text: str) -> Iterator[tuple[str, list[str]]]:
    """The minute and the lines of each cue, the minute of the one before where its time makes no sense; of a file
    without cues all lines."""
    if not _TIME.search(text):
        yield "", text.split("\n")
        return
    minute = ""
    for part in re.split(r"\n\s*\n", text):
        lines = part.strip().split("\n")
        for number in [number for number, line in enumerate(lines[:2]) if _ARROW in line][:1]:
            if found := _TIME.match(lines[number].lstrip()):
                minute = f"{int(found[1] or 0)}:{int(found[2]):02}:00"
            spoken = (_TAG.sub("", _SPEAKER.sub(r"\1: ", line)).strip() for line in lines[number + 1 :])
            yield minute, [line for line in spoken if line]
