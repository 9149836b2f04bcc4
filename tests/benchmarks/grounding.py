"""Whether faults in written answers are marked: `python -m tests.benchmarks.grounding [--half tune report]`.

Sentences that were written by hand on passages of filings, articles, policies, one-page statements and the samples, as
a language model would write them, and versions of each with one fault. Each is checked against the passages that a
search for it finds in its document, its own among them: once citing its own, once citing nothing. One JSON object for
each half: shares of the faulty sentences that were marked, by kind, and of the clean ones, with 95 % intervals of a
bootstrap over sentences, and the milliseconds that an answer of five sentences takes. Half "tune" is what
`tests.benchmarks.fit_grounding` fits on, "report" is looked at for its figures alone.

The kinds: a number, unit, name or year that is another; a negation put in or taken out; a sentence added that nothing
supports; and, beyond what the goals count, a word that turns the meaning around ("rose" for "fell").
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag_core import Hit, Library, Settings, Upload
from rag_core.answering.citations import CitationWriter, Passages, sentences_of
from rag_core.answering.grounding import Grounding
from rag_core.domain import Scope
from tests.benchmarks import tables
from tests.benchmarks.measure import SHARED, emit, percentile, timed_ms
from tests.benchmarks.retrieval_sets import DATA, QUESTIONS, SAMPLES, _articles, _rows, _upload, name_of

KINDS = ("number", "unit", "name", "year", "negation", "added")
_PASSAGES, _DRAWS, _SEED, _SENTENCES = 6, 2000, 20_261_122, 5


@dataclass(frozen=True)
class Case:
    """A sentence with the passages that it is checked against, `own` (from 0) being the one that it stands on."""

    row: Mapping
    hits: tuple[Hit, ...]
    own: int

    def said(self, text: str, *, cited: bool) -> str:
        """The sentence as an answer."""
        return f"{text} [{self.own + 1}]" if cited else text


def documents(rows: Sequence[Mapping]) -> Iterator[Upload]:
    """The documents that the sentences are of."""
    names = {row["document"] for row in rows}
    yield from (_upload(path) for path in (*(DATA / "filings").glob("*.pdf"), *SAMPLES.iterdir()) if path.name in names)
    yield from (one for one in _articles() if one.name in names)
    for policy in json.loads((DATA / "policyqa_dev.json").read_text())["data"]:
        if (name := f"{policy['title']}.txt") in names:
            texts = dict.fromkeys(one["context"] for one in policy["paragraphs"])
            yield Upload(name, "\n\n".join(texts).encode())
    for half in ("tune", "report"):
        yield from (Upload(name, tables.page(context)) for name, context in tables.contexts(half) if name in names)


def cases(folder: Path, halves: Sequence[str]) -> list[Case]:
    """The sentences of some halves with their passages, from a library of their documents that is kept in a folder."""
    rows = _rows(QUESTIONS / "grounding.jsonl")
    with Library.open(Settings(_env_file=None, data_dir=folder / "grounding")) as library:
        for event in library.add(documents(rows)):
            if event.error is not None:
                raise event.error
        library._storage.settle()
        ids = {Path(document.sources[0]).name: document.id for document in library.documents()}
        return [_case(library, row, ids[row["document"]]) for row in rows if row["split"] in halves]


def _case(library: Library, row: Mapping, document: str) -> Case:
    scope = Scope(documents=(document,))
    hits = list(library._asking._passages(row["text"], scope).hits[:_PASSAGES])
    own = next((place for place, hit in enumerate(hits) if _holds(hit, row)), None)
    if own is None:  # the search did not find it: the last passage makes room
        found = library._asking._passages(row["anchor"], scope).hits
        hits = [*hits[: _PASSAGES - 1], next(hit for hit in found if _holds(hit, row))]
        own = len(hits) - 1
    return Case(row, tuple(hits), own)


def _holds(hit: Hit, row: Mapping) -> bool:
    return "".join(row["anchor"].split()) in "".join(hit.text.split())
