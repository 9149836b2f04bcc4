"""Words of a text as search terms: lower case, without function words, cut to their stems; and BM25 over them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from rag_core.text.wordlists import NUMBER_WORDS, STOP_WORDS

# Chinese and Japanese are written without spaces: each character is a term of its own.
_TERM = re.compile(r"\d+(?:[.,]\d+)*|[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_HYPHENATED = re.compile(r"(?<=\w)(?:\u00ad|-[ \t]*\r?\n[ \t]*(?=[a-z]))")
_PLURALS = (("sses", "ss"), ("ies", "y"), ("ied", "y"), ("ss", "ss"), ("us", "us"), ("is", "is"), ("s", ""))
_ENDINGS = ("ingly", "edly", "ing", "ed", "ment", "ation", "ition", "ion", "ally", "ly", "ers", "er", "or")
_VOWEL = re.compile(r"[aeiouy]")


def normalise_number(text: str) -> str:
    """One spelling for one number, without separators of thousands or idle zeros: "1,200.50" becomes "1200.5"."""
    text = text.rstrip(".,")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        text = text.replace(",", "")
    text = text.replace(",", ".") if text.count(",") == 1 and "." not in text else text
    if text.count(".") == 1:
        text = text.rstrip("0").rstrip(".")
    return text.lstrip("0") or "0"


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Cut an English word's endings of number, time and degree; a light form of Porter's stemmer (1980)."""
    if len(word) <= 3 or not word.isascii():
        return word
    for ending, instead in _PLURALS:
        if word.endswith(ending):
            word = word[: len(word) - len(ending)] + instead
            break
    for ending in _ENDINGS:
        root = word[: len(word) - len(ending)]
        if word.endswith(ending) and len(root) >= 3 and _VOWEL.search(root):
            word = root
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 2 and word[-1] == "y" else word


def words(text: str) -> list[str]:
    """All words and numbers of a text in lower case, hyphenation at line ends undone."""
    plain = _HYPHENATED.sub("", unicodedata.normalize("NFKC", text).replace("’", "'"))
    return _TERM.findall(plain.casefold())


def terms(text: str) -> list[str]:
    """Stems of the content words of a text, numbers in one spelling, in order and with repetitions."""
    found = []
    for word in words(text):
        if word[0].isdigit():
            found.append(normalise_number(word))
        elif word in NUMBER_WORDS:
            found.append(NUMBER_WORDS[word])
        elif word not in STOP_WORDS and (len(word) > 1 or not word.isascii()):
            found.append(stem(word))
    return found


def numbers(text: str) -> set[str]:
    """Numbers of a text in one spelling, those written in words included."""
    plain = unicodedata.normalize("NFKC", text)
    spelled = {NUMBER_WORDS[word] for word in words(plain) if word in NUMBER_WORDS}
    return {normalise_number(match) for match in _NUMBER.findall(plain)} | spelled


def coverage(wanted: Sequence[str], held: Sequence[str] | set[str]) -> float:
    """Share of distinct wanted terms that are held, 0..1; 1 when nothing is wanted."""
    distinct = set(wanted)
    return len(distinct & set(held)) / len(distinct) if distinct else 1.0


class Bm25:
    """BM25 (Robertson and Zaragoza 2009) over a handful of texts, k1 = 0.9 and b = 0.4 as in Anserini."""

    def __init__(self, texts: Sequence[Sequence[str]], *, k1: float = 0.9, b: float = 0.4) -> None:
        self._counts = [Counter(text) for text in texts]
        self._lengths = [max(len(text), 1) for text in texts]
        self._mean = sum(self._lengths) / max(len(texts), 1)
        self._holders = Counter(term for counts in self._counts for term in counts)
        self._k1, self._b = k1, b

    def weight(self, term: str) -> float:
        """Inverse document frequency of a term, always above 0."""
        holders = self._holders[term]
        return math.log(1 + (len(self._counts) - holders + 0.5) / (holders + 0.5))

    def scores(self, query: Sequence[str]) -> list[float]:
        """One score for each text, on a scale where 1 is the most that this query could reach."""
        wanted = set(query)
        best = sum(self.weight(term) for term in wanted) * (self._k1 + 1)
        return [self._score(wanted, index) / best if best else 0.0 for index in range(len(self._counts))]

    def _score(self, wanted: set[str], index: int) -> float:
        counts = self._counts[index]
        norm = self._k1 * (1 - self._b + self._b * self._lengths[index] / self._mean)
        return sum(self.weight(t) * counts[t] * (self._k1 + 1) / (counts[t] + norm) for t in wanted if counts[t])
