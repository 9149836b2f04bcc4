"""A conversation, or one answer, as Markdown that loads and follows nothing by itself."""

from __future__ import annotations

import re

from rag_core.domain import Answer
from rag_core.exporting.thread import Paragraph, Thread, cited_text, paragraphs
from rag_core.text.invisible import visible

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+!|~$])")


def markdown(thread: Thread) -> str:
    """The whole conversation: questions are headings, below each answer its sources with what they say."""
    return "\n\n".join(_written(paragraph) for paragraph in paragraphs(thread)) + "\n"


def answer_text(answer: Answer) -> str:
    """One answer with its citations, for pasting elsewhere."""
    return _inert(visible(cited_text(answer)))


def _written(paragraph: Paragraph) -> str:
    line = " ".join(paragraph.text.split())
    match paragraph.style:
        case "title":
            return f"# {_literal(line)}"
        case "note":
            return f"*{_literal(line)}*"
        case "question":
            return f"## {_literal(line)}"
        case "source":
            return f"- {_literal(line)}"
        case "quote":
            return f"  > {_literal(line)}"
        case _:
            return _inert(paragraph.text)


def _literal(text: str) -> str:
    """Text that stands for itself."""
    return _MARKS.sub(r"\\\1", text)


def _inert(text: str) -> str:
    """An answer keeps its lists and its emphasis, but no image, link or HTML in it is any."""
    return re.sub(r"<(?=[\w/!?])|!(?=\[)|(?<=\])(?=[(\[])", r"\\\g<0>", text)
