"""Rows of long tables: pieces that reading has set together stay together, whatever the strategy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

from rag_core.chunking import chunk_document
from rag_core.domain import Page, ParsedDocument
from rag_core.reading import Reader
from rag_core.settings import ChunkingSettings, ReadingSettings

HEAD = "Order\tCity\tAmount"


def tokens(texts: Sequence[str]) -> list[int]:
    return [len(text) // 2 for text in texts]


def piece(first: int, rows: int = 60) -> str:
    return "\n".join([HEAD, *(f"ORD-{first + row:07}\tOslo\t{row}.50" for row in range(rows))])


def chunks_of(text: str, strategy: Literal["sentences", "characters"] = "sentences") -> list[str]:
    parsed = ParsedDocument("text/csv", (Page(1, text),))
    return [one.text for one in chunk_document("a", parsed, ChunkingSettings(strategy=strategy), tokens)]


@pytest.mark.parametrize("strategy", ["sentences", "characters"])
def test_each_piece_of_a_long_table_is_a_chunk(strategy: Literal["sentences", "characters"]) -> None:
    pieces = [piece(0), piece(60), piece(120, rows=3)]
    assert chunks_of("\n\n".join(pieces), strategy) == pieces


@pytest.mark.parametrize(
    "text",
    [
        piece(0),  # one table that stands as it was written
        piece(0) + "\n\n" + piece(60).replace(HEAD, "Number\tTown\tSum"),
        f"{piece(0)}\n\nThe orders end here.",
        f"{HEAD}\n" + "1\tIt came late, and the lid was broken when we opened the box.\t2\n" * 30 + f"\n{piece(0)}",
    ],
)
def test_other_text_is_cut_as_usual(text: str) -> None:
    assert max(map(len, chunks_of(text))) < 500


def test_the_tokens_of_long_pieces_are_told_from_the_first(tmp_path: Path) -> None:
    counted: list[str] = []

    def count(texts: Sequence[str]) -> list[int]:
        counted.extend(texts)
        return tokens(texts)

    page = Page(1, "\n\n".join(piece(60 * number) for number in range(200)))
    chunks = chunk_document("a", ParsedDocument("text/csv", (page,)), ChunkingSettings(), count)
    assert {one.token_count for one in chunks} == {len(piece(0)) // 2}
    assert sum(map(len, counted)) < len(page.text) / 5


def test_a_table_of_short_cells_is_long_from_its_two_hundredth_piece_on(tmp_path: Path) -> None:
    rows = [f"ORD-{row:07},Oslo,{row}.50" for row in range(20_000)]
    remarks = [f"{row},the lid was broken when it came and was sent back,{row}" for row in range(5_000)]
    (tmp_path / "orders.csv").write_text("\n".join(["Order,City,Amount", *rows]))
    (tmp_path / "remarks.csv").write_text("\n".join(["Order,Remark,Amount", *remarks]))
    with Reader(ReadingSettings()) as reader:
        orders, texts = (reader.read(tmp_path / f"{name}.csv", f"{name}.csv") for name in ("orders", "remarks"))
    pieces = [one for page in orders.pages for one in page.text.split("\n\n")]
    assert all(one.startswith(HEAD) for one in pieces)
    assert max(map(len, pieces[:200])) < 500 < 1_800 < min(map(len, pieces[200:-1]))
    assert [line.replace("\t", ",") for one in pieces for line in one.split("\n")[1:]] == rows
    assert max(len(one) for page in texts.pages for one in page.text.split("\n\n")) < 600
