"""Files of questions: what can be used is taken, the rest is told with its row, and nothing raises."""

from __future__ import annotations

import json
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.domain import Gold, ImportReport, Question
from rag_core.evaluation.files.importing import HELP_TEXT, MAX_BYTES, MAX_ROWS, read_questions
from rag_core.evaluation.files.row_questions import COLUMNS, MAX_PROBLEMS


def read(text: str, name: str = "set.csv", encoding: str = "utf-8") -> ImportReport:
    return read_questions(name, text.encode(encoding))


def only(report: ImportReport) -> Question:
    (question,) = report.questions
    assert not report.problems
    return question


def told(report: ImportReport) -> list[tuple[int, str, bool]]:
    return [(problem.row, problem.column, problem.kept) for problem in report.problems]


WHOLE = Question(
    "w1", "Who keeps the light?", ("Ada Holm", "Holm"), (Gold("log.pdf", 3, "Ada Holm, left"),), True, "uploaded", "old"
)


def test_csv_with_every_column_in_any_order_and_case() -> None:
    report = read(
        "Note,PAGE,document,Answer,Question,Excerpt,ID,Answerable,gold,origin,\n"
        'old,3,log.pdf,Ada Holm || Holm,Who keeps the light?,"Ada Holm, left",w1,Yes,,,\n'
    )
    assert only(report) == WHOLE
    assert (report.rows, report.notes, report.lines) == (1, (), (2,))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_separators(separator: str, encoding: str) -> None:
    rows = [["question", "answer", "document"], ["Wo läuft der Fluß?", "Süd “Ost”", "a.md"], ["Why?", "So", "b.md"]]
    report = read("\r\n".join(separator.join(row) for row in rows), encoding=encoding)
    assert [question.text for question in report.questions] == ["Wo läuft der Fluß?", "Why?"]
    assert report.questions[0].references == ("Süd “Ost”",)
    assert not report.problems


def test_json_lines_and_a_list_give_the_same() -> None:
    item = {
        "id": "w1", "question": "Who keeps the light?", "answer": ["Ada Holm", "Holm"], "note": "old", "page": None,
        "gold": [{"document": "log.pdf", "page": 3, "excerpt": "Ada Holm, left"}], "origin": "uploaded", "document": "",
    }  # fmt: skip
    for text in (json.dumps(item), json.dumps([item], indent=2)):
        assert only(read(text, "set.json")) == WHOLE
        assert only(read(f"\ufeff\n{text}\n", "set.csv")) == WHOLE
    assert [one.text for one in read('{"question": "One?"}\n{"question": "Two?"}', "x.txt").questions] == [
        "One?", "Two?",
    ]  # fmt: skip


def test_several_places_stand_in_one_cell() -> None:
    places = '[{""document"": ""b"", ""excerpt"": ""here""}]'
    report = read(f'question,answer,document,page,gold\nWhere?,"[""x"", ""y""]",a,4,"{places}"\n')
    assert only(report).references == ("x", "y")
    assert only(report).gold == (Gold("b", None, "here"), Gold("a", 4))


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("query,ground_truth", "Not known, or there twice: query, ground_truth."),
        ("question,reference,document_2", "Not known, or there twice: reference, document_2."),
        ("question,answer,Answer", "Not known, or there twice: answer, Answer."),
        ("answer,page", "None is called “question”."),
    ],
)
def test_a_foreign_head_is_told_the_columns_that_there_are(head: str, said: str) -> None:
    report = read(f"{head}\nWhere?,x\n")
    (problem,) = report.problems
    assert (report.questions, problem.row) == ((), 0)
    assert said in problem.message
    assert all(name in problem.message for name in COLUMNS)


def test_ids_are_made_from_the_words_and_stay_the_same() -> None:
    first, again = (only(read(f"question\n{text}\n")) for text in ("Why is it so?", '"why  is\tit SO?"'))
    assert first.id == again.id
    assert first.id != only(read("question\nWhy is it not so?\n")).id


def test_numbers_count_as_text() -> None:
    question = only(read('{"id": 7, "question": "How many?", "answer": 12.5, "document": 3, "page": "2.0"}', "x.jsonl"))
    assert (question.id, question.references, question.gold) == ("7", ("12.5",), (Gold("3", 2),))


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ({"question": ""}, "question"),
        ({}, "question"),
        ({"question": "Who?", "source": "a"}, "source"),
        ({"question": "Who?", "origin": "elsewhere"}, "origin"),
        ({"question": "Who?", "page": 3}, "document"),
        ({"question": "Who?", "document": "\t"}, "document"),
        ({"question": "???"}, "question"),
        ({"question": ["a"]}, "question"),
        ({"question": "a" * 4001}, "question"),
        ({"question": "Who?", "answer": {"a": 1}}, "answer"),
        ({"question": "Who?", "answer": True}, "answer"),
        ({"question": "Who?", "answer": ["a"] * 101}, "answer"),
        ({"question": "Who?", "answerable": "perhaps"}, "answerable"),
        ({"question": "Who?", "id": "i" * 201}, "id"),
        ({"question": "Who?", "gold": [[1]]}, "gold"),
        *(
            ({"question": "Who?", "document": "a", "page": page}, "page")
            for page in ("abc", 0, "-1", "iv", 1.5, [1], {}, float("nan"), 10**30, "1" * 4000)
        ),
    ],
)
def test_a_row_with_a_fault_is_told_and_the_rest_is_taken(row: dict[str, object], column: str) -> None:
    report = read('{"question": "First?"}\n' + json.dumps(row) + '\n\n{"question": "Last?"}', "x.jsonl")
    assert [question.text for question in report.questions] == ["First?", "Last?"]
    (problem,) = report.problems
    assert (problem.row, problem.column, problem.kept) == (2, column, False)
    assert len(problem.message.encode("utf-8")) < 200
    assert report.rows == 3


def test_messages_say_what_is_wanted() -> None:
    report = read("question,page,document,answerable\nWho?,iv,a,\nWhy?,,,perhaps\n,,a,\nHow?,1,,\n")
    assert [problem.message for problem in report.problems] == [
        "There should be a page number from 1 here, not “iv”.",
        "There should be yes or no here, not “perhaps”.",
        "There is no question in this row.",
        "There is no document in this row.",
    ]


def test_controls_and_line_breaks_are_taken_out() -> None:
    assert only(read('{"question": "Who \\u0007is\\u0000 it?"}', "x.jsonl")).text == "Who is it?"
    assert only(read('question\n"And\nhow?"\n')).text == "And how?"


def test_the_same_id_twice_is_a_fault_of_the_second() -> None:
    report = read("id,question\na,First?\nb,Second?\na,Third?\n,First?\n,first?\n")
    assert [question.text for question in report.questions] == ["First?", "Second?", "First?"]
    assert told(report) == [(4, "id", False), (6, "id", False)]
    assert "row 2" in report.problems[0].message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf \r\n\n", "empty"),
        (b"question,answer\n", "no questions"),
        (b"%PDF-1.7 ...", "names the columns"),
        (b"PK\x03\x04rest\x00 of a workbook", "save a spreadsheet as"),
        ("question\nWo läuft der Fluß?".encode("cp1252"), "UTF-8"),
        ("question\nWho?".encode("utf-16"), "UTF-8"),
        (random.Random(1).randbytes(4000), "no text"),
        (b"[", "not valid JSON"),
        (b"[]", "no questions"),
        (b'[{"question": "One?"}\n {"question": "Two?"}]', "line 2"),
        (b"[1, 2]", "valid dictionary"),
        (b"[" * 200_000, "not valid JSON"),
        (b'{"question": ' + b"[" * 200_000 + b"}", "Invalid JSON"),
        (b'{"question": ' + b"1" * 5000 + b"}", "not “"),
        (b'{"question": "Who is \\ud800?"}', "Invalid JSON"),
        (b'{"data": []}', "no question"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_files_without_a_question(data: bytes, message: str) -> None:
    report = read_questions("set.json" if data[:1] in b"[{" else "set.csv", data)
    assert not report.questions
    assert message in report.problems[0].message


def test_too_large_a_file_is_not_read() -> None:
    report = read_questions("set.csv", b"x" * (MAX_BYTES + 1))
    assert "at most 32" in report.problems[0].message


@pytest.mark.parametrize("rest", ['Four?,"4', "Four?,4"])
def test_what_a_quotation_mark_swallows_is_told_with_its_lines(rest: str) -> None:
    report = read(f'question,answer\nOne?,1\n"Two?,2\nThree?,3\n{rest}\n')
    assert [question.text for question in report.questions] == ["One?"]
    assert told(report) == [(0, "", False)]
    assert "From row 3 on, up to line 5" in report.problems[0].message


def test_a_row_with_too_many_cells_is_left_out() -> None:
    report = read("question,answer\nWhat, now?,x\nWhy?,y\n")
    assert [question.text for question in report.questions] == ["Why?"]
    assert told(report) == [(2, "", False)]
    assert "quotation mark" in report.problems[0].message


@pytest.mark.slow
def test_large_files_end_soon_at_the_limit() -> None:
    begin = time.perf_counter()
    good = read("question\n" + "".join(f"Question {number}?\n" for number in range(1_000_000)))
    bad = read("id,question\n" + "x,\n" * 1_000_000)
    blank = read("question\n" + "\n" * 5_000_000 + "Last?\n")
    quoted = read("question\n" + '"x","y\n' * 500_000)
    wide = read('{"question": "a?",' + ",".join(f'"k{number}":1' for number in range(300_000)) + "}", "x.json")
    assert time.perf_counter() - begin < 60
    assert len(good.questions) == len(bad.problems) == MAX_ROWS
    assert "what follows was left out" in good.notes[0]
    assert len(blank.questions) == 1
    assert len(wide.problems) == MAX_PROBLEMS
    assert quoted.problems
    assert read("question," * 1_000_000).problems


def test_the_help_names_every_column() -> None:
    assert all(f"| {name} |" in HELP_TEXT for name in ("question", "answer", "document", "page", "excerpt", "id"))
    assert next(iter(COLUMNS)) == "question"


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["a.csv", "a.jsonl", "a.json", ""]))
def test_no_bytes_raise(data: bytes, name: str) -> None:
    for prefix in (b"", b"question,page,document\n", b'{"question": "a?"}\n', b"[", b'"', b"\xff\xfe"):
        report = read_questions(name, prefix + data)
        assert report.questions or report.problems


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "page", "document"]), inner),
    max_leaves=6,
)
_keys = st.sampled_from([
    "id", "question", "answer", "document", "page", "excerpt", "gold", "answerable", "note", "origin", "x",
])  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(st.dictionaries(_keys, _json, max_size=5), max_size=4))
def test_no_json_raises(rows: list[dict[str, object]]) -> None:
    for text in (json.dumps(rows), "\n".join(map(json.dumps, rows)), json.dumps({"data": rows})):
        report = read(text, "x.json")
        assert report.questions or report.problems
