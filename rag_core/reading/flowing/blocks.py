"""What a flowing document is made of: headings, paragraphs, items of lists, tables, notes and the ends of pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from rag_core.reading.base import Details
from rag_core.reading.comments import comment_label
from rag_core.reading.flowing.hidden import Hidden

Kind = Literal["heading", "paragraph", "item", "table", "note", "page"]
Row = Sequence[str | None]
# A running title that says more than the number of its page.
_TELLING = re.compile(r"\d{4}|(?:[^\W\d_]{2,}\W+){2}[^\W\d_]{2,}")
_MOST_RUNNING, _RUNNING_CHARS = 6, 500
_FILE = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|svg|webp|[ew]mf)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a document, in reading order.

    level: of a heading, from 1. mark: what stands before an item. rows: of a table; a cell of None goes on from the one
    to its left, as where cells are merged. A note is put at the end of its page. A page is where the next one begins.
    pictures: those that stand in it, by their names in the file, "" for one that cannot be drawn. is_caption: it is one
    of the picture beside it.
    """

    kind: Kind
    text: str = ""
    level: int = 1
    rows: Iterable[Row] = ()
    mark: str = "•"
    pictures: tuple[str, ...] = ()
    is_caption: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """A file as blocks, read as they are asked for, and what it says of itself (headings and labels apart).

    hidden: what of the blocks' text nobody sees in the file. notes: on what was not read, once all blocks are.
    """

    blocks: Iterable[Block]
    details: Details = field(default_factory=Details)
    hidden: Iterable[Hidden] = ()
    notes: Iterable[str] = ()


PICTURE = "[Picture"
"""What the words of a picture begin with."""


def picture(said: str | None) -> str:
    """What stands for a picture that says something in words; nothing for one that gives the name of its file."""
    words = " ".join((said or "").split())
    return f"{PICTURE}: {words}]" if words and not _FILE.fullmatch(words) else ""


def running(found: Iterable[tuple[str, str]]) -> Iterator[Block]:
    """What the heads and feet of pages say beside their numbers, each once, as notes of the first page.

    found: of each "Header" or "Footer", and its text on one line.
    """
    texts = dict.fromkeys(f"{name}: {text}" for name, text in found if _TELLING.search(text))
    yield from (Block("note", text[:_RUNNING_CHARS]) for text in islice(texts, _MOST_RUNNING))


def comment(said: str, author: str = "", beside: str = "") -> Block:
    """A comment that people wrote beside the text, with who wrote it and the words that it stands beside."""
    words = " ".join(said.split())
    return Block("paragraph", f"{comment_label(author, beside)}: {words}" if words else "")
