"""Words of a text as search terms: without function words, cut to their stems, numbers and codes in one spelling."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from rag_core.text.compounds import split_compound
from rag_core.text.languages import language_of
from rag_core.text.numbers import normalise_number
from rag_core.text.stems import stems
from rag_core.text.tokens import Token, placed_runs, run_tokens, runs, tokens
from rag_core.text.wordlists import NUMBER_WORDS, stop_words

ANALYSIS_VERSION = 2
"""Rises whenever terms change, to which a test holds those of some texts: an index of other terms is made anew."""

_LONGEST = 64


def terms(text: str, language: str = "en") -> list[str]:
    """Search terms of a text in a language (ISO 639-1), in order and with repetitions; codes also in their parts."""
    found: list[str] = []
    for run in runs(text):
        found.extend(_remembered(run, language) if len(run) <= _LONGEST else _run_terms(run, language))
    return found


def query_terms(
    text: str, languages: Sequence[str], known: Callable[[str], bool] = lambda term: False
) -> list[set[str]]:
    """A question's distinct terms, each as the set of forms that it has in documents of these languages.

    A document is cut by its own language, a question is asked in any: "meetings" stands as "meet" in an English
    document and as "meeting" in a German one. A text holds a term when it holds one of its forms. Function words of
    the question's own language are left out. With `known`, which says whether any document holds a term, compounds are
    followed by their parts. `languages` are those present in the library (ISO 639-1), the commonest first.
    """
    own = language_of(text, languages[0] if languages else "en", languages)
    among = tuple(dict.fromkeys((own, *languages)))
    wanted: dict[frozenset[str], None] = {}
    for token in tokens(text):
        if not _forms(token, own):
            continue
        wanted[frozenset(form for language in among for form in _forms(token, language))] = None
        if token.kind == "word":
            parts = split_compound(token.text, own, known)
            wanted.update(dict.fromkeys(frozenset({part}) for part in parts))
    return [set(forms) for forms in wanted]


def spans(text: str, wanted: Collection[str], language: str = "en") -> list[tuple[int, int]]:
    """Where the wanted terms stand in a text, as sorted spans of characters that do not overlap: for marking them."""
    wanted = frozenset(wanted)
    found: list[tuple[int, int]] = []
    placed = placed_runs(text)
    distinct = {run for _, run in placed}
    holding = {run for run in distinct if len(run) > _LONGEST or not wanted.isdisjoint(_remembered(run, language))}
    for start, run in placed:
        if run not in holding:
            continue  # most of them
        for token in run_tokens(run):
            if any(form in wanted for form in _forms(token, language)):
                _join(found, start + token.start, start + token.end)
    return found


def _join(spans: list[tuple[int, int]], start: int, end: int) -> None:
    """Add a span, or lengthen the last one where they overlap."""
    if spans and start < spans[-1][1]:
        spans[-1] = (spans[-1][0], max(spans[-1][1], end))
    else:
        spans.append((start, end))


def coverage(wanted: Sequence[str], held: Sequence[str] | set[str]) -> float:
    """Share of distinct wanted terms that are held, 0..1; 1 when nothing is wanted."""
    distinct = set(wanted)
    return len(distinct & set(held)) / len(distinct) if distinct else 1.0


def _forms(token: Token, language: str) -> tuple[str, ...]:
    """The terms that a token is in a language; none for a function word or a single Latin letter."""
    text = token.text
    if token.kind == "pair":
        return (text,)
    if token.kind == "number":
        return (normalise_number(text, language),)
    if token.kind == "code":
        return (normalise_number(text[:-1], language) + "%" if text.endswith("%") else text,)
    if language == "en" and text in NUMBER_WORDS:
        return (NUMBER_WORDS[text],)
    if text in stop_words(language) or (len(text) == 1 and text.isascii()):
        return ()
    return stems(text, language)


def _run_terms(run: str, language: str) -> tuple[str, ...]:
    return tuple(form for token in run_tokens(run) for form in _forms(token, language))


_remembered = lru_cache(maxsize=1 << 15)(_run_terms)
