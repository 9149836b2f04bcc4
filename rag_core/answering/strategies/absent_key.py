"""A code that no document holds: whatever is asked of it, the answer is that it is not there, and which are like it.

What stands near such a code is said of another one, by passages as by tables.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written
from rag_core.domain import Retrieval, Sentence, Trace
from rag_core.models.prompts import NOT_FOUND
from rag_core.retrieval.contents import Contents
from rag_core.text.terms import terms
from rag_core.text.tokens import tokens

_FEWEST_DIGITS = 3
_MOST_NEAR, _MOST_DOCUMENTS = 3, 5_000
_PARTS = re.compile(r"\d+|[^\W\d_]+")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


class AbsentKey(Strategy):
    """Says that a code of the question is in no document. Thread-safe."""

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """That it is not there; None where the question has no such code. Raises StoreUnavailable."""
        if question.contents is None:
            return None
        for written, term in _keys(question.text).items():
            if question.contents.lacks(term) and not _is_held_apart(question.contents, written):
                return _absent(question, written, _alike(question.contents, written, term))
        return None


def _keys(text: str) -> dict[str, str]:
    """The codes of a text, with letters and digits that are no year, and each as a search term."""
    return {
        text[token.start : token.end]: token.text
        for token in tokens(text)
        if token.kind == "code" and _is_key(token.text)
    }


def _is_key(term: str) -> bool:
    digits = sum(character.isdigit() for character in term)
    return term.isalnum() and not term.isdigit() and digits >= _FEWEST_DIGITS and not _YEAR.search(term)


def _is_held_apart(contents: Contents, written: str) -> bool:
    """Whether a passage holds what a code is made of: "90x120" of "90 x 120"."""
    parts = [term for part in _PARTS.findall(written) for term in terms(part)]
    documents, _ = contents.documents(_MOST_DOCUMENTS)
    return bool(contents.holding(parts, [document.id for document in documents]))


def _alike(contents: Contents, written: str, term: str) -> list[str]:
    """Codes of the documents that are spelt much alike, the nearest first."""
    held: dict[str, str] = {}
    for text in contents.texts_like(term):
        held |= {one: name for name, one in _keys(text).items()}
    return [held[one] for one in get_close_matches(term, held, _MOST_NEAR)]


def _absent(question: Question, written: str, near: list[str]) -> Written:
    said = [Sentence(NOT_FOUND), Sentence(f"No document holds “{written}”.")]
    if near:
        said.append(Sentence(f"Much like it: {', '.join(near)}."))
    return Written(
        Retrieval((), Trace(query=question.wordings[0])), text="\n\n".join(one.text for one in said),
        sentences=tuple(said), abstained=True,
    )  # fmt: skip
