"""What speaks for and against a sentence: its words, names, figures and negations held to some passages.

A word's match is that of late interaction (see rag_core.answering.matching). A figure or a name that the
passages have is compared with the others of its kind there: where one of those stands in surroundings that match the
sentence better, the sentence may have taken it from another row, column or clause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

import numpy as np
from numpy.typing import NDArray

from rag_core.answering.claims.agreement import agrees
from rag_core.answering.claims.measures import Mention, currencies_of, mentions, rates_of
from rag_core.answering.claims.negation import negations
from rag_core.answering.claims.source import Context, Occurrence, Source, stems, words_of
from rag_core.answering.matching import Word, content_words, counted
from rag_core.answering.passages import Quote
from rag_core.text.terms import terms

Floats = NDArray[np.float64]
Place = tuple[int, int]
"""A sentence of a source: the numbers of both."""

_QUOTES, _LEAST_GAIN, _CLEAR_GAIN = 3, 0.04, 0.1  # sentences to lean on, and what one must add to a claim's match
_ALIGNED = 0.5  # a match from which a word is taken to be said
_DENIED = 0.1  # a match from which a claim has something of what is denied
_FURTHEST = 3.0  # words by which surroundings can match better
_COMMON, _LONG = 4, 0.55  # letters, and share of the shorter word, that names of one root share: Korea, Korean
_NOWHERE = -9.0
ONE = "one"  # as often a pronoun as a figure


@dataclass(slots=True)
class Claim:
    """A sentence as it is checked: `vectors` float32 (t, h) of its tokens and their `spans`."""

    text: str
    vectors: NDArray[np.float32]
    spans: NDArray[np.int64]
    words: tuple[Word, ...] = ()
    figures: tuple[Mention, ...] = ()
    pieces: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    is_figure: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    said: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.words = content_words(self.text)
        self.figures = tuple(mentions(self.text))
        self.pieces = _pieces(self.words, self.spans)
        self.said = words_of(self.text)
        self.is_figure = np.array(
            [any(one.start < word.end and word.start < one.end for one in self.figures) for word in self.words],
            dtype=np.bool_,
        )


def _pieces(words: Sequence[Word], spans: NDArray[np.int64]) -> Floats:
    """How tokens make words: float64 (words, t), rows that sum to 1."""
    rows = [(spans[:, 0] >= word.start) & (spans[:, 1] <= word.end) for word in words]
    shares = np.array(rows, dtype=np.float64).reshape(len(words), len(spans))
    found: Floats = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1)
    return found


class ClaimMatch:
    """A claim held to some sources: the matches of its words with their sentences, and what follows from those."""

    def __init__(self, claim: Claim, sources: Sequence[Source]) -> None:
        self.claim, self.sources = claim, sources
        self._near = [claim.vectors @ source.vectors.T for source in sources]
        self._stems = [[stems(word.text, source.language) for word in claim.words] for source in sources]
        self.held = [
            [(at, one) for at, source in enumerate(sources) for one in source.figures if agrees(figure, one, source)]
            for figure in claim.figures
        ]
        self.places = [(at, number) for at, source in enumerate(sources) for number in range(len(source.quotes))]
        prefixes = [
            self._matches(at, np.arange(source.head), stems(source.prefix, source.language))
            for at, source in enumerate(sources)
        ]
        self.prefix = counted(np.max(prefixes, axis=0))
        rows = [
            self._matches(at, self.sources[at].tokens[number], self.sources[at].stems[number])
            for at, number in self.places
        ]
        self.matches = counted(np.asarray(rows).reshape(len(self.places), len(claim.words)))
        self._figures_as_words()
        self.leant_on, self.gains = self._lean_on()

    def _matches(self, at: int, tokens: NDArray[np.int64], held: frozenset[str]) -> Floats:
        """Each word's match with some tokens of a source, (words,)."""
        row = np.zeros(len(self.claim.words))
        if len(tokens):
            row = self.claim.pieces @ self._near[at][:, tokens].max(axis=1)
        exact = [not held.isdisjoint(own) for own in self._stems[at]]
        found: Floats = np.where(np.array(exact, dtype=bool), 1.0, np.clip(row, 0.0, 1.0))
        return found

    def _figures_as_words(self) -> None:
        """A figure is matched where it stands as an amount, whatever its digits."""
        for index in np.flatnonzero(self.claim.is_figure):
            word = self.claim.words[index]
            which = next(n for n, one in enumerate(self.claim.figures) if one.start < word.end and word.start < one.end)
            standing = {(at, one.quote) for at, one in self.held[which]}
            self.matches[:, index] = [float(place in standing) for place in self.places]

    def _lean_on(self) -> tuple[list[int], list[float]]:
        """The sentences that together match most, the best first, and what each adds."""
        now = np.where(self.claim.is_figure, 0.0, self.prefix)
        chosen: list[int] = []
        gains: list[float] = []
        while len(chosen) < _QUOTES and len(self.places) and len(now):
            means = np.maximum(self.matches, now).mean(axis=1)
            best = int(means.argmax())
            gain = float(means[best] - now.mean())
            if chosen and gain < _LEAST_GAIN:
                break
            chosen.append(best)
            gains.append(gain)
            now = np.maximum(now, self.matches[best])
        return chosen or [0], gains or [0.0]

    @property
    def matched(self) -> float:
        """The share of the words, figures left out, that the sentences leant on match, 0..1."""
        plain = ~self.claim.is_figure
        return _mean(np.maximum(self.matches[self.leant_on].max(axis=0), self.prefix)[plain])

    @property
    def quote(self) -> Quote:
        """The sentence that matches most."""
        at, number = self.places[self.leant_on[0]]
        return self.sources[at].quotes[number]

    def context(self, at: int, context: Context) -> Floats:
        """How surely each word of the claim stands in some surroundings, (words,)."""
        return counted(self._matches(at, context.tokens, context.stems))

    def unheld(self) -> list[Mention]:
        """The figures that stand nowhere in the sources."""
        text = self.claim.text
        return [
            figure
            for figure, found in zip(self.claim.figures, self.held, strict=True)
            if not found and text[figure.start : figure.end].casefold() != ONE
        ]

    def signs(self) -> dict[str, float]:
        """Every sign by name; see `weights.json`."""
        return _of_words(self) | _of_names(self) | _of_figures(self) | _of_negation(self)


def _of_words(held: ClaimMatch) -> dict[str, float]:
    """How far the words are matched by the sentences leant on, by the best of them, and by the passages as a whole."""
    claim, plain = held.claim, ~held.claim.is_figure
    together = np.maximum(held.matches[held.leant_on].max(axis=0), held.prefix)[plain]
    every = np.maximum(held.matches.max(axis=0), held.prefix)[plain]
    alone = np.maximum(held.matches[held.leant_on[0]], held.prefix)[plain]
    at, number = held.places[held.leant_on[0]]
    source = held.sources[at]
    own = source.vectors[source.tokens[number]]
    across = claim.vectors @ own.T if len(own) else np.zeros((len(claim.vectors), 1))
    best = np.concatenate([one.max(axis=1, keepdims=True) for one in held._near], axis=1).max(axis=1)
    middle, mean = own.mean(axis=0) if len(own) else own.sum(axis=0), claim.vectors.mean(axis=0)
    return {
        "cover": _mean(together), "cover_every": _mean(every), "cover_best": _mean(alone),
        "worst": float(np.sort(every)[:3].mean()) if len(every) else 1.0,
        "near": float(middle @ mean / max(float(np.linalg.norm(middle) * np.linalg.norm(mean)), 1e-9)),
        "back": float(across.max(axis=0).mean()), "forth": float((claim.vectors @ source.vectors.T).max(axis=1).mean()),
        "weakest": float(np.sort(best)[:3].mean()), "order": _order(held), "short": 1 / max(len(claim.words), 1),
    }  # fmt: skip


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 1.0


def _order(held: ClaimMatch) -> float:
    """The share of the claim's neighbouring terms that are neighbours, or nearly, in a sentence leant on."""
    said = terms(held.claim.text)
    pairs = set(pairwise(said))
    standing = set()
    for at, number in (held.places[place] for place in held.leant_on):
        there = terms(held.sources[at].quotes[number].text)
        standing |= set(pairwise(there)) | set(zip(there, there[2:], strict=False))
    return len(pairs & standing) / max(len(pairs), 1)


def _of_names(held: ClaimMatch) -> dict[str, float]:
    """Names that stand nowhere, or not in the sentences leant on, and by how much another's surroundings fit better."""
    claim = held.claim
    places = [held.places[place] for place in held.leant_on]
    prefixes = [words_of(source.prefix) for source in held.sources]
    everywhere = frozenset().union(*prefixes, *(words for source in held.sources for words in source.words))
    nearby = frozenset().union(*prefixes, *(held.sources[at].words[number] for at, number in places))
    texts = [source.passage.text for source in held.sources]
    names = [
        word
        for word, figure in zip(claim.words, claim.is_figure, strict=True)
        if word.is_name and not figure and not currencies_of(word.text)
    ]
    first = claim.words[0] if claim.words and claim.words[0].start == 0 and not claim.is_figure[0] else None
    opens = first is not None and first.text[:1].isupper()
    if first is not None and opens and not _stands(first.text, everywhere, texts) and _like_a_name(held, first):
        names.append(first)
    missing = [word for word in names if not _stands(word.text, everywhere, texts)]
    far = [word for word in names if not _stands(word.text, nearby, texts)]
    others = max((_other_name(held, word) for word in (*names, *((first,) if first and opens else ()))), default=0.0)
    return {"names_missing": min(len(missing), 2.0), "names_far": min(len(far), 2.0), "other_name": max(others, 0.0)}


def _stands(name: str, words: frozenset[str], texts: Sequence[str]) -> bool:
    """Whether a name is among words, in another form of its root, or as the first letters of words in a text."""
    plain = name.casefold().removesuffix("'s").removesuffix("’s")
    held = stems(name, "en")
    for word in words:
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(plain, word, strict=False)))
        if shared >= _COMMON and shared >= _LONG * min(len(plain), len(word)):
            return True
    if plain in words or (held and held <= words):
        return True
    if any(part in words for part in words_of(plain)):
        return True
    initials = name.replace(".", "")
    return initials.isupper() and any(
        initials in "".join(w[0] for w in text.split() if w[0].isupper()) for text in texts
    )


def _like_a_name(held: ClaimMatch, word: Word) -> bool:
    """Whether what a claim's first word matches best is a name."""
    spans = held.claim.spans
    own = np.flatnonzero((spans[:, 0] >= word.start) & (spans[:, 1] <= word.end))
    best, named = -1.0, False
    for near, source in zip(held._near, held.sources, strict=True):
        if not len(own) or not near.shape[1]:
            continue
        row = near[own].mean(axis=0)
        token = int(row.argmax())
        if row[token] > best:
            begin, end = source.spans[token]
            text = (source.prefix + source.passage.text)[begin:end]
            known = {name.text.casefold() for name in source.names}
            best, named = float(row[token]), text[:1].isupper() and any(text.casefold() in name for name in known)
    return named


def _other_name(held: ClaimMatch, word: Word) -> float:
    """By how many words another name's surroundings match the claim better than this one's."""
    own, rivals = [], []
    index = held.claim.words.index(word)
    if held.prefix[index] > 0.99:
        return 0.0
    for at, source in enumerate(held.sources):
        mine = stems(word.text, source.language)
        titled = stems(source.prefix, source.language)
        for name in source.names:
            if not mine.isdisjoint(name.stems):
                own.append((at, name.around))
            elif name.text.casefold() not in held.claim.said and titled.isdisjoint(name.stems):
                rivals.append((at, name.around))
    keep = ~held.claim.is_figure
    keep[index] = False
    if not own:
        return 0.0
    return min(_better(held, rivals, own, lambda row: float(row[keep].sum())), _FURTHEST)


def _better(
    held: ClaimMatch, rivals: Iterable[tuple[int, Context]], own: Iterable[tuple[int, Context]],
    worth: Callable[[Floats], float],
) -> float:  # fmt: skip
    """What the best surroundings of some are worth more than those of others."""
    best = max((worth(held.context(at, one)) for at, one in rivals), default=_NOWHERE)
    return best - max((worth(held.context(at, one)) for at, one in own), default=_NOWHERE)


def _of_figures(held: ClaimMatch) -> dict[str, float]:
    """By how much other figures' surroundings match better; figures far from what is leant on; rates not found."""
    claim = held.claim
    places = {held.places[place] for place in held.leant_on}
    signs = {"other_cell": 0.0, "other_figure": 0.0, "other_near": 0.0, "other_year": 0.0}
    far = 0
    for figure, found in zip(claim.figures, held.held, strict=True):
        if not found or claim.text[figure.start : figure.end].casefold() == ONE:
            continue
        far += all((at, one.quote) not in places for at, one in found)
        for name, value in _others(held, figure, found).items():
            signs[name] = max(signs[name], min(value, _FURTHEST))
    units = set().union(*(source.units for source in held.sources))
    return signs | {"figures_far": min(far, 2.0), "rate_missing": float(not rates_of(claim.text) <= units)}


def _others(held: ClaimMatch, figure: Mention, found: Sequence[tuple[int, Occurrence]]) -> Mapping[str, float]:
    """The rivals of one figure: other cells of its row and column, or other figures of its kind in sentences."""
    cells = [(at, one) for at, one in found if one.row]
    if cells:
        return {} if figure.is_year else {"other_cell": _other_cell(held, cells, found)}
    alike = [(at, one) for at, one in _unsaid(held) if not one.row and _alike(figure, one.mention)]
    near = [(at, one.near) for at, one in alike], [(at, one.near) for at, one in found]
    if figure.is_year:
        if any(one.loose for _, one in found):
            return {}
        near = [(at, one.near) for at, one in alike if not one.loose], near[1]
        return {"other_year": _better(held, *near, lambda row: float(row.sum()))}
    plain = ~held.claim.is_figure
    wide = [(at, one.wide) for at, one in alike], [(at, one.wide) for at, one in found]
    return {
        "other_figure": _better(held, *wide, lambda row: float(row[plain].sum())),
        "other_near": _better(held, *near, lambda row: float(row.sum())),
    }


def _unsaid(held: ClaimMatch) -> list[tuple[int, Occurrence]]:
    """The figures of the sources that the claim does not give."""
    given = {id(one) for found in held.held for _, one in found}
    return [(at, one) for at, source in enumerate(held.sources) for one in source.figures if id(one) not in given]


def _alike(said: Mention, other: Mention) -> bool:
    return (
        said.is_year == other.is_year
        and (said.unit or ("",))[0] == (other.unit or ("",))[0]
        and (said.currency is None) == (other.currency is None)
    )


def _other_cell(
    held: ClaimMatch, cells: Sequence[tuple[int, Occurrence]], found: Sequence[tuple[int, Occurrence]]
) -> float:
    """By how many words and years the label and heads of another cell match better, in the same row or column.

    A year that the claim does not give speaks against a cell.
    """
    plain = ~held.claim.is_figure
    years = {one.value for one in held.claim.figures if one.is_year}
    shares = {one.mention.percent for _, one in cells}
    lines = {(at, line) for at, one in cells for line in (one.row, one.column)}

    def worth(at: int, one: Occurrence) -> float:
        agreeing = len(years & one.years) - bool(years and one.years - years)
        return float(held.context(at, one.wide)[plain].sum()) + agreeing

    rivals = [
        worth(at, one)
        for at, one in _unsaid(held)
        if one.row and one.mention.percent in shares and lines & {(at, one.row), (at, one.column)}
    ]
    return max(rivals, default=_NOWHERE) - max(worth(at, one) for at, one in found)


def _of_negation(held: ClaimMatch) -> dict[str, float]:
    """Whether what one side denies is said by the other, in the sentences leant on and in the best of them."""
    clear = [place for place, gain in zip(held.leant_on, held.gains, strict=True) if gain > _CLEAR_GAIN]
    places = [held.places[place] for place in dict.fromkeys((held.leant_on[0], *clear))]
    every, best = _denials(held, places), _denials(held, places[:1])
    said = len(negations(held.claim.text, frozenset().union(*(held.sources[at].words[n] for at, n in places))))
    odd = (said - sum(share >= _ALIGNED for share in every)) % 2 and (said - sum(s >= _ALIGNED for s in best)) % 2
    gone = max(best, default=0.0) if not said else 0.0
    return {
        "denied_alone": float(said > 0 and not every), "denied_not_best": float(said > 0 and not best),
        "denial_gone": gone, "denials_gone": float(gone > _DENIED),
        "odd": float(odd), "odd_said": float(odd and said > 0),
    }  # fmt: skip


def _denials(held: ClaimMatch, places: Sequence[Place]) -> list[float]:
    """For each negation in some sentences, how far the claim has what it denies, 0..1."""
    claim = held.claim
    content = np.array([bool(terms(claim.text[start:end])) for start, end in claim.spans], dtype=bool)
    found = []
    for at, number in places:
        source, quote = held.sources[at], held.sources[at].quotes[number]
        for denied in negations(source.raw(quote.start, quote.end), claim.said):
            tokens = [source.within(quote.start + start, quote.start + end) for start, end in denied]
            kept = [token for run in tokens for token in run if terms(_token(source, token))]
            near = held._near[at][content][:, kept]
            found.append(float(counted(near.max(axis=0).astype(np.float64)).mean()) if near.size else 0.0)
    return found


def _token(source: Source, token: int) -> str:
    start, end = source.spans[token]
    return (source.prefix + source.passage.text)[start:end]
