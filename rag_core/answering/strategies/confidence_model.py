"""How far an extractive answer can be trusted: logistic regressions over the evidence for what it quotes.

One estimates whether the quotes answer the question, the other whether the passages do at all, which an abstention
needs: both were fitted by `tests.benchmarks.fit_reader` on everyday and on invented questions, near misses among them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rag_core.answering.matching import counted
from rag_core.answering.strategies.composing import Composition, says_the_same, within
from rag_core.answering.strategies.features import Evidence
from rag_core.answering.strategies.rows import years_told
from rag_core.answering.strategies.weights import reader
from rag_core.answering.tables.matching_cells import CELL_FEATURES, years_of
from rag_core.text.terms import terms

_OF_FIRST = (
    "near_share", "all_share", "all_names", "nearness", "asked", "first", "meant", "unmeant", "read", "span",
    "read_share", "other_section",
)  # fmt: skip
_OF_CELLS = (
    "cells_all", "cells_worst", "cells_period", "cells_other_period", "cells_ahead", "cells_money", "cells_spanned",
)  # fmt: skip
SIGNS = (
    *_OF_FIRST, *_OF_CELLS, "share", "log_share", "together", "lead", "computed", "new_words", "best", "margin",
    "best_document", "read_best", "span_best", "other_year", "missed_there",
)  # fmt: skip
"""What is looked at. The first are features of the first unit. cells: of the figures that the lead says, the question's
words that they match with all that names them, on average and at least, whether they are of its period, how far the
log odds of the first, of all that something is computed from, are ahead of any other figure's, whether they are money
where things are counted, or a share where money is asked for, and whether the reader takes them for the answer. share:
of the first unit, or of all that is computed from, and of what says the same elsewhere, in the softmax of scores;
margin: how far its score is above the others'. together: the question's words matched by all quotes; best: by the unit
that matches most. new_words: what the answer says that the question does not. best_document: whether it is of the first
passage's document. read_best, span_best: the most that the reader says of any unit. other_year: whether the first
quote, or a head above it, where it is no figure that is said, names years but none that is asked for, nor does its
document's title or section. missed_there: how much of what is asked the first unit lacks, where it stands under a title
that is asked for. More of them fitted no better on questions kept out.

The weights of `missed_there` and `other_section` were fitted by themselves, with all others held as they were, on half
of the households and of the invented documents whose sections are alike; the next whole fit is of all of them."""

_OF_OTHERS = ("other_year", "other_section", "missed_there")  # of what may be worth showing, though it is no answer
_NEW_WORDS, _MARGIN, _AHEAD = 12, 5.0, 3.0  # what is more counts as so much


@dataclass(frozen=True, slots=True)
class Trust:
    """Probabilities 0..1 that an answer is right and that the passages hold one; `enough` to answer, `close` where it
    is worth showing what is closest, of another year or section too.

    told: these and the main signs, 0..1, by name as in `rag_core.answering.confidence`.
    """

    right: float
    answerable: float
    enough: bool
    close: bool
    told: Mapping[str, float] = field(default_factory=dict)


def trust(evidence: Evidence, made: Composition, narrowed: bool = False) -> Trust:
    """How far an answer can be trusted. narrowed: whether one document was chosen, which likely holds the answer, or
    anything that is said of a topic answers."""
    known = signs(evidence, made)
    narrowed = narrowed and not made.quotes[0].hit.document.is_sheet  # whose other rows say the like of others
    right = _probability(known, reader().right, reader().narrowed if narrowed else 0.0)
    least = reader().narrowed_from if narrowed else reader().answer_from
    answerable = _probability(known, reader().answerable)
    close = _probability(known | dict.fromkeys(_OF_OTHERS, 0.0), reader().answerable) >= reader().closest_from
    if made.sets_sentences_apart:  # the reader knows not whom "She carries 34 cars" is about
        right = max(right, answerable)
    told = {"right": right, "answerable": answerable, "words": known["together"], "share": known["share"]}
    return Trust(right, answerable, right >= least, close, told | {"read": _logistic(known["read"])})


def signs(evidence: Evidence, made: Composition) -> dict[str, float]:
    """What trust is estimated from, by name."""
    first = made.chosen[0]
    shares = np.exp(made.scores - made.scores.max())
    used = made.quotes if made.is_computed else made.quotes[:1]
    inside = [
        index
        for index, unit in enumerate(evidence.units)
        if index == first or any(within(unit.quote, quote) or says_the_same(unit.quote, quote) for quote in used)
    ]
    share = float(shares[inside].sum() / shares.sum())
    together = evidence.full[list(made.chosen)].max(axis=0)
    others = np.delete(made.scores, inside)
    hit = evidence.units[first].quote.hit
    about = years_of(f"{hit.document.title} {hit.section}")
    asked = years_of(" ".join(word.text for word in evidence.matches.words))
    told = years_told(evidence, made.quotes[0])
    elsewhere, missed, named = (
        0.0 if made.rows else float(evidence.column(name)[first])  # each of what is compared lacks the others' names
        for name in ("other_section", "missed", "section_named")
    )
    return {name: float(evidence.column(name)[first]) for name in _OF_FIRST} | _of_cells(evidence, made) | {
        "read_share": float(evidence.column("read_share")[inside].sum()),
        "share": share,
        "log_share": math.log(share + 1e-3),
        "together": float(together @ evidence.weights),
        "lead": float(bool(made.cells) and not made.is_computed),
        "computed": float(made.is_computed),
        "other_year": float(not made.cells and bool(asked and told) and asked.isdisjoint(told | about)),
        "new_words": min(len(set(terms(made.quotes[0].text)) - evidence.asked_terms), _NEW_WORDS) / _NEW_WORDS,
        "best": float((counted(evidence.full) @ evidence.weights).max()),
        "margin": float(min(made.scores.max() - others.max(), _MARGIN)) if len(others) else _MARGIN,
        "best_document": float(hit.document.id == evidence.units[0].quote.hit.document.id),
        "other_section": elsewhere,
        "missed_there": missed * named,
        "read_best": float(evidence.column("read").max()),
        "span_best": float(evidence.column("span").max()),
    }  # fmt: skip


def _of_cells(evidence: Evidence, made: Composition) -> dict[str, float]:
    if evidence.asked is None or not made.cells:
        return dict.fromkeys(_OF_CELLS, 0.0)
    places = list(made.cells)
    matched = counted(evidence.asked.full[places].max(axis=0))
    period, other, money, share, spanned = (
        evidence.asked.features[places, CELL_FEATURES.index(name)]
        for name in ("period", "other_period", "money_counted", "percent_money", "spanned")
    )
    # What is computed from several periods has figures of others too.
    periods = (period.max(), other.min()) if made.is_computed else (period.mean(), other.mean())
    scores, used = evidence.cell_scores, places if made.is_computed else places[:1]
    figures = [cell.figure for cell in evidence.asked.cells]
    best = {
        figure: max(score for one, score in zip(figures, scores, strict=True) if one == figure)
        for figure in set(figures)
    }
    said = [figures[place] for place in used]
    others = max((score for figure, score in best.items() if figure not in said), default=-np.inf)
    ahead = np.clip(min(best[figure] for figure in said) - others, -_AHEAD, _AHEAD)
    amiss = (money + share).max()
    known = (matched @ evidence.weights, matched.min(initial=1.0), *periods, ahead, amiss, spanned.mean())
    return dict(zip(_OF_CELLS, map(float, known), strict=True))


def _probability(known: Mapping[str, float], weights: Mapping[str, float], more: float = 0.0) -> float:
    log_odds = more + weights["bias"] + sum(weight * known[name] for name, weight in weights.items() if name != "bias")
    return _logistic(log_odds)


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds))))
