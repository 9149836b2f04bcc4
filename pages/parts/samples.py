"""The sample library that ships with Lectern, and questions to begin with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pages.parts import words
from rag_core.domain import Document, Gold, Question

FOLDER = Path(__file__).resolve().parents[2] / "data" / "samples"
SUFFIXES = (".pdf", ".md", ".txt")


def files() -> list[Path]:
    """The sample documents, by name."""
    return sorted(
        path for path in FOLDER.glob("*") if path.suffix.lower() in SUFFIXES and path.stem.lower() != "readme"
    )


def questions() -> list[Question]:
    """The questions that ship with the sample documents, those first that show best what Lectern does."""
    path = FOLDER / "questions.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return [_question(json.loads(line)) for line in lines if line.strip()]


def suggestions(documents: Sequence[Document], limit: int = 4) -> list[str]:
    """Questions that these documents answer: the samples' own where they are present, else made of titles."""
    names = {name for document in documents for name in document.sources}
    known = [question for question in questions() if question.gold]
    own = [question.text for question in known if all(gold.document in names for gold in question.gold)]
    return own[:limit] if own else list(_general(documents))[:limit]


def _question(row: dict[str, Any]) -> Question:
    return Question(
        id=row["id"],
        text=row["question"],
        references=tuple(row.get("answer", ())),
        gold=tuple(Gold(**place) for place in row.get("gold", ())),
        answerable=row.get("answerable", True),
        origin="sample",
    )


def _general(documents: Sequence[Document]) -> Iterator[str]:
    titles = [words.shorten(document.title, 48) for document in documents[:4]]
    yield from (f"What is “{title}” about?" for title in titles[:2])
    yield from (f"What are the main findings of “{title}”?" for title in titles[:1])
    yield from (f"Which numbers does “{title}” give?" for title in titles[:1])
