"""Hits, a search and an encoder made by hand."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.answering import Answerer
from rag_core.answering.encoding import Encoder
from rag_core.answering.question import Search
from rag_core.domain import Box, Document, Hit, Retrieval, StreamEvent, Trace
from rag_core.text.terms import terms


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Texts as hashed bags of stems: texts with the same words are near, the rest is orthogonal."""
    rows = np.full((len(texts), 256), 1e-6, dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for term in terms(text):
            row[zlib.crc32(term.encode()) % 256] += 1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def encode_tokens(texts: Sequence[str]) -> list[tuple[NDArray[np.float32], NDArray[np.int64]]]:
    """Each word as the vector of its stems: the same words have a cosine of 1, others one of nearly 0."""
    found = []
    for text in texts:
        spans = [match.span() for match in re.finditer(r"\w+", text)] or [(0, 0)]
        vectors = encode([text[start:end] for start, end in spans])
        found.append((vectors, np.array(spans, dtype=np.int64)))
    return found


def read(question: str, passages: Sequence[tuple[str, Sequence[str]]]) -> list[NDArray[np.float64]]:
    """Each sentence answers as far as it has the question's stems."""
    asked = set(terms(question))
    odds = [[8 * len(asked & set(terms(text))) / max(len(asked), 1) - 4 for text in texts] for _, texts in passages]
    return [np.array([(one, one, 0, 0) for one in found], dtype=float).reshape(-1, 4) for found in odds]


ENCODER = Encoder(encode_tokens, read)


def hit(text: str, *, document: str = "report", page: int = 1, start: int = 0, index: int = 0, **values: Any) -> Hit:
    """A hit on page `page` of a document called `document`."""
    made = Document(document, document.title(), "text/plain", 1, "ready")
    return Hit(
        chunk_id=f"{document}:{page}:{index}:{start}",
        document=made,
        index=index,
        page=page,
        page_label=str(page),
        section=values.pop("section", ""),
        text=text,
        start=start,
        end=start + len(text),
        boxes=values.pop("boxes", ()),
        score=values.pop("score", 0.7),
        **values,
    )


def line_boxes(count: int) -> tuple[Box, ...]:
    """One box for each of `count` lines, from the top of a page down."""
    return tuple(Box(0.1, 0.1 * line, 0.9, 0.1 * line + 0.08) for line in range(count))


@dataclass
class ListSearch:
    """Finds the same hits for every question, scored by `encode`, and says that it did."""

    hits: tuple[Hit, ...] = ()
    failure: Exception | None = None
    before: Callable[[], None] = lambda: None
    asked: list[str] = field(default_factory=list)

    def __call__(self, query: str) -> Retrieval:
        self.asked.append(query)
        self.before()
        if self.failure is not None:
            raise self.failure
        scored = [replace(one, score=float((encode([one.text]) @ encode([query])[0])[0])) for one in self.hits]
        scored.sort(key=lambda one: -one.score)
        return Retrieval(tuple(scored), Trace(engine="list", latency_ms={"embed": 1.0}, notes=("from a list",)))

    __hash__ = object.__hash__


def stream(
    answerer: Answerer, question: str, search: Search, *, cancelled: Callable[[], bool] = lambda: False, **known: Any
) -> Iterator[StreamEvent]:
    """The events of an answer; `known` is what `Answerer.understand` or a `Question` takes."""
    kept = {name: known.pop(name) for name in ("message_id", "goes_on") if name in known}
    return answerer.stream(replace(answerer.understand(question, **known), **kept), search, cancelled)


SALES = hit(
    "3. Results\nSales rose by 12 percent to 480 million euros in 2018. The growth came from the north, where two "
    "plants were opened. It was the best year since 1999.",
    section="Results",
)
STAFF = hit(
    "Staff\nThe company employed 2,310 people at the end of 2018. Anna Berger leads the board.", page=2, section="Staff"
)
TEA = hit("Tea is grown on hills. The leaves are picked by hand in spring.", document="tea")
HITS = (SALES, STAFF, TEA)
