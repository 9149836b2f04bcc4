"""Chunks: exact spans with boxes, sections and hashes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_core.chunking import chunk_document
from rag_core.domain import Box, Line, Page, ParsedDocument, Section
from rag_core.reading import Reader
from rag_core.settings import ChunkingSettings, ReadingSettings

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
SMALL = ChunkingSettings(size=50, overlap=10)


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def box(top: float) -> Box:
    return Box(0.1, top, 0.9, top + 0.02)


@pytest.fixture(scope="module")
def handbook() -> ParsedDocument:
    with Reader(ReadingSettings()) as reader:
        return reader.read(SAMPLES / "veyra-ferry-handbook.pdf", "handbook.pdf")


def test_chunks_are_exact_spans_of_their_pages(handbook: ParsedDocument) -> None:
    chunks = chunk_document("doc", handbook, ChunkingSettings(strategy="characters"), words)
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert [chunk.page for chunk in chunks] == sorted(chunk.page for chunk in chunks)
    for chunk in chunks:
        assert chunk.document_id == "doc"
        assert chunk.text == handbook.pages[chunk.page - 1].text[chunk.start : chunk.end]
        assert chunk.md5 == hashlib.md5(chunk.text.encode()).hexdigest()
        assert 0 < len(chunk.text) <= 1000
        assert chunk.token_count == len(chunk.text.split())
        assert chunk.boxes


def test_a_chunk_stands_in_the_nearest_section_before_it(handbook: ParsedDocument) -> None:
    chunks = chunk_document("doc", handbook, ChunkingSettings(size=300, overlap=0), words)
    sections = {chunk.section for chunk in chunks}
    assert {"Fares", "Dangerous goods", "History"} <= sections
    found = next(chunk for chunk in chunks if "60 days" in " ".join(chunk.text.split()))
    assert found.section in ("Lost things", "People who need help")
    assert chunks[0].section == ""


def test_sections_begin_where_they_say() -> None:
    page = Page(1, "Alpha is here\n\n" + "one " * 11 + "\n\nBeta is there\n\n" + "two " * 11)
    parsed = ParsedDocument(
        "text/plain", (page, Page(2, "last words")), sections=(Section("Beta", 1, 1, 61), Section("Alpha", 1, 1, 0))
    )
    chunks = chunk_document("doc", parsed, ChunkingSettings(size=50, overlap=0), words)
    assert [(chunk.text.split()[0], chunk.section) for chunk in chunks] == [
        ("Alpha", "Alpha"),
        ("one", "Alpha"),
        ("Beta", "Beta"),
        ("two", "Beta"),
        ("last", "Beta"),
    ]


def test_boxes_are_those_of_the_lines_touched() -> None:
    text = "first line here \nsecond line here \nthird line here \nfourth line here"
    starts = [text.index(word) for word in ("first", "second", "third", "fourth")]
    lines = tuple(Line(start, start + 15, box(0.1 * index)) for index, start in enumerate(starts, 1))
    chunks = chunk_document("doc", ParsedDocument("application/pdf", (Page(1, text, lines=lines),)), SMALL, words)
    assert chunks[0].text == "first line here \nsecond line here"
    assert chunks[0].boxes == (box(0.1), box(0.2))
    assert chunks[1].boxes == (box(0.1 * 3), box(0.4))


def test_pages_without_text_have_no_chunks() -> None:
    pages = (Page(1, ""), Page(2, " \n "), Page(3, "", error="damaged"), Page(4, "words"))
    chunks = chunk_document("doc", ParsedDocument("application/pdf", pages), SMALL, words)
    assert [(chunk.index, chunk.page, chunk.text) for chunk in chunks] == [(0, 4, "words")]


def test_a_document_without_pages_has_no_chunks() -> None:
    assert chunk_document("doc", ParsedDocument("text/plain", ()), SMALL, words) == []


def test_a_page_of_many_sections_is_cut_in_no_time() -> None:
    part = "Heading\n\n" + "words of it stand here. " * 3
    text = part * 10_000
    sections = tuple(Section(f"S{number}", 1, 1, number * len(part)) for number in range(10_000))
    began = time.process_time()
    chunks = chunk_document("doc", ParsedDocument("text/markdown", (Page(1, text),), sections=sections), SMALL, words)
    assert time.process_time() - began < 10
    assert chunks[-1].section == "S9999"
