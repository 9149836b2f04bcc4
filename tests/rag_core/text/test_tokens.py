"""Runs, tokens and words: codes kept whole, offsets, scripts without spaces, hyphenation, look-alike characters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.text.tokens import run_tokens, runs, tokens, words


def texts(text: str, kind: str) -> list[str]:
    return [token.text for token in tokens(text) if token.kind == kind]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the 10-K for 2020", ["10k"]),
        ("the 10\u2011K", ["10k"]),
        ("an A320, and an A320-200.", ["a320", "a320200"]),
        ("§ 4.2, §§ 3a", ["§4.2", "§3a"]),
        ("up 3.5%, 12 % and 7 of 9", ["3.5%", "12%"]),
        ("mail jo.doe@x-y.co.uk.", ["jo.doe@x-y.co.uk"]),
        ("on 2021-09-25", ["2021-09-25"]),
        ("in the U.S.A. and the U.K.", ["usa", "uk"]),
        ("an e-mail, a T-shirt", ["email", "tshirt"]),
        ("v2.1 of FY2023", ["v2.1", "fy2023"]),
        ("$1,577.5m", ["1577.5m"]),
        ("forward-looking and/or Apple's 1,577", []),
        ("10-K,Item", ["10k"]),
    ],
)
def test_codes_are_kept_whole(text: str, wanted: list[str]) -> None:
    assert texts(text, "code") == wanted


def test_a_code_stands_before_its_parts() -> None:
    assert [token.text for token in tokens("A320-200")] == ["a320200", "a", "320", "200"]
    assert [token.text for token in tokens("3.5 %")] == ["3.5%", "3.5"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1,577 of 1.5", ["1,577", "1.5"]),
        ("1\u00a0577\u00a0000 and 1’577", ["1 577 000", "1’577"]),
        ("2018\u00a02019", ["2018", "2019"]),
        ("١٬٥٧٧٫٥", ["1,577.5"]),
        ("Sales¹ of 5", ["5"]),
    ],
)
def test_numbers_of_every_spelling(text: str, wanted: list[str]) -> None:
    assert texts(text, "number") == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("日本語", ["日", "日本", "本", "本語", "語"]),
        ("コンピュ", ["コン", "ンピ", "ピュ"]),
        ("한국어 문", ["한국", "국어", "문"]),
        ("น้ำแข็ง", ["น้ำแ", "แข็", "ข็ง"]),
        ("2020年", ["年"]),
    ],
)
def test_scripts_without_spaces_go_in_pairs(text: str, wanted: list[str]) -> None:
    assert texts(text, "pair") == [unicodedata.normalize("NFKC", pair) for pair in wanted]


def test_words_of_any_script() -> None:
    assert words("Don’t STOP") == ["don", "t", "stop"]
    assert words("日本語 text") == ["日", "本", "語", "text"]
    assert words("naïve ＡＢＣ ﬁn 10-K") == ["naïve", "abc", "fin", "10", "k"]
    assert words("हिन्दी में") == ["हिन्दी", "में"]
    assert words("İstanbul") == ["istanbul"]
    assert words("") == []


@pytest.mark.parametrize("text", ["experi-\nence", "experi-  \r\n  ence", "experi\u00adence", "experi\u00ad\nence"])
def test_hyphenation_is_undone(text: str) -> None:
    assert words(text) == ["experience"]
    assert next(tokens(text)).end == len(text)


def test_other_line_ends_are_left() -> None:
    assert words("Smith-\nJones") == ["smith", "jones"]
    assert words("well\nmade") == ["well", "made"]


def test_a_long_run_is_cut_like_a_short_one() -> None:
    long = "-".join(["a1"] * 100)
    assert runs(long) == [long]
    assert len(run_tokens(long)) == 201


@given(st.text(max_size=80))
def test_offsets_are_those_of_the_text(text: str) -> None:
    for token in tokens(text):
        assert 0 <= token.start < token.end <= len(text)
        inside = [inner.text for inner in tokens(text[token.start : token.end])]
        assert token.text in inside or token.kind == "code" or "\u00ad" in text or "\n" in text


@given(st.text(st.characters(max_codepoint=0xFF) | st.sampled_from("‐‑’“”–€§ \n-.,'0a"), max_size=40))
def test_texts_of_western_europe_are_cut_like_all_others(text: str) -> None:
    others = "\u0416"  # a letter that is not theirs
    assert [*runs(text), others] == runs(f"{text} {others}")
