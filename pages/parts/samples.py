"""The sample library that ships with Lectern, and questions to begin with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pages.parts.language import msgid
from rag_core.domain import Document, Gold, Question

FOLDER = Path(__file__).resolve().parents[2] / "data" / "samples"
TOLD = msgid("Three invented documents of an island: a ferry's handbook, a guide to its water works, a storm report.")
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


def questions_of(documents: Sequence[Document], limit: int = 4) -> list[Question]:
    """The first of those questions whose answers stand in these documents."""
    names = {name for document in documents for name in document.sources}
    known = (question for question in questions() if question.gold)
    return [question for question in known if all(gold.document in names for gold in question.gold)][:limit]


def _question(row: dict[str, Any]) -> Question:
    return Question(
        id=row["id"],
        text=row["question"],
        references=tuple(row.get("answer", ())),
        gold=tuple(Gold(**place) for place in row.get("gold", ())),
        answerable=row.get("answerable", True),
        origin="sample",
    )
