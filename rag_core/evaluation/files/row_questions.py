"""One row of a file of questions: the columns that there are, and a row's question or what is wrong with it."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from rag_core.domain import Gold, Origin, Question, RowProblem
from rag_core.evaluation.files.cells import parted

MAX_QUESTION_CHARS = 4_000
MAX_PROBLEMS = 20
"""Most that is said of one row."""
# Controls without tab and newline: neither a page nor PostgreSQL takes them.
_CONTROLS = dict.fromkeys((*(set(range(32)) - {9, 10}), *range(0x7F, 0xA0)), " ")
_WANTED = {
    "page": "a page number from 1", "answerable": "yes or no", "gold": "a list of at most 100 objects with a document",
}  # fmt: skip


def given_id(text: str) -> str:
    """The id of a question that came without one: the same for the same words, whatever their case."""
    return "q-" + hashlib.sha256(text.casefold().encode()).hexdigest()[:10]


def shown(text: str) -> str:
    """The beginning of a text as a message quotes it."""
    begin = " ".join(text[:40].translate(_CONTROLS).split()).encode("utf-8", errors="replace").decode()
    return f"{begin}…" if len(text) > 40 else begin


def _given(text: str) -> str:
    if not text:
        raise PydanticCustomError("missing", "empty")
    return text


def _asked(text: str) -> str:
    _given("".join(filter(str.isalnum, text)))
    return " ".join(text.split())


def _several(value: Any) -> list[Any]:
    return parted(value) if isinstance(value, str) else value if isinstance(value, list) else [value]


_Text = Annotated[
    str,
    Field(coerce_numbers_to_str=True, max_length=20_000),
    AfterValidator(lambda text: text.replace("\r\n", "\n").translate(_CONTROLS).strip()),
]


class _Place(BaseModel, extra="forbid"):
    document: Annotated[_Text, AfterValidator(_given)] = Field(
        description="Where the answer stands: a document's file name, title or id"
    )
    page: int | None = Field(None, description="Its page, counted from 1", ge=1, le=1_000_000)
    excerpt: _Text = Field("", description="Words of the document that hold the answer, as they stand there")


class _Row(BaseModel, extra="forbid"):
    question: Annotated[_Text, Field(max_length=MAX_QUESTION_CHARS), AfterValidator(_asked)] = Field(
        description=f"The question, at most {MAX_QUESTION_CHARS:,} characters. The one column that must be there"
    )
    answer: Annotated[list[_Text], BeforeValidator(_several)] = Field(
        [], description="A right answer; several are parted by ` || `, or a list in JSON", max_length=100
    )
    gold: Annotated[list[_Place], BeforeValidator(_several)] = Field(
        [], description="More places: a list in JSON of objects with `document`, `page` and `excerpt`", max_length=100
    )
    answerable: bool = Field(True, description="`no` where the documents hold no answer")
    id: Annotated[_Text, Field(max_length=200)] = Field(
        "", description="Names the question; made from its words where it is missing"
    )
    note: _Text = Field("", description="Anything you like")
    origin: Origin = Field("uploaded", description="How the question came about, as Lectern's own files say")

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, values: Any) -> Any:
        """The values that say something; the place in columns of its own is put to those of `gold`."""
        if not isinstance(values, dict):
            return values
        found = {name: value for name, value in values.items() if value not in (None, "")}
        if place := {name: found.pop(name) for name in _Place.model_fields if name in found}:
            found["gold"] = [*_several(found.get("gold", [])), place]
        return found


_FIELDS = _Place.model_fields | _Row.model_fields
COLUMNS = {name: str(_FIELDS[name].description) for name in ("question", "answer", *_FIELDS)}
"""What each column holds, by its name."""
NAMES = ", ".join(COLUMNS)


def question_of(number: int, row: object) -> Question | list[RowProblem]:
    """The question of a row, a mapping or a text of JSON, or what is wrong with it."""
    try:
        found = _Row.model_validate_json(row) if isinstance(row, str) else _Row.model_validate(row)
    except ValidationError as error:
        return [_problem(number, fault) for fault in error.errors()[:MAX_PROBLEMS]]
    return Question(
        id=found.id or given_id(found.question),
        text=found.question,
        references=tuple(dict.fromkeys(filter(None, found.answer))),
        gold=tuple(dict.fromkeys(Gold(**place.model_dump()) for place in found.gold)),
        answerable=found.answerable,
        origin=found.origin,
        note=found.note,
    )


def _problem(number: int, fault: Any) -> RowProblem:
    """What a row is left out for, with the beginning of what stands there."""
    column, value = ["", *(part for part in fault["loc"] if isinstance(part, str))][-1], fault["input"]
    if fault["type"] == "missing":
        return RowProblem(number, column, f"There is no {column} in this row.")
    if fault["type"] == "extra_forbidden":
        return RowProblem(number, shown(column), f"No such column, or a quotation mark is missing. There are {NAMES}.")
    told = f"There should be {_WANTED[column]} here" if column in _WANTED else fault["msg"]
    held = str(value) if isinstance(value, str | int | float) else f"a {type(value).__name__}"
    return RowProblem(number, column, f"{told}, not “{shown(held)}”.")
