"""How texts stand in the cells of a CSV file: formulas defused, several answers in one cell.

A spreadsheet runs a cell that begins with = + - or @ as a formula (OWASP, "CSV Injection"). Such a text gets an
apostrophe in front when it is written and loses it when it is read, so that a question set comes back as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

SEPARATOR = " || "
"""Stands between the answers of one cell."""

# Full-width forms count as the plain ones in East Asian spreadsheets.
_FORMULA = re.compile(r"'*\s*[=+\-@\t\r\n＝＋－＠]")


def defused(text: str) -> str:
    """A text as a cell that no spreadsheet takes for a formula; `original` turns it back."""
    return f"'{text}" if _FORMULA.match(text) else text


def original(cell: str) -> str:
    """The text of a cell that `defused` wrote; any other cell as it is."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def joined(answers: Sequence[str]) -> str:
    """Answers as one cell: parted by two bars, or as a JSON list where bars alone could be misread."""
    plain = all(answer and answer == answer.strip() and "||" not in answer for answer in answers)
    if plain and not (answers and answers[0].startswith("[")):
        return SEPARATOR.join(answers)
    return json.dumps(list(answers), ensure_ascii=False)


def parted(cell: str) -> list[Any]:
    """What a cell holds several of: a JSON list of texts or objects, or texts parted by two bars."""
    if cell.startswith("["):
        try:
            found = json.loads(cell)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list) and all(isinstance(item, str | dict) for item in found):
            return found
    return [part.strip() for part in cell.split("||")]
