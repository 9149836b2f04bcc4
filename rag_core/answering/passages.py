"""Hits that overlap on one page become one passage, so that a sentence shared by neighbouring chunks stands once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from rag_core.domain import Box, Chunk, Citation, Hit
from rag_core.text.context import context_of
from rag_core.text.sentences import LIST_ITEM, Kind, Span, split_sentences
from rag_core.text.tables import begins_in_table
from rag_core.text.terms import terms

_BLANKS_BETWEEN = 4
_PAGE_DIGITS = 5
_SECTION_CHARS = 80  # of a section that is named with a passage in a prompt
_OF_TITLE = 0.5  # of a section's title, what names the section
_LABEL_LINES = 2  # that name a row, at most
_BETWEEN_CELLS = re.compile(r"\u2003| \| ")
_YEAR = re.compile(r"\W*(?:19|20)\d\d\W*")
_PART = re.compile(r"[^\t\r\n\v\f\u0085\u2028\u2029\u00ad]+")  # a line, or a cell of one


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a passage: its display text and its exact span on the page of `hit`."""

    text: str
    start: int
    end: int
    kind: Kind
    hit: Hit
    passage: int
    position: int
    complete: bool = True

    @property
    def exact(self) -> str:
        """The text of the span as it stands on the page, as far as the hit holds it."""
        return self.hit.text[max(self.start - self.hit.start, 0) : self.end - self.hit.start]


@dataclass(frozen=True, slots=True)
class Passage:
    """Text of one page from `start` on, covered without gaps by `hits`."""

    start: int
    text: str
    hits: tuple[Hit, ...]
    section: str

    @property
    def context(self) -> str:
        """What is to be known of it when it is read: its document's title, its section, and who it is about."""
        return self.context_in(self.section)

    def context_in(self, section: str) -> str:
        """The same for what of it stands in a section."""
        return context_of(self.hits[0].document.title, section, *self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The question's names by which its document goes; none that means one section."""
        document, called = self.hits[0].document, self.hits[0].called
        asked = {term for name in called for term in terms(name)} - set(terms(document.title))
        titles = [set(terms(section.title)) for section in document.sections] if asked else []
        meant = [title for title in titles if asked & title and len(title & asked) >= _OF_TITLE * len(title)]
        section = meant[0] if len(meant) == 1 else set()  # who names several asks of the document
        return tuple(name for name in called if section.isdisjoint(terms(name)))


def merge_hits(hits: Sequence[Hit]) -> list[Passage]:
    """Join hits whose spans overlap or touch; best passages first, by the order in which the hits came."""
    rank = {hit.chunk_id: position for position, hit in reversed(list(enumerate(hits)))}
    passages: list[Passage] = []
    ordered = sorted(hits, key=lambda hit: (hit.document.id, hit.page, hit.start, hit.end))
    for _, group in groupby(ordered, key=lambda hit: (hit.document.id, hit.page)):
        run: list[Hit] = []
        for hit in group:
            if run and not _touches(run, hit):
                passages.append(_passage(run))
                run = []
            run.append(hit)
        passages.append(_passage(run))
    return sorted(passages, key=lambda passage: min(rank[hit.chunk_id] for hit in passage.hits))


def with_heads(hits: Sequence[Hit]) -> list[Hit]:
    """Hits, best first, and behind them what stands before those that begin amid a table, on the same page."""
    known, heads = {hit.chunk_id for hit in hits}, {}
    for hit in hits:
        around, last = {chunk.index: chunk for chunk in hit.around}, hit
        while begins_in_table(last.text) and (before := around.get(last.index - 1)) and before.page == hit.page:
            last = before
            if before.chunk_id not in known:
                heads[before.chunk_id] = before
    return [*hits, *heads.values()]


def _touches(run: Sequence[Hit], hit: Hit) -> bool:
    """Whether a hit goes on where a run ends; between a chunk and the next one only blanks are left out."""
    if hit.corrected or run[-1].corrected:  # their texts are of other lengths than their spans
        return False
    end = max(member.end for member in run)
    follows = any(member.end == end and member.index + 1 == hit.index for member in run)
    return hit.start <= end or (follows and hit.start - end <= _BLANKS_BETWEEN)


def _passage(run: Sequence[Hit]) -> Passage:
    """The passage that a run of hits covers."""
    start, text = run[0].start, ""
    for hit in run:
        text += "\n" * (hit.start - start - len(text)) + hit.text[max(start + len(text) - hit.start, 0) :]
    section = next((hit.section for hit in run if hit.section), "")
    return Passage(start, text, tuple(run), section)


def quotes(passages: Sequence[Passage]) -> list[Quote]:
    """Every sentence of the passages with its place. A sentence cut off by the passage's edge is not `complete`."""
    found: list[Quote] = []
    for number, passage in enumerate(passages):
        spans = _rows_with_labels(split_sentences(passage.text))
        for position, span in enumerate(spans):
            start, end = passage.start + span.start, passage.start + span.end
            cut_before = span.start == 0 and passage.start > 0 and span.text[:1].islower()
            cut_after = position == len(spans) - 1 and span.kind == "sentence" and span.text[-1:].isalnum()
            hit = _holder(passage.hits, start, end)
            below = passage.text[spans[position + 1].start :] if position + 1 < len(spans) else ""
            kind = "heading" if _is_heading(span.text, below, hit) else span.kind
            is_marked = span.text == hit.document.title or _is_title(span.text, hit)
            if kind == "heading" and hit.document.marks_headings and not is_marked:
                kind = "fragment"
            found.append(Quote(span.text, start, end, kind, hit, number, position, not (cut_before or cut_after)))
    return found


def _rows_with_labels(spans: Sequence[Span]) -> list[Span]:
    """The spans, with rows of figures alone joined to the line or two above them that name them."""
    found: list[Span] = []
    for span in spans:
        labels = _label_lines(found) if span.kind == "row" and _are_figures(span.text) else []
        if labels:
            del found[-len(labels) :]
            label = " ".join(line.text for line in labels)
            span = Span(labels[0].start, span.end, f"{label}\u2003{span.text}", span.kind)
        found.append(span)
    return found


def _label_lines(before: Sequence[Span]) -> list[Span]:
    """The last lines, two at most, that go on from each other and can name a row."""
    found: list[Span] = []
    for line in reversed(before[-_LABEL_LINES:]):
        if line.kind != "fragment" or not line.text[:1].isalpha() or (found and not found[0].text[:1].islower()):
            break
        found.insert(0, line)
    return found


def _are_figures(row: str) -> bool:
    """Whether a row's first cell is a figure, and no year, as heads of columns are."""
    first = _BETWEEN_CELLS.split(row, maxsplit=1)[0]
    is_figure = any(map(str.isdigit, first)) and not any(map(str.isalpha, first))
    return is_figure and not _YEAR.fullmatch(first)


def _is_heading(text: str, below: str, hit: Hit) -> bool:
    """Whether a line is the title of a section: no sentence, nor what introduces a list."""
    says_more = text.endswith((".", ":")) or LIST_ITEM.match(below)
    return not says_more and _is_title(text, hit)


def _is_title(text: str, hit: Hit) -> bool:
    return any(text == section.title for section in hit.document.sections)


def _holder(hits: Sequence[Hit], start: int, end: int) -> Hit:
    """The hit that holds most of a span; of equals, the one with the better score."""
    return max(hits, key=lambda hit: (min(hit.end, end) - max(hit.start, start), hit.score))


def citation(number: int, hit: Hit, start: int, end: int, text: str) -> Citation:
    """What a number opens: the span on the page of a hit, with the lines' boxes that it touches.

    `text` is the page's text of that span. A chunk that was corrected by hand is meant whole: its text has no places.
    """
    if hit.corrected:
        start, end = hit.start, hit.end
    return Citation(
        number=number,
        chunk_id=hit.chunk_id,
        document_id=hit.document.id,
        title=hit.document.title,
        page=hit.page,
        page_label=hit.page_label,
        section=section_at(hit, (start + end) // 2),
        text=text,
        start=start,
        end=end,
        boxes=boxes_within(hit, start, end),
        score=hit.score,
        score_kind=hit.score_kind,
        corrected=hit.corrected,
        hidden=hit.hidden,
    )


def source_of(hit: Hit) -> str:
    """What a model is told of where a passage is from: document, section and page ("Terns, 3 Results, page 7")."""
    title, section = hit.document.title, hit.section.strip()[:_SECTION_CHARS]
    named = section and section.casefold() != title.casefold()
    return f"{title}{f', {section}' if named else ''}, page {hit.page_label or hit.page}"


def section_at(hit: Hit, place: int) -> str:
    """The section that a place on a hit's page stands in; the hit's own where its document's sections are not known."""
    before = [one for one in hit.document.sections if (one.page, one.start) <= (hit.page, place)]
    return max(reversed(before), key=lambda one: (one.page, one.start)).title if before else hit.section


def boxes_within(hit: Hit, start: int, end: int) -> tuple[Box, ...]:
    """Boxes of the lines and cells that a span touches; all boxes of the hit where it is not known which is whose."""
    parts = boxed_parts(hit)
    if not parts:
        return hit.boxes
    return tuple(box for box, (first, last) in zip(hit.boxes, parts, strict=True) if first < end and last > start)


def boxed_parts(hit: Hit | Chunk) -> list[tuple[int, int]]:
    """The spans on the page that the boxes are of, one each; none where they do not match one to one."""
    found = [
        (
            hit.start + part.start() + len(part[0]) - len(part[0].lstrip()),
            hit.start + part.start() + len(part[0].rstrip()),
        )
        for part in _PART.finditer(hit.text)
        if part[0].strip()
    ]
    return found if len(found) == len(hit.boxes) else []


def is_running_title(quote: Quote) -> bool:
    """Whether a line says its document's title and hardly more, as the feet of pages do: "Acme Inc. | 2020 | 27"."""
    title = set(terms(quote.hit.document.title))
    held = set(terms(quote.text))
    named = [term for term in held & title if not term.isdigit()]
    words = [term for term in held - title if not term[:1].isdigit()]
    figures = held - title - set(words)
    of_page = len(figures) <= 1 and all(figure.isdigit() and len(figure) < _PAGE_DIGITS for figure in figures)
    return bool(named) and len(held & title) > 1 and len(words) <= 1 and of_page
