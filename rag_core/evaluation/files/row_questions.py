"""One row of a file to a Question, or to what is wrong with it.

A row with a fault that would change what is measured is left out: no question, a page that is none, text of the wrong
type. What can do no harm is taken with a note: a surplus cell, control characters, a place without a document.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import TypeVar, get_args

from rag_core.domain import Gold, Origin, Question, RowProblem
from rag_core.evaluation.files.cells import original, parted
from rag_core.evaluation.files.file_rows import MOST_COLUMNS, Row

MAX_QUESTION_CHARS = 4_000
MAX_TEXT_CHARS = 20_000
"""Most characters of an answer or an excerpt."""
MAX_ID_CHARS = 200
MAX_ITEMS = 100
"""Most answers, and most gold places, of one question."""
MAX_PAGE = 1_000_000

_NAMES = {
    "id": "id question_id qid key",
    "question": "question query text prompt",
    "answer": "answer answers reference references reference_answer ground_truth ground_truths expected_answer",
    "document": "document source file filename file_name doc title",
    "page": "page page_number page_no page_num pages",
    "excerpt": "excerpt excerpts passage passages context contexts reference_contexts evidence",
    "gold": "gold places",
    "answerable": "answerable is_answerable has_answer",
    "unanswerable": "unanswerable is_impossible impossible",
    "note": "note notes comment comments",
    "origin": "origin",
}
_SYNONYMS = {synonym: name for name, synonyms in _NAMES.items() for synonym in synonyms.split()}
_MANY = frozenset(("answer", "document", "page", "excerpt"))
_YES = frozenset(("true", "yes", "y", "t", "1", "x"))
_NO = frozenset(("false", "no", "n", "f", "0"))
_PAGE = re.compile(r"(\d{1,7})(?:\.0+)?")
_NUMBERED = re.compile(r"(.*?)_?(\d{1,3})")
_LONGEST_NAME = 60
_NOT_NAME = re.compile(r"[\W_]+")
# Controls without tab and newline, and lone surrogates: neither a page nor PostgreSQL takes them.
_UNSHOWABLE = dict.fromkeys((*(set(range(32)) - {9, 10}), *range(0x7F, 0xA0), *range(0xD800, 0xE000)))


_Item = TypeVar("_Item")


class Fault(Exception):
    """Why a row is left out, and in which column that stands."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column


def column_of(name: str) -> tuple[str, int] | None:
    """What a column means and its number ("Page 2" is the second page); None for one that is not known."""
    return _meaning(name) if len(name) <= _LONGEST_NAME else None


@lru_cache(maxsize=1024)
def _meaning(name: str) -> tuple[str, int] | None:
    plain = _NOT_NAME.sub("_", name.strip().casefold()).strip("_")
    if plain in _SYNONYMS:
        return _SYNONYMS[plain], 1
    numbered = _NUMBERED.fullmatch(plain)
    meaning = _SYNONYMS.get(numbered[1], "") if numbered else ""
    return (meaning, int(numbered[2])) if numbered and meaning in _MANY and int(numbered[2]) else None


def given_id(text: str) -> str:
    """The id of a question that came without one: the same for the same words, whatever their case."""
    return "q-" + hashlib.sha256(text.casefold().encode()).hexdigest()[:10]


def question_of(row: Row) -> tuple[Question | None, list[RowProblem]]:
    """The question of a row, or None, and what is wrong with the row."""
    reading = _Reading(row)
    try:
        return reading.question(), reading.problems
    except Fault as fault:
        return None, [*reading.problems, RowProblem(row.number, fault.column, str(fault))]


class _Reading:
    """One row being read: its values by what they mean, and the harmless faults found so far."""

    def __init__(self, row: Row) -> None:
        self._row = row
        self.problems: list[RowProblem] = []
        self._values: dict[tuple[str, int], list[tuple[str, object]]] = {}
        for name, written in islice(row.values.items(), MOST_COLUMNS):
            meaning = column_of(name)
            value = original(written) if row.cells and isinstance(written, str) else written
            if meaning and value is not None and value != "":
                self._values.setdefault(meaning, []).append((name, value))

    def question(self) -> Question:
        """The row's question. Raises Fault."""
        if self._row.surplus:
            self._harmless("", "The row has more cells than there are columns; the surplus was left out.")
        written = self._text("question", MAX_QUESTION_CHARS)
        if self._row.cells and "\n" in written:
            self._harmless("question", "The question runs over several lines: is a quotation mark missing?")
        text = " ".join(written.split())
        if not any(character.isalnum() for character in text):
            raise Fault("question", "There is no question in this row." if not text else "The question holds no word.")
        references = self._at_most(self._references(), "answer", "answers")
        gold = self._at_most(self._gold(), "document", "places")
        origin = self._text("origin", MAX_ID_CHARS)
        answerable = self._answerable()
        if not answerable and (references or gold):
            self._harmless("answerable", "The question is marked as one without an answer, and an answer is given.")
        return Question(
            id=self._text("id", MAX_ID_CHARS) or given_id(text),
            text=text,
            references=references,
            gold=gold,
            answerable=answerable,
            origin=origin if origin in get_args(Origin) else "uploaded",  # type: ignore[arg-type]
            note=self._text("note", MAX_TEXT_CHARS),
        )

    def _harmless(self, column: str, message: str) -> None:
        self.problems.append(RowProblem(self._row.number, column, message, kept=True))

    def _at_most(self, items: Iterator[_Item], column: str, kind: str) -> tuple[_Item, ...]:
        """The first items, each once; more than `MAX_ITEMS` are a harmless fault."""
        found = list(islice(items, MAX_ITEMS + 1))
        if len(found) > MAX_ITEMS:
            self._harmless(column, f"At most {MAX_ITEMS} {kind} are taken; the rest was left out.")
        return tuple(dict.fromkeys(found[:MAX_ITEMS]))

    def _text(self, meaning: str, most: int) -> str:
        """The text of the one column with this meaning; "" where there is none. Raises Fault."""
        for name, value in self._values.get((meaning, 1), ()):
            if text := self._clean(name, value, most):
                return text
        return ""

    def _clean(self, column: str, value: object, most: int) -> str:
        """A value as text that can be shown and stored. Raises Fault for another type and for too long a text."""
        if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
            value = str(value)
        if not isinstance(value, str):
            raise Fault(column, f"There should be text here, not {_shown(value)}.")
        text = value.replace("\r\n", "\n").replace("\r", "\n")
        clean = text.translate(_UNSHOWABLE)
        if clean != text:
            self._harmless(column, "Characters that cannot be shown were left out.")
        clean = clean.strip()
        if len(clean) > most:
            raise Fault(column, f"The text has {len(clean):,} characters; at most {most:,} are taken.")
        return clean

    def _references(self) -> Iterator[str]:
        """The answers given. Raises Fault."""
        for (meaning, _), entries in self._values.items():
            for name, value in entries if meaning == "answer" else ():
                for item in _items(value):
                    found = parted(item) if self._row.cells and isinstance(item, str) else [item]
                    texts = (self._clean_plain(name, part) for part in found)
                    yield from (text for text in texts if text)

    def _clean_plain(self, column: str, value: object) -> str:
        text = value.get("text") if isinstance(value, dict) else value
        return self._clean(column, text, MAX_TEXT_CHARS)

    def _gold(self) -> Iterator[Gold]:
        """The places given: a list of objects, then columns by their numbers. Raises Fault."""
        for name, value in self._values.get(("gold", 1), ()):
            for item in _items(value):
                values = item if isinstance(item, dict) else {"document": item}
                yield from self._places(name, values)
        numbers = sorted({number for meaning, number in self._values if meaning in ("document", "page", "excerpt")})
        for number in numbers:
            values = {
                name: value
                for meaning in ("document", "page", "excerpt")
                for name, value in self._values.get((meaning, number), ())[:1]
            }
            yield from self._places("document", values)

    def _places(self, column: str, values: Mapping[str, object]) -> Iterator[Gold]:
        """The places of one document: one for each excerpt. Raises Fault."""
        known = {meaning[0]: (name, value) for name, value in values.items() if (meaning := column_of(name))}
        document = self._clean(*known["document"], MAX_TEXT_CHARS) if known.get("document", ("", None))[1] else ""
        page = _page(*known["page"]) if "page" in known else None
        name, value = known.get("excerpt", ("", None))
        excerpts = [self._clean(name, item, MAX_TEXT_CHARS) for item in _items(value)] if value is not None else []
        if document:
            yield from (Gold(document, page, excerpt) for excerpt in excerpts or [""])
        elif page is not None or excerpts:
            self._harmless(column, "A page or a passage is given without its document, so it is not used.")

    def _answerable(self) -> bool:
        """Whether the library holds an answer: as it is said, else yes. Raises Fault."""
        for meaning in ("answerable", "unanswerable"):
            for name, value in self._values.get((meaning, 1), ()):
                return _truth(name, value) == (meaning == "answerable")
        return True


def _items(value: object) -> list[object]:
    """The members of a list, or the one value; of {"text": [...]} (SQuAD as tables hold it) the texts."""
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        value = value["text"]
    return [item for item in value[: MAX_ITEMS + 1] if item is not None] if isinstance(value, list) else [value]


def _page(column: str, value: object) -> int | None:
    """A page number from 1. Raises Fault."""
    if value is None:
        return None
    text = str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    found = _PAGE.fullmatch(text)
    if not found or not 1 <= int(found[1]) <= MAX_PAGE:
        raise Fault(column, f"There should be a page number from 1 here, not {_shown(value)}.")
    return int(found[1])


def _truth(column: str, value: object) -> bool:
    word = str(value).strip().casefold() if isinstance(value, str | int | float) else ""
    if word in _YES or word in _NO:
        return word in _YES
    raise Fault(column, f"There should be yes or no here, not {_shown(value)}.")


def _shown(value: object) -> str:
    """A value for a message: its beginning, or its kind."""
    if isinstance(value, str):
        plain = " ".join(value.translate(_UNSHOWABLE).split())
        return f"“{plain[:40]}…”" if len(plain) > 40 else f"“{plain}”"
    kinds = {dict: "an object", list: "a list", bool: "true or false", type(None): "nothing"}
    if type(value) in kinds:
        return kinds[type(value)]
    text = str(value)
    return f"{text[:40]}…" if len(text) > 40 else text
