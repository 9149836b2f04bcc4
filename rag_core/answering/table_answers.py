"""An answer of what a plan found in a whole table: one sentence with rows cited, one with how, and the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from rag_core.answering.citations import Register
from rag_core.answering.encoding import Encode
from rag_core.answering.passages import Quote
from rag_core.answering.quotations import PERHAPS
from rag_core.answering.written import Written
from rag_core.domain import Document, Hit, Sentence, TablePlan
from rag_core.errors import InvalidQuestion
from rag_core.retrieval.contents import Contents
from rag_core.tables.ages import in_ages
from rag_core.tables.answers import table_answer
from rag_core.tables.asking import scene_of
from rag_core.tables.joins import JoinedTable
from rag_core.tables.outflows import as_amount
from rag_core.tables.periods import PeriodTable
from rag_core.tables.plans import Plan, Result
from rag_core.tables.regrouping import regrouped
from rag_core.tables.scene import Scene
from rag_core.tables.table import WholeTable
from rag_core.tables.wording import derivation, finding
from rag_core.tables.words import Words
from rag_core.text.tables import cell_spans

_MOST_CITED, _MOST_LISTED = 2, 8  # rows beside a figure; rows of cells that are listed


@dataclass(frozen=True, slots=True)
class TableFinding:
    """What a plan found in the table of this number in a document, or joined with those of the `other` one."""

    document: Document
    number: int
    table: WholeTable
    plan: Plan
    result: Result
    other: Document | None = None


def written_of(
    found: TableFinding, contents: Contents, asked: Words | None = None, confidence: float = 1.0, doubt: str = ""
) -> Written | None:
    """The answer, perhaps in words that are `asked`; a `doubt` makes it none. None where no row can be cited."""
    plan, result, table, document = found.plan, found.result, found.table, found.document
    rows = result.rows[: _MOST_LISTED if len(result.texts) > 1 else _MOST_CITED].tolist()
    cited = [
        (one, row, column, hit)
        for said_by, one, some, column in _sources(found, rows)
        for row, hit in contents.rows_of(said_by, one, some)
    ]
    register = Register()
    numbers = tuple(dict.fromkeys(register.number(_quote(*one)) for one in cited))
    if not numbers and len(result.rows):
        return None
    said = finding(plan, result, table, asked, document.title)
    sentences = (
        Sentence(f"{PERHAPS} {said}" if doubt else said, numbers),
        Sentence(derivation(plan, result, table, document.title)),
        *([Sentence(doubt)] if doubt else []),
    )
    marks = "".join(f"[{number}]" for number in numbers)
    return Written(
        hits=tuple({hit.chunk_id: hit for *_, hit in cited}.values()),
        text="\n\n".join([f"{sentences[0].text} {marks}".rstrip(), *(one.text for one in sentences[1:])]),
        sentences=sentences, citations=tuple(register.citations), confidence=confidence, abstained=bool(doubt),
        table=table_answer(plan, result, table, document, found.number, found.other.id if found.other else ""),
    )  # fmt: skip


def table_of(plan: TablePlan, contents: Contents) -> tuple[Document, Document | None, WholeTable]:
    """The table of a plan that was kept, its document, and that with whose tables it is joined. Raises KeyError where a
    document is not there, InvalidQuestion where it has no such table."""
    other = next(iter(contents.some([plan.other])), None) if plan.other else None
    if plan.other and other is None:
        raise KeyError(plan.other)
    for document in contents.some([plan.document_id]):
        tables = list(contents.joined_with(document, other) if other else contents.tables(document))
        if other is None and plan.table >= len(tables):
            tables += contents.derived_tables(document)
        if not 0 <= plan.table < len(tables):
            raise InvalidQuestion(
                "The document has no such table now.",
                help="If it was just added or changed, ask again in a moment.",
            )
        return document, other, tables[plan.table]
    raise KeyError(plan.document_id)


def scene_before(text: str, table: WholeTable, document: Document, encode: Encode) -> Scene:
    """A question before a table of a document, told in the words that such a table has."""
    called = " ".join([document.title, *(PurePath(source).stem for source in document.sources)])
    return scene_of(regrouped(in_ages(as_amount(text), table), table), table, encode, called)


def _sources(found: TableFinding, rows: list[int]) -> Iterator[tuple[Document, WholeTable, list[int], int]]:
    """The tables that say what rows have in the plan's column, each with its document, its own rows and column."""
    table, column = found.table, found.plan.target
    if isinstance(table, PeriodTable):
        places = [table.place_of(row, column) for row in rows]
        yield from ((found.document, table.wide, [row], at) for row, at in places)
        return
    yield found.document, table, rows, column
    if isinstance(table, JoinedTable):
        others = [int(row) for row in table.matches[rows] if row >= 0]
        yield found.other or found.document, table.other, others, table.column_of_other(column)


def _quote(table: WholeTable, row: int, column: int, hit: Hit) -> Quote:
    """A row's cell of a column, where that is not empty; else the row."""
    start, end = int(table.starts[row]), int(table.ends[row])
    line = hit.text[max(start - hit.start, 0) : end - hit.start]
    spans = cell_spans(line) if line and len(line) == end - start else []
    first, last = spans[column] if 0 <= column < len(spans) else (0, 0)
    if first < last:
        start, end = start + first, start + last
    return Quote(hit.text[max(start - hit.start, 0) : end - hit.start], start, end, "row", hit, 0, 0)
