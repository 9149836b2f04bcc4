"""Late interaction: how well each word of a question is matched in a sentence, and in what the sentence leans on.

A word's match is the mean over its tokens of their best cosine among the sentence's token vectors, and 1 where the same
stem stands there (Khattab and Zaharia 2020, "ColBERT", whose maximum is here taken word by word, so that what a
sentence lacks can be named). All token vectors come from one pass over the passages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rag_core.answering.encoding import EncodeTokens
from rag_core.answering.passages import Passage, Quote
from rag_core.domain import Hit
from rag_core.tables.question_words import asks
from rag_core.text.acronyms import defined
from rag_core.text.days import Day, find_days
from rag_core.text.languages import language_of
from rag_core.text.terms import terms
from rag_core.text.tokens import tokens
from rag_core.text.wordlists import stop_words

Floats = NDArray[np.float64]

_OTHER_NUMBER = 0.5  # the most that one figure is a match for another
_MATCH, _STEEPNESS = 0.6, 0.06  # a cosine of token vectors from which a word counts as matched, and how sharply
_OPERATIONS = frozenset(
    {
        "together",
        "altogether",
        "combined",
        "sum",
        "plus",
        "versus",
        "vs",
        "compare",
        "compared",
        "comparing",
        "cheaper",
        "dearer",
    }
    | {"differ", "difference", "fraction", "proportion", "ratio"}
)


@dataclass(frozen=True, slots=True)
class Word:
    """A content word of a question: its text and its span there; the words that name a day are one."""

    text: str
    start: int
    end: int
    day: Day | None = None

    @property
    def is_number(self) -> bool:
        """Whether it holds a digit."""
        return any(character.isdigit() for character in self.text)

    @property
    def is_code(self) -> bool:
        """Whether it holds both digits and letters: "E4", "DW-645b"."""
        return self.is_number and any(map(str.isalpha, self.text))

    @property
    def is_name(self) -> bool:
        """Whether it has a capital that is not owed to the question's beginning."""
        return self.text[:1].isupper() and self.start > 0


@dataclass(frozen=True, slots=True)
class Matches:
    """Matches 0..1 of the question's words, one row for each quote of `every` in order.

    own: in the quote alone, float64 (quotes, words). prefix: in its document's title and section. nearness: cosine of
    the quote's mean token vector with the question's, (quotes,). asked: the other way round, how far the question has
    what the quote says: mean best cosine of the quote's tokens among the question's, (quotes,). between: own and asked
    for a passage's span on its page.
    """

    words: tuple[Word, ...]
    own: Floats
    prefix: Floats
    nearness: Floats
    asked: Floats
    every: tuple[Quote, ...]
    between: Callable[[int, int, int], tuple[Floats, float]]

    def with_near(self, places: Sequence[int]) -> Floats:
        """The best matches among some quotes, (words,)."""
        best: Floats = self.own[list(places)].max(axis=0)
        return best


def content_words(question: str, spoken: Sequence[str] = ()) -> tuple[Word, ...]:
    """The words of a question that say what it is about, in order; no acronym behind what it stands for, and no word
    for what is to be done with the figures, as long as there are others.

    spoken: the languages of what is read, the commonest first; function words of others are none.
    """
    found: list[Word] = []
    said, language = defined(question), language_of(question, spoken[0] if spoken else "en", spoken)
    others = language if language in spoken and language != "en" else ""
    days = find_days(question)
    found += [Word(question[one.start : one.end], one.start, one.end, one) for one in days]
    for token in tokens(question):
        text = question[token.start : token.end]
        again = any(start <= token.start < end for start, end in said)
        if others and (text.casefold() in stop_words(others) or asks(text, others)):
            continue
        apart = all(token.end <= word.start or word.end <= token.start for word in found)
        if terms(text) and not again and apart:
            found.append(Word(text, token.start, token.end))
    found.sort(key=lambda word: word.start)
    return tuple(word for word in found if word.text.casefold() not in _OPERATIONS) or tuple(found)


def matched(question: str, passages: Sequence[Passage], every: Sequence[Quote], encode_tokens: EncodeTokens) -> Matches:
    """Match a question's words with every quote of the passages; one call of `encode_tokens`."""
    prefixes = [passage.context for passage in passages]
    texts = [prefix + passage.text for prefix, passage in zip(prefixes, passages, strict=True)]
    asked, *read = encode_tokens([question, *texts])
    spoken = Counter(hit.document.main_language for passage in passages for hit in passage.hits)
    words = content_words(question, [language for language, _ in spoken.most_common()])
    pieces = _pieces(words, asked[1])
    middle = asked[0].mean(axis=0)
    heads = [
        _best(asked[0], vectors[: np.searchsorted(spans[:, 0], len(prefix))], pieces)
        for prefix, (vectors, spans) in zip(prefixes, read, strict=True)
    ]

    def vectors_of(passage: int, start: int, end: int) -> NDArray[np.float32]:
        vectors, spans = read[passage]
        offset = len(prefixes[passage]) - passages[passage].start
        first, last = np.searchsorted(spans[:, 0], (start + offset, end + offset))
        return vectors[first:last]

    def between(passage: int, start: int, end: int) -> tuple[Floats, float]:
        vectors = vectors_of(passage, start, end)
        begin = passages[passage].start
        text = passages[passage].text[start - begin : end - begin]
        row = _with_exact(words, text, passages[passage].hits[0], _best(asked[0], vectors, pieces))
        return row, _asked(asked[0], vectors)

    own, nearness, back = [], [], []
    for quote in every:
        vectors = vectors_of(quote.passage, quote.start, quote.end)
        own.append(_best(asked[0], vectors, pieces))
        nearness.append(_cosine(vectors, middle))
        back.append(_asked(asked[0], vectors))
    prefix_rows = [heads[quote.passage] for quote in every]
    _exact(words, [quote.text for quote in every], every, own)
    _exact(words, [prefixes[quote.passage] for quote in every], every, prefix_rows)
    shape = (len(every), len(words))
    return Matches(
        words, np.asarray(own).reshape(shape), np.asarray(prefix_rows).reshape(shape), np.asarray(nearness),
        np.asarray(back), tuple(every), between,
    )  # fmt: skip


def counted(matches: Floats) -> Floats:
    """Matches as near to 0 or 1 as they are sure."""
    found: Floats = 1 / (1 + np.exp(-(matches - _MATCH) / _STEEPNESS))
    return found


def _pieces(words: Sequence[Word], spans: NDArray[np.int64]) -> Floats:
    """How tokens make words: float64 (words, t), rows that sum to 1."""
    shares = np.array(
        [(spans[:, 0] >= word.start) & (spans[:, 1] <= word.end) for word in words], dtype=np.float64
    ).reshape(len(words), len(spans))
    found: Floats = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1)
    return found


def _best(asked: NDArray[np.float32], vectors: NDArray[np.float32], pieces: Floats) -> Floats:
    """Each word's match among some tokens, (words,)."""
    if not len(vectors):
        return np.zeros(len(pieces))
    found: Floats = pieces @ (asked @ vectors.T).max(axis=1)
    return found


def _cosine(vectors: NDArray[np.float32], middle: NDArray[np.float32]) -> float:
    if not len(vectors):
        return 0.0
    mean = vectors.mean(axis=0)
    return float(mean @ middle / max(float(np.linalg.norm(mean) * np.linalg.norm(middle)), 1e-9))


def _asked(asked: NDArray[np.float32], vectors: NDArray[np.float32]) -> float:
    return float((vectors @ asked.T).max(axis=1).mean()) if len(vectors) else 0.0


def _exact(words: Sequence[Word], texts: Sequence[str], every: Sequence[Quote], rows: list[Floats]) -> None:
    """Make a match 1 where the same stem stands there; figures match no others."""
    for place, (text, quote) in enumerate(zip(texts, every, strict=True)):
        rows[place] = _with_exact(words, text, quote.hit, rows[place])


def _with_exact(words: Sequence[Word], text: str, hit: Hit, row: Floats) -> Floats:
    language = hit.document.main_language
    held = term_set(text, language)
    days = find_days(text) if any(word.day for word in words) else ()
    same = np.array([
        any(map(word.day.is_same, days)) if word.day else not held.isdisjoint(term_set(word.text, language))
        for word in words
    ], dtype=bool)  # fmt: skip
    figures = np.array([word.is_number for word in words], dtype=bool)
    found: Floats = np.where(same, 1.0, np.clip(np.where(figures, np.minimum(row, _OTHER_NUMBER), row), 0.0, 1.0))
    return found


@lru_cache(maxsize=2048)
def term_set(text: str, language: str) -> frozenset[str]:
    """The terms of a text in a language, remembered."""
    return frozenset(terms(text, language))
