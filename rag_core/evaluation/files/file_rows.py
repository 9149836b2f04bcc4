"""The bytes of a file of questions to its rows, by the standard library's CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from rag_core.evaluation.files.cells import original
from rag_core.evaluation.files.row_questions import column_of, shown
from rag_core.text.sentences import split_sentences


class Row(NamedTuple):
    """One row: its number in the file, its values by column name, and why it cannot be read, if so."""

    number: int
    values: Mapping[str, object]
    fault: str = ""


class Unreadable(Exception):
    """Why no question can be read from a file."""


def decode(data: bytes) -> tuple[str, list[str]]:
    """The text of a file, and notes on how it was read. Raises Unreadable for what is no text."""
    notes: list[str] = []
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        text, notes = data.decode("cp1252", errors="replace"), ["Read as Windows-1252, as it is not UTF-8."]
    if not text.strip():
        raise Unreadable("The file is empty.")
    if "\x00" in text:
        raise Unreadable("The file is no text. Questions are read from CSV and JSON: save a spreadsheet as CSV first.")
    return text, notes


def rows_of(name: str, text: str) -> Iterator[Row]:
    """The rows of a file in their order; `name` is the file's own. Raises Unreadable."""
    if name.lower().endswith((".json", ".jsonl")) or text.lstrip()[:1] in ("{", "["):
        return _json_rows(text, lines=name.lower().endswith(".jsonl"))
    return _csv_rows(text)


def _csv_rows(text: str) -> Iterator[Row]:
    """Rows below the first, which names the columns, numbered as a spreadsheet numbers them."""
    first = re.search(r"\S.*", text)
    separator = max(",;\t|", key=first[0].count) if first else ","
    # Strict, so that a quotation mark that nothing closes is told and does not swallow the rest in silence.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    head: list[str] = []
    for number in count(1):
        begin = reader.line_num + 1
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            wrong = f"no row can be read: is a quotation mark missing, or not doubled? ({error})"
            yield Row(number, {}, f"From line {begin} to line {reader.line_num} {wrong}")
            continue
        if head and any(cells):
            surplus = "The row has more cells than there are columns: are quotation marks missing?"
            values = dict(zip(head, map(original, cells), strict=False))
            yield Row(number, values, surplus if any(cells[len(head) :]) else "")
        elif any(cells):
            head = _head(cells)


def _head(cells: list[str]) -> list[str]:
    """The columns' names. Raises Unreadable where none is the question's, and where two are the same."""
    if ("question", 1) not in map(column_of, cells):
        named = ", ".join(map(shown, filter(None, cells[:12])))
        raise Unreadable(f"No column is called “question”. The first row names the columns; it holds: {named}.")
    twice, times = Counter(name.casefold() for name in cells if name).most_common(1)[0]
    if times > 1:
        raise Unreadable(f"Two columns are called “{shown(twice)}”: call a second place “document_2”, “page_2” ...")
    return cells


def _json_rows(text: str, lines: bool) -> Iterator[Row]:
    """Rows of JSON Lines, numbered by line, or of a list, numbered by their place in it, counted from 1."""
    value, wrong = _loaded(text)
    if not wrong:
        found = [(number, item, "") for number, item in enumerate(_items(value), 1)]
    elif lines or "Extra data" in wrong:
        found = [(number, *_loaded(line)) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    else:
        raise Unreadable(wrong)
    for number, item, fault in found:
        values: dict[str, object] = item if isinstance(item, dict) else {}
        yield Row(number, values, fault or ("" if values else "This is no object with a question in it."))


def _loaded(text: str) -> tuple[Any, str]:
    """A value of JSON and what is wrong with it, or ""."""
    try:
        return json.loads(text), ""
    except RecursionError:
        return None, "This is nested too deeply."
    except ValueError as error:
        return None, f"This is not valid JSON: {str(error).replace('line 1 ', '')}."


def _items(value: object) -> Iterator[object]:
    """The members of a list or of an object's list, or the one value; articles of SQuAD's form are opened."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("data", "questions") if isinstance(value.get(key), list)), value)
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and "paragraphs" in item:
            yield from _squad(item)
        else:
            yield item


def _squad(article: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """Questions of an article in SQuAD's form (Rajpurkar et al. 2016), each with the sentence that answers it."""
    try:
        for paragraph in article["paragraphs"]:
            context = paragraph["context"]
            spans = split_sentences(context)
            for asked in paragraph["qas"]:
                answers = asked.get("answers", [])
                start = answers[0]["answer_start"] if answers else -1
                excerpt = next((context[span.start : span.end] for span in spans if span.start <= start < span.end), "")
                place = {"document": article.get("title"), "excerpt": excerpt} if excerpt else {}
                yield {**asked, "answers": [answer["text"] for answer in answers], **place}
    except (KeyError, TypeError, AttributeError) as error:
        raise Unreadable("An article is not in SQuAD's form.") from error
