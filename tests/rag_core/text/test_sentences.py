"""Sentences through line breaks, abbreviations, headings, lists and tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.text.sentences import LONGEST, split_sentences, tidy


def texts(text: str) -> list[str]:
    return [span.text for span in split_sentences(text)]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(span.kind, span.text) for span in split_sentences(text)]


def test_lines_of_a_pdf_are_joined() -> None:
    page = (
        "The company had reve- \nnue of $ 15.8 million in 2018, up from 11.7 in the year before, accord- \n"
        "ing to Mr. Smith of the U.S. Treasury. The rest is well- \nknown. \n"
    )
    assert texts(page) == [
        "The company had revenue of $ 15.8 million in 2018, up from 11.7 in the year before, according to Mr. Smith of "
        "the U.S. Treasury.",
        "The rest is well-known.",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. A. B. Jones met Prof. Miller at 5 p.m. on Jan. 3 in Washington, D.C. with J. R. Smith.",
        "See Fig. 3, No. 5 and pp. 7 ff. of vol. 2.",
        "The value is 3.14, i.e. more than 3, e.g. for circles.",
        "Der Austritt muss bis zum 30. September erklärt werden, erstmals am 4. Juni 1921.",
        "Der Ruderclub e. V. zahlt gem. § 3 Abs. 2 z. B. den Strom der 2. Mannschaft.",
        "Acme Inc. sold 1,200.50 tons vs. 900 before.",
        "Visit www.example.org/a.b?c=1 for more.",
        "Is it? he asked.",
        "He said “No. 5 is alive!” and left.",
    ],
)
def test_full_stops_that_end_nothing(sentence: str) -> None:
    assert texts(sentence) == [sentence]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It is done. Is it? Yes! Good.", 4),
        ("They moved to the U.S. The move was hard.", 2),
        ("Er hat 12. Die Mitglieder kommen am 3. März. Sie rudern.", 3),
        ("It fell to 12. Revenue rose.", 2),
        ("It was sold to Acme Inc. The price was low.", 2),
        ("He said “Stop.” She did.", 2),
        ("It is so.[3] Others agree.", 2),
        ("Sales were 12. Costs were 9.", 2),
        ("これは本です。それは机です。", 2),
        ("Wait... What?", 2),
    ],
)
def test_full_stops_that_end_a_sentence(text: str, count: int) -> None:
    assert len(texts(text)) == count


def test_headings_rows_and_lists() -> None:
    page = (
        "Annual Report 2018 \nThe year was a good one for the company and for all who work in it, in every country. \n"
        "Revenues 2018 2017 \nNorth 12 14 \nSouth 15 16 \n• First point, with more to say \n"
        "• Second point \nPage 3 of 10 \n"
    )
    assert kinds(page) == [
        ("heading", "Annual Report 2018"),
        ("sentence", "The year was a good one for the company and for all who work in it, in every country."),
        ("row", "Revenues 2018 2017"),
        ("row", "North 12 14"),
        ("row", "South 15 16"),
        ("sentence", "First point, with more to say"),
        ("sentence", "Second point"),
    ]


def test_markdown() -> None:
    text = (
        "# Opening hours\n\nWe are **open** daily.\n\n| Day | Hours |\n|-----|-------|\n| Mon. | 9 to 5 |\n\n---\n"
        "- Ring twice\n"
    )
    assert kinds(text) == [
        ("heading", "Opening hours"),
        ("sentence", "We are open daily."),
        ("row", "Day | Hours"),
        ("row", "Mon. | 9 to 5"),
        ("sentence", "Ring twice"),
    ]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("2.3 Financial Results", "heading"),
        ("ITEM 7 MANAGEMENT DISCUSSION", "heading"),
        ("Chapter Two", "heading"),
        ("Written by Einar Lund, 2 December 2019", "sentence"),
        ("Opening hours: 9 to 5", "row"),
        ("moved the meeting to the afternoon of Tuesday", "fragment"),
        ("This is one.", "sentence"),
    ],
)
def test_what_a_line_is(line: str, kind: str) -> None:
    assert [span.kind for span in split_sentences(line)] == [kind]


def test_very_long_sentences_are_cut_at_joints() -> None:
    text = "The list holds " + ", ".join(f"item number {n}" for n in range(200)) + "."
    spans = split_sentences(text)
    assert all(len(span.text) <= LONGEST for span in spans)
    assert " ".join(span.text for span in spans) == text
    assert all(span.text.endswith(",") for span in spans[:-1])
    assert len(split_sentences("x" * 5000)) > 5


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Tenant: Maria Oliveira\nRent: 940 euros a month", ["Tenant: Maria Oliveira", "Rent: 940 euros a month"]),
        ("Present: Edith Marrable (chair),\n  Owen Trask", ["Present: Edith Marrable (chair), Owen Trask"]),
        ("Used now: 114 m3. Before: 119 m3. How\nwe count", ["Used now: 114 m3.", "Before: 119 m3.", "How we count"]),
        ("Tell us the same day.\ninternal\tPage 7", ["Tell us the same day.", "internal\u2003Page 7"]),
        ("Calls from zone B, per\nminute\t0.35", ["Calls from zone B, per minute\u20030.35"]),
        ("E4\tPump blocked,\nor worn", ["E4\u2003Pump blocked, or worn"]),
        ("1\tTiles\t342\n" + 7 * "Nobody has ", ["1\u2003Tiles\u2003342", (7 * "Nobody has ").strip()]),
    ],
)
def test_labels_and_rows_are_told_from_what_stands_beside_them(text: str, pieces: list[str]) -> None:
    assert [span.text for span in split_sentences(text)] == pieces


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a  b \n c", "a b c"),
        ("experi- \nence", "experience"),
        ("well-\nknown", "well-known"),
        ("self-\nmade", "self-made"),
        ("Mar-\nTech", "Mar- Tech"),
        ("soft\u00adhyphen", "softhyphen"),
        ("  ", ""),
    ],
)
def test_tidy(raw: str, shown: str) -> None:
    assert tidy(raw) == shown


@given(st.text(alphabet='aB .!?\n-|#1•:,;。\t\r"”[]()', max_size=300))
def test_spans_are_exact_ordered_and_apart(text: str) -> None:
    end = 0
    for span in split_sentences(text):
        assert end <= span.start < span.end <= len(text)
        assert text[span.start : span.end].strip() == text[span.start : span.end]
        assert span.text
        end = span.end


@given(st.text(max_size=200))
def test_any_text_at_all(text: str) -> None:
    split_sentences(text)


def test_a_short_text_is_cut_once_and_a_long_one_does_not_stay_in_memory() -> None:
    short = "The quay is long. The pier is short."
    assert split_sentences(short) is split_sentences(short)
    long = short * 1000
    assert split_sentences(long) is not split_sentences(long)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Press **Ctrl+P** and __Enter__ to print it.", "Press Ctrl+P and Enter to print it."),
        ("It calls __init__ and raises 2**3 to x ** y.", "It calls __init__ and raises 2**3 to x ** y."),
        ("Write `**bold**` or `[[Note|alias]]` in a note.", "Write `**bold**` or `[[Note|alias]]` in a note."),
        ("Mark with ==signs==, hide with %%signs%%.", "Mark with ==signs==, hide with %%signs%%."),
        ("Press <kbd>Ctrl</kbd> in .obsidian/snippets now.", "Press <kbd>Ctrl</kbd> in .obsidian/snippets now."),
        ("**Open until 6 p.m. on Mondays", "Open until 6 p.m. on Mondays"),
    ],
)
def test_marks_of_bold_are_not_shown_and_what_only_looks_like_them_is(written: str, shown: str) -> None:
    assert [span.text for span in split_sentences(written)] == [shown]


def test_each_message_of_a_conversation_stands_by_itself_with_who_said_it_and_when() -> None:
    chat = (
        "[12/03/2024, 18:07] Jonas: Drinks are on me. Beer, juice and water\n"
        "[12/03/2024, 18:09] Mei: I'll bake a cake\nand bring it along\n"
        "[12/03/2024, 18:31] Leo: ok"
    )
    assert [span.text for span in split_sentences(chat)] == [
        "[12/03/2024, 18:07] Jonas: Drinks are on me. Beer, juice and water",
        "[12/03/2024, 18:09] Mei: I'll bake a cake and bring it along",
        "[12/03/2024, 18:31] Leo: ok",
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("12.03.24, 18:02 - Leo: Hallo\n12.03.24, 18:05 - Mia: Gut! Ich komme um 3", 2),
        ("2024-05-01 10:11:12 INFO started\n2024-05-01T10:11:13 ERROR disk full: 3 % left", 2),
        ("09:00 Breakfast\n10:30 Bus to the museum", 2),
        ("The meeting begins on the long awaited day which everybody knows, at about\n18:30 in the hall.", 1),
    ],
)
def test_what_begins_with_its_time_is_a_line_of_its_own(text: str, lines: int) -> None:
    assert len(split_sentences(text)) == lines
