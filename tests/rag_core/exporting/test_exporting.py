"""Conversations as files: what stands in them, and that nothing in them is loaded or hidden."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pypdf
import pytest

from rag_core.domain import Answer, Citation, Conversation, Document, DocumentCard, Message, Sentence
from rag_core.exporting import FORMS, Thread, answer_text, cite, export, fonts

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
HOSTILE = '![i](http://evil.example/i.png) <img src="http://evil.example/j.png"> [click](http://evil.example)'
STEEL = Citation(
    number=1, chunk_id="b:0", document_id="b", title="Bridges", page=2, page_label="ii", section="Steel & stone",
    text="Bridges are\nmade of steel.", start=0, end=26, boxes=(), score=0.7,
)  # fmt: skip
GONE = replace(STEEL, number=2, document_id="gone", title="A lost_book", section="", page_label="")
ANSWER = Answer(
    question="Of what?", text="Bridges are made of **steel**. [1][2]\n\nMany are red.",
    sentences=(Sentence("Bridges are made of **steel**.", (1, 2)), Sentence("Many are red.", (), supported=False)),
    citations=(STEEL, GONE), hits=(), confidence=0.8, abstained=False, model="extractive",
)  # fmt: skip
BRIDGES = Document(
    id="b", title="Bridges: 100 % {steel}", media_type="application/pdf", byte_size=1, state="ready",
    sources=("papers/bridges_2019.pdf",), authors="Åsa Dahl, Jo Berg and Ann Lee", year=2019,
    card=DocumentCard("Bridges", authors="Åsa Dahl, Jo Berg and Ann Lee", kind="paper", year=2019),
)  # fmt: skip


def a_thread(answer: Answer = ANSWER, question: str = "Of what?") -> Thread:
    messages = [Message("m1", question, NOW, answer, rating=-1, reason="half"), Message("m2", "And?", NOW, error="No.")]
    return Thread(Conversation("c", "Bridges & <roads>", NOW, NOW), messages, {"b": BRIDGES})


def pdf_text(thread: Thread) -> str:
    pages = pypdf.PdfReader(io.BytesIO(export(thread, "pdf"))).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def test_a_citation_names_title_section_and_page() -> None:
    assert cite(STEEL) == "[Bridges, Steel & stone, p. ii]"
    assert cite(GONE) == "[A lost_book, p. 2]"


def test_markdown_has_questions_answers_and_sources() -> None:
    text = export(a_thread(), "markdown").decode()
    assert text.startswith("# Bridges & \\<roads\\>\n")
    assert "\n## Of what?\n" in text
    assert "steel**. [Bridges, Steel & stone, p. ii] [A lost_book, p. 2]" in text
    assert "Many are red. (not found in the passages)" in text
    assert "- \\[Bridges, Steel & stone, p. ii\\]\n\n  > Bridges are made of steel." in text
    assert "*No.*" in text


def test_a_perhaps_is_said_with_its_citation_and_its_doubt() -> None:
    text = "Perhaps: Bridges are made of steel. [1]\n\nNot sure: it does not say “2021”."
    near = replace(ANSWER, text=text, sentences=(), citations=(STEEL,), abstained=True)
    said = "Perhaps: Bridges are made of steel. [Bridges, Steel & stone, p. ii]"
    assert answer_text(near) == f"{said}\n\nNot sure: it does not say “2021”."
    assert said in pdf_text(a_thread(near))
    answer = json.loads(export(a_thread(near), "json"))["messages"][0]["answer"]
    assert (answer["abstained"], answer["outcome"]) == (True, "perhaps")


def test_what_is_copied_has_its_citations_and_loads_nothing() -> None:
    copied = answer_text(replace(ANSWER, text=f"So\u200b \u202esaid. {HOSTILE} [1][9]", sentences=()))
    assert copied.startswith("So said. ")
    assert copied.endswith("[Bridges, Steel & stone, p. ii]"), "a number without a passage is left out"
    assert not re.search(r"(?<!\\)<img|(?<!\\)!\[|\]\(", copied)


def test_nothing_in_markdown_is_loaded_or_followed() -> None:
    quoted = replace(ANSWER, text=HOSTILE, sentences=(), citations=(replace(STEEL, text=HOSTILE, title=HOSTILE),))
    text = export(a_thread(quoted, question=HOSTILE), "markdown").decode()
    assert "evil" in text
    assert not re.search(r"(?<!\\)<img|(?<!\\)!\[|\]\(", text)


def test_json_has_all_that_is_kept() -> None:
    record = json.loads(export(a_thread(), "json"))
    first, second = record["messages"]
    assert (first["rating"], first["reason"], second["error"]) == (-1, "half", "No.")
    assert first["answer"]["citations"][0]["cite"] == "[Bridges, Steel & stone, p. ii]"
    assert first["answer"]["sentences"][1]["supported"] is False
    assert [(one["id"], one["removed"]) for one in record["documents"]] == [("b", False), ("gone", True)]


def test_bibtex_names_each_cited_document_once() -> None:
    first, second = export(a_thread(), "bibtex").decode().strip().split("\n\n")
    assert first.splitlines() == [
        "@article{dahl2019,",
        r"  title = {{Bridges: 100 \% \{steel\}}},",
        "  author = {Åsa Dahl and Jo Berg and Ann Lee},",
        "  year = {2019},",
        r"  howpublished = {bridges\_2019.pdf},",
        "}",
    ]
    assert second.startswith("@misc{lost,\n")
    assert r"{{A lost\_book}}" in second
    twice = Thread(a_thread().conversation, a_thread().messages, {"b": BRIDGES, "gone": replace(BRIDGES, id="gone")})
    assert re.findall(r"@article\{(.*),", export(twice, "bibtex").decode()) == ["dahl2019", "dahl2019-2"]


def test_pdf_has_the_whole_conversation() -> None:
    text = pdf_text(a_thread())
    assert "Bridges & <roads>" in text
    assert "made of steel. [Bridges, Steel & stone, p. ii]" in text
    assert "(not found in the passages)" in text
    assert "lack" not in text


def test_pdf_draws_a_table_with_its_head_on_each_page_and_keeps_a_table_too_wide_as_lines() -> None:
    rows = "\n".join(f"| {year} | **{year} boats** [1]" + (" |" if year % 2 else "") for year in range(1900, 1990))
    wide = f"|{' x |' * 40}"
    told = f"So it was:\n\n| Year | Boats |\n|:--|--:|\n{rows}\n\nAnd\n{wide}\n\n|x| is no table."
    text = pdf_text(a_thread(replace(ANSWER, text=told, sentences=())))
    assert text.count("Year Boats") > 1
    assert "1989 1989 boats [Bridges, Steel & stone, p. ii]" in text
    assert "| x | x |" in text
    assert "|x| is no table." in text
    assert text.count("|") == 43


def test_pdf_writes_other_scripts_where_there_is_a_font_and_else_counts_what_is_missing() -> None:
    if not fonts.installed():
        pytest.skip("no fonts are installed")
    known = {"Мост из стали": True, "Γέφυρα": True, "\U0001d173\U00012345": False}
    text = pdf_text(a_thread(replace(ANSWER, text=" ".join(known), sentences=())))
    assert [script in text for script in known] == list(known.values())
    assert "fonts lack 1 of the characters" in text


def test_without_any_font_a_pdf_is_written_in_latin_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "installed", lambda: ())
    text = pdf_text(a_thread(replace(ANSWER, text="Brücken aus Stahl: мост", sentences=())))
    assert "Brücken aus Stahl: ????" in text
    assert "fonts lack 4 of the characters" in text


def test_a_file_that_is_no_font_is_passed_over(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(b"\x00\x01\x00\x00 no font")
    assert fonts.characters(broken) == frozenset()


def test_every_form_takes_an_empty_conversation() -> None:
    empty = Thread(Conversation("c", "", NOW, NOW), [], {})
    assert all(isinstance(export(empty, form), bytes) for form in FORMS)
