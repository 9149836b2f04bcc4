"""One row of a file to a Question, or to what is wrong with it.

A row with a fault that would change what is measured is left out; what can do no harm is taken and told.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from rag_core.domain import Gold, Origin, Question, RowProblem
from rag_core.evaluation.files.cells import parted

MAX_QUESTION_CHARS = 4_000

_PLACE = ("document", "page", "excerpt")
_COLUMNS = ("id", "question", "answer", *_PLACE, "gold", "answerable", "unanswerable", "note", "origin")
_SYNONYMS = {
    **{"query": "question", "source": "document", "file": "document", "title": "document"},
    **dict.fromkeys(("answers", "reference", "references", "ground_truth"), "answer"),
    **{"passage": "excerpt", "context": "excerpt", "is_impossible": "unanswerable", "notes": "note"},
}
_WANTED = {
    **{"page": "a page number from 1", "gold": "at most 100 objects with a document"},
    **dict.fromkeys(("answerable", "unanswerable"), "yes or no"),
}
# Controls without tab and newline: neither a page nor PostgreSQL takes them.
_CONTROLS = dict.fromkeys((*(set(range(32)) - {9, 10}), *range(0x7F, 0xA0)), " ")


@lru_cache(maxsize=1024)
def column_of(name: str) -> tuple[str, int] | None:
    """What a column means and its number ("Page 2" is the second page); None for one that is not known."""
    plain, number = re.sub(r"[\W_]+", "_", name.casefold()).strip("_"), "1"
    if numbered := re.fullmatch(r"(.*?)_?([1-9]\d?)", plain):
        plain, number = numbered.groups()
    meaning = _SYNONYMS.get(plain, plain)
    return (meaning, int(number)) if meaning in ((*_PLACE, "answer") if numbered else _COLUMNS) else None


def given_id(text: str) -> str:
    """The id of a question that came without one: the same for the same words, whatever their case."""
    return "q-" + hashlib.sha256(text.casefold().encode()).hexdigest()[:10]


def shown(text: str) -> str:
    """The beginning of a text as a message quotes it."""
    begin = " ".join(text[:40].translate(_CONTROLS).split()).encode("utf-8", errors="replace").decode()
    return f"{begin}…" if len(text) > 40 else begin


def question_of(number: int, values: Mapping[str, object]) -> tuple[Question | None, list[RowProblem]]:
    """The question of a row, or None, and what is wrong with the row."""
    try:
        row = _Row.model_validate(_by_meaning(values))
    except ValidationError as error:
        return None, [_problem(number, fault["loc"], fault["msg"], fault["input"]) for fault in error.errors()]
    text = " ".join(row.question.split())
    if not any(map(str.isalnum, text)):
        return None, [RowProblem(number, "question", "There is no question in this row.")]
    question = Question(
        id=row.id or given_id(text),
        text=text,
        references=tuple(dict.fromkeys(filter(None, row.answer))),
        gold=tuple(dict.fromkeys(Gold(**place.model_dump()) for place in row.gold if place.document)),
        answerable=row.answerable and not row.unanswerable,
        origin=row.origin if row.origin in get_args(Origin) else "uploaded",  # type: ignore[arg-type]
        note=row.note,
    )
    return question, [RowProblem(number, column, told, kept=True) for column, told in _remarks(row, question)]


_Text = Annotated[
    str,
    Field(coerce_numbers_to_str=True, max_length=20_000),
    AfterValidator(lambda text: text.replace("\r\n", "\n").translate(_CONTROLS).strip()),
]


class _Place(BaseModel):
    document: _Text = ""
    page: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    excerpt: _Text = ""


class _Row(BaseModel):
    id: Annotated[_Text, Field(max_length=200)] = ""
    question: Annotated[_Text, Field(max_length=MAX_QUESTION_CHARS)] = ""
    answer: Annotated[list[_Text], Field(max_length=100)]
    gold: Annotated[list[_Place], Field(max_length=100)]
    answerable: bool = True
    unanswerable: bool = False
    origin: _Text = ""
    note: _Text = ""


def _by_meaning(values: Mapping[str, object]) -> dict[str, Any]:
    """A row's values as `_Row` has them; the first of two with one meaning is taken."""
    row: dict[str, Any] = {"answer": [], "gold": []}
    places: dict[int, dict[str, object]] = {}
    for name, value in values.items():
        meaning, number = column_of(name) or ("", 0)
        if value is None or value == "":
            continue
        if meaning in ("answer", "gold"):
            several = parted(value) if isinstance(value, str) and meaning == "answer" else value
            row[meaning] += several if isinstance(several, list) else [several]
        elif meaning in _PLACE:
            places.setdefault(number, {}).setdefault(meaning, value)
        else:
            row.setdefault(meaning, value)
    row["gold"] += [places[number] for number in sorted(places)]
    return row


def _problem(number: int, location: tuple[int | str, ...], message: str, value: object) -> RowProblem:
    """What a row is left out for, with the beginning of what stands there."""
    column = [part for part in location if isinstance(part, str)][-1]
    told = f"There should be {_WANTED[column]} here" if column in _WANTED else message
    held = str(value) if isinstance(value, str | int | float) else f"a {type(value).__name__}"
    return RowProblem(number, column, f"{told}, not “{shown(held)}”.")


def _remarks(row: _Row, question: Question) -> Iterator[tuple[str, str]]:
    """Columns and what is odd about them, in a row that is taken."""
    if "\n" in row.question:
        yield "question", "The question runs over several lines: in a CSV file, is a quotation mark missing?"
    if any(not place.document and (place.page or place.excerpt) for place in row.gold):
        yield "document", "A page or a passage is given without its document, so it is not used."
    if not question.answerable and (question.references or question.gold):
        yield "answerable", "The question is marked as one without an answer, and an answer is given."
