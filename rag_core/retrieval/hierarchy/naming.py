"""Clusters named by their words: those that are frequent in a cluster and rare in the others."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rag_core.text.stems import stem
from rag_core.text.tokens import tokens
from rag_core.text.wordlists import STOP_WORDS

MOST_TERMS = 8
_SHARE = 10_000
_SHORTEST = 3
# Scripts without upper case have words of two characters; one says little by itself.
_SHORTEST_UNCASED = 2


def count_words(texts: Iterable[str]) -> Counter[str]:
    """How often each content word stands in some texts, lower case; no numbers and no function words."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(token.text for token in tokens(text) if token.kind in ("word", "pair"))
    return Counter({word: count for word, count in counts.items() if _says_something(word)})


def together(documents: Sequence[Mapping[str, int]]) -> Counter[str]:
    """The words that most of some documents share, in ten thousand words: the lower median of how often each has them.

    So a long document says no more than a short one, and one that fits least does not name the others. Where they
    share no word: the mean.
    """
    held: defaultdict[str, list[int]] = defaultdict(list)
    for words in documents:
        length = max(1, sum(words.values()))
        for word, count in words.items():
            held[word].append(math.ceil(_SHARE * count / length))
    most = len(documents) // 2 + 1
    shared = {word: sorted(counts)[len(counts) - most] for word, counts in held.items() if len(counts) >= most}
    return Counter(shared or {word: math.ceil(sum(counts) / len(documents)) for word, counts in held.items()})


def weigh(classes: Sequence[Mapping[str, int]]) -> list[dict[str, float]]:
    """The weight of every stem in each class, given their words with counts.

    c-TF-IDF (Grootendorst, BERTopic, 2022): a class is one long text, its stems weighted by how seldom all classes
    together have them.
    """
    stems = [_by_stem(counts) for counts in classes]
    overall: Counter[str] = Counter()
    for counts in stems:
        overall.update(counts)
    mean = sum(overall.values()) / max(1, len(classes))
    return [
        {
            term: count / max(1, counts.total()) * math.log(1 + mean / overall[term])
            for term, count in counts.items()
        }
        for counts in stems
    ]  # fmt: skip


def name(classes: Sequence[Mapping[str, int]], most: int = MOST_TERMS) -> list[tuple[str, ...]]:
    """The words that name each class, best first, in the form in which they are written most often."""
    forms = _forms(classes)
    return [
        tuple(forms[term] for term, _ in sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:most])
        for weights in weigh(classes)
    ]


def _says_something(word: str) -> bool:
    shortest = _SHORTEST_UNCASED if word.upper() == word else _SHORTEST
    return word not in STOP_WORDS and not word[0].isdigit() and len(word) >= shortest


def _by_stem(counts: Mapping[str, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for word, count in counts.items():
        found[stem(word)] += count
    return found


def _forms(classes: Sequence[Mapping[str, int]]) -> dict[str, str]:
    """The most frequent word of each stem."""
    found: dict[str, Counter[str]] = {}
    for counts in classes:
        for word, count in counts.items():
            found.setdefault(stem(word), Counter())[word] += count
    return {term: min(words, key=lambda word: (-words[word], len(word), word)) for term, words in found.items()}
