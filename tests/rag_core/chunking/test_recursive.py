"""The splitter against LangChain's, whose cuts it must make, and its own promise of exact places."""

from __future__ import annotations

import random
import time
from itertools import pairwise
from pathlib import Path

import pytest
from langchain_text_splitters import RecursiveCharacterTextSplitter

from rag_core.chunking.recursive import SEPARATORS, split

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
SIZES = [(1000, 200), (1000, 0), (300, 100), (60, 59), (50, 0)]


def reference(text: str, size: int, overlap: int, cuts: str = "words") -> list[str]:
    separators = [*SEPARATORS[cuts]]
    return RecursiveCharacterTextSplitter(separators, chunk_size=size, chunk_overlap=overlap).split_text(text)


def made_up(seed: int) -> str:
    chance = random.Random(seed)
    parts = ["word", "a", "longer-word", " ", " ", " ", "\n", "\n\n", "\n\n\n", "x" * 70, "  ", "äöü", "\u00ad"]
    return "".join(chance.choice(parts) for _ in range(600))


@pytest.mark.parametrize("cuts", ["words", "sentences"])
@pytest.mark.parametrize(("size", "overlap"), SIZES)
@pytest.mark.parametrize("name", ["water-works-guide.md", "storm-report-2019.txt"])
def test_samples_are_cut_as_langchain_cuts_them(name: str, size: int, overlap: int, cuts: str) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    found = split(text, size, overlap, SEPARATORS[cuts])
    assert [text[start:end] for start, end in found] == reference(text, size, overlap, cuts)


@pytest.mark.parametrize(("size", "overlap"), SIZES)
@pytest.mark.parametrize("seed", range(8))
def test_made_up_texts_are_cut_as_langchain_cuts_them(seed: int, size: int, overlap: int) -> None:
    text = made_up(seed)
    assert [text[start:end] for start, end in split(text, size, overlap)] == reference(text, size, overlap)


@pytest.mark.parametrize(("size", "overlap"), SIZES)
@pytest.mark.parametrize("seed", range(4))
def test_spans_are_bounded_ordered_and_leave_no_word_out(seed: int, size: int, overlap: int) -> None:
    text = made_up(seed)
    spans = split(text, size, overlap)
    covered = set()
    for start, end in spans:
        assert 0 < end - start <= size
        assert text[start:end] == text[start:end].strip()
        covered.update(range(start, end))
    for before, after in pairwise(spans):
        assert before <= after
        assert before[1] - after[0] <= overlap
    assert all(index in covered for index, character in enumerate(text) if not character.isspace())


@pytest.mark.parametrize("text", ["", " ", "\n\n \n", "\t"])
def test_blanks_have_no_chunks(text: str) -> None:
    assert split(text, 100, 10) == []


def test_a_long_text_without_any_break_is_cut_in_linear_time() -> None:
    began = time.perf_counter()
    spans = split("x" * 1_000_000, 1000, 200)
    assert time.perf_counter() - began < 8
    assert spans[1] == (800, 1800)
