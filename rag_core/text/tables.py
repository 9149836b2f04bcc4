"""What a text shows of the tables that it was cut from: rows are lines whose cells are set apart by tabs, or by upright
strokes as in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_core.domain import Box, Page, Table

GROUP_CHARS = 70
"""Of what stands between two rows and belongs to their table, the name of a group of rows; of a column's name too."""
_CAPTION = re.compile(
    r"(?:supplementary\s+|extended\s+data\s+)?(?:table|tab\.|exhibit|tabelle|tableau|tabla|tabella|таблица|表)\s*"
    r"(?:[A-Z]?\d+(?:[.\-–]\d+)*|[IVXLC]+)\b",
    re.IGNORECASE,
)
_MOST_CAPTION_CHARS, _CAPTION_LINES = 300, 4
_MOST_HEADS = 4
# An empty first cell: blanks at the ends of a chunk are cut off, and the row's cells would stand under other heads.
NO_LABEL = "."
# "Q1", "FY19", "100s", "1st", "0–14", "65+": names that columns have.
_NUMBERED = re.compile(r"[^\W\d_]\d|\d(?:s|st|nd|rd|th)\b|^\s*\d{1,3}(?:\s?[-–]\s?\d{1,3}|\s?\+)\s*$")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# What stands between the head and the rows of a table in Markdown.
_RULE = re.compile(r"\s*\|(?:\s*(?::?-{2,}:?|:-:)\s*\|)+\s*")

_WORDS_OF_CELL = 3  # in the mean, of a table of short cells
PIECE_CHARS, LONG_PIECE_CHARS = 450, 2000
"""Rows of a table that stand together under its head: what fits into one chunk (figures are about two characters a
token), and of a long table, whose rows are found by words and by asking the whole table."""

Line = tuple[int, str]
Span = tuple[int, int]


def begins_in_table(text: str) -> bool:
    """Whether a text begins with a row, cells set apart by tabs and a figure among them, or with the name of a group
    of such rows: their head stands before it."""
    first, _, rest = text.partition("\n")
    row = rest.partition("\n")[0] if len(first) <= GROUP_CHARS and "\t" not in first else first
    return "\t" in row and any(character.isdigit() for character in row)


def has_short_cells(text: str) -> bool:
    """Whether a text is rows of cells of few words each: codes, names and figures."""
    lines = text.split("\n")
    gaps = text.count("\t") + len(lines)
    return gaps + text.count(" ") <= _WORDS_OF_CELL * gaps and all("\t" in line for line in lines)


def is_of_long_table(text: str) -> bool:
    """Whether a text is rows of a long table under their head, as reading sets them together."""
    return len(text) > 2 * PIECE_CHARS and has_short_cells(text)


def counted_chars(text: str) -> int:
    """The characters of a text as limits count them: rows of a long table, of which little is embedded, a quarter."""
    return sum(len(part) // (4 if is_of_long_table(part) else 1) for part in text.split("\n\n"))


def is_caption(line: str) -> bool:
    """Whether a line begins as captions of tables do: "Table 3", "Tabelle A.2", "TABLE IV"."""
    return _CAPTION.match(line) is not None


def tables_of(page: Page) -> list[Table]:
    """The tables of a page, in order. One whose head is said again every few rows is one table."""
    lines = list(lines_of(page.text))
    boxes = {line.start: [cell.box for cell in line.cells] for line in page.lines if line.cells}
    found: list[Table] = []
    for first, last in runs_of_rows(lines):
        within = [(start, text) for start, text in lines[first:last] if not is_rule(text)]
        places = [boxes.get(start + len(text) - len(text.lstrip()), []) for start, text in within]
        rows = tuple(_in_columns([cells_of(text) for _, text in within], places))
        caption = _caption(lines, first, last)
        start, end = lines[first][0], lines[last - 1][0] + len(lines[last - 1][1])
        table = Table(page.number, start, end, caption, rows, count_heads(rows))
        before = found[-1] if found else None
        if before and before.rows[0] == rows[0] and not page.text[before.end : start].strip():
            found[-1] = Table(
                page.number, before.start, end, before.caption, (*before.rows, *_behind(before, rows)), before.heads
            )
        else:
            found.append(table)
    return found


def lines_of(text: str, start: int = 0) -> Iterator[Line]:
    """The lines of a text, each with the place where it begins; the text begins at `start`."""
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def is_rule(line: str) -> bool:
    """Whether a line is the rule below a table's head, and no row."""
    return _RULE.fullmatch(line) is not None


def cells_of(line: str) -> tuple[str, ...]:
    """The cells of a row."""
    return tuple(line[start:end] for start, end in cell_spans(line))


def cell_spans(line: str) -> list[Span]:
    """Where in its line each cell of a row stands."""
    is_piped, at = _is_piped(line), 0
    spans: list[Span] = []
    for cell in line.split("|" if is_piped else "\t"):
        start = at + len(cell) - len(cell.lstrip())
        spans.append((start, start + len(cell.strip())))
        at += len(cell) + 1
    spans = spans[1:-1] if is_piped else spans
    start, end = spans[0]
    if len(spans) > 1 and line[start:end] == NO_LABEL:
        spans[0] = (start, start)
    return spans


def _in_columns(rows: Sequence[tuple[str, ...]], places: Sequence[Sequence[Box]]) -> Iterator[tuple[str, ...]]:
    """The rows, each cell in the column that it stands in on the page: of an empty one a PDF's text says nothing.

    places: the boxes of each row's cells, none where they are not known.
    """
    width = max(map(len, rows))
    columns = [
        (min(box.left for box in boxes), max(box.right for box in boxes))
        for boxes in zip(*(row for row in places if len(row) == width), strict=True)
    ]
    for row, boxes in zip(rows, places, strict=True):
        if columns and 1 < len(row) == len(boxes) < width:
            at = [_nearest(columns, box) for box in boxes]
            if at == sorted(set(at)):
                standing = dict(zip(at, row, strict=True))
                row = tuple(standing.get(column, "") for column in range(at[-1] + 1))
        yield row


def _nearest(columns: Sequence[tuple[float, float]], box: Box) -> int:
    def distance(place: int) -> tuple[float, float]:
        left, right = columns[place]
        return max(left - box.right, box.left - right, 0.0), abs(left + right - box.left - box.right)

    return min(range(len(columns)), key=distance)


def _behind(before: Table, rows: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    """Rows without the head that they say again, and the group's name behind that."""
    again = 0
    while again < min(len(rows), len(before.rows)) and rows[again] == before.rows[again]:
        again += 1
    if again < len(rows) and len(rows[again]) == 1 and rows[again] in before.rows:
        again += 1
    return rows[again:]


def runs_of_rows(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Spans of lines with two rows or more; a short line between rows names a group of them."""
    at = 0
    while at < len(lines):
        if not _is_row(lines[at][1]):
            at += 1
            continue
        first = last = at
        while at < len(lines) and (_is_row(lines[at][1]) or _names_group(lines, at)):
            last = at if _is_row(lines[at][1]) else last
            at += 1
        if sum(_is_row(text) and not is_rule(text) for _, text in lines[first : last + 1]) > 1:
            yield first, last + 1
        at = last + 1


def _is_row(line: str) -> bool:
    return "\t" in line.strip() or _is_piped(line)


def _is_piped(line: str) -> bool:
    bare = line.strip()
    return len(bare) > 1 and bare[0] == bare[-1] == "|"


def _names_group(lines: Sequence[Line], at: int) -> bool:
    line = lines[at][1].strip()
    behind = at + 1 < len(lines) and _is_row(lines[at + 1][1])
    return bool(line) and len(line) <= GROUP_CHARS and behind and not is_caption(line)


def count_heads(rows: Sequence[tuple[str, ...]]) -> int:
    """The rows above the first that has a figure behind its first cell, at most four; one where none has. Behind one
    that has a cell of its own for every column only those without a label go on, as units do."""
    widest, is_whole = max(map(len, rows)), False
    for number, row in enumerate(rows[: _MOST_HEADS + 1]):
        if any(_is_figure(cell) for cell in row[1:]) or (is_whole and row[0] and len(row) > 1):
            return number
        is_whole = is_whole or (len(row) == widest == len({*row}) and all(row[1:]))
    return 1


def _is_figure(cell: str) -> bool:
    bare = _YEAR.sub("", cell)  # "Low 2024" is a head
    digits = sum(map(str.isdigit, bare))
    mostly = digits > 0 and digits * 2 >= sum(map(str.isalnum, bare))
    return mostly and not _NUMBERED.search(bare)


def _caption(lines: Sequence[Line], first: int, last: int) -> str:
    """The paragraph that begins as captions do and ends above the table, else one that begins below it."""
    above: list[str] = []
    for _, text in reversed(lines[max(first - _CAPTION_LINES - 1, 0) : first]):
        if not text.strip():
            if above:
                break
            continue
        above.insert(0, text.strip())
        if is_caption(text.strip()):
            return " ".join(above)[:_MOST_CAPTION_CHARS]
    below = next(((at, text) for at, (_, text) in enumerate(lines[last : last + 3], last) if text.strip()), None)
    if below is None or not is_caption(below[1].strip()):
        return ""
    rest = []
    for _, text in lines[below[0] : below[0] + _CAPTION_LINES]:
        if not text.strip():
            break
        rest.append(text.strip())
    return " ".join(rest)[:_MOST_CAPTION_CHARS]
