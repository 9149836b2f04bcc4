"""Gold to places: names of documents, pages, and excerpts however they were copied."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rag_core.domain import Document, Gold, Page, Question
from rag_core.evaluation.gold.locating import Locator, Place, names_of

_LETTERS = re.compile(r"[^\W_]")


def document(document_id: str = "a" * 32, title: str = "Report", sources: Sequence[str] = ("report.pdf",)) -> Document:
    return Document(document_id, title, "text/plain", 1, "ready", sources=tuple(sources))


def locate(gold: Gold, *texts: str) -> tuple[list[Place], list[str]]:
    """Look for gold in one document called Report with these pages."""
    pages = [Page(number, text) for number, text in enumerate(texts, start=1)]
    return Locator([document()], lambda _: pages).places(Question("q", "Q?", gold=(gold,)))


def holds(text: str, excerpt: str) -> bool:
    """Whether a text is an excerpt, save for what one letter at either end has too many: "ﬁ" found for "i"."""
    more = len(letters(text)) - len(letters(excerpt))
    return letters(excerpt) in letters(text) and (more == 0 or (more <= 4 and not text.isascii()))


def found(excerpt: str, *texts: str, page: int | None = 1) -> list[tuple[int, str]]:
    """Page and text of each span of an excerpt; empty where it was not found."""
    places, problems = locate(Gold("Report", page, excerpt), *texts)
    assert len(places) + len(problems) == 1
    return [(span.page, texts[span.page - 1][span.start : span.end]) for place in places for span in place.spans]


def letters(text: str) -> str:
    """What counts of a text, worked out in another way."""
    plain = unicodedata.normalize("NFKD", "".join(_LETTERS.findall(text)).casefold())
    return "".join(filter(str.isalnum, plain))


@pytest.mark.parametrize(
    ("excerpt", "text", "span"),
    [
        ("made of steel", "It is made\nof steel.", "made\nof steel"),
        ("made of\n  steel", "It is made of steel.", "made of steel"),
        ("in the harbour", "It lay in the har-\nbour.", "in the har-\nbour"),
        ("har-\nbour", "It lay in the harbour.", "harbour"),
        ("harbour", "It lay in the har\u00adbour.", "har\u00adbour"),
        ("“it's” – new", "and \"it’s\" - new.", 'it’s" - new'),
        ("STEEL", "It is made of steel.", "steel"),
        ("4.20 euros", "It costs 4.20 euros.", "4.20 euros"),
        ("a_b", "x a_b y", "a_b"),
        ("这是一个测试", "这是 一个\n测试。", "这是 一个\n测试"),
        ("one two", "one \x00\ufffdtwo", "one \x00\ufffdtwo"),
        ("...steel!", "It is made of steel, then.", "steel"),
    ],
)  # fmt: skip
def test_what_stands_between_letters_makes_no_difference(excerpt: str, text: str, span: str) -> None:
    assert found(excerpt, text) == [(1, span)]


@pytest.mark.parametrize(
    ("excerpt", "text", "start"),
    [
        ("12", "In 2012 the firm had 12 ferries.", 21),
        ("art", "The smart man likes art.", 20),
        ("5", "Table 15: 5", 10),
    ],
)
def test_whole_words_go_before_parts_of_words(excerpt: str, text: str, start: int) -> None:
    places, _ = locate(Gold("Report", 1, excerpt), text)
    assert places[0].spans[0].start == start


def test_a_part_of_a_word_is_found_where_nothing_better_is() -> None:
    assert found("arbou", "in the harbour") == [(1, "arbou")]


@pytest.mark.parametrize(
    ("excerpt", "text"),
    [
        ("find the office", "We ﬁnd the oﬃce."),
        ("ﬁnd the oﬃce", "We find the office."),
        ("café noir", "Le cafe\u0301 noir."),
        ("cafe\u0301 noir", "Le café noir."),
        ("ΟΔΟΣΑΝ", "ΟΔΟΣ-\nΑΝ"),
        ("Straße", "DIE STRASSE"),
        ("x2", "x² + 1"),
    ],
)
def test_forms_of_the_same_letter_are_the_same(excerpt: str, text: str) -> None:
    (place,) = found(excerpt, text)
    assert place[0] == 1


def test_an_excerpt_that_stands_twice_is_the_first_one() -> None:
    places, _ = locate(Gold("Report", 1, "made of steel"), "It is made of steel. She is made of steel.")
    assert [(span.start, span.end) for span in places[0].spans] == [(6, 19)]


@pytest.mark.parametrize("page", [1, None])
def test_an_excerpt_may_go_on_over_a_page_end(page: int | None) -> None:
    texts = ("It is made of", "steel and of glass.")
    assert found("made of steel and", *texts, page=page) == [(1, "made of"), (2, "steel and")]


def test_an_excerpt_may_go_on_over_pages_without_a_text() -> None:
    texts = ("one two", " \n", "three four")
    assert found("two three", *texts, page=None) == [(1, "two"), (3, "three")]


def test_the_page_named_goes_before_the_others() -> None:
    assert found("steel", "steel", "of steel", page=2) == [(2, "steel")]
    assert found("steel", "glass", "steel", page=None) == [(2, "steel")]
    assert found("steel", "glass", "wood", "steel", page=1) == []


def test_an_excerpt_with_another_middle_is_found_by_its_ends() -> None:
    head = "The lighthouse at Cape Varn was lit for the first time in the year 1887"
    tail = "and its last keeper left for the town when the lamp was made to turn by itself"
    assert found(f"{head} – see table – {tail}", f"So: {head} [note 3] {tail}.") == [(1, f"{head} [note 3] {tail}")]
    assert found(f"{head} {tail}", f"{head} {'much else ' * 80} {tail}") == []
    assert found(f"{head} {tail}", f"{tail} {head}") == []


def test_an_excerpt_without_letters_is_the_page() -> None:
    for excerpt in ("", " \n", "--", "***", "\x00"):
        (place,), problems = locate(Gold("Report", 1, excerpt), "It is *** made -- of steel.")
        assert (place.page, place.spans, problems) == (1, (), [])


def test_long_excerpts_take_no_time() -> None:
    text = " ".join(f"word{number}" for number in range(20_000))
    assert len(text) > 100_000
    began = time.perf_counter()
    assert found(text[5:100_005], text) == [(1, text[5:100_005].strip())]
    assert found("nothing " * 12_500, text) == []
    assert time.perf_counter() - began < 2


def test_excerpts_that_are_nowhere_take_no_time() -> None:
    pages = [Page(number, " ".join(f"w{number * 7 + i}" for i in range(200))) for number in range(1, 2001)]
    locator = Locator([document()], lambda _: pages)
    questions = [Question(str(n), "Q?", gold=(Gold("Report", None, f"not there {n} " * 8),)) for n in range(200)]
    began = time.process_time()
    assert len(locator.problems(questions)) == 200
    assert time.process_time() - began < 2.5


def test_documents_go_by_id_title_and_source() -> None:
    one = document("0123456789abcdef" * 2, "The  Report", ("/home/a/report.pdf", "https://example.org/x"))
    other = document("f" * 32, "Other", ("C:\\files\\other.txt",))
    locator = Locator([one, other], lambda _: [Page(1, "text")])
    for name in (one.id, "01234567", "the report", " The Report ", "REPORT.pdf", "/home/a/report.pdf", "other.txt"):
        ((place,), problems) = locator.places(Question("q", "Q?", gold=(Gold(name),)))
        assert place.document_id == (other.id if "other" in name else one.id), name
        assert (place.page, place.spans, problems) == (None, (), [])
    for name in ("0123456", "", "nothing", "\x00", "x" * 10_000):
        assert locator.places(Question("q", "Q?", gold=(Gold(name),)))[0] == []


def test_a_name_of_two_documents_is_told() -> None:
    same = [document("a" * 32), document("b" * 32)]
    places, problems = Locator(same, lambda _: [Page(1, "text")]).places(
        Question("q", "Q?", gold=(Gold("report.pdf"),))
    )
    assert places == []
    assert "2 documents" in problems[0]
    assert Locator(same, lambda _: []).places(Question("q", "Q?", gold=(Gold("b" * 8),)))[0][0].document_id == "b" * 32
    assert names_of(same)["report"] == ("a" * 32, "b" * 32)


@pytest.mark.parametrize("page", [0, -1, 3, 10**12])
def test_a_page_that_is_not_there_is_told(page: int) -> None:
    places, problems = locate(Gold("Report", page, "one"), "one", "two")
    assert places == []
    assert "has no page" in problems[0]
    assert "2" in problems[0]


def test_each_gold_place_keeps_its_number_and_each_problem_its_question() -> None:
    pages = [Page(1, "one two three"), Page(2, "")]
    locator = Locator([document()], lambda _: pages)
    gold = (Gold("Report", 1, "two"), Gold("gone.pdf"), Gold("Report", 2), Gold("Report", 1, "four"), Gold("Report"))
    places, problems = locator.places(Question("q", "Q?", gold=gold))
    assert [(place.gold, place.page, len(place.spans)) for place in places] == [(0, 1, 1), (2, 2, 0), (4, None, 0)]
    assert len(problems) == 2
    told = locator.problems([Question("a", "Q?"), Question("b", "Q?", gold=gold)])
    assert [(problem.row, problem.column, problem.kept) for problem in told] == [
        (2, "document", True),
        (2, "excerpt", True),
    ]


TEXTS = st.text(alphabet="abcdeABé1ßñ漢ﬁﬃİΣ²½\u0301\u0e34 \n.,-’\u00ad_*", min_size=1, max_size=80)


@settings(max_examples=400, deadline=None)
@given(text=TEXTS, data=st.data())
def test_the_span_of_an_excerpt_of_a_page_is_its_own(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    excerpt = text[start:end]
    assume(letters(excerpt))
    ((place,), problems) = locate(Gold("Report", 1, excerpt), text)
    (span,) = place.spans
    assert not problems
    assert holds(text[span.start : span.end], excerpt)
    assert _LETTERS.match(text[span.start])
    assert _LETTERS.match(text[span.end - 1])
    if letters(text).count(letters(excerpt)) == 1 and len(re.findall(f"(?={letters(excerpt)})", letters(text))) == 1:
        own = [match.start() + start for match in _LETTERS.finditer(excerpt)]
        assert (span.start, span.end) == (own[0], own[-1] + 1)


@settings(max_examples=200, deadline=None)
@given(
    words=st.lists(st.text(alphabet="abcdeé1漢", min_size=1, max_size=6), min_size=3, max_size=15),
    gaps=st.lists(st.sampled_from([" ", "\n", "  ", " - ", "-\n", "\r\n", ", ", " “"]), min_size=30, max_size=30),
    data=st.data(),
)
def test_an_excerpt_set_otherwise_is_found_all_the_same(words: list[str], gaps: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    text = "".join(word + gap for word, gap in zip(words, gaps, strict=False))
    excerpt = "".join(gap + word for word, gap in zip(words[first:last], gaps[15:], strict=False))
    ((place,), _) = locate(Gold("Report", None, excerpt), "", text, "")
    assert letters("".join(text[span.start : span.end] for span in place.spans)) == letters(excerpt)


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(TEXTS, min_size=2, max_size=4), data=st.data())
def test_the_spans_over_page_ends_hold_the_excerpt_and_no_more(texts: list[str], data: st.DataObject) -> None:
    whole = "".join(texts)
    start = data.draw(st.integers(0, len(whole) - 1))
    excerpt = whole[start : data.draw(st.integers(start + 1, len(whole)))]
    assume(letters(excerpt))
    ((place,), _) = locate(Gold("Report", None, excerpt), *texts)
    assert holds("".join(texts[span.page - 1][span.start : span.end] for span in place.spans), excerpt)
    assert [span.page for span in place.spans] == sorted({span.page for span in place.spans})
