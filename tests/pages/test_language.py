"""The languages of the pages: every text has its place in each catalogue, and is said as that has it."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest

from pages.parts import chat_widget, formatting, language
from pages.parts.evaluation import charting
from rag_core.domain import Sentence
from rag_core.errors import LecternError
from tests import catalogues
from tests.conftest import PROJECT
from tests.pages.conftest import an_answer

CODES = tuple(language.PLURALS)
NAMED = re.compile(r"\{\w+\}|:material/\w+:|:(?:red|green|orange|gray|blue)\[|\*\*|^#+ |`[^`]+`")
# Names that are shown as they are, in documents' own words, and what belongs to a command or an address.
FREE = {"`owner/repository`", "`owner/repository:Q4_K_M`", "`owner/repository/file.gguf`"}


@pytest.mark.parametrize("code", CODES)
def test_a_catalogue_has_every_text_and_no_other(code: str) -> None:
    kept = [one for one in catalogues.read(code) if one.id]
    of_pages = {one.id if isinstance(one.id, tuple) else (one.id, "") for one in kept if not one.context}
    wanted = catalogues.texts()
    assert wanted - of_pages == set(), "python -m tests.catalogues, then translate what is empty"
    assert of_pages - wanted == set(), "python -m tests.catalogues"
    empty = [one.id for one in kept if not all(one.string if isinstance(one.string, tuple) else [one.string])]
    assert empty == []
    assert not any(one.fuzzy for one in kept)


@pytest.mark.parametrize("code", CODES)
def test_a_translation_has_the_same_values_and_marks(code: str) -> None:
    for one in catalogues.read(code):
        if not one.id:
            continue
        texts = one.id if isinstance(one.id, tuple) else (one.id,)
        for said in one.string if isinstance(one.string, tuple) else (one.string,):
            marks = sorted(set(NAMED.findall(said)) - {"{number}"})
            wanted = [sorted(set(NAMED.findall(text)) - {"{number}"} - FREE) for text in texts]
            assert [mark for mark in marks if "`" not in mark] in [[m for m in w if "`" not in m] for w in wanted], said
            values = {place: "7" for place in re.findall(r"\{(\w+)\}", " ".join(texts))}
            said.format(**values)


def test_the_catalogues_have_the_same_of_what_the_library_says_and_it_says_so() -> None:
    kept = {code: {one.id for one in catalogues.read(code) if one.context == language.SERVER} for code in CODES}
    assert all(texts == kept["de"] for texts in kept.values())
    said = catalogues.said_by_the_library()
    assert {text for text in kept["de"] if re.sub(r"\{\w+\}", "{}", text) not in said} == set()


def test_what_the_library_says_is_known_by_its_form() -> None:
    assert (
        language.server_text("The server has no such page (404).", "de") == "Der Server hat keine solche Seite (404)."
    )
    assert language.server_text("The file is empty.", "ja") == "ファイルが空です。"
    assert language.server_text("The file is empty.", "en") == "The file is empty."
    assert language.server_text("What nobody has translated: 7.", "fr") == "What nobody has translated: 7."
    # What a value holds is no form: braces and marks of patterns stay as they are.
    named = "a{b}.*.example cannot be reached: [Errno 111]."
    assert language.server_text(named, "de") == "a{b}.*.example ist nicht erreichbar: [Errno 111]."
    assert language.error_text(LecternError("It is empty.", help="Write.")) == "It is empty. Write."
    assert language.error_text(LecternError("It is empty.")) == "It is empty."


@pytest.mark.parametrize("path", catalogues.PAGES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_no_text_of_the_pages_is_in_no_catalogue(path: Path) -> None:
    assert list(catalogues.loose_in_code(path)) == []
    source = path.read_text("utf-8")
    if path.name != "language.py":
        assert "@st.dialog(" not in source, "pages.parts.language.dialog"
        assert not re.search(r"cache_(data|resource)\(show_spinner=\"", source), "pages.parts.language.cached"


@pytest.mark.parametrize("path", catalogues.SCRIPTS, ids=lambda path: path.name)
def test_no_text_of_a_script_is_in_no_catalogue(path: Path) -> None:
    assert catalogues.loose_in_script(path) == []


@pytest.mark.parametrize("path", catalogues.PAGES, ids=lambda path: path.stem)
def test_no_number_of_the_pages_has_marks_of_one_language(path: Path) -> None:
    assert list(catalogues.loose_figures(path)) == []


def test_loose_texts_are_found(tmp_path: Path) -> None:
    page, script = tmp_path / "page.py", tmp_path / "part.js"
    page.write_text(
        'st.button("Save it", key="a")\nst.caption(_("Kept"))\nst.markdown(f":red[:material/error:] {plain(x)}")\n'
        'st.text_input(_("Name"), placeholder="Your name")\nst.markdown(f"{n} rows")\n'
    )
    assert list(catalogues.loose_in_code(page)) == ["Save it", "Your name", " rows"]
    script.write_text('make("p", "quiet", "Nothing yet");\nbutton("act", _("Save it"));\nmake("b", "", `Page ${n}`);\n')
    assert catalogues.loose_in_script(script) == ["Nothing yet", "Page ${n}"]


def test_values_within_what_the_library_says_are_translated_where_they_are_words() -> None:
    doubt = "Not sure: it does not say “global” or “net”."
    assert language.server_text(doubt, "de") == "Unsicher: “global” oder “net” steht nicht darin."
    asked = "Questions asked each week, by what came of them. Greetings and evaluation runs are not counted."
    assert language.server_text(asked, "es").startswith("Preguntas hechas (por semana), según su resultado.")


def test_an_answer_s_own_doubts_are_said_as_the_pages_say_them(monkeypatch: pytest.MonkeyPatch) -> None:
    reads(monkeypatch, "de")
    text = "Not found in these documents."
    nowhere = chat_widget.whole("Why?", an_answer(text=text, sentences=(Sentence(text),), citations=(), abstained=True))
    assert nowhere["blocks"][0]["runs"][0]["text"] == "In diesen Dokumenten nicht gefunden."
    held = chat_widget.whole("Why?", an_answer(text=text, sentences=(Sentence(text, (1,)),)))
    assert held["blocks"][0]["runs"][0]["text"] == text, "what an answer quotes stays"


def test_charts_speak_the_language_that_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    reads(monkeypatch, "de")
    spec = {
        "encoding": {
            "y": {"field": "answers", "title": "Answers"},
            "color": {"field": "outcome", "scale": {"domain": ["Answered", "Not found"]}},
            "shape": {"field": "run", "scale": {"domain": ["Answers"]}},
        },
        "datasets": {"rows": [{"outcome": "Not found", "run": "Answers"}]},
    }
    told = charting.worded(spec)
    assert told["encoding"]["y"] == {"field": "answers", "title": "Antworten"}
    assert told["encoding"]["color"]["scale"]["domain"] == ["Beantwortet", "Nicht gefunden"]
    assert told["datasets"]["rows"] == [{"outcome": "Nicht gefunden", "run": "Answers"}]
    assert told["encoding"]["shape"]["scale"]["domain"] == ["Answers"], "a name of somebody's own"


def reads(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(language, "current", lambda: code)


def test_numbers_dates_and_plurals_follow_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2026, 11, 20, 9).astimezone()
    told = {}
    for code in language.LANGUAGES:
        reads(monkeypatch, code)
        told[code] = (
            formatting.count(1, "page"), formatting.count(1200, "page"), formatting.size(1_250_000),
            formatting.day(datetime(2025, 3, 4).astimezone(), now),
        )  # fmt: skip
    assert told == {
        "en": ("1 page", "1,200 pages", "1.2 MB", "4 Mar 2025"),
        "de": ("1 Seite", "1.200 Seiten", "1,2 MB", "4. März 2025"),
        "es": ("1 página", "1.200 páginas", "1,2 MB", "4 mar 2025"),
        "fr": ("1 page", "1\u202f200 pages", "1,2 MB", "4 mars 2025"),
        "zh": ("1 页", "1,200 页", "1.2 MB", "2025年3月4日"),
        "ja": ("1 ページ", "1,200 ページ", "1.2 MB", "2025年3月4日"),
    }
    reads(monkeypatch, "fr")
    assert formatting.count(0, "row") == "0 ligne"  # one form for none and one


def test_the_first_language_there_is_a_catalogue_for() -> None:
    assert language.fitting("", "de-AT") == "de"
    assert language.fitting("ja", "de") == "ja"
    assert language.fitting("", "zh_Hant_TW") == "zh"
    assert language.fitting("", "fr-CH, fr;q=0.9, en;q=0.8") == "fr"
    assert language.fitting("nl", "", "../../etc/passwd") == "en"
    assert language.current() == "en"  # outside of a session


def test_a_script_is_given_its_own_texts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    script = 'x = _("Save"); y = ngettext("{number} note", "{number} notes", n);'
    assert language.words_of(script) == {}
    reads(monkeypatch, "de")
    assert language.words_of(script) == {
        "Save": "Speichern",
        "{number} note": ["{number} Hinweis", "{number} Hinweise"],
    }
    reads(monkeypatch, "ja")
    assert language.words_of(script)["{number} note"] == ["注記 {number} 件"]
