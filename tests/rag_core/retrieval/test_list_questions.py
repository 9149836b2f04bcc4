"""Tables of contents and lists of references, told from what they list."""

from __future__ import annotations

import pytest

from rag_core.domain import Scope
from rag_core.retrieval.list_questions import left_out, lists_contents
from rag_core.retrieval.query import Query

CONTENTS = "Contents\n1 The line and its ships\t1\n2 Crews and watches\t2\n3 Timetable and fares\t3"
LEADERS = (
    ". . . . . . . 9\n2.1.6 Changes . . . . . . . . . 10\n2.2 Duties . . . . . . . . . . . xi\nA . . . . . . . . 12"
)
TABLE = "Fares\nAdult\t12\nChild\t6\nBicycle\t3\nDog\t0"
PROSE = "Contents of a first-aid box\nIt holds plasters.\nBandages are in the second drawer.\nOpen it with a key."


@pytest.mark.parametrize(("text", "is_one"), [(CONTENTS, True), (LEADERS, True), (TABLE, False), (PROSE, False)])
def test_contents_are_told_by_their_name_or_their_dots(text: str, is_one: bool) -> None:
    assert lists_contents("", text) is is_one
    assert lists_contents("Contents", text) is (is_one or text == TABLE)


@pytest.mark.timeout(10)
def test_a_paragraph_in_one_long_line_is_no_longer_work_than_its_length() -> None:
    assert not lists_contents("Contents", "The ferry sails. " * 20_000)


def asked(question: str, scope: Scope | None = None) -> Query:
    return Query.of(question, None, scope or Scope(), None)


def test_who_asks_for_them_has_them() -> None:
    assert left_out(asked("What ships are there?"), "", CONTENTS)
    assert not left_out(asked("What chapters does the handbook have?"), "", CONTENTS)
    assert not left_out(asked("What ships are there?", Scope(sections=("Contents",))), "Contents", CONTENTS)
    assert left_out(asked("Who found it?"), "References", "References\n[1] A. Author. A paper. 2019.")
    assert not left_out(asked("Which papers are cited?"), "References", "References\n[1] A. Author. A paper. 2019.")
