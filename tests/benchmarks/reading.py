"""How PDFs are read: pages a second, text against another converter's, headings and tables against lists made by eye.

`python -m tests.benchmarks.reading [--halves tune report] [--missed]`. One JSON object for each of: `speed` (the files
of shared/data/filings one after the other, as a library reads them: one process reads, this one assembles and cuts);
`text` (shared/data/documents/expected: twice the longest common subsequence of the letters, figures and signs over both
lengths, tables, running titles and marks of Markdown apart); for each half `sections` (headings of the pages listed in
questions/pages/headings.json: `minor` ones may be found and need not be) and `tables` (cells of
questions/pages/tables.json that stand in the line of their row's label and, across, under the others of their column).
Only the half "tune" may be looked at in choosing anything; `--missed` prints what is missed in it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from statistics import median

from rag_core.chunking import chunk_document
from rag_core.domain import Line, Page, ParsedDocument
from rag_core.embedding.source import find_source
from rag_core.embedding.tokens import TokenCounter
from rag_core.errors import EncryptedDocument
from rag_core.reading import Reader
from rag_core.reading.sections import bare_words
from rag_core.settings import Settings
from tests.benchmarks.measure import SHARED, emit
from tests.benchmarks.retrieval_sets import DATA, QUESTIONS

_PASSWORD = "1234"  # of one of the shared documents
_RUN = 8
_CELLS = 2  # more are a table's row
_SAME = 0.85  # likeness of two headings that are the same
_MARKUP = re.compile(r"<!--.*?-->|^\s*\|.*\|\s*$|^#+ |^- |[*_`]{1,2}|&amp;|^\d+\. ", re.MULTILINE)


@cache
def kept(reader: Reader, path: Path) -> ParsedDocument:
    """A document that is read once."""
    return read(reader, path)


def read(reader: Reader, path: Path) -> ParsedDocument:
    """A document, with the password that one of them has."""
    try:
        return reader.read(path, path.name)
    except EncryptedDocument:
        return reader.read(path, path.name, password=_PASSWORD)


def speed(reader: Reader, settings: Settings) -> Mapping[str, object]:
    """Pages a second of the filings, to documents and to chunks."""
    counter = TokenCounter(find_source(settings.embedding.model))
    paths = sorted((DATA / "filings").glob("*.pdf"))
    read(reader, paths[0])  # the process and its libraries are there
    pages = chunks = 0
    reading_s = cutting_s = 0.0
    for path in paths:
        began = time.perf_counter()
        parsed = read(reader, path)
        reading_s += time.perf_counter() - began
        began = time.perf_counter()
        chunks += len(chunk_document("0" * 32, parsed, settings.chunking, counter.count))
        cutting_s += time.perf_counter() - began
        pages += len(parsed.pages)
    return {
        "pages": pages, "chunks": chunks, "reading_processes": 1,
        "pages_per_s": round(pages / reading_s, 1), "to_chunks_pages_per_s": round(pages / (reading_s + cutting_s), 1),
    }  # fmt: skip


def letters(text: str) -> str:
    """What is compared of a text: no blanks, joined words, one form of each letter and sign."""
    plain = unicodedata.normalize("NFKC", text.replace("\u00ad", "").replace("-", ""))
    plain = plain.translate({ord(mark): '"' for mark in "“”‘’'`"} | {ord(mark): None for mark in "–—•◦∗⁄/"})
    return "".join(mark for mark in plain if not mark.isspace() and unicodedata.category(mark)[0] != "C")


def likeness(one: str, other: str) -> float:
    """Twice the longest common subsequence over both lengths, 0 to 1 (bit-parallel, Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << place
    full = (1 << len(one)) - 1
    row = full
    for letter in other:
        found = row & places.get(letter, 0)
        row = (row + found | row - found) & full
    return 2 * (len(one) - row.bit_count()) / max(len(one) + len(other), 1)


def shared(one: str, other: str) -> float:
    """The share of runs of eight letters that two texts have in common, in whatever order, 0 to 1."""
    runs, others = (Counter(text[at : at + _RUN] for at in range(len(text) - _RUN + 1)) for text in (one, other))
    return 2 * (runs & others).total() / max(runs.total() + others.total(), 1)


def texts(reader: Reader) -> dict[str, object]:
    """Likeness of each document's text, tables apart, to what is expected: in its order, and in whatever order (that
    text leaves footnotes between columns, where the reader has them after the page's text)."""
    found: dict[str, object] = {}
    for path in sorted((DATA / "documents" / "pdf").glob("*.pdf")):
        expected = DATA / "documents" / "expected" / f"{path.stem}.md"
        if expected.is_file():
            text = "\n".join(_prose(page) for page in read(reader, path).pages)
            wanted = letters(_MARKUP.sub("", expected.read_text(encoding="utf-8")))
            had = letters(text)
            found[path.stem] = {"in_order": round(likeness(had, wanted), 3), "any_order": round(shared(had, wanted), 3)}
    return found


def _prose(page: Page) -> str:
    start, end = page.body or (0, len(page.text))
    kept = (line for line in page.lines if start <= line.start < end and len(line.cells) <= _CELLS)
    return "\n".join(page.text[line.start : line.end] for line in kept)


def headings(parsed: ParsedDocument, gold: Mapping) -> tuple[int, list[str], list[str]]:
    """How many headings are found, those that are missed, and those found that are none."""
    missed, wrong, right = [], [], 0
    for page in gold["pages"]:
        found = [section.title for section in parsed.sections if section.page == page]
        for title in (title for number, title in gold["headings"] if number == page):
            same = next((item for item in found if _same(item, title)), None)
            if same is None:
                missed.append(f"{page} {title}")
            else:
                right += 1
                found.remove(same)
        minor = [title for number, title in gold["minor"] if number == page]
        wrong += [f"{page} {item}" for item in found if not any(_same(item, title) for title in minor)]
    return right, missed, wrong


def _same(one: str, other: str) -> bool:
    return SequenceMatcher(None, bare_words(one), bare_words(other), autojunk=False).ratio() >= _SAME


def cells(page: Page, rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, bool]]:
    """The figures of a table's rows, and whether each is right in row and column."""
    places = [_row(page, row) for row in _in_order(page, rows)]
    columns: dict[int, list[float]] = {}
    for found in places:
        for column, cell in found.items():
            columns.setdefault(column, []).append((cell.box.left + cell.box.right) / 2)
    middles = {column: median(where) for column, where in columns.items()}
    for row, found in zip(rows, places, strict=True):
        for column, text in enumerate(row[1:], start=1):
            if text:
                yield f"{row[0]}: {text}", column in found and _under(found[column], column, middles)


def _under(cell: Line, column: int, middles: Mapping[int, float]) -> bool:
    nearest = min(middles, key=lambda other: abs(middles[other] - (cell.box.left + cell.box.right) / 2))
    return nearest == column


def _in_order(page: Page, rows: Sequence[Sequence[str]]) -> Iterator[tuple[Sequence[str], Line | None]]:
    """Each row with the line that it most likely is: of those with its label the one with most of its figures."""
    used: set[int] = set()
    for row in rows:
        scores = {
            place: sum(_plain(cell) in _texts(page, line) for cell in row[1:] if cell)
            for place, line in enumerate(page.lines)
            if place not in used and line.cells and _labelled(page, line, row)
        }
        best = max(scores, key=lambda place: scores[place], default=None)
        used |= {best} if best is not None else set()
        yield row, page.lines[best] if best is not None else None


def _labelled(page: Page, line: Line, row: Sequence[str]) -> bool:
    text = bare_words(page.text[line.start : line.end])
    before = page.text[max(line.start - 200, 0) : line.start].rstrip().rpartition("\n")[2]
    return not row[0] or text.startswith(bare_words(row[0])) or bare_words(before).endswith(bare_words(row[0]))


def _texts(page: Page, line: Line) -> list[str]:
    return [_plain(page.text[cell.start : cell.end]) for cell in line.cells]


def _row(page: Page, placed: tuple[Sequence[str], Line | None]) -> dict[int, Line]:
    """Which cell of a line is in which column of its row: from left to right, each once."""
    row, line = placed
    found: dict[int, Line] = {}
    rest = list(line.cells) if line else []
    for column, text in enumerate(row[1:], start=1):
        same = (at for at, cell in enumerate(rest) if _plain(page.text[cell.start : cell.end]) == _plain(text))
        at = next(same, None)
        if text and at is not None:
            found[column] = rest[at]
            del rest[: at + 1]
    return found


def _plain(text: str) -> str:
    return "".join(text.split()).lstrip("$").strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halves", nargs="+", default=["tune", "report"], choices=["tune", "report"])
    parser.add_argument("--missed", action="store_true", help="print what is missed in the half tune")
    options = parser.parse_args()
    if not SHARED.is_dir():
        emit(benchmark="reading", skipped=f"{SHARED} is not there")
        return
    settings = Settings(_env_file=None)
    with Reader(settings.reading) as reader:
        emit(benchmark="reading", of="speed", **speed(reader, settings))
        emit(benchmark="reading", of="text", **texts(reader))
        for half in options.halves:
            show = options.missed and half == "tune"
            emit(benchmark="reading", of="sections", half=half, **_sections(reader, half, show))
            emit(benchmark="reading", of="tables", half=half, **_tables(reader, half, show))


def _gold(name: str, half: str) -> list[Mapping]:
    rows = json.loads((QUESTIONS / "pages" / f"{name}.json").read_text(encoding="utf-8"))
    return [row for row in rows if row["half"] == half]


def _sections(reader: Reader, half: str, show: bool) -> Mapping[str, object]:
    right = missing = extra = 0
    by_file = {}
    for gold in _gold("headings", half):
        found, missed, wrong = headings(kept(reader, DATA / gold["file"]), gold)
        right, missing, extra = right + found, missing + len(missed), extra + len(wrong)
        by_file[Path(gold["file"]).stem] = _f1(found, len(missed), len(wrong))
        if show:
            signed = [*(f"- {item}" for item in missed), *(f"+ {item}" for item in wrong)]
            sys.stderr.write("\n".join([gold["file"], *signed, ""]))
    return {"headings": right + missing, "f1": _f1(right, missing, extra), "by_file": by_file}


def _f1(right: int, missing: int, extra: int) -> float:
    return round(2 * right / max(2 * right + missing + extra, 1), 3)


def _tables(reader: Reader, half: str, show: bool) -> Mapping[str, object]:
    found = []
    for gold in _gold("tables", half):
        page = kept(reader, DATA / gold["file"]).pages[gold["page"] - 1]
        marks = list(cells(page, gold["rows"]))
        found += [right for _, right in marks]
        if show:
            sys.stderr.write("".join(f"{gold['file']} {gold['page']} {name}\n" for name, right in marks if not right))
    return {"tables": len(_gold("tables", half)), "cells": len(found), "right": round(sum(found) / len(found), 3)}


if __name__ == "__main__":
    main()
