"""Questions of a name in source code: what its default is, where it is called, where it is defined.

Answered by the lines themselves, which are shown as they stand, of all files of code of the scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rag_core.answering.citations import Register
from rag_core.answering.passages import Quote, merge_hits
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written
from rag_core.domain import Document, Retrieval, Sentence, Trace
from rag_core.retrieval.contents import Contents
from rag_core.text.terms import terms

# A name that is no word: with an underscore or a capital within, before brackets, or between backticks.
_NAME = re.compile(
    r"`(?P<ticked>[^\W\d]\w*)(?:\(\))?`|\b(?P<called>[^\W\d]\w*)\(\)|\b(?P<bare>[^\W\d]\w*_\w+|[A-Za-z]+[a-z][A-Z]\w*)\b"
)
_ASKS: Mapping[str, re.Pattern[str]] = {
    "default": re.compile(r"\bdefaults?\b|\bstandardwert\b|\bpar défaut\b", re.IGNORECASE),
    "called": re.compile(
        r"\b(?:where|who|what|which|wo|wer|où|qui)\b.*\b(?:calls?|called|uses?|used|invoke[sd]?|aufgerufen|benutzt|verwendet"
        r"|appelée?|utilisée?)\b",
        re.IGNORECASE,
    ),
    "defined": re.compile(
        r"\b(?:where|which file|what file|wo|où)\b.*\b(?:defined?|declared?|implemented|definiert|définie?)\b",
        re.IGNORECASE,
    ),
}
_DEFINING = r"\b(?:def|class|function|func|fn|sub|struct|interface|enum|trait|type)\s+(?:\([^)]*\)\s*)?{name}\b"
_TYPED = r"^\s*(?!return\b|else\b|await\b)(?:[\w<>*&:,\[\]]+\s+)+[*&]?{name}\s*\([^;]*\)[^;]*\{{\s*$"
_VALUE = r"""(?:\([^()]*\)|\[[^\[\]]*\]|\{{[^{{}}]*\}}|"[^"\n]*"|'[^'\n]*'|[^,)\n;(\[{{"'])+"""
_DEFAULT = rf"(?<![.\w]){{name}}\s*(?::\s*(?:\[[^\[\]]*\]|[^=,()\n\[])+?)?\s*(?<![=!<>])=(?![=>])\s*(?P<value>{_VALUE})"
_PROSE = ("#", "//", "*", "/*", '"""', "'''")  # what begins a line that runs nothing
_COMMENT = re.compile(r"\s(?:#|//).*")
_MOST_DOCUMENTS, _MOST_SHOWN, _LONGEST_WORDS = 5_000, 20, 20
_LONGEST_LINE = 300  # characters: a longer one was written by a program
_CONFIDENCE = 0.85


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of code that answers; said: what it says, "" where it is shown alone."""

    quote: Quote
    said: str = ""


class Code(Strategy):
    """Shows the lines of code that a question of a name asks for. Thread-safe."""

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """The lines; None where something else is asked for, or no code has any. Raises StoreUnavailable."""
        text, contents = question.text, question.contents
        kind = next((kind for kind, pattern in _ASKS.items() if pattern.search(text)), "")
        names = [match["ticked"] or match["called"] or match["bare"] for match in _NAME.finditer(text)]
        if contents is None or not kind or len(names) != 1 or len(text.split()) > _LONGEST_WORDS:
            return None
        (name,) = names
        found = [line for one in _holding(name, contents) for line in _lines(kind, name, one, contents)]
        progress.lap("search")
        return _written(question.wordings[0], found) if found else None


def _holding(name: str, contents: Contents) -> list[Document]:
    """The files of code that hold a name."""
    documents, _ = contents.documents(_MOST_DOCUMENTS)
    code = [one.id for one in documents if one.is_code]
    return [hit.document for hit in contents.holding(terms(name), code)] if code else []


def _lines(kind: str, name: str, document: Document, contents: Contents) -> Iterator[_Line]:
    says = _SAYS[kind]
    for number, passage in enumerate(merge_hits(contents.beginning(document, document.chunk_count))):
        for place, match in enumerate(re.finditer(r"[^\n]+", passage.text)):
            said = says(name, match[0]) if len(match[0]) <= _LONGEST_LINE else None
            if said is not None:
                start, end = passage.start + match.start(), passage.start + match.end()
                hit = next((hit for hit in passage.hits if hit.start <= start < hit.end), passage.hits[-1])
                yield _Line(Quote(match[0].strip(), start, end, "fragment", hit, number, place), said)


def _is_definition(name: str, line: str) -> bool:
    return any(re.search(form.format(name=re.escape(name)), line) for form in (_DEFINING, _TYPED))


def _default(name: str, line: str) -> str | None:
    match = re.search(_DEFAULT.format(name=re.escape(name)), line)
    value = _COMMENT.sub("", match["value"]).strip() if match else ""
    return f"{name} is {value} by default: " if value and value != name else None


def _call(name: str, line: str) -> str | None:
    is_call = re.search(rf"(?<!\w){re.escape(name)}\s*\(", line) and not _is_definition(name, line)
    return "" if is_call and not line.lstrip().startswith(_PROSE) else None


def _definition(name: str, line: str) -> str | None:
    return "" if _is_definition(name, line) else None


_SAYS: Mapping[str, Callable[[str, str], str | None]] = {
    "default": _default, "called": _call, "defined": _definition
}  # fmt: skip


def _written(query: str, found: list[_Line]) -> Written:
    register = Register()
    sentences, lines = [], []
    for one in found[:_MOST_SHOWN]:
        file = one.quote.hit.document.sources[0].rpartition("/")[2] if one.quote.hit.document.sources else ""
        made = Sentence(f"{one.said}{one.quote.text} ({file})", (register.number(one.quote),))
        sentences.append(made)
        lines.append(f"- {one.said}`{one.quote.text}` ({file}) [{made.citations[0]}]")
    if len(found) > _MOST_SHOWN:
        sentences.append(Sentence(f"and {len(found) - _MOST_SHOWN} more"))
        lines.append(f"- {sentences[-1].text}")
    hits = tuple({one.quote.hit.chunk_id: one.quote.hit for one in found[:_MOST_SHOWN]}.values())
    return Written(
        Retrieval((), Trace(query=query)), hits, "\n".join(lines), sentences=tuple(sentences),
        citations=tuple(register.citations), confidence=_CONFIDENCE,
    )  # fmt: skip
