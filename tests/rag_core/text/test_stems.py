"""Stems of several languages, folding, and stemmers used by many threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_core.text.stems import fold, stem, stems


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", ("plant", "plants", "planted", "planting")),
        ("en", ("study", "studies", "studied")),
        ("en", ("class", "classes")),
        ("en", ("invest", "invested", "investing", "investment", "investments")),
        ("en", ("run", "running")),
        ("en", ("company", "companies")),
        ("de", ("müller", "mueller")),
        ("de", ("haus", "häuser")),
        ("es", ("canción", "cancion", "canciones")),
        ("ru", ("участков", "участки", "участка")),
        ("ru", ("берёзовый", "березовый")),
        ("ar", ("المكتبة", "مكتبه", "مـكتبة", "مَكتبة")),
        ("el", ("πόλης", "πολησ")),
    ],
)
def test_forms_of_a_word_share_a_stem(language: str, forms: tuple[str, ...]) -> None:
    assert len({stem(form, language) for form in forms}) == 1


@pytest.mark.parametrize(("one", "other"), [("policy", "police"), ("bus", "business")])
def test_other_words_do_not(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_a_language_without_a_stemmer_is_folded_only() -> None:
    assert stem("đường", "vi") == "duong"
    assert stem("running", "xx") == "running"
    assert stem("ـــ", "ar") == ""


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("café", "cafe"),
        ("żółw", "zolw"),
        ("ёлка", "елка"),
        ("йод", "йод"),
        ("æble", "aeble"),
        ("إلى", "الي"),
        ("日", "日"),
    ],
)
def test_folding(word: str, wanted: str) -> None:
    assert fold(word) == wanted


def test_accents_may_be_left_out() -> None:
    assert set(stems("sequia", "es")) <= set(stems("sequía", "es"))
    assert stems("plants") == ("plant",)
    assert stems("ـ", "ar") == ()


def test_many_threads() -> None:
    words = [f"{word}{i}s" for i in range(500) for word in ("planting", "house")]
    alone = [stem(word) for word in words]
    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stem, words)) == alone
