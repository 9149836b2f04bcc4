"""Files of questions: whatever they hold, what can be used is taken and the rest is told."""

from __future__ import annotations

import json
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.domain import Gold, ImportReport, Question
from rag_core.evaluation.files import importing
from rag_core.evaluation.files.importing import (
    HELP_TEXT,
    MAX_BYTES,
    MAX_PROBLEMS,
    MAX_QUESTIONS,
    MAX_ROWS,
    read_questions,
)


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
        "Note,PAGE,Source,Ground Truth,Query,Passage,ID,Answerable\n"
        'old,3,log.pdf,Ada Holm || Holm,Who keeps the light?,"Ada Holm, left",w1,Yes\n'
    )
    assert only(report) == WHOLE
    assert (report.rows, report.notes) == (1, ())


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_separators_and_encodings(separator: str, encoding: str) -> None:
    rows = [["question", "answer", "document"], ["Wo läuft der Fluß?", "Süd “Ost”", "a.md"], ["Why?", "So", "b.md"]]
    report = read("\r\n".join(separator.join(row) for row in rows), encoding=encoding)
    assert [question.text for question in report.questions] == ["Wo läuft der Fluß?", "Why?"]
    assert report.questions[0].references == ("Süd “Ost”",)
    assert not report.problems
    assert bool(report.notes) == (encoding in ("cp1252", "utf-16-le", "utf-16-be"))


def test_the_separator_that_a_spreadsheet_names_is_believed_and_counted_as_a_row() -> None:
    report = read("sep=;\r\nquestion;page;document\r\nWhat, now?;x;a.pdf\r\nAnd then?;2;a.pdf\r\n")
    assert told(report) == [(3, "page", False)]
    assert report.questions[0].gold == (Gold("a.pdf", 2),)


def test_json_lines_a_list_and_an_object_that_holds_one_give_the_same() -> None:
    item = {
        "id": "w1", "question": "Who keeps the light?", "answer": ["Ada Holm", "Holm"], "note": "old",
        "gold": [{"document": "log.pdf", "page": 3, "excerpt": "Ada Holm, left"}], "origin": "unheard of",
    }  # fmt: skip
    for text in (json.dumps(item), json.dumps([item], indent=2), json.dumps({"questions": [item]}, indent=2)):
        assert only(read(text, "set.json")) == WHOLE
        assert only(read(f"\ufeff\n{text}\n", "set.csv")) == WHOLE


def test_places_may_be_a_list_a_name_or_columns() -> None:
    flat = {"question": "Where?", "document": "a", "page": "4", "document_2": "b", "excerpt 2": "here"}
    assert only(read(json.dumps(flat), "x.jsonl")).gold == (Gold("a", 4), Gold("b", None, "here"))
    listed = {"question": "Where?", "gold": ["a", {"source": "b", "page": 2.0}, {"file": "c", "passages": ["x", "y"]}]}
    assert only(read(json.dumps(listed), "x.jsonl")).gold == (
        Gold("a"), Gold("b", 2), Gold("c", None, "x"), Gold("c", None, "y"),
    )  # fmt: skip
    assert only(read(json.dumps({"question": "Where?", "gold": {"document": "a"}}), "x.jsonl")).gold == (Gold("a"),)


def test_squads_form_gives_the_sentence_that_answers() -> None:
    context = "The tower is old. It was built in 1887 by Ada Holm. Nobody lives there."
    qas = [
        {"id": "a", "question": "When was it built?", "answers": [{"text": "1887", "answer_start": 35}] * 2},
        {"id": "b", "question": "Who lives there?", "answers": [], "is_impossible": True},
        {"id": "c", "question": ["no"], "answers": []},
    ]
    report = read(
        json.dumps({"data": [{"title": "Tower", "paragraphs": [{"context": context, "qas": qas}]}]}), "s.json"
    )
    first, second = report.questions
    assert (first.references, first.gold) == (("1887",), (Gold("Tower", None, "It was built in 1887 by Ada Holm."),))
    assert not second.answerable
    assert told(report) == [(3, "question", False)]


def test_squad_as_tables_hold_it() -> None:
    row = {"title": "Tower", "context": "Built in 1887.", "question": "When?", "answers": {"text": ["1887", "in 1887"]}}
    assert only(read(json.dumps(row), "x.jsonl")).references == ("1887", "in 1887")


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
        ({"question": "???"}, "question"),
        ({"question": ["a"]}, "question"),
        ({"question": {"text": "a"}}, "question"),
        ({"question": "a" * 4001}, "question"),
        ({"question": float("nan")}, "question"),
        ({"question": "Who?", "answer": {"a": 1}}, "answer"),
        ({"question": "Who?", "answer": [["x"]]}, "answer"),
        ({"question": "Who?", "answer": True}, "answer"),
        ({"question": "Who?", "answer": "a" * 20_001}, "answer"),
        ({"question": "Who?", "answerable": "perhaps"}, "answerable"),
        ({"question": "Who?", "answerable": [1]}, "answerable"),
        ({"question": "Who?", "id": "i" * 201}, "id"),
        ({"question": "Who?", "id": {}}, "id"),
        ({"question": "Who?", "gold": [[1]]}, "document"),
        *(
            ({"question": "Who?", "document": "a", "page": page}, "page")
            for page in ("abc", 0, -1, "-1", "iv", 1.5, True, [1], {}, float("nan"), float("inf"), 10**30, "1" * 4000)
        ),
    ],
)
def test_a_row_with_a_fault_is_told_and_the_rest_is_taken(row: dict[str, object], column: str) -> None:
    report = read('{"question": "First?"}\n' + json.dumps(row) + '\n\n{"question": "Last?"}', "x.jsonl")
    assert [question.text for question in report.questions] == ["First?", "Last?"]
    (problem,) = report.problems
    assert (problem.row, problem.column, problem.kept) == (2, column, False)
    assert len(problem.message) < 200
    assert report.rows == 3


def test_harmless_faults_are_told_and_the_row_is_taken() -> None:
    report = read("question,page,document\nWho\x00 is it?,,,x,y\nWhy?,3,\n")
    assert [question.text for question in report.questions] == ["Who is it?", "Why?"]
    assert told(report) == [(2, "", True), (2, "question", True), (3, "document", True)]
    report = read('{"question": "Who \\ud800is\\u0000 it?", "answerable": false, "answer": "x"}', "x.jsonl")
    assert report.questions[0].text == "Who is it?"
    assert told(report) == [(1, "question", True), (1, "answerable", True)]


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
        (b"\x00" * 100, "empty|no text"),
        (b"question,answer\n", "no questions below"),
        (b"answer,page\nx,1\n", "No column is called"),
        (b"What is this?\nAnd that?\n", "No column is called"),
        (b"PK\x03\x04rest of a workbook", "save it as CSV"),
        (b"%PDF-1.7 ...", "PDF"),
        (random.Random(1).randbytes(4000), "no text file"),
        (b"[", "not closed"),
        (b"[]", "no questions"),
        (b"{", "not valid JSON"),
        (b"[1, 2", "no object"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b'{"question": ' + b"1" * 5000 + b"}", "too long"),
        (b'{"data": 5}', "no question"),
        (b'{"data": []}', "no questions"),
        (b'{"data": [{"paragraphs": [{"qas": [7]}, 5, {"context": 3, "qas": 2}]}]}', "no questions"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_files_without_a_question(data: bytes, message: str) -> None:
    report = read_questions("set.json", data)
    assert not report.questions
    assert any(part in report.problems[0].message for part in message.split("|"))


def test_too_large_a_file_is_not_read() -> None:
    report = read_questions("set.csv", b"x" * (MAX_BYTES + 1))
    assert "at most 32" in report.problems[0].message


def test_a_quotation_mark_that_nothing_closes_costs_its_row_alone() -> None:
    report = read('question,answer\nOne?,1\n"Two?,2\nThree?,3\nFour?,"4\nFive?,5\n')
    # The mark of the third row closes at the fifth's: that may be meant, so it is taken and told.
    assert [question.text for question in report.questions] == ["One?", "Two?,2 Three?,3 Four?,4", "Five?"]
    assert told(report) == [(3, "question", True)]
    report = read('question,answer\nOne?,1\n"Two?,2\nThree?,3\nFour?,4\n')
    assert [question.text for question in report.questions] == ["One?", "Three?", "Four?"]
    assert told(report) == [(3, "", False)]
    report = read("question,answer\n" + '"Two?,2\n' * 99)
    assert not report.questions or told(report)


def test_a_field_without_end_is_told_and_the_reading_goes_on() -> None:
    report = read('question\n"' + "a\n" * 70_000 + '"\nLast?\n')
    assert "Last?" in [question.text for question in report.questions]
    assert any("field" in problem.message for problem in report.problems)


def test_a_list_is_read_up_to_its_fault() -> None:
    report = read(
        '[{"question": "One?"},\n {"question": "Two?"}\n {"question": oops}, {"question": "Four?"}]', "x.json"
    )
    assert [question.text for question in report.questions] == ["One?", "Two?"]
    assert told(report) == [(3, "", False)]


def test_a_million_rows_end_soon_at_the_limit() -> None:
    begin = time.perf_counter()
    good = read("question\n" + "".join(f"Question {number}?\n" for number in range(1_000_000)))
    bad = read("id,question\n" + "x,\n" * 1_000_000)
    blank = read("question\n" + "\n" * 5_000_000 + "Last?\n")
    lines = read("nonsense\n" * 10 + "{}\n" * 1_000_000, "x.jsonl")
    objects = read("{}\n" * 1_000_000, "x.jsonl")
    listed = read("[" + ",".join(f'{{"question": "{number} a?"}}' for number in range(900_000)) + "]", "x.json")
    assert time.perf_counter() - begin < 60
    assert len(good.questions) == len(listed.questions) == MAX_QUESTIONS
    assert any("10,000" in note for note in good.notes)
    for report in (bad, objects):
        assert (report.rows, len(report.problems)) == (MAX_ROWS, MAX_PROBLEMS)
        assert f"{MAX_ROWS - MAX_PROBLEMS:,} more problems are not listed." in report.notes
    assert blank.problems
    assert lines.problems


def test_columns_that_mean_nothing_are_named_once() -> None:
    report = read("question,colour,Pages read,\nWhy?,red,2,x\n")
    assert report.notes == ("Not used: colour, Pages read.",)
    assert len(report.questions) == 1
    many = read("question," + ",".join(f"c{number}" for number in range(5000)) + "\nWhy?\n")
    assert many.notes[0] == "At most 1,000 columns of a file are read."
    assert many.notes[1].endswith("and 987 more.")


def test_a_column_that_comes_twice_is_another_answer_or_place() -> None:
    report = read("question,answer,Answer,document,page,document,page,question\nWhy?,x,y,a,1,b,2,Who?\n")
    (question,) = report.questions
    assert (question.text, question.references) == ("Why?", ("x", "y"))
    assert question.gold == (Gold("a", 1), Gold("b", 2))
    assert report.notes == ("Not used: question 2.",)


def test_objects_over_several_lines() -> None:
    report = read('{\n "question": "One?"\n}\n{\n "question": "Two?"\n}\n{\n "question": oops }\n', "x.jsonl")
    assert [question.text for question in report.questions] == ["One?", "Two?"]
    assert told(report) == [(7, "", False)]


def test_more_answers_and_places_than_are_taken() -> None:
    row = {"question": "Why?", "answer": [str(number) for number in range(500)], "gold": ["a", "b"] * 200}
    report = read(json.dumps(row), "x.jsonl")
    assert len(report.questions[0].references) == 100
    assert report.questions[0].gold == (Gold("a"), Gold("b"))
    assert told(report) == [(1, "answer", True), (1, "document", True)]


@pytest.mark.parametrize(
    "data",
    [
        b"," * 4_000_000,
        b'"' * 4_000_000,
        b"[" + b"," * 4_000_000,
        b"question\n" + b'"x","y\n' * 500_000,
        b"question," + b",".join(b"c%d" % number for number in range(400_000)),
        b'{"question": "a?",' + b",".join(b'"k%d":1' % number for number in range(300_000)) + b"}",
        b'{"question": "a?", "gold": [' + b'"d",' * 900_000 + b'"e"]}',
        b'{"question": "' + b"\\ud800" * 600_000 + b'"}',
        b"\xff\xfe" + b"\xff" * 4_000_000,
    ],
    ids=lambda data: repr(data[:24]),
)
def test_large_files_of_strange_forms_end_soon(data: bytes) -> None:
    begin = time.perf_counter()
    report = read_questions("x.csv", data)
    assert time.perf_counter() - begin < 15
    assert report.questions or report.problems


def test_the_help_names_every_column() -> None:
    assert all(f"| {name} |" in HELP_TEXT for name in ("question", "answer", "document", "page", "excerpt", "id"))
    assert importing.column_of("ground_truth") == ("answer", 1)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["a.csv", "a.jsonl", "a.json", "", "a"]))
def test_no_bytes_raise(data: bytes, name: str) -> None:
    for prefix in (b"", b"question,page,document\n", b'{"question": "a?"}\n', b"[", b'"', b"\xff\xfe", b"sep=;\n"):
        report = read_questions(name, prefix + data)
        assert report.questions or report.problems


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "page", "document"]), inner),
    max_leaves=6,
)
_keys = st.sampled_from([
    "id", "question", "answer", "answers", "document", "page", "excerpt", "gold", "answerable", "note", "origin",
    "data", "paragraphs", "is_impossible", "contexts", "page_2", "x",
])  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.dictionaries(_keys, _json, max_size=5), max_size=4))
def test_no_json_raises(rows: list[dict[str, object]]) -> None:
    for text in (json.dumps(rows), "\n".join(map(json.dumps, rows)), json.dumps({"data": rows})):
        report = read(text, "x.json")
        assert report.questions or report.problems
