"""The rows of a file of questions in JSON: JSON Lines, a list, an object that holds one, or SQuAD's form.

What cannot be read as a row is a RowProblem in its place; nothing here raises for what a file holds.
"""

from __future__ import annotations

import io
import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import islice

from rag_core.domain import RowProblem
from rag_core.evaluation.files.file_rows import LAST_ROW, Row, Rows
from rag_core.text.sentences import split_sentences

_LISTS = ("data", "questions", "items", "rows", "examples")


def object_rows(text: str) -> Rows:
    """Rows of a file that begins with an object: JSON Lines, or one object that holds a list."""
    first = next((line for line in text.lstrip("\ufeff").split("\n") if line.strip()), "")
    value, wrong = _loaded(first)
    if wrong and first.rstrip().endswith(("{", "[", ",")):
        value, wrong = _loaded(text.lstrip("\ufeff"))
        if wrong:
            return array_rows(text, 0)
    if wrong or not isinstance(value, dict) or _list_in(value) is None:
        return _line_rows(text)
    return _list_rows(_list_in(value) or [])


def _line_rows(text: str) -> Rows:
    """Rows of JSON Lines, numbered by line."""
    lines = io.StringIO(text.lstrip("\ufeff"), newline="\n")
    for number, line in enumerate(islice(lines, LAST_ROW), 1):
        if not line.isspace():
            value, wrong = _loaded(line)
            yield RowProblem(number, "", wrong) if wrong else _row(number, value)


def array_rows(text: str, place: int) -> Rows:
    """Rows of a JSON list from `place` on, or of objects one after the other where that is 0.

    They are numbered by the line on which each begins. What follows a fault cannot be read.
    """
    decoder = json.JSONDecoder()
    number, counted, listed = 1, 0, place > 0
    while True:
        while (mark := text[place : place + 1]) and (mark.isspace() or mark in ",\ufeff"):
            place += 1
        if mark == "]" or (not mark and not listed):
            return
        number, counted = number + text.count("\n", counted, place), place
        if not mark:
            yield RowProblem(number, "", "The list is not closed: the file seems to be cut off.", kept=True)
            return
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            yield RowProblem(number, "", f"{_reason(error)} The rest of the file was not read.")
            return
        if isinstance(value, dict) and "paragraphs" in value:
            yield from _list_rows([value])
        else:
            yield _row(number, value)


def _loaded(text: str) -> tuple[object, str]:
    """A value of JSON and what is wrong with it."""
    try:
        return json.loads(text), ""
    except (ValueError, RecursionError) as error:
        return None, _reason(error)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "This is nested too deeply."
    if isinstance(error, json.JSONDecodeError):
        return f"This is not valid JSON: {error.msg}."
    return "This is not valid JSON: a number is too long."


def _row(number: int, value: object) -> Row | RowProblem:
    if isinstance(value, dict):
        return Row(number, value)
    return RowProblem(number, "", "This is no object with a question in it.")


def _list_in(value: Mapping[str, object]) -> list[object] | None:
    """The list of questions that an object holds; None for an object that is a question itself."""
    if any(isinstance(value.get(key), str) for key in ("question", "query")):
        return None
    return next((found for key in _LISTS if isinstance(found := value.get(key), list)), None)


def _list_rows(items: list[object]) -> Rows:
    """Rows of a list, numbered by their place in it, counted from 1; articles of SQuAD's form are opened."""
    number = 0
    for item in items:
        if isinstance(item, dict) and isinstance(item.get("paragraphs"), list):
            for row in _squad_rows(item):
                number += 1
                yield Row(number, row)
        else:
            number += 1
            yield _row(number, item)


def _squad_rows(article: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Questions of one article in SQuAD's form (Rajpurkar et al. 2016), each with the sentence that answers it."""
    paragraphs = article.get("paragraphs")
    for paragraph in paragraphs if isinstance(paragraphs, list) else []:
        if not isinstance(paragraph, dict) or not isinstance(paragraph.get("qas"), list):
            continue
        context = paragraph.get("context")
        context = context if isinstance(context, str) else ""
        spans = split_sentences(context)
        starts = [span.start for span in spans]
        for item in paragraph["qas"]:
            if not isinstance(item, dict):
                continue
            answers = item.get("answers")
            start = _answer_start(answers)
            span = spans[bisect_right(starts, start) - 1] if 0 <= start < len(context) and spans else None
            excerpt = context[span.start : span.end] if span and span.start <= start < span.end else ""
            place = {"document": article.get("title"), "excerpt": excerpt} if excerpt else {}
            kept = {key: item[key] for key in ("id", "question", "is_impossible") if key in item}
            yield {**kept, "answers": answers, **place}


def _answer_start(answers: object) -> int:
    first = answers[0] if isinstance(answers, list) and answers else None
    start = first.get("answer_start") if isinstance(first, dict) else None
    return start if isinstance(start, int) else -1
