"""The sentences strategy: sized in the model's tokens, nothing left out, sections kept apart."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from rag_core.chunking import chunk_document
from rag_core.domain import Chunk, Page, ParsedDocument, Section
from rag_core.embedding.source import PACKAGED, find_source
from rag_core.embedding.tokens import TokenCounter
from rag_core.reading import Reader
from rag_core.settings import ChunkingSettings, ReadingSettings

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
TOKENS = TokenCounter(find_source(PACKAGED))
SENTENCE = "The ferry to the outer island leaves from the second pier at seven in the morning. "


def cut(parsed: ParsedDocument, tokens: int = 100, overlap: int = 0) -> list[Chunk]:
    settings = ChunkingSettings(strategy="sentences", tokens=tokens, overlap_tokens=overlap)
    return chunk_document("doc", parsed, settings, TOKENS.count)


def document(*texts: str, sections: Sequence[Section] = (), title: str = "") -> ParsedDocument:
    pages = tuple(Page(number, text) for number, text in enumerate(texts, 1))
    return ParsedDocument("text/plain", pages, title=title, sections=tuple(sections))


def left_out(parsed: ParsedDocument, chunks: Sequence[Chunk]) -> str:
    """Whatever of the pages is in no chunk, blanks and running titles apart."""
    held = {(chunk.page, place) for chunk in chunks for place in range(chunk.start, chunk.end)}
    return "".join(
        letter
        for page in parsed.pages
        for place, letter in enumerate(page.text)
        if (page.number, place) not in held and not letter.isspace() and _is_in_body(page, place)
    )


def _is_in_body(page: Page, place: int) -> bool:
    return page.body is None or page.body[0] <= place < page.body[1]


@pytest.fixture(scope="module")
def handbook() -> ParsedDocument:
    with Reader(ReadingSettings()) as reader:
        return reader.read(SAMPLES / "veyra-ferry-handbook.pdf", "handbook.pdf")


@pytest.mark.parametrize(("tokens", "overlap"), [(200, 0), (120, 40), (64, 0)])
def test_chunks_have_at_most_so_many_tokens(handbook: ParsedDocument, tokens: int, overlap: int) -> None:
    chunks = cut(handbook, tokens, overlap)
    assert left_out(handbook, chunks) == ""
    for chunk in chunks:
        assert chunk.text == handbook.pages[chunk.page - 1].text[chunk.start : chunk.end] == chunk.text.strip()
        assert chunk.token_count == TOKENS.count([chunk.text])[0]
        assert chunk.token_count <= tokens
        assert chunk.boxes


def test_a_paragraph_is_cut_between_sentences_into_full_chunks_and_a_last_one_of_half() -> None:
    chunks = cut(document(SENTENCE * 21))
    assert all(chunk.text.startswith("The ferry") and chunk.text.endswith("morning.") for chunk in chunks)
    assert [chunk.token_count for chunk in chunks] == [85, 85, 85, 85, 34]


def test_paragraphs_that_fit_stand_together_and_whole() -> None:
    paragraphs = [SENTENCE * count for count in (2, 2, 4, 1, 3, 5)]
    text = "\n\n".join(part.strip() for part in paragraphs)
    chunks = cut(document(text), overlap=40)
    assert [chunk.text.count("ferry") for chunk in chunks] == [4, 5, 3, 5]
    assert all(before.end <= after.start for before, after in pairwise(chunks))


def test_neighbours_share_whole_sentences() -> None:
    text = "".join(
        f"Number {number} is the {number}th of the boats that lie in the old harbour. " for number in range(40)
    )
    chunks = cut(document(text), overlap=30)
    shared = [before.end - after.start for before, after in pairwise(chunks)]
    assert all(text[after.start :].startswith("Number") for after in chunks)
    assert all(
        0 < TOKENS.count([text[after.start : after.start + n]])[0] <= 30
        for after, n in zip(chunks[1:], shared, strict=True)
    )
    assert left_out(document(text), chunks) == ""


def test_a_section_begins_a_chunk_unless_it_is_tiny() -> None:
    head, body = "Fares\n", SENTENCE * 3
    text = f"A title\n\n{head}{body}\n\nShort\nOnly this.\n\nTimes\n{body}"
    starts = {name: text.index(name) for name in ("Fares", "Short", "Times")}
    chunks = cut(document(text, sections=[Section(name, 1, 1, start) for name, start in starts.items()]))
    assert [(chunk.text.split()[0], chunk.section) for chunk in chunks] == [("A", "Fares"), ("Short", "Times")]


def test_a_heading_stands_with_what_follows_it() -> None:
    text = f"{SENTENCE * 4}\n\nThe Winter Timetable\n\n{SENTENCE * 4}"
    chunks = cut(document(text), tokens=80)
    assert any(chunk.text.startswith("The Winter Timetable\n") for chunk in chunks)


def test_rows_of_a_table_stay_whole() -> None:
    rows = [f"Boat {number} | {number * 17} | {number * 1000:,} | {number % 7}.{number}" for number in range(60)]
    chunks = cut(document("\n".join(rows)))
    assert list(dict.fromkeys(row for chunk in chunks for row in chunk.text.split("\n"))) == rows


def test_what_has_no_sentences_is_cut_until_it_fits() -> None:
    figures = " ".join(str(number * 7919) for number in range(2_000))
    for text in (figures, "船" * 3_000, "7" * 5_000, "a,b" * 2_000):
        chunks = cut(document(text))
        assert left_out(document(text), chunks) == ""
        assert max(chunk.token_count for chunk in chunks) <= 100


def test_pages_are_cut_apart_and_rules_and_page_numbers_are_kept() -> None:
    parsed = document(f"7\n{SENTENCE}\n-----\n", " \n ", "12", SENTENCE)
    chunks = cut(parsed)
    assert [chunk.page for chunk in chunks] == [1, 3, 4]
    assert left_out(parsed, chunks) == ""


@pytest.mark.parametrize("seed", range(6))
def test_made_up_texts_lose_nothing(seed: int) -> None:
    chance = random.Random(seed)
    parts = ["word ", "End. ", "\n", "\n\n", "1,234 ", "x" * 40, " | ", "# Head\n", "---\n", "§ ", "é", "。", "  "]
    text = "".join(chance.choice(parts) for _ in range(800))
    starts = sorted(chance.randrange(len(text)) for _ in range(5))
    parsed = document(text, text[::-1], sections=[Section(f"S{start}", 1, 1, start) for start in starts])
    chunks = cut(parsed, 40, seed * 3)
    assert left_out(parsed, chunks) == ""
    assert max(chunk.token_count for chunk in chunks) <= 40
    places = [(chunk.page, chunk.start, chunk.end) for chunk in chunks]
    assert places == sorted(set(places))


def test_the_model_is_asked_for_many_texts_at_a_time() -> None:
    asked: list[int] = []

    def count(texts: Sequence[str]) -> list[int]:
        asked.append(len(texts))
        return TOKENS.count(texts)

    parsed = document(*[SENTENCE * 30] * 40)
    chunk_document("doc", parsed, ChunkingSettings(strategy="sentences", overlap_tokens=0), count)
    assert len(asked) <= 4
    assert max(asked) == 1200


@pytest.mark.parametrize("line", ["One word. ", "no end ", "x", "A. ", "(", "."], ids=ascii)
def test_the_work_grows_with_the_length_alone(line: str) -> None:
    began = time.process_time()
    text = line * (1_000_000 // len(line))
    chunks = chunk_document("doc", document(text), ChunkingSettings(strategy="sentences"), words)
    assert time.process_time() - began < 10
    assert chunks[-1].end == len(text.rstrip())


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]
