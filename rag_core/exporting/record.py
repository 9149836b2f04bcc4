"""A conversation as JSON, with all that is kept of its answers."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from rag_core.domain import Answer, Citation, Document, Message
from rag_core.exporting.thread import Thread, cite


def record(thread: Thread) -> str:
    """One object: title, times (ISO 8601), messages with answers and citations, the documents cited."""
    whole = {
        "title": thread.conversation.title,
        "created_at": thread.conversation.created_at.isoformat(),
        "updated_at": thread.conversation.updated_at.isoformat(),
        "messages": [_message(message) for message in thread.messages],
        "documents": [_document(one) for one in thread.cited()],
    }
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def _message(message: Message) -> dict[str, Any]:
    return {
        "question": message.question,
        "asked_at": message.created_at.isoformat(),
        "answer": _answer(message.answer) if message.answer else None,
        "error": message.error,
        "rating": message.rating,
        "reason": message.reason,
    }


def _answer(answer: Answer) -> dict[str, Any]:
    names = ("text", "model", "confidence", "abstained", "outcome", "stopped", "cut")
    return {
        **{name: getattr(answer, name) for name in names},
        "sentences": [asdict(sentence) for sentence in answer.sentences],
        "citations": [{"cite": cite(citation), **asdict(citation)} for citation in answer.citations],
        "confidence_from": dict(answer.trace.confidence),
        "notes": list(answer.trace.notes),
        "steps": [asdict(step) for step in answer.trace.steps],
        "query": answer.trace.query,
        "latency_ms": dict(answer.trace.latency_ms),
        "tokens": dict(answer.trace.tokens),
    }


def _document(one: Document | Citation) -> dict[str, Any]:
    if isinstance(one, Citation):
        return {"id": one.document_id, "title": one.title, "removed": True}
    return {
        "id": one.id, "title": one.title, "authors": one.authors, "year": one.year, "sources": list(one.sources),
        "removed": False,
    }  # fmt: skip
