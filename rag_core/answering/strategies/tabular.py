"""Answers from whole tables: a plan over all the rows of one, and a sentence that says what it found, and how.

Where a key of the question chooses a row, nothing else is quoted: what is said of it may be doubtful, what passages say
is said of its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag_core.answering.citations import Register
from rag_core.answering.encoding import Encode
from rag_core.answering.passages import Quote
from rag_core.answering.question import Question, Search
from rag_core.answering.quotations import PERHAPS
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written
from rag_core.domain import Document, Hit, Retrieval, Sentence, Trace
from rag_core.retrieval.contents import Contents
from rag_core.tables.asking import Ranked, best_plans, scene_of, trust, trust_signs, unexplained
from rag_core.tables.scoring import Scene, weights
from rag_core.tables.table import WholeTable
from rag_core.tables.wording import derivation, finding
from rag_core.text.tables import cell_spans

_MOST_DOCUMENTS = 8
_SURE = 0.5  # of being right, from which on a plan answers
_MOST_CITED, _MOST_LISTED, _MOST_DOUBTED = 2, 8, 2  # beside a figure; of cells that are listed
_SHEETS = (
    "text/csv", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.oasis.opendocument.spreadsheet",
)  # fmt: skip
_PAGED = ("application/pdf", "image/")  # whose tables are read of their pages: their rows may be torn
_MOST_COLUMNS = 200
# A short table amid prose is read whole, with what is said around it.
_FEWEST_ROWS = 20


@dataclass(frozen=True, slots=True)
class Found:
    """What a plan over a document's table found, and the probability that it answers."""

    document: Document
    scene: Scene
    ranked: Ranked
    trust: float

    @property
    def table(self) -> WholeTable:
        """The table that was asked."""
        return self.scene.table

    @property
    def has_key(self) -> bool:
        """Whether the row is chosen by a number or code that no other row has."""
        return any(
            link.exact and not link.comparison and self.table.columns[link.column].is_key
            and any(map(str.isdigit, self.table.columns[link.column].texts[link.codes[0]]))
            for link in self.ranked.plan.conditions
        )  # fmt: skip


class Tabular(Strategy):
    """Answers from the tables of the documents that a search finds. Thread-safe."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """What a plan finds; None where none is trusted. Raises StoreUnavailable."""
        if question.contents is None:
            return None
        wording = question.wordings[0]
        retrieval = search(wording)
        progress.lap("search")
        documents = {hit.document.id: hit.document for hit in retrieval.hits}
        found = [
            one
            for document in list(documents.values())[:_MOST_DOCUMENTS]
            if not document.media_type.startswith(_PAGED) and not document.is_code
            for one in self._asked(wording, document, question.contents, progress)
        ]
        best = max(found, key=lambda one: (one.trust >= _SURE, one.has_key, one.trust), default=None)
        progress.lap("tables")
        if best is None or (best.trust < _SURE and not best.has_key):
            return None
        return _written(best, retrieval, question.contents)

    def _asked(self, text: str, document: Document, contents: Contents, progress: Progress) -> Iterator[Found]:
        is_sheet = document.media_type in _SHEETS
        for table in contents.tables(document):
            progress.check()
            if (is_sheet or len(table) >= _FEWEST_ROWS) and len(table.columns) <= _MOST_COLUMNS:
                scene = scene_of(text, table, self._encode)
                ranked = best_plans(scene, weights())
                if ranked:
                    yield Found(document, scene, ranked[0], trust(trust_signs(scene, ranked), weights()))


def _written(found: Found, retrieval: Retrieval, contents: Contents) -> Written | None:
    """One sentence with what was found, and one with how; None where no row can be cited."""
    result = found.ranked.result
    rows = result.rows[: _MOST_LISTED if len(result.texts) > 1 else _MOST_CITED].tolist()
    register = Register()
    cited = contents.rows_of(found.document, found.table, rows)
    target = found.ranked.plan.target
    numbers = tuple(dict.fromkeys(register.number(_quote(found.table, row, target, hit)) for row, hit in cited))
    if not numbers and len(result.rows):
        return None
    said = finding(found.ranked.plan, result, found.table, found.scene.words)
    how = Sentence(derivation(found.ranked.plan, result, found.table, found.document.title))
    is_sure = found.trust >= _SURE
    sentences = (
        Sentence(said if is_sure else f"{PERHAPS} {said}", numbers),
        how,
        *([] if is_sure else [_doubt(found)]),
    )
    marks = "".join(f"[{number}]" for number in numbers)
    return Written(
        Retrieval((), Trace(query=retrieval.trace.query)), tuple({hit.chunk_id: hit for _, hit in cited}.values()),
        "\n\n".join([f"{sentences[0].text} {marks}".rstrip(), *(one.text for one in sentences[1:])]),
        sentences=sentences, citations=tuple(register.citations), confidence=found.trust, abstained=not is_sure,
    )  # fmt: skip


def _doubt(found: Found) -> Sentence:
    """Why it may be no answer: the words of the question that neither its conditions nor its column have."""
    left = [f"“{word}”" for word in unexplained(found.scene, found.ranked)[:_MOST_DOUBTED]]
    if not left:
        return Sentence("Not sure: another column may be meant.")
    return Sentence(f"Not sure: the table does not say {' or '.join(left)}.")


def _quote(table: WholeTable, row: int, column: int, hit: Hit) -> Quote:
    """A row's cell of a column, where that is not empty; else the row."""
    start, end = int(table.starts[row]), int(table.ends[row])
    line = hit.text[max(start - hit.start, 0) : end - hit.start]
    spans = cell_spans(line) if line and len(line) == end - start else []
    first, last = spans[column] if 0 <= column < len(spans) else (0, 0)
    if first < last:
        start, end = start + first, start + last
    return Quote(hit.text[max(start - hit.start, 0) : end - hit.start], start, end, "row", hit, 0, 0)
