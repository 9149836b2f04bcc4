"""The languages of the pages: gettext's catalogues, and which one somebody reads.

A text stands in the code in English and is its own key: `_("Save")`. One with values has named places,
`_("Page {page}").format(page=3)`, one that counts is `ngettext`'s. What is read when a module is imported is marked
there by `msgid` and translated where it is shown. The catalogues, pages/locale/*.po, are read as they are written, so
that nothing has to be compiled when one is changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, wraps
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import streamlit as st
from starlette.requests import Request
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rag_core.errors import LecternError

FOLDER = Path(__file__).parents[1] / "locale"
SOURCE = "en"
LANGUAGES = {
    SOURCE: "English", "de": "Deutsch", "es": "Español", "fr": "Français", "zh": "简体中文", "ja": "日本語",
}  # fmt: skip
"""By their codes, each by its own name."""
COOKIE = "lectern_language"
"""Keeps what somebody chose, in their browser: several may read one library, each in a language of their own."""
SERVER = "server"
"""The context in the catalogues of what the library says."""
_KEY, _CHOSEN = "language", "language_chosen"
_PLACE = re.compile(r"\\\{(\w+)\\\}")  # in an escaped text
Arguments = ParamSpec("Arguments")
Given = TypeVar("Given")


def settle() -> None:
    """Begin a run of the pages: by what was chosen, here or in an earlier tab, else by what the browser asks for."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = fitting(st.context.cookies.get(COOKIE, ""), st.context.locale or "")


def choose(code: str) -> None:
    """Have the browser keep a language, and ask for its page anew in it."""
    st.session_state[_CHOSEN] = fitting(code)


def chosen() -> str:
    """What was just chosen, for the browser to keep; else "" ."""
    return str(st.session_state.pop(_CHOSEN, ""))


def asked_for_by(request: Request) -> str:
    """The language in which a request of the pages' scripts is to be answered."""
    return fitting(request.cookies.get(COOKIE, ""), request.headers.get("accept-language", ""))


def fitting(*wanted: str) -> str:
    """The first of some languages, as browsers write them (`de-AT`, `zh_Hant`), that there is a catalogue for."""
    codes = (re.split("[-_,;]", one.strip())[0].lower() for one in wanted)
    return next((code for code in codes if code in LANGUAGES), SOURCE)


def current() -> str:
    """The code of the language that is read in this session; outside of one the texts' own."""
    return st.session_state.get(_KEY, SOURCE) if get_script_run_ctx(suppress_warning=True) else SOURCE


@cache
def catalogue(code: str) -> NullTranslations:
    """The texts in a language of `LANGUAGES`."""
    if code == SOURCE:
        return NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with (FOLDER / f"{code}.po").open("rb") as file:
        write_mo(compiled, read_po(file))
    compiled.seek(0)
    return GNUTranslations(compiled)


def _(message: str) -> str:
    """A text in the language that is read; as it is where there is none."""
    return catalogue(current()).gettext(message) if message else ""


def ngettext(one: str, many: str, number: int) -> str:
    """The form that fits a number, which takes the place of `{number}`."""
    return catalogue(current()).ngettext(one, many, number).replace("{number}", figure(number))


def msgid(message: str) -> str:
    """Marks a text that is translated where it is shown, by `_`."""
    return message


def server_text(message: str, code: str = "") -> str:
    """What the library says, an error or a note, in the language that is read.

    The library speaks English and has filled in its values, so that a text is found by its form: `No page 7.` by
    `No page {page}.` What no catalogue has stays as it is.
    """
    code = code or current()
    return message if code == SOURCE or not message else _served(code, message)


def error_text(error: LecternError) -> str:
    """What an error says, and what can be done, in the language that is read."""
    return f"{server_text(str(error))} {server_text(error.help)}".strip()


@lru_cache(maxsize=2048)
def _served(code: str, message: str) -> str:
    known = catalogue(code)
    whole = known.pgettext(SERVER, message)
    if whole != message:
        return whole
    for text, form in _forms(code):
        if found := form.fullmatch(message):
            values = {name: _value(known, value) for name, value in found.groupdict().items()}
            return known.pgettext(SERVER, text).format(**values)
    return known.gettext(message)


def _value(known: NullTranslations, value: str) -> str:
    """A value within a text: `day`, or “this” or “that”."""
    return known.pgettext(SERVER, value).replace("” or “", f"”{known.pgettext(SERVER, ' or ')}“")


@cache
def _forms(code: str) -> list[tuple[str, re.Pattern[str]]]:
    """The library's texts with values, the longest first: what fits several fits the fullest best."""
    keys = vars(catalogue(code)).get("_catalog", {})
    texts = [key.partition("\4")[2] for key in keys if isinstance(key, str) and key.startswith(f"{SERVER}\4")]
    return [
        (text, re.compile(_PLACE.sub(r"(?P<\1>.+?)", re.escape(text)), re.DOTALL))
        for text in sorted(texts, key=len, reverse=True) if "{" in text
    ]  # fmt: skip


def within(label: str) -> str:
    """A translated label as it stands within a line: small, save in German, where nouns are not."""
    return label if current() == "de" else label.lower()


def figure(number: float, form: str = ",") -> str:
    """A number by a format of Python's, with the marks of the language: `1,234.5`, `1.234,5`."""
    text, code = f"{number:{form}}", current()
    return text if code in (SOURCE, "zh", "ja") else text.translate(_marks(code))


@cache
def _marks(code: str) -> dict[int, str]:
    from babel.numbers import get_decimal_symbol, get_group_symbol

    return str.maketrans({",": get_group_symbol(code), ".": get_decimal_symbol(code)})


ASKED_FOR: set[str] = set()
"""The names under which a session's state has the dialogs that are open."""
TYPING = "language_typing"
"""Where a run of the page notes under which name the dialog with fields stands that it drew."""


def dialog(
    title: str, *, until_closed: str = "", fields: bool = False, **options: Any
) -> Callable[[Callable[Arguments, None]], Callable[Arguments, None]]:
    """`st.dialog` with a title that is translated when it is opened.

    A run of the page that does not draw an open dialog closes it, and a page that refreshes runs at any moment. One
    that was asked for under a name of the session's state, `until_closed`, is drawn by every run until it is closed;
    the name is forgotten then. One with `fields` has the page wait with what nobody clicked for: see
    `refreshing.anew`.
    """

    def close() -> None:
        st.session_state.pop(until_closed, None)

    if until_closed:
        ASKED_FOR.add(until_closed)
        options["on_dismiss"] = close

    def decorate(draw: Callable[Arguments, None]) -> Callable[Arguments, None]:
        @wraps(draw)
        def opened(*given: Arguments.args, **named: Arguments.kwargs) -> None:
            if fields:
                st.session_state[TYPING] = until_closed
            st.dialog(_(title), **options)(draw)(*given, **named)

        return opened

    return decorate


def cached(spinner: str, **options: Any) -> Callable[[Callable[Arguments, Given]], Callable[Arguments, Given]]:
    """`st.cache_data` with words that are translated while one waits."""

    def decorate(look_up: Callable[Arguments, Given]) -> Callable[Arguments, Given]:
        kept = st.cache_data(show_spinner=False, **options)(look_up)

        @wraps(look_up)
        def looked_up(*given: Arguments.args, **named: Arguments.kwargs) -> Given:
            with st.spinner(_(spinner)):
                return kept(*given, **named)

        return looked_up

    return decorate


def words_of(script: str) -> Mapping[str, str | list[str]]:
    """The texts of a component's script in the language that is read, by their English; none where that is English."""
    code = current()
    return {} if code == SOURCE else _words_of(code, script)


@cache
def _words_of(code: str, script: str) -> Mapping[str, str | list[str]]:
    known, forms = catalogue(code), PLURALS[code]
    found: dict[str, str | list[str]] = {one: known.gettext(one) for one in texts_of(script)}
    for one, many in plurals_of(script):
        found[one] = [known.ngettext(one, many, number) for number in forms]
    return found


PLURALS = {"de": (1, 2), "es": (1, 2), "fr": (1, 2), "zh": (1,), "ja": (1,)}
"""A number for each form of a plural, those of `Intl.PluralRules`, `one` and `other`."""
_TEXT = re.compile(r'(?<![\w.])_\("((?:[^"\\]|\\.)+)"')
_COUNTED = re.compile(r'(?<!\w)ngettext\("([^"]+)", "([^"]+)"')


def texts_of(script: str) -> list[str]:
    """The texts that a script translates."""
    return [text.replace('\\"', '"') for text in _TEXT.findall(script)]


def plurals_of(script: str) -> list[tuple[str, str]]:
    """The texts of a script that count, by one and by many."""
    return _COUNTED.findall(script)
