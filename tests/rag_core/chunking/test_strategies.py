"""Every strategy: what is promised of all of them, and what each does differently."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_core.chunking import chunk_document
from rag_core.chunking.chunk import STRATEGIES
from rag_core.domain import Chunk, HiddenText, Page, ParsedDocument, Section
from rag_core.errors import ModelUnavailable
from rag_core.settings import ChunkingSettings, Settings

RIVERS = " ".join(f"The river number {n} runs through the valley." for n in range(8))
BREAD = " ".join(f"Bake the bread number {n} in a hot oven." for n in range(8))
TEXT = f"Intro\n\nShort words.\n\n{RIVERS} {BREAD}\n\nThe end of it all."


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Rivers point one way, bread another."""
    return np.array([[1, 0.1] if "river" in text else [0.1, 1] for text in texts], np.float32)


def cut(strategy: str, text: str = TEXT, **sizes: int) -> list[Chunk]:
    settings = ChunkingSettings(strategy=strategy, **sizes)  # type: ignore[arg-type]
    parsed = ParsedDocument("text/plain", (Page(1, text), Page(2, ""), Page(3, "One line.")))
    return chunk_document("doc", parsed, settings, words, encode)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_all_of_the_text_is_in_chunks_no_longer_than_set(strategy: str) -> None:
    chunks = cut(strategy, tokens=40, overlap_tokens=0, size=200, overlap=0)
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.text == (TEXT if chunk.page == 1 else "One line.")[chunk.start : chunk.end] for chunk in chunks)
    covered = {place for chunk in chunks if chunk.page == 1 for place in range(chunk.start, chunk.end)}
    assert all(character.isspace() or place in covered for place, character in enumerate(TEXT))
    assert all(len(chunk.text) <= 200 if strategy == "characters" else chunk.token_count <= 40 for chunk in chunks)
    assert cut(strategy, "") == cut(strategy, " \n ")


def test_a_strategy_is_chosen_by_its_name_in_the_settings() -> None:
    names = ChunkingSettings.model_fields["strategy"]
    assert set(STRATEGIES) == set(names.annotation.__args__)  # type: ignore[union-attr]
    assert all(name in str(names.description) for name in STRATEGIES)
    keys = {ChunkingSettings(strategy=name).key for name in STRATEGIES}  # type: ignore[arg-type]
    assert len(keys) == len(STRATEGIES)
    windows = Settings(_env_file=None).changed("chunking", strategy="tokens")
    assert windows.with_values({"chunking.tokens": 512}).chunking.strategy == "tokens"


def test_paragraphs_stand_alone_and_short_ones_with_the_next() -> None:
    chunks = cut("paragraphs", tokens=200, overlap_tokens=0)
    assert [chunk.text[:10] for chunk in chunks] == ["Intro\n\nSho", "The end of", "One line."]
    chunks = cut("paragraphs", f"{RIVERS}\n\n{BREAD}", tokens=200, overlap_tokens=0)
    assert [chunk.text for chunk in chunks] == [RIVERS, BREAD, "One line."]


@pytest.mark.parametrize("count", [5, 12, 30])
def test_a_caption_below_stays_with_its_tables_last_rows(count: int) -> None:
    rows = "\n".join(f"Line {number}\t{number}0\t{number}1" for number in range(count))
    text = f"{BREAD}\n\n{rows}\n\nTable 2. What stands above.\n\n{RIVERS}"
    chunks = cut("sentences", text, tokens=50, overlap_tokens=0)
    (caption,) = [chunk for chunk in chunks if "stands above" in chunk.text]
    assert f"{count - 1}1\n\nTable 2. What stands above." in caption.text


def test_windows_share_the_words_between_them() -> None:
    chunks = cut("tokens", tokens=20, overlap_tokens=5)[:-1]
    assert all(chunk.token_count == 20 for chunk in chunks[:-1])
    for before, behind in pairwise(chunks):
        assert before.text.split()[-5:] == behind.text.split()[:5]


def test_semantic_breaks_where_the_matter_changes() -> None:
    chunks = cut("semantic", f"{RIVERS} {BREAD}", tokens=200)
    assert [chunk.text for chunk in chunks] == [RIVERS, BREAD, "One line."]
    parsed = ParsedDocument(
        "text/plain", (Page(1, f"{RIVERS}\n\nOvens\n\n{RIVERS}"),), sections=(Section("Ovens", 1, 1, len(RIVERS) + 2),)
    )
    cuts = chunk_document("doc", parsed, ChunkingSettings(strategy="semantic"), words, encode)
    assert [chunk.section for chunk in cuts] == ["", "Ovens"]
    with pytest.raises(ModelUnavailable):
        chunk_document("doc", parsed, ChunkingSettings(strategy="semantic"), words)


def test_a_chunk_with_hidden_text_says_so() -> None:
    page = Page(1, f"{RIVERS}\n\n{BREAD}", hidden=(HiddenText(3, 8, "white"),))
    chunks = chunk_document("doc", ParsedDocument("text/plain", (page,)), ChunkingSettings(tokens=90), words)
    assert [chunk.hidden for chunk in chunks] == [True, False]


@pytest.mark.parametrize("strategy", ["sentences", "paragraphs", "semantic"])
def test_a_caption_stays_with_its_table(strategy: str) -> None:
    rows = "\n".join(f"Line {n}\t{n}0\t{n}1" for n in range(6))
    text = f"{RIVERS}\n\nTable 2: Fares in crowns. All are for adults.\n\nLine\t2020\t2019\n{rows}\n\n{BREAD}"
    chunks = cut(strategy, text, tokens=75, overlap_tokens=0)
    (caption,) = [chunk for chunk in chunks if "Table 2" in chunk.text]
    assert "Line 0\t00\t01" in caption.text
    assert "valley" not in caption.text.partition("Table 2")[0]
