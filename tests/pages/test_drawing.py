"""What components are given to draw: answers, passages, rows, words."""

from __future__ import annotations

import re
import textwrap
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pages.parts import (
    adding,
    chat_stream,
    chat_widget,
    components,
    document_table,
    formatting,
    markdown,
    page_text,
    passage,
    question_line,
    samples,
)
from pages.parts.running_answers import RunningAnswer
from rag_core.domain import COURTESY, Chunk, HiddenText, Job, Message, Page, Progress, Section, Sentence, Trace
from rag_core.errors import EncryptedDocument, ModelUnavailable
from rag_core.text.invisible import visible
from tests.conftest import PROJECT
from tests.pages.conftest import NOW, TEXT, FakeLibrary, a_document, an_answer


def text_of(blocks: list[markdown.Block]) -> list[str]:
    return ["".join(run.get("text", f"<{run.get('cite', '?')}>") for run in block["runs"]) for block in blocks]


def test_a_growing_answer_shows_its_marks() -> None:
    assert text_of(markdown.blocks("Steel [1] and stone [2, 3].")) == ["Steel<1> and stone<2><3>."]


def test_a_whole_answer_has_each_number_once_behind_its_sentence() -> None:
    sentences = (Sentence("Steel holds.", (1,)), Sentence("Stone too.", (2, 3)))
    assert text_of(markdown.blocks("Steel holds. [1] Stone too. [2][3]", sentences)) == [
        "Steel holds.<1> Stone too.<2><3>"
    ]


def test_growing_and_whole_have_the_same_paragraphs() -> None:
    text = "# Bridges\nOf steel.\n\n- One\n- Two\n\n1. First"
    sentences = (Sentence("Of steel."), Sentence("One"), Sentence("Two"), Sentence("First"))
    growing, whole = markdown.blocks(text), markdown.blocks(text, sentences)
    assert [(block["kind"], block["label"]) for block in growing] == [
        ("h", ""), ("p", ""), ("li", "•"), ("li", "•"), ("li", "1."),
    ]  # fmt: skip
    assert text_of(growing) == text_of(whole)


def test_sentences_that_are_not_in_the_text_word_for_word_are_drawn_themselves() -> None:
    assert text_of(markdown.blocks("Something else", (Sentence("Steel.", (1,)), Sentence("Stone.")))) == [
        "Steel.<1> Stone."
    ]


def test_a_list_stays_a_list_when_it_is_whole() -> None:
    text = "It is refunded [1].\n\n- Dogs go in **first class** [2].\n- Cats do not."
    sentences = (Sentence("It is refunded.", (1,)), Sentence("Dogs go in first class.", (2,)), Sentence("Cats do not."))
    assert text_of(markdown.blocks(text, sentences)) == [
        "It is refunded.<1>",
        "Dogs go in first class.<2>",
        "Cats do not.",
    ]
    assert [block["kind"] for block in markdown.blocks(text)] == [
        block["kind"] for block in markdown.blocks(text, sentences)
    ]


def test_a_table_has_its_cells_and_their_numbers() -> None:
    text = "Two ships:\n| | Cars |\n|---|:-:|\n| Halcyon | 34 [1] |\n| Tern | 10 [2] |\n\nNo more."
    sentences = (Sentence("Halcyon 34", (1,)), Sentence("Tern 10", (2,)), Sentence("No more.", (), False))
    for answer in (markdown.blocks(text, sentences), markdown.blocks(text)):
        assert [block["kind"] for block in answer] == ["p", "table", "p"]
        rows = [
            ["".join(run.get("text", f"<{run.get('cite')}>") for run in cell) for cell in row]
            for row in answer[1]["rows"]
        ]
        assert rows == [[" ", "Cars"], ["Halcyon", "34<1>"], ["Tern", "10<2>"]]


def test_an_unsupported_sentence_is_marked() -> None:
    (block,) = markdown.blocks("Steel. Gold.", (Sentence("Steel.", (1,)), Sentence("Gold.", (), supported=False)))
    assert [run for run in block["runs"] if run.get("doubt")] == [{"text": "Gold.", "style": "", "doubt": True}]
    assert block["runs"][-1] == {"end_of_doubt": True}


def test_a_sentence_that_ends_within_a_style_keeps_its_number() -> None:
    (block,) = markdown.blocks("Made of **steel.**", (Sentence("Made of **steel.**", (1,)),))
    assert [run["cite"] for run in block["runs"] if "cite" in run] == [1]
    assert {"text": "steel.", "style": "strong", "doubt": False} in block["runs"]


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_nothing_gives_no_blocks(text: str) -> None:
    assert markdown.blocks(text) == []


def test_markup_of_documents_stays_text() -> None:
    hostile = "![x](x.png) <img src=x> :material/home: $x$ [y](javascript:alert(1))"
    assert text_of(markdown.blocks(hostile)) == [hostile]
    assert text_of(markdown.blocks(hostile, (Sentence(hostile, (1,)),))) == [f"{hostile}<1>"]
    hostile += " http://evil.example"
    label = formatting.plain(hostile)
    assert "\\!\\[x\\]\\(" in label
    assert "\\<img" in label
    assert ":material" not in label
    assert "http://" not in label


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('See [the bank](https://bank.evil.example/a(b)?q=1 "t").', "See the bank{bank.evil.example}."),
        ("![chart](http://evil.example/?q=secret)", "chart{image at evil.example, not loaded}"),
        ("At https://plain.example/x.", "At https://plain.example/x."),
        ("At https://bank.example@evil.example/x", "At https://bank.example@evil.example/x{evil.example}"),
        ("[b](https://b\u0430nk.example)", "b{xn--bnk-6cd.example}"),
        ("[b](http://[)", "b{an odd address}"),
        ("At http://[x, *so* a*b*c.", "At http://[x,{an odd address} *so* a*b*c."),
        ("[a](/b) ![c](d.png) [e](mailto:f@g) <b>&amp;", "[a](/b) ![c](d.png) [e](mailto:f@g) <b>&amp;"),
        ("[h]: http://h.example/ [h]", "[h]: http://h.example/ [h]"),
    ],
    ids=["link", "image", "address", "user in front", "look-alike", "odd", "odder", "nowhere", "definition"],
)
def test_links_are_text_and_show_their_host(text: str, shown: str) -> None:
    for sentences in ((), (Sentence(text, ()),)):
        (block,) = markdown.blocks(text, sentences)
        drawn = "".join(run.get("text", f"{{{run.get('host')}}}") for run in block["runs"])
        assert drawn == shown


def test_what_nobody_sees_is_not_in_a_label() -> None:
    assert formatting.plain("ig\u200bnore \u202eabc") == "ignore abc"


def test_a_passage_that_instructs_is_marked_on_its_citation(library: FakeLibrary) -> None:
    library.held = [a_document()]
    (citation,) = an_answer().citations
    suspect = replace(citation, instructs=True)
    (source,) = chat_widget.whole("Why?", an_answer(citations=(suspect,)))["sources"]
    assert "reads like an instruction" in source["warning"]
    assert "reads like an instruction" in passage.cited(library, suspect)["warning"]  # type: ignore[arg-type]
    assert not passage.cited(library, citation)["warning"]  # type: ignore[arg-type]


def test_an_answer_says_how_sure_it_is_and_what_was_left_out() -> None:
    trace = Trace(notes=("pgvector answered.",), left_out=2, confidence={"supported": 0.75, "most": 0.6})
    data = chat_widget.whole("Why?", an_answer(trace=trace, confidence=0.6), active=1)
    (sure,) = data["facts"]
    assert sure["words"] == "Fair confidence"
    assert "was not measured" in sure["meaning"]
    first, supported, most = sure["lines"]
    assert first == "0.60 of 1"
    assert supported.startswith("0.75 of the sentences")
    assert most.startswith("0.60 at most")
    assert len(data["notes"]) == 2
    assert data["sources"] == [
        {
            "number": 1,
            "title": "Bridges",
            "page": "p. ii",
            "warning": "",
            "quote": "Bridges are made of steel.",
            "copy": "“Bridges are made of steel.” [Bridges, Steel, p. ii]",
            "place": ["bridges.txt", 2, "0-26"],
        }
    ]
    assert data["active"] == 1


@pytest.mark.parametrize(("confidence", "said"), [(0.99, "About 9 in 10"), (0.42, "About 4 in"), (0.01, "About 1 in")])
def test_a_fitted_confidence_is_told_as_how_often_it_is_right(confidence: float, said: str) -> None:
    answer = an_answer(trace=Trace(confidence={"right": confidence}), confidence=confidence)
    assert chat_widget.whole("Why?", answer)["facts"][0]["meaning"].startswith(said)


def test_what_was_understood_is_shown_where_it_is_another_thing() -> None:
    put_right = Trace(query="Of what are bridges made?", restated=True)
    assert chat_widget.whole("Of wat?", an_answer(trace=put_right))["understood"] == "Of what are bridges made?"
    assert chat_widget.whole("Why?", an_answer(trace=Trace(query="Why?")))["understood"] == ""


def test_a_perhaps_is_a_sentence_with_its_source_between_quiet_lines() -> None:
    refused, near, doubt = "Not found in these documents.", "Perhaps: It is steel.", "Not sure: it does not say “2021”."
    said = (Sentence(refused), Sentence(near, (1,)), Sentence(doubt))
    answer = an_answer(text=f"{refused}\n\n{near} [1]\n\n{doubt}", sentences=said, abstained=True)
    data = chat_widget.whole("Why?", answer)
    assert (data["state"], data["facts"]) == ("perhaps", []), "its confidence is no answer's"
    assert [(block["kind"], block["label"]) for block in data["blocks"]] == [
        ("why", ""), ("perhaps", "Perhaps"), ("why", ""),
    ]  # fmt: skip
    assert data["blocks"][1]["runs"] == [{"text": "It is steel.", "style": "", "doubt": False}, {"cite": 1}]
    assert [source["title"] for source in data["sources"]] == ["Bridges"]


def test_what_is_not_found_has_no_sources() -> None:
    data = chat_widget.whole("Why?", an_answer(abstained=True, citations=(), sentences=()))
    assert (data["state"], data["facts"], data["sources"]) == ("abstained", [], [])


def test_stages_give_way_to_text() -> None:
    asking = RunningAnswer("a", "c", "Why?", None)
    assert chat_widget.growing(asking)["stage"] == "Looking through your documents"
    assert chat_widget.growing(replace(asking, stopping=True))["stage"] == "Stopping"
    assert chat_widget.growing(replace(asking, text="So"))["stage"] == ""
    failed = chat_widget.growing(replace(asking, error=ModelUnavailable("No key.", help="Enter one.")))
    assert failed["error"] == {"message": "No key.", "help": "Enter one."}


def test_messages_without_an_answer_say_so() -> None:
    assert chat_widget.kept(Message("m", "Why?", NOW, error="No key."), None)["error"]["message"] == "No key."
    assert chat_widget.kept(Message("m", "Why?", NOW), None)["state"] == "failed"


def test_a_whole_answer_can_be_marked() -> None:
    drawn = chat_widget.kept(Message("m", "Why?", NOW, answer=an_answer(), rating=-1), None)
    assert (drawn["rateable"], drawn["rating"]) == (True, -1)
    stopped = chat_widget.kept(Message("m", "Why?", NOW, answer=an_answer(stopped=True)), None)
    assert (stopped["rateable"], stopped["rating"]) == (False, None)
    greeted = chat_widget.kept(Message("m", "Hello", NOW, answer=an_answer(model=COURTESY)), None)
    assert (greeted["rateable"], greeted["facts"]) == (False, [])
    assert not chat_widget.kept(Message("m", "Why?", NOW, error="No key."), None)["rateable"]
    assert not chat_widget.whole("Why?", an_answer())["rateable"]


def test_a_failure_that_was_asked_again_is_not_shown_twice() -> None:
    failed, done = Message("1", "Why?", NOW, error="x"), Message("2", "Why?", NOW, answer=an_answer())
    other = Message("3", "And?", NOW)
    assert chat_stream.settled([failed, done], None) == [done]
    assert chat_stream.settled([done, other], RunningAnswer("a", "c", "And?", None)) == [done]
    assert chat_stream.settled([failed, other], None) == [failed, other]


def test_what_a_question_replaces_is_not_shown_while_it_is_answered() -> None:
    done, next_one = Message("2", "Why?", NOW, answer=an_answer()), Message("3", "How?", NOW, answer=an_answer())
    edited = RunningAnswer("a", "c", "When?", None, replaces="3")
    assert chat_stream.settled([done, next_one], edited) == [done]
    assert chat_stream.settled([done, next_one], replace(edited, replaces="2")) == []
    refused = replace(edited, error=ModelUnavailable("No key."))
    assert chat_stream.settled([done, next_one], refused) == [done, next_one], "nothing took its place"


def test_a_citation_opens_its_page_with_its_span_and_the_chunk_around_it(library: FakeLibrary) -> None:
    library.held = [a_document("bridges.txt", media_type="application/pdf")]
    library.cut = [Chunk("bridges.txt", 0, 2, 0, len(TEXT), TEXT, "")]
    (citation,) = an_answer().citations
    data = passage.cited(library, citation, [1, 2])  # type: ignore[arg-type]
    assert (data["page"], data["cited"], data["near"], data["drawn"]) == (2, (0, 26), (0, len(TEXT)), True)
    assert (data["number"], data["numbers"]) == (1, [1, 2])
    assert [fact["words"] for fact in data["facts"]] == ["Steel"], "figures are not on the first layer"
    assert data["score"].startswith("cosine 0.71: ")
    library.cut = [Chunk("bridges.txt", 0, 3, 0, len(TEXT), TEXT, "")]
    assert passage.cited(library, citation)["near"] is None, "cut otherwise since"  # type: ignore[arg-type]


def test_a_text_has_its_marks_the_narrower_over_the_wider() -> None:
    marks = ((0, 49, "near"), (0, 7, "cited"), (20, 25, "hit"))
    (block,) = page_text.blocks(Page(1, TEXT), (), marks)
    assert block["parts"] == [
        ("Bridges", "", "cited"), (" are made of ", "", "near"), ("steel", "", "hit"),
        (". Some are made of stone", "", "near"), (".", "", ""),
    ]  # fmt: skip


def test_a_page_of_text_is_drawn_block_by_block() -> None:
    table = "Fare\tFare\nLine\tAdult\nNorth\nMarn\t8"
    page = Page(1, f"<b>Fares\n\n{table}\n\nFare\tFare\nHalm\t9", hidden=(HiddenText(0, 3, "white"),))
    halm = page.text.index("9")
    heading, drawn = page_text.blocks(page, (Section("<b>Fares", 2, 1),), [(halm, halm + 1, "cited")])
    assert heading == {"kind": "heading", "level": 2, "parts": [("<b>", "white", ""), ("Fares", "", "")]}
    rows = [(row["head"], [(cell["span"], cell["parts"][0][0]) for cell in row["cells"]]) for row in drawn["rows"]]
    assert rows == [
        (True, [(2, "Fare")]), (True, [(1, "Line"), (1, "Adult")]), (True, [(2, "North")]),
        (False, [(1, "Marn"), (1, "8")]), (False, [(1, "Halm"), (1, "9")]),
    ]  # fmt: skip
    assert drawn["rows"][-1]["cells"][1]["parts"] == [("9", "", "cited")]
    (heading,) = page_text.blocks(Page(1, "## Bridges"), (Section("Bridges", 2, 1),), [(0, 7, "now")])
    assert heading["parts"] == [("Bridges", "", "now")], "as the outline marks it"
    again = page.text.rindex("Fare\tFare")
    drawn = page_text.blocks(page, (), [(again, halm + 1, "cited")])[1]
    said_again = drawn["rows"][4]
    assert said_again["head"] and said_again["cells"][0]["parts"] == [("Fare", "", "cited")]
    around = page_text.blocks(page, (), [(0, len(page.text), "near")])[1]
    assert len(around["rows"]) == len(rows), "not what only stands around"


WRAPPED = """The committee met on the fourth of March in the village hall of Lower
Hatherby. All were there, and nobody spoke against the well-
known plan.

- The old pear trees along the mill brook will be felled before the end
  of the month.

Roses are red,
violets are blue."""


def test_lines_that_only_a_width_ended_are_joined_and_what_is_marked_stays_so() -> None:
    def drawn(text: str) -> list[dict[str, Any]]:
        span = (text.find("Lower"), text.find(" All"))
        return page_text.blocks(Page(1, text), (), [(*span, "cited")] if span[0] >= 0 else ())

    def shown(block: dict[str, Any], *, marked: bool = False) -> str:
        return visible("".join(part for part, _, on in block["parts"] if on or not marked))

    first, item, verse = drawn(WRAPPED)
    assert shown(first) == (
        "The committee met on the fourth of March in the village hall of Lower Hatherby. All were there, and nobody"
        " spoke against the well-\nknown plan."
    )
    assert shown(first, marked=True) == "Lower Hatherby."
    assert shown(item).endswith("felled before the end of the month.")
    assert shown(verse) == shown(drawn(shown(verse))[0]) == "Roses are red,\nviolets are blue."


def test_a_passage_outlives_its_document(library: FakeLibrary) -> None:
    (citation,) = an_answer().citations
    data = passage.cited(library, citation)  # type: ignore[arg-type]
    assert "no longer in the library" in data["problem"]["message"]
    assert (data["title"], data["quote"], data["quote_open"]) == ("Bridges", "Bridges are made of steel.", True)


def test_rows_of_the_table() -> None:
    row = document_table.row(a_document(state="failed", error="It is damaged.", help="Save it anew.", page_count=0))
    assert (row["state"], row["problem"], row["openable"], row["retryable"], row["pages"]) == (
        "Failed", "It is damaged.", False, True, "",
    )  # fmt: skip
    row = document_table.row(a_document(state="failed", help=EncryptedDocument.default_help, page_count=0))
    assert (row["state"], row["locked"], row["help"], row["retryable"]) == ("Locked", True, "", False)


def test_progress_in_words() -> None:
    job = Job("1", "add", "a.pdf", state="running", progress=Progress("reading", 12, 82))
    assert adding.measure(job)[1] == "reading page 12 of 82"
    assert adding.measure(replace(job, progress=Progress("reading", 0, 82)))[1] == "opening"
    assert adding.measure(replace(job, progress=Progress("embedding", 120, 338)))[1] == "indexing 120 of 338"
    begun = replace(job, mark=(time.monotonic() - 6, 0))
    assert adding.measure(begun)[1] == "reading page 12 of 82, about 35 s left"
    assert adding.measure(replace(begun, progress=Progress("embedding", 60, 60)))[1] == "indexing 60 of 60"
    stages = [
        adding.measure(replace(job, progress=Progress(stage, 1, 1)))[0] for stage in ("waiting", "reading", "storing")
    ]
    assert stages == sorted(stages)


def test_the_samples_questions_are_those_of_documents_that_are_there() -> None:
    (question, *_) = samples.questions()
    own = a_document(question.gold[0].document)
    assert question in samples.questions_of([own])
    assert samples.questions_of([a_document()]) == []


def test_what_is_to_come_in_words() -> None:
    assert question_line.coming_words(12, 1) == "12 documents can be searched, 1 more is coming in"
    assert question_line.coming_words(0, 2800) == "No document can be searched yet, 2,800 are coming in"


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 B"), (999, "999 B"), (4_400, "4.4 KB"), (27_000, "27 KB"), (1_300_000, "1.3 MB")]
)
def test_sizes(number: int, said: str) -> None:
    assert formatting.size(number) == said


def test_days() -> None:
    now = datetime(2026, 11, 20, 18, 0, tzinfo=UTC)
    assert formatting.day(now, now).startswith("today ")
    assert formatting.day(datetime(2026, 3, 1, 12, tzinfo=UTC), now) == "1 Mar"
    assert formatting.day(datetime(2025, 3, 1, 12, tzinfo=UTC), now) == "1 Mar 2025"
    assert formatting.day(None) == ""


def test_shortening_cuts_at_a_word() -> None:
    assert formatting.shorten("a bridge of steel and stone", 18) == "a bridge of steel…"
    assert formatting.shorten("short", 18) == "short"
    assert len(formatting.shorten("x" * 100, 18)) == 18


def test_source_code_is_drawn_as_it_stands() -> None:
    (code,) = page_text.blocks(Page(1, "def f():\n\n    return 1\n"), (), [(4, 5, "cited")], is_code=True)
    assert code["kind"] == "fixed"
    assert [part[0] for part in code["parts"]] == ["def ", "f", "():\n\n    return 1\n"]


def test_every_component_has_its_script_and_its_sheet() -> None:
    sources = "".join(path.read_text("utf-8") for path in (PROJECT / "pages").rglob("*.py"))
    named = set(re.findall(r'component\("(\w+)"', sources))
    scripts = {path.stem for path in components.FOLDER.glob("*.js")} - {"common"}
    there = {stem for stem in scripts if stem.partition("_")[0] == stem or stem.partition("_")[0] not in scripts}
    assert named == there == {path.stem for path in components.FOLDER.glob("*.css")} - {"common"}


def test_a_paragraph_that_was_set_in_lines_is_one_line_of_the_text_as_read() -> None:
    rows = [
        "Crews and watches", "A watch lasts six hours on the Halcyon and", "eight on the Tern. Nobody works more than",
        "twelve hours.", "The engineer begins one hour before the", "others and ends one hour after they do.", "4",
    ]  # fmt: skip
    text = "\n".join(rows)
    page = Page(1, text, body=(0, text.rindex("\n")))
    read = [text[start:end].split("\n") for start, end in page_text.lines(page, (Section(rows[0], 1, 1),))]
    assert read == [rows[:1], rows[1:4], rows[4:6], rows[6:]]
    verse = "Wind, be still,\nthe boats are out\nupon the sill\nof night and doubt."
    assert [verse[slice(*span)] for span in page_text.lines(Page(1, verse), ())] == verse.split("\n")


def test_a_few_wider_lines_do_not_keep_a_long_text_from_being_set_anew() -> None:
    typed = "\n\n".join(
        textwrap.fill(f"{number} It is a truth that is known to all of us here. " * 5, 70) for number in range(40)
    )
    wider = "One line of this text is a little wider than all of the others, by some\ncharacters."
    drawn = page_text.blocks(Page(1, f"{typed}\n\n{wider}"), ())
    assert all("\n" not in part[0] for block in drawn[:-1] for part in block["parts"])
    ragged = "A line that somebody set by hand has room for one more word; as\nthis has, and nobody minds"
    (said,) = page_text.blocks(Page(1, f"{typed}\n\n{ragged}"), ())[-1]["parts"]
    assert said[0] == ragged.replace("\n", " ")
    verse = "\n".join(
        [
            "The sea was wet as wet could be,",
            "The sands were dry as dry, and all of it lay there",
            "You could not see a cloud because of the night",
        ]
        * 8
    )
    (block,) = page_text.blocks(Page(1, verse), ())
    assert block["parts"][0][0].count("\n") > 10
