"""Figures of flowing documents: where pictures stand among the blocks, each with the caption below or above it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.domain import Figure


@dataclass(frozen=True, slots=True)
class Placed:
    """A block that has pictures or is a caption: which one of the document it is, its page and its span there."""

    order: int
    page: int
    start: int
    end: int
    pictures: tuple[str, ...] = ()
    is_caption: bool = False


def figures_of(placed: Sequence[Placed]) -> dict[int, tuple[Figure, ...]]:
    """The figures of each page. The caption is the block behind the picture, else the one before it.

    What the file shows again, as letterheads are, has no words to recognise.
    """
    found: dict[int, tuple[Figure, ...]] = {}
    captions = {one.order: one for one in placed if one.is_caption}
    taken: set[int] = set()
    shown = {""}
    for one in placed:
        spans = [span for span in (one, *_captions(one, captions, taken)) if span.end > span.start] or [one]
        start, end = min(span.start for span in spans), max(span.end for span in spans)
        own = tuple(_figure(start, end, part, part not in shown) for part in one.pictures)
        shown |= {*one.pictures}
        found[one.page] = (*found.get(one.page, ()), *own)
    return {page: figures for page, figures in found.items() if figures}


def _figure(start: int, end: int, part: str, is_new: bool) -> Figure:
    return Figure(start, end, part=part, words=(end, end) if is_new else None)


def _captions(one: Placed, captions: dict[int, Placed], taken: set[int]) -> Iterator[Placed]:
    """The caption of a block of pictures, which then is no other's."""
    if not one.pictures or one.is_caption:
        return
    for order in (one.order + 1, one.order - 1):
        caption = captions.get(order)
        if caption and caption.page == one.page and order not in taken:
            taken.add(order)
            yield caption
            return
