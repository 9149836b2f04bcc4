"""The sample library that ships with Lectern, and questions to begin with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from pages.parts import words
from rag_core.domain import Document

FOLDER = Path(__file__).resolve().parents[2] / "data" / "samples"
SUFFIXES = (".pdf", ".md", ".txt")


def files() -> list[Path]:
    """The sample documents, by name."""
    return sorted(
        path for path in FOLDER.glob("*") if path.suffix.lower() in SUFFIXES and path.stem.lower() != "readme"
    )


def suggestions(documents: Sequence[Document], limit: int = 4) -> list[str]:
    """Questions that these documents answer: the samples' own where they are present, else made of titles."""
    names = {name for document in documents for name in document.sources}
    own = [question["question"] for question in _questions() if question["document"] in names]
    general = (question for question in _general(documents) if question not in own)
    return [*own, *general][:limit] if not own else own[:limit]


def _questions() -> list[dict[str, str]]:
    path = FOLDER / "questions.json"
    return list(json.loads(path.read_text("utf-8"))) if path.is_file() else []


def _general(documents: Sequence[Document]) -> Iterator[str]:
    titles = [words.shorten(document.title, 48) for document in documents[:4]]
    yield from (f"What is “{title}” about?" for title in titles[:2])
    yield from (f"What are the main findings of “{title}”?" for title in titles[:1])
    yield from (f"Which numbers does “{title}” give?" for title in titles[:1])
