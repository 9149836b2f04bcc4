"""Conversations as files: Markdown, PDF, JSON, and BibTeX for the documents that they cite.

A form is one function from a thread to bytes, and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from rag_core.exporting.bibtex import bibtex
from rag_core.exporting.markdown import answer_text, markdown
from rag_core.exporting.record import record
from rag_core.exporting.thread import INSTRUCTS, Thread, cite, quotation, warning_of

ConversationForm = Literal["markdown", "pdf", "json", "bibtex"]
FORMS: tuple[ConversationForm, ...] = get_args(ConversationForm)
SUFFIXES: dict[ConversationForm, str] = {"markdown": ".md", "pdf": ".pdf", "json": ".json", "bibtex": ".bib"}

__all__ = [
    "FORMS", "INSTRUCTS", "SUFFIXES", "ConversationForm", "Thread", "answer_text", "cite", "export", "quotation",
    "warning_of",
]  # fmt: skip


def export(thread: Thread, form: ConversationForm) -> bytes:
    """The conversation in one form, UTF-8 where it is text."""
    writers: dict[str, Callable[[Thread], bytes]] = {
        "markdown": lambda thread: markdown(thread).encode(),
        "pdf": _pdf,
        "json": lambda thread: record(thread).encode(),
        "bibtex": lambda thread: bibtex(thread.cited()).encode(),
    }
    return writers[form](thread)


def _pdf(thread: Thread) -> bytes:
    from rag_core.exporting.pdf import pdf  # a third of a second to import

    return pdf(thread)
