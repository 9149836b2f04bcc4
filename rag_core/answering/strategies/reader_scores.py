"""What the trained reader says to the units that are likeliest to answer, rows of tables with their heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from rag_core.answering.encoding import END, SPAN, START, SUPPORT, Encoder
from rag_core.answering.matching import Floats
from rag_core.answering.passages import Passage, section_at
from rag_core.answering.strategies.features import FEATURES, Evidence
from rag_core.answering.strategies.rows import Said, with_heads
from rag_core.answering.strategies.weights import reader
from rag_core.answering.tables.matching_cells import CELL_FEATURES

_SUREST = 8.0  # log odds of the reader that are no surer than so much
_UNREAD = (-_SUREST, -_SUREST, 0.0, 0.0)
# Units that the reader is given, with the lines beside each: half of the tokens, and answers are right as often.
_MOST_READ = 12


def with_reading(evidence: Evidence, question: str, passages: Sequence[Passage], encoder: Encoder) -> Evidence:
    """With what the reader tells of the units that are most likely by all else; the others it would hardly choose."""
    units, weights = evidence.units, reader().rank
    likely = evidence.features @ np.array([weights[name] for name in FEATURES])
    wanted: dict[int, set[int]] = {}
    for unit in (units[place] for place in np.argsort(-likely, kind="stable")[:_MOST_READ]):
        at = unit.quote.position
        wanted.setdefault(unit.quote.passage, set()).update((at - 1, at, at + 1, *unit.near))
    lines = [with_heads(evidence, quote) for quote in evidence.every if quote.position in wanted.get(quote.passage, ())]
    groups = [(place, list(some)) for place, some in groupby(lines, key=_place)]
    contexts = [passages[place].context_in(section) for (place, section), _ in groups]
    texts = [[line.quote.text for line in some] for _, some in groups]
    told = np.concatenate(encoder.read(question, list(zip(contexts, texts, strict=True))))
    known = {(line.quote.passage, line.quote.position): row for line, row in zip(lines, told, strict=True)}
    read = np.array([known.get((unit.quote.passage, unit.quote.position), _UNREAD) for unit in units])
    found = replace(evidence, features=_with_columns(evidence, read), spans=read[:, [START, END]])
    return _with_read_cells(found, lines, told)


def _place(line: Said) -> tuple[int, str]:
    """The passage and the section that a line stands in."""
    return line.quote.passage, section_at(line.quote.hit, line.quote.start)


def _with_columns(evidence: Evidence, read: Floats) -> Floats:
    """The features with the reader's; read: (units, 4)."""
    support, span = np.clip(read[:, [SUPPORT, SPAN]].T, -_SUREST, _SUREST)
    tabular = evidence.column("tabular")
    known = {
        "read": support, "read_share": _shares(support), "tabular_read": tabular * support,
        "span": span, "span_share": _shares(span), "tabular_span": tabular * span,
    }  # fmt: skip
    features = evidence.features.copy()
    features[:, [FEATURES.index(name) for name in known]] = np.stack(list(known.values()), axis=1)
    return features


def _with_read_cells(evidence: Evidence, lines: Sequence[Said], told: Floats) -> Evidence:
    """With how surely the reader takes each cell's row for the answer, and the cell for the answer within it."""
    if evidence.asked is None:
        return evidence
    places = {(unit.quote.passage, unit.quote.position): place for place, unit in enumerate(evidence.units)}
    shares, spans = evidence.column("read_share"), evidence.column("span_share")
    known: dict[tuple[int, int], tuple[float, float, float]] = {}
    for line, row in zip(lines, told, strict=True):
        place = places.get((line.quote.passage, line.quote.position))
        for first, last, start in line.cells if place is not None else ():
            is_it = float(first < row[END] and last > row[START])
            known[line.quote.passage, start] = (float(shares[place]), is_it, is_it * float(spans[place]))
    columns = [CELL_FEATURES.index(name) for name in ("row_read", "spanned", "spanned_share")]
    features = evidence.asked.features.copy()
    nothing = (0.0, 0.0, 0.0)
    features[:, columns] = [known.get((cell.passage, cell.part.start), nothing) for cell in evidence.asked.cells]
    return replace(evidence, asked=replace(evidence.asked, features=features))


def _shares(odds: Floats) -> Floats:
    """Log odds against none as probabilities of each to be the one, or none."""
    raised = np.exp(odds)
    found: Floats = raised / (1 + raised.sum())
    return found
