"""What every way of cutting shares: pages come in with their sections, spans of their texts go out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rag_core.settings import ChunkingSettings

Span = tuple[int, int]
CountTokens = Callable[[Sequence[str]], list[int]]
Encode = Callable[[Sequence[str]], NDArray[np.float32]]


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

    One that takes its sizes from others than `tokens` and `overlap_tokens` names them in `_SIZES` beside that setting.

    settings: what it reads its sizes from. count_tokens: the tokens of each of many texts in the embedding model's
    own; it is fast for many texts at a time alone. encode: the vectors of texts by that model, float32 (n, d), rows of
    unit length, for a strategy that compares them.
    """

    def __init__(self, settings: ChunkingSettings, count_tokens: CountTokens, encode: Encode | None = None) -> None:
        self._settings = settings
        self._count_tokens = count_tokens
        self._encode = encode

    @abstractmethod
    def cut(self, pages: Sequence[PageText]) -> list[list[Span]]:
        """The spans of each page's chunks, in order, without blanks at their ends; together all of their parts."""
