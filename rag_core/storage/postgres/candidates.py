"""What is known of chunks that may answer a question, for ranking them once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import TupleRow

Pieces = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk's text and where it stands. `pieces` is int8 (p, d): each row points where a piece's vector does."""

    document_id: str
    index: int
    page: int
    section: str
    title: str
    text: str
    token_count: int
    pieces: Pieces


def fetched(connection: Connection[TupleRow], places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Candidate]:
    """Those of some chunks, by document id and index, whose documents are ready; in one statement."""
    rows = connection.execute(
        "SELECT c.document_id, c.index, c.page, c.section, d.title, c.text, c.token_count, c.pieces,"
        " vector_dims(c.vector) FROM unnest(%s::text[], %s::int[]) AS wanted (document_id, index)"
        " JOIN chunks c USING (document_id, index) JOIN documents d ON d.id = c.document_id AND d.state = 'ready'",
        ([place[0] for place in places], [place[1] for place in places]),
        binary=True,
    ).fetchall()
    return {(key, index): Candidate(key, index, *_rest(known)) for key, index, *known in rows}


def _rest(known: Sequence[Any]) -> tuple[int, str, str, str, int, Pieces]:
    page, section, title, text, token_count, kept, dimensions = known
    return page, section, title, text, token_count, pieces_of(kept, dimensions)


def pieces_of(kept: bytes | None, dimensions: int) -> Pieces:
    """Pieces, int8 (p, dimensions), from what a column holds; no rows where it holds none."""
    return np.frombuffer(kept or b"", dtype=np.int8).reshape(-1, dimensions)


def kept_form(pieces: Pieces) -> bytes | None:
    """Pieces as a column holds them."""
    return pieces.tobytes() if pieces.size else None
