"""What every way of cutting shares: pages come in with their sections, spans of their texts go out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_core.settings import ChunkingSettings

Span = tuple[int, int]
CountTokens = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page's text, `text[start:end]`, that stands in one section."""

    start: int
    end: int
    section: str = ""


@dataclass(frozen=True, slots=True)
class PageText:
    """A page to be cut: its text, and the parts that together are all of it that is cut, in order without gaps."""

    text: str
    parts: tuple[Part, ...]


class Strategy(ABC):
    """A way of cutting. A new one is a class in a file of its own, its name in `ChunkingSettings.strategy`, and one
    line in `STRATEGIES` of `rag_core/chunking/chunk.py`:

        "paragraphs": Paragraphs,

    settings: what it reads its sizes from. count_tokens: the tokens of each of many texts in the embedding model's
    own; it is fast for many texts at a time alone.
    """

    def __init__(self, settings: ChunkingSettings, count_tokens: CountTokens) -> None:
        self._settings = settings
        self._count_tokens = count_tokens

    @abstractmethod
    def cut(self, pages: Sequence[PageText]) -> list[list[Span]]:
        """The spans of each page's chunks, in order, without blanks at their ends; together all of their parts."""
