"""The words of a question as a table is asked by them: in English, by their stems, those that tell something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rag_core.tables.columns import normalised
from rag_core.tables.question_words import in_english
from rag_core.tables.translations import translations
from rag_core.text.days import MONTHS
from rag_core.text.languages import language_of
from rag_core.text.stems import fold, stem
from rag_core.text.tokens import tokens
from rag_core.text.wordlists import NUMBER_WORDS, STOP_WORDS, stop_words

_TOKEN = re.compile(r"[^\W_]+")
_DAY = re.compile(r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?")
_FEWEST_LETTERS = 3
_MOST_ASKED = 20
_NEIGHBOURS = re.compile(
    r"\b(?:after|before|next|previous|follow(?:s|ed|ing)|preced(?:es|ed|ing)|below|above|behind|prior|succeeded"
    r"|nach|vor|nächste\w?|vorige\w?|après|avant|suivante?|précédente?)\b",
    re.IGNORECASE,
)
UNTIL = frozenset(("to", "until", "till", "through", "bis", "à", "al", "tot"))
AND, BETWEEN = frozenset(("and", "und", "et", "y", "en")), frozenset(("between", "zwischen", "entre", "tussen"))
_IN = frozenset(("in", "im", "en", "of", "from", "during", *UNTIL, *BETWEEN))
# "Since March" says no month, and which days it does say is open without a year.
_OPEN = frozenset(("since", "after", "before", "seit", "ab", "nach", "vor", "depuis", "après", "avant"))
_NEGATIONS = frozenset(
    ("not", "except", "excluding", "without", "besides", "nicht", "kein", "keine", "keinen", "außer", "ohne", "pas",
     "sauf", "sans")
)  # fmt: skip
_CONTRACTED = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|ca|could|wo|would)n")
_SHOUTED = frozenset(("AND", "NOT", "OR"))
_EACH = frozenset(("per", "pro", "par"))  # in small letters; "Per" is a name


@dataclass(frozen=True)
class Words:
    """A question in words."""

    text: str

    @cached_property
    def matches(self) -> list[re.Match[str]]:
        """Each word where it stands."""
        return list(_TOKEN.finditer(self.text))

    @cached_property
    def plain(self) -> list[str]:
        """The words as cells are compared."""
        return [fold(match[0].casefold()) for match in self.matches]

    @cached_property
    def english(self) -> list[list[str]]:
        """What each word is in the English of questions (see `in_english`)."""
        return in_english(self.plain, language_of(self.text), "tables")

    @cached_property
    def said(self) -> list[str]:
        """The words in small letters, with their accents."""
        return [match[0].casefold() for match in self.matches]

    @cached_property
    def stems(self) -> list[str]:
        """The words' stems."""
        return [stem(word) for word in self.plain]

    @cached_property
    def translated(self) -> list[tuple[str, ...]]:
        """What each word is in other languages, of those that tables are made of."""
        language = language_of(self.text)
        return [translations(word, language) for word in self.stems]

    @cached_property
    def telling(self) -> list[int]:
        """The places of the words that are no function words."""
        function_words = STOP_WORDS | stop_words(language_of(self.text))
        return [
            place for place, word in enumerate(self.plain)
            if word.isdigit() or is_month(self, place) or place in self.acronyms
            or (
                len(word) > 1 and not {word, self.said[place]} & function_words and self.matches[place][0] not in _EACH
                and not STOP_WORDS.issuperset(self.english[place])
            )
        ]  # fmt: skip

    @cached_property
    def acronyms(self) -> frozenset[int]:
        """The places of words in capitals in a question that is not, which no function word is: "IT"."""
        said = [] if self.text.isupper() else [match[0] for match in self.matches]
        return frozenset(place for place, word in enumerate(said) if len(word) > 1 and word.isupper()) - {
            place for place, word in enumerate(said) if word in _SHOUTED
        }

    @cached_property
    def name_neighbours(self) -> bool:
        """Whether they speak of what stands before or behind something."""
        return _NEIGHBOURS.search(self.text) is not None

    @cached_property
    def negations(self) -> list[int]:
        """The places of "not" and its like."""
        return [
            place for place, word in enumerate(self.said)
            if word in _NEGATIONS or (_CONTRACTED.fullmatch(word) and self.said[place + 1 : place + 2] == ["t"])
        ]  # fmt: skip

    @cached_property
    def sizes(self) -> dict[int, int]:
        """The small numbers among them, which may say how many are asked for, by their places."""
        said = (" ".join(some) for some in self.english)
        found = {
            place: int(NUMBER_WORDS.get(word, word)) for place, word in enumerate(said)
            if word in NUMBER_WORDS or (word.isdecimal() and len(word) < _FEWEST_LETTERS)
        }  # fmt: skip
        return {place: size for place, size in found.items() if 1 < size <= _MOST_ASKED}

    @cached_property
    def days(self) -> list[tuple[int, int]]:
        """The words of each day of a month: "14 May", "May 14th"."""
        found = ((place, place + 2) for place in range(len(self.said) - 1))
        return [(first, last) for first, last in found if _is_day(*self.said[first:last])]

    @cached_property
    def codes(self) -> list[tuple[int, int]]:
        """The words of each code of letters and digits that is several words: "A-1643"."""
        marks = [self.span(token.start, token.end) for token in tokens(self.text) if token.kind == "code"]
        return [(first, last) for first, last in marks if last > first + 1 and self._is_mixed(first, last)]

    def _is_mixed(self, first: int, last: int) -> bool:
        text = "".join(self.plain[first:last])
        return any(map(str.isalpha, text)) and any(map(str.isdigit, text))

    def is_cut(self, first: int, last: int) -> bool:
        """Whether some words hold a part of a code or of a day, which says nothing by itself."""
        return any(
            max(first, begin) < min(last, end) and not first <= begin < end <= last
            for begin, end in (*self.codes, *self.days)
        )

    def is_run(self, first: int, last: int) -> bool:
        """Whether some words say from when to when: "between March and May"."""
        return any(word in UNTIL | AND for word in self.said[first + 1 : last - 1])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The words that a span of characters holds, as places."""
        inside = [place for place, match in enumerate(self.matches) if match.start() >= start and match.end() <= end]
        return (inside[0], inside[-1] + 1) if inside else (0, 0)


def moment_of(said: Sequence[str]) -> float:
    """The number of a month that is said, with the day of it, where there is one, in the decimals; 0 where none is."""
    month = next((MONTHS[word] for word in said if word in MONTHS), 0)
    day = next((word for word in said if _DAY.fullmatch(word)), "0")
    return month + int(day.rstrip("stndrh")) / 100 if month else 0.0


def _is_day(one: str, other: str) -> bool:
    number, month = (one, other) if other in MONTHS else (other, one)
    return month in MONTHS and _DAY.fullmatch(number) is not None


def is_month(words: Words, place: int) -> bool:
    """Whether a word names a month; those that mean something else too ("may") where they can only be the month."""
    word, before = words.said[place], words.said[place - 1] if place else ""
    is_short = word in STOP_WORDS or len(word) <= _FEWEST_LETTERS
    if word not in MONTHS or before in _OPEN:
        return False
    return not is_short or before in _IN or bool(place and words.matches[place][0][0].isupper())


def heads_named(words: Words, heads: Sequence[str]) -> list[list[int]]:
    """For each head the places of the question's words that it has too, or begins: "temp_max" those of "maximum
    temperature", or that are the same in another language; a function word where it is the whole head: "for each
    kind"."""
    telling = {*words.telling}
    return [
        [
            place for place, word in enumerate(words.plain)
            if (word == said and len(word) > _FEWEST_LETTERS)
            or (place in telling and any(_is_same(words, place, part) for part in said.split()))
        ]
        for said in map(normalised, heads)
    ]  # fmt: skip


def _is_same(words: Words, place: int, part: str) -> bool:
    begins = len(part) >= _FEWEST_LETTERS and words.plain[place].startswith(part)
    return begins or stem(part) in (words.stems[place], *map(stem, words.translated[place]))
