"""The bytes of a file of questions to its text, and the rows of a CSV file.

What cannot be read as a row is a RowProblem in its place; nothing here raises for what a file holds. Time is linear in
the file's size.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from rag_core.domain import RowProblem

MOST_COLUMNS = 1_000
"""Columns of a row that are looked at."""
MOST_MISREAD = 10
"""How often a file is read on after a quotation mark that nothing closes."""

LAST_ROW = 1_048_576
"""Lines of a file that are looked at; no spreadsheet has more rows."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_KINDS = (
    (b"PK\x03\x04", "a spreadsheet or an archive: save it as CSV first"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet: save it as CSV first"),
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a packed file: unpack it first"),
)
_CONTROLS = bytes({*range(32), 0x7F} - {9, 10, 12, 13})
_SEPARATORS = ",;\t|"
_SEP_LINE = re.compile(r"sep=([,;\t|])\r?\n", re.IGNORECASE)
# What no file holds as its last line: where it comes out inside a field, that field was never closed.
_END = "\x00end of the file\x00\n"


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its number in the file and its values by column name, as they are written there.

    `cells` says that the values are the texts of a CSV file's cells, and `surplus` how many of them had no column.
    """

    number: int
    values: Mapping[str, object]
    cells: bool = False
    surplus: int = 0


Rows = Iterator[Row | RowProblem]


class Table(NamedTuple):
    """The rows of a file, and for a CSV file its columns and the row that names them; 0 where there is none."""

    rows: Rows
    columns: tuple[str, ...] = ()
    head: int = 0


def decode(data: bytes) -> tuple[str, str, str]:
    """The text of a file, a note on how it was read (or ""), and why it is no text (or "")."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = data.decode(encoding, errors="replace")
            return text, _damage(text), ""
    if kind := _not_text(data):
        return "", "", f"The file is {kind}. Questions are read from CSV, JSON Lines and JSON files."
    if guessed := _utf16(data[:4096]):
        return data.decode(guessed, errors="replace"), "Read as UTF-16 without a byte order mark.", ""
    try:
        return data.decode("utf-8"), "", ""
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
    damaged = text.count("\ufffd")
    if len(text.encode("utf-8")) - len(text) > 8 * damaged:
        return text, _damage(text), ""
    return data.decode("cp1252", errors="replace"), "Read as Windows-1252, as it is not UTF-8.", ""


def _damage(text: str) -> str:
    damaged = text.count("\ufffd")
    return f"{damaged:,} damaged characters were replaced." if damaged else ""


def _not_text(data: bytes) -> str:
    """What a file is that is no text, or "". UTF-16 without a mark is half zeros and no binary file."""
    for signature, kind in _KINDS:
        if data.startswith(signature):
            return kind
    sample = data[:65536]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return "no text file" if controls > max(16, len(sample) * 0.02) and not _utf16(data[:4096]) else ""


def _utf16(sample: bytes) -> str:
    """The byte order of text whose every other byte is mostly zero, or ""."""
    even, odd = sample[0::2], sample[1::2]
    if not odd:
        return ""
    zeros_even, zeros_odd = even.count(0) / len(even), odd.count(0) / len(odd)
    if zeros_odd > 0.4 and zeros_even < 0.05:
        return "utf-16-le"
    return "utf-16-be" if zeros_even > 0.4 and zeros_odd < 0.05 else ""


def csv_table(text: str) -> Table:
    """Rows of a CSV file below its head, numbered as a spreadsheet numbers them."""
    text = text.lstrip("\ufeff")
    told = _SEP_LINE.match(text)
    body = text[told.end() :] if told else text
    records = _records(body, told[1] if told else _separator(body), 2 if told else 1)
    before: list[RowProblem] = []
    for number, record in records:
        if isinstance(record, str):
            before.append(RowProblem(number, "", record))
        elif any(map(str.strip, record)):
            head = _told_apart([cell.strip() for cell in record[:MOST_COLUMNS]])
            return Table(chain(before, _below(head, records)), tuple(head), number)
    return Table(iter(before))


def _told_apart(head: Sequence[str]) -> list[str]:
    """Column names, those that come again numbered: a second "answer" is another answer."""
    seen: Counter[str] = Counter()
    named = []
    for name in head:
        seen[name.casefold()] += 1
        named.append(f"{name} {seen[name.casefold()]}" if name and seen[name.casefold()] > 1 else name)
    return named


def _below(head: Sequence[str], records: Iterator[tuple[int, list[str] | str]]) -> Rows:
    """The rows below a head; those without anything in them are left out."""
    for number, record in records:
        if isinstance(record, str):
            yield RowProblem(number, "", record)
            continue
        cells = enumerate(record[: len(head) + MOST_COLUMNS])
        filled = [(place, cell) for place, cell in cells if cell and not cell.isspace()]
        if filled:
            values = {head[place]: cell for place, cell in filled if place < len(head)}
            yield Row(number, values, cells=True, surplus=sum(place >= len(head) for place, _ in filled))


def _separator(text: str) -> str:
    """The separator that cuts the first line that holds anything into most columns; a comma where none does."""
    line = next((line for line in io.StringIO(text[:65536], newline="") if line.strip()), "")
    return max(_SEPARATORS, key=lambda mark: (line.count(mark), -_SEPARATORS.index(mark)))


def _records(text: str, separator: str, first: int) -> Iterator[tuple[int, list[str] | str]]:
    """Records with their numbers, or in place of one what is wrong with it."""
    lines = list(islice(io.StringIO(text, newline=""), LAST_ROW))
    number, line = first, 0
    for _ in range(MOST_MISREAD):
        reader = csv.reader(chain(islice(lines, line, None), (_END,)), delimiter=separator)
        began = 0
        for record in _lenient(reader):
            if record == [_END.rstrip("\n")]:
                return
            if not isinstance(record, str) and _END in "".join(record[-1:]):
                break
            yield number, record
            began, number = reader.line_num, number + 1
        yield number, "A quotation mark is opened in this row and never closed."
        line, number = line + began + 1, number + 1
    yield number, "The rest of the file was not read: too many quotation marks are not closed."


def _lenient(reader: Iterator[list[str]]) -> Iterator[list[str] | str]:
    """What a CSV reader gives, and for a row that it refuses the reason."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield f"The row cannot be read: {error}."
