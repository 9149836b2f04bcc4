"""The report: one file that opens by itself, with everything in it and nothing that acts."""

from __future__ import annotations

import html.parser
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rag_core.domain import (
    Configuration,
    Difference,
    Drawing,
    Estimate,
    Found,
    Gold,
    Question,
    Result,
    Run,
    Sentence,
)
from rag_core.evaluation.measuring.metrics import METRIC
from rag_core.evaluation.reporting.report import MAX_QUESTIONS, as_html

EVIL = "<script>alert(1)</script><img src=x onerror=y>\"'&]]>"
SPEC = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "data": {"values": [{"a": EVIL, "b": 1}, {"a": "B", "b": 2}]},
    "mark": {"type": "bar", "clip": True},
    "encoding": {"x": {"field": "a", "type": "nominal"}, "y": {"field": "b", "type": "quantitative"}},
    "config": {"axis": {"labelColor": "#7b7f85"}, "background": "transparent"},
}


def a_run(name: str = "as it is", **changes: object) -> Run:
    run = Run(
        id=f"run {name}", group="g", set_id="s", set_name="Set", configuration=Configuration(name, {"retrieval.k": 5}),
        answers=True, state="done", done=1, total=1, seed=3, created_at=datetime(2025, 3, 1, 12, tzinfo=UTC),
        judge="tiny", settings={"retrieval": {"k": 5, "mode": "exact"}}, versions={"numpy": "2.4.6"},
        library={"documents": 3}, metrics={"mrr": Estimate(0.5, 0.25, 0.75, 8), "search_ms": Estimate(1200.5, 1, 2, 8)},
        notes=("One question failed.",),
    )  # fmt: skip
    return replace(run, **changes)  # type: ignore[arg-type]


def a_result(number: int = 0, **changes: object) -> Result:
    question = Question(f"q{number}", f"What is {number}?", ("Four.",), (Gold("a.pdf", 3, "It is four."),))
    found = Found(1, "d", "A title", 3, "iii", 0, 5, "It is four.", 0.5, True, (0,))
    sentences = (Sentence("It is four.", (1,)), Sentence("It is five.", (), False))
    values = {"found": (found,), "answer": "It is four.", "sentences": sentences, "metrics": {"correct": 1.0}}
    return replace(Result(question), **{**values, "confidence": 0.25, **changes})  # type: ignore[arg-type]


def a_difference(sentence: str, significant: bool) -> Difference:
    return Difference(METRIC["mrr"], 0.1, 0.2, 0.1, 0, 0.2, 0.5, 0.5, 9, significant, sentence)


def text_of(runs: list[tuple[Run, list[Result]]], drawings: tuple[Drawing, ...] = ()) -> str:
    return as_html(runs, (), drawings).decode()


class Watcher(html.parser.HTMLParser):
    """Notes every tag, every attribute that could act or load, and tags that were not closed."""

    VOID = frozenset({"meta", "br", "img", "link", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.acting: list[tuple[str, str | None]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.acting += [
            (name, value)
            for name, value in attrs
            if name.startswith("on") or (name in ("src", "href", "xlink:href", "action") and not value.startswith("#"))
        ]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def watch(text: str) -> Watcher:
    watcher = Watcher()
    watcher.feed(text)
    watcher.close()
    assert watcher.open == []
    return watcher


@pytest.fixture(scope="module")
def whole() -> str:
    drawings = tuple(Drawing(key, "Bars", "How long they are.", SPEC, ("a", "b"), ((EVIL, 1.5),)) for key in "ab")
    differences = (a_difference("No difference beyond chance.", False), a_difference("B is better.", True))
    runs = [(a_run(), [a_result(0), a_result(1)]), (a_run("B"), [a_result(0, answer="", sentences=())])]
    return as_html(runs, differences, drawings).decode()


def test_the_report_has_everything(whole: str) -> None:
    assert "<title>Evaluation: Set</title>" in whole
    assert "2 runs, 2 questions, 1 March 2025" in whole
    assert "50.0 % (25.0 % to 75.0 %; 8)" in whole
    assert "1,200.5 ms" in whole
    assert METRIC["mrr"].label in whole
    assert whole.index("B is better.") < whole.index("No difference beyond chance.")
    assert all(part in whole for part in ("retrieval.mode", "exact", "numpy", "2.4.6", "Library: documents", "tiny"))
    assert "One question failed." in whole
    assert whole.count("<svg") == 2
    assert all(part in whole for part in ("What is 1?", "Four.", "A title, page iii", "It is four. [1]", "25%"))
    assert '<span class="unsupported"' in whole


def test_nothing_acts_and_nothing_is_loaded(whole: str) -> None:
    assert re.search(r"http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'", whole)
    seen = watch(whole)
    assert not seen.tags & {"script", "link", "img", "iframe", "object", "image", "foreignobject", "a"}
    assert seen.acting == []
    assert "@import" not in whole
    assert "url(http" not in whole


def test_what_comes_from_elsewhere_is_escaped() -> None:
    question = Question(EVIL, EVIL, (EVIL,), (Gold(EVIL, 1, EVIL),), note=EVIL)
    found = Found(1, EVIL, EVIL, 1, EVIL, 0, 1, EVIL, 0.1)
    result = Result(question, (found,), EVIL, (Sentence(EVIL, (1,), False),), error=EVIL, notes=(EVIL,))
    run = a_run(
        EVIL, set_name=EVIL, judge=EVIL, settings={EVIL: EVIL}, versions={EVIL: EVIL}, library={EVIL: [EVIL]},
        notes=(EVIL,), error=EVIL, state="failed", metrics={EVIL: Estimate(1, 1, 1, 1)},
    )  # fmt: skip
    drawing = Drawing(EVIL, EVIL, EVIL, SPEC, (EVIL,), ((EVIL,),))
    text = as_html([(run, [result])], (a_difference(EVIL, True),), (drawing,)).decode()
    seen = watch(text)
    assert not seen.tags & {"script", "img"}
    assert seen.acting == []
    assert text.count("<script") == 0


def test_ids_within_charts_differ(whole: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', whole)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]+)\)", whole)) <= set(ids)


def test_a_chart_takes_the_colour_of_the_page(whole: str) -> None:
    svg = whole[whole.index("<svg") : whole.index("</svg>")]
    assert "currentColor" in svg
    assert "#7b7f85" not in svg


def test_a_chart_that_cannot_be_drawn_leaves_its_numbers() -> None:
    text = text_of([], (Drawing("x", "T", "C", {"mark": 5}, ("a",), (("kept",),)),))
    assert "could not be drawn" in text
    assert "kept" in text


def test_nothing_is_fetched_for_a_chart() -> None:
    spec = {**SPEC, "data": {"url": "http://127.0.0.1:9/never.json"}}
    text = text_of([], (Drawing("x", "T", "C", spec, ("a",), (("kept",),)),))
    assert "kept" in text
    assert "never.json" not in text


def test_runs_of_one_name_are_told_apart() -> None:
    columns = re.findall(r'<th scope="col">([^<]*as it is[^<]*)</th>', text_of([(a_run(), []), (a_run(), [])]))
    assert len(set(columns)) == 2


def test_a_report_of_nothing_opens() -> None:
    watch(text_of([]))
    watch(text_of([(a_run(metrics={}, state="cancelled"), [])]))


def test_the_size_is_bounded() -> None:
    found = tuple(Found(n, "d", "t" * 500, 1, "", 0, 1, "x<y " * 2000, 0.1) for n in range(1, 21))
    sentences = tuple(Sentence("s" * 3000) for _ in range(60))
    results = [a_result(n, found=found, sentences=sentences[:2]) for n in range(MAX_QUESTIONS + 100)]
    text = text_of([(a_run(str(n)), results) for n in range(6)])
    assert len(text) < 25_000_000
    assert "100 more questions" in text
    assert "and 15 more" in text


def test_lone_surrogates_do_no_harm() -> None:
    assert "What ? is it" in text_of([(a_run(), [replace(a_result(), question=Question("q", "What \ud800 is it"))])])
