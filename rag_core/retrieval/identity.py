"""Which documents a question means: its names, years and periods against what a person would call each document.

A document's card has the terms of its title, its file names, a note's aliases and tags, the names that it introduces,
and with less weight of the other names, the years and the authors on its first page. A term that few cards have says
more (inverse document frequency).
"""

from __future__ import annotations

import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rag_core.storage.indexes import LexicalIndex
from rag_core.storage.postgres.passages import CardRow, Passages
from rag_core.text.coined import coined_names
from rag_core.text.front_matter import note_names
from rag_core.text.stems import stem
from rag_core.text.wordlists import STOP_WORDS

_FIRST_PAGE_WEIGHT = 0.25
# A shorter text has no cover: what it begins with is its content.
_COVERED_PAGES = 3
# Cards of one term beyond which it tells nothing apart, where there are many.
_COMMON_SHARE, _MANY = 0.2, 1_000
_LEAST = 0.25
_MOST = 50
_FOLDERS = 2  # above a file, by whose names it may be called: what all are in tells nothing apart
_CALLED = 4  # names that are told of a document

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_QUARTER = re.compile(r"\b(first|second|third|fourth|1st|2nd|3rd|4th)[ -]quarter\b")
_PERIODS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b10[- ]?k\b|\bannual reports?\b"), " form10k "),
    (re.compile(r"\b10[- ]?q\b|\bquarterly reports?\b"), " form10q "),
    (re.compile(r"\b8[- ]?k\b"), " form8k "),
    (re.compile(r"\bfy ?['’]?(\d\d)(?!\d)"), r" 20\1 "),
    (re.compile(r"\bfy(?=\d{4})"), " "),
    (re.compile(r"\b((?:19|20)\d\d)q([1-4])\b"), r"\1 q\2"),
    (re.compile(r"\bq([1-4])((?:19|20)\d\d)\b"), r"q\1 \2"),
    (re.compile(r"\b([1-4])q\b|\bq ([1-4])\b"), r"q\1\2"),
)
_CAMEL = re.compile(r"(?<=[a-z]{3})(?=[A-Z])")  # not in McDonald
_POSSESSIVE = re.compile(r"['’]s\b")
_TERM = re.compile(r"form\d+[kq]|[a-z]+\d+|\d+[a-z]+|\d+(?:\.\d+)?|[^\W\d_]+(?:&[^\W\d_]+)?")
# A letter, or a number that is no year, names no document.
_BARE = re.compile(r"[a-z]|(?!(?:19|20)\d\d$)[\d.]+")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W\d_][\w&.'’-]*")
_EXTENSION = re.compile(r"\.\w{1,5}$")
# Words of nearly any title, or of any question, that mean no document.
_WEAK = frozenset(
    """document documents paper file pdf page pages form report text company year fiscal quarter""".split()  # noqa: SIM905
)
_THIS = re.compile(
    r"\b(?:this|the|that) (?:paper|document|file|report|article|book|pdf|text|manual|contract|filing|study)\b",
    re.IGNORECASE,
)

_PERIOD = re.compile(r"(?:19|20)\d\d|q[1-4]|form\d+[kq]")
_COMPARING = re.compile(r"\b(?:or|and|vs|versus|against|compar\w+|differ\w*|than|both|each)\b|,", re.IGNORECASE)
_NAMELIKE, _SIDES = 0.5, 4
_APART = 0.5  # of the documents have a name at most, where it tells them apart

Weights = dict[str, float]
Rarities = Callable[[Sequence[str]], Mapping[str, float]]
"""Terms to their inverse document frequencies among chunks, as BM25 has them."""


def identity_terms(text: str) -> list[str]:
    """Terms that can name a document: stems, years, quarters as "q2", kinds of filing as one word each."""
    plain = _CAMEL.sub(" ", unicodedata.normalize("NFKC", text)).replace("_", " ").casefold()
    plain = _QUARTER.sub(lambda match: f" q{_ORDINALS[match[1]]} ", _POSSESSIVE.sub("", plain))
    for pattern, instead in _PERIODS:
        plain = pattern.sub(instead, plain)
    return [
        word if not word.isalpha() else stem(word)
        for word in _TERM.findall(plain)
        if word not in STOP_WORDS and word not in _WEAK and not _BARE.fullmatch(word)
    ]


@dataclass(frozen=True)
class Card:
    """What a person would know a document by. weights: its terms with theirs. first_page: its beginning."""

    weights: Weights
    first_page: str

    @classmethod
    def of(cls, row: CardRow) -> Card:
        """The card that a document's row gives."""
        first = identity_terms(row.authors)
        if row.pages >= _COVERED_PAGES:
            first += [*identity_terms(_names(row.first_page)), *_YEAR.findall(row.first_page)]
        named = identity_terms(" ".join([row.title, *note_names(row.first_page), *coined_names(row.first_page)]))
        for source in row.sources:
            *folders, name = source.split("/")
            named += identity_terms(" ".join([*folders[-_FOLDERS:], _EXTENSION.sub("", name)]))
        return cls(dict.fromkeys(first, _FIRST_PAGE_WEIGHT) | dict.fromkeys(named, 1.0), row.first_page)

    @cached_property
    def names(self) -> frozenset[str]:
        """The terms of all names that it has, found when they are first asked for."""
        return frozenset([*self.weights, *identity_terms(_names(self.first_page))])

    def goes_by(self, name: str, terms: Sequence[str], calling: Collection[str]) -> bool:
        """Whether a word of a question, of some terms, is a name of it; calling: those that are so in small letters."""
        if name[:1].isupper():
            return not self.names.isdisjoint(terms)
        return any(self.weights.get(term, 0.0) >= 1 and term in calling for term in terms)


@dataclass(frozen=True, slots=True)
class Meant:
    """The documents that a question may mean, with how surely, 0..1, the surest first.

    sides: where it names several apart ("Apple or Costco"), the documents of each name.
    """

    documents: Mapping[str, float] = field(default_factory=dict)
    sides: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """Ready documents and their chunks, and a sum that differs when documents come, go or get another title.

    waiting: whether the lexical index has any document to take yet. snapshot: what of the database this is of.
    """

    documents: int
    chunks: int
    digest: int
    waiting: bool
    snapshot: str = field(compare=False)


class Cards:
    """The cards of all ready documents, in memory, brought up to date when a search finds them changed. Thread-safe.

    counts: as of the last refresh.
    """

    def __init__(self, passages: Passages, rarities: Rarities = lambda _: {}) -> None:
        self._passages = passages
        self._rarities = rarities
        self._lock = threading.Lock()
        self.counts: Counts | None = None
        self._cards: dict[str, tuple[int, Card]] = {}
        self._sizes: dict[str, int] = {}
        self._languages: dict[str, str] = {}
        self._holders: dict[str, Weights] = {}

    def refresh(self) -> Counts:
        """Bring the cards up to date: one short statement where nothing changed. Raises StoreUnavailable."""
        held = self.counts
        if held is not None and held.snapshot == self._passages.snapshot():
            return held
        counts = Counts(*self._passages.counts(LexicalIndex.name))
        if self.counts is None or counts.digest != self.counts.digest:
            with self._lock:
                self._follow()
        self.counts = counts
        return counts

    def languages(self) -> list[str]:
        """The languages of the documents (ISO 639-1), the commonest first."""
        with self._lock:
            return [language for language, _ in Counter(self._languages.values()).most_common()]

    def meant(self, question: str, among: Collection[str] | None = None) -> Meant:
        """What documents a question means, of some where they are given, as if there were no others."""
        return Meant(self._documents(question, among), tuple(self._apart(question, among)))

    def called(self, question: str, ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The names in a question by which some documents go, for each of them; none of a question in capitals.

        A word in small letters is one where it tells documents apart, or where no text has it, as it was clear to those
        that wrote it ("the gym" of gym.txt).
        """
        words = () if question.isupper() else _WORD.findall(question)
        names = {_POSSESSIVE.sub("", word).rstrip(".'’-"): identity_terms(word) for word in words}
        with self._lock:
            cards = {key: self._cards[key][1] for key in ids if key in self._cards}
            calling = self._calling([term for terms in names.values() for term in terms])
        found = {
            key: [name for name, terms in names.items() if card.goes_by(name, terms, calling)]
            for key, card in cards.items()
        }
        return {key: tuple(some[:_CALLED]) for key, some in found.items()}

    def _documents(self, question: str, among: Collection[str] | None) -> dict[str, float]:
        with self._lock:
            there = self._cards.keys() if among is None else self._cards.keys() & among
            if _THIS.search(question) and len(there) == 1:
                return dict.fromkeys(there, 1.0)
            terms = list(dict.fromkeys(identity_terms(question)))
            scores = self._scores(terms, self._namelike(terms), there)
            best, many = max(scores.values(), default=0.0), len(there)
        if best <= 0:
            return {}
        surely = min(1.0, best / math.log(1 + many)) / best
        found = sorted(((score * surely, key) for key, score in scores.items()), key=lambda item: (-item[0], item[1]))
        return {key: round(score, 4) for score, key in found[:_MOST] if score >= _LEAST * found[0][0]}

    def _apart(self, question: str, among: Collection[str] | None) -> list[frozenset[str]]:
        if not _COMPARING.search(question):
            return []
        with self._lock:
            terms = [term for term in dict.fromkeys(identity_terms(question)) if not _PERIOD.fullmatch(term)]
            namelike = self._namelike(terms)
            named = {
                frozenset(
                    key
                    for key, weight in self._holders.get(term, {}).items()
                    if weight >= 1 and (among is None or key in among)
                )
                for term in terms
                if namelike[term] >= _NAMELIKE
            }
            most = max(1, len(self._cards if among is None else among) // 4)
        apart: list[frozenset[str]] = []
        for side in sorted(named, key=lambda side: (len(side), sorted(side))):
            if 0 < len(side) <= most and not any(side & other for other in apart):
                apart.append(side)
        return apart[:_SIDES] if len(apart) > 1 else []

    def _namelike(self, terms: Sequence[str]) -> Weights:
        """How far terms are names of documents, 0..1: chunks of those so called among all chunks that hold the term."""
        found = {}
        for term, holding in self._holding(terms).items():
            so_called = sum(self._sizes[key] for key, weight in self._holders.get(term, {}).items() if weight >= 1)
            found[term] = min(1.0, so_called / holding) if so_called and holding >= 1 else 1.0
        return found

    def _calling(self, terms: Sequence[str]) -> set[str]:
        """The terms that are names however they are written."""
        called = {term: sum(weight >= 1 for weight in self._holders.get(term, {}).values()) for term in terms}
        apart = {term for term, some in called.items() if some <= _APART * len(self._cards)}
        holding, namelike = self._holding(terms), self._namelike(terms)
        return {term for term in terms if holding[term] < 1 or (term in apart and namelike[term] >= _NAMELIKE)}

    def _holding(self, terms: Sequence[str]) -> Weights:
        """About how many chunks hold each term, by its inverse document frequency; below 1 where none does."""
        rarities, chunks = self._rarities(terms), sum(self._sizes.values())
        return {term: (chunks + 1) / math.exp(rarities[term]) - 0.5 if term in rarities else 0.0 for term in terms}

    def _scores(self, terms: Iterable[str], namelike: Weights, among: Collection[str]) -> Weights:
        scores: Weights = {}
        many = len(among)
        for term in terms:
            held = self._holders.get(term, {})
            if many < len(self._cards):
                held = {key: weight for key, weight in held.items() if key in among}
            if not held or (many > _MANY and len(held) > _COMMON_SHARE * many):
                continue
            rarity = math.log(1 + (many - len(held) + 0.5) / (len(held) + 0.5))
            for key, weight in held.items():
                scores[key] = scores.get(key, 0.0) + weight * rarity * namelike[term]
        return scores

    def _follow(self) -> None:
        present = self._passages.card_digests()
        for key in [key for key, (digest, _) in self._cards.items() if present.get(key) != digest]:
            del self._sizes[key], self._languages[key]
            for term in self._cards.pop(key)[1].weights:
                self._holders[term].pop(key, None)
                if not self._holders[term]:
                    del self._holders[term]
        for row in self._passages.cards([key for key in present if key not in self._cards]):
            card = Card.of(row)
            self._cards[row.document_id] = (present[row.document_id], card)
            self._sizes[row.document_id], self._languages[row.document_id] = row.chunks, row.language
            for term, weight in card.weights.items():
                self._holders.setdefault(term, {})[row.document_id] = weight


def _names(page: str) -> str:
    """The words of a first page that are never written in lower case there."""
    words = [word.rstrip(".'’-") for word in _WORD.findall(page)]
    lower = {word.casefold() for word in words if word[:1].islower()}
    return " ".join(word for word in words if not word[:1].islower() and word.casefold() not in lower)
