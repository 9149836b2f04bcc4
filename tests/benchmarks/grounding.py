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
from rag_core.answering.encoding import EncodeTokens
from rag_core.answering.grounding import Grounding
from rag_core.domain import Scope
from rag_core.embedding import open_embedder
from tests.benchmarks import statements
from tests.benchmarks.measure import SHARED, emit, percentile, timed_ms
from tests.benchmarks.retrieval_sets import DATA, QUESTIONS, SAMPLES, _articles, _rows, _upload

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
        yield from (
            Upload(name, statements.page(context)) for name, context in statements.contexts(half) if name in names
        )


def cases(folder: Path, halves: Sequence[str]) -> list[Case]:
    """The sentences of some halves with their passages, from a library of their documents that is kept in a folder."""
    rows = _rows(QUESTIONS / "grounding.jsonl")
    with Library.open(Settings(_env_file=None, data_dir=folder / "grounding")) as library:
        for event in library.add(documents(rows)):
            if event.error is not None:
                raise event.error
        library.storage.settle()
        ids = {Path(document.sources[0]).name: document.id for document in library.documents()}
        return [_case(library, row, ids[row["document"]]) for row in rows if row["split"] in halves]


def _case(library: Library, row: Mapping, document: str) -> Case:
    scope = Scope(documents=(document,))
    hits = list(library.asking.passages(row["text"], scope).hits[:_PASSAGES])
    own = next((place for place, hit in enumerate(hits) if _holds(hit, row)), None)
    if own is None:  # the search did not find it: the last passage makes room
        found = library.asking.passages(row["anchor"], scope).hits
        hits = [*hits[: _PASSAGES - 1], next(hit for hit in found if _holds(hit, row))]
        own = len(hits) - 1
    return Case(row, tuple(hits), own)


def _holds(hit: Hit, row: Mapping) -> bool:
    return "".join(row["anchor"].split()) in "".join(hit.text.split())


@dataclass(frozen=True)
class Outcome:
    """Whether a sentence was marked; `kind` is "clean" or that of its fault."""

    id: str
    kind: str
    cited: bool
    text: str
    marked: bool


def checked(case: Case, grounding: Grounding, *, cited: bool) -> Iterator[Outcome]:
    """What became of a sentence and of its faulty versions."""
    texts = [("clean", case.row["text"]), *((fault["kind"], fault["text"]) for fault in case.row["faults"])]
    for kind, text in texts:
        writer = CitationWriter(grounding.passages)
        writer.feed(case.said(text, cited=cited))
        writer.finish()
        found = grounding.check(sentences_of(writer.text), writer.register)
        yield Outcome(case.row["id"], kind, cited, text, any(not sentence.supported for sentence in found))


def shares(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """The shares that were marked, by kind, with 95 % intervals over sentences."""
    chance = np.random.default_rng(_SEED)
    ids = sorted({one.id for one in outcomes})
    draws = chance.integers(len(ids), size=(_DRAWS, len(ids)))
    kinds = [*KINDS, "word"]
    found: dict[str, object] = {
        "clean_marked": _share(outcomes, ["clean"], ids, draws),
        "faults_marked": _share(outcomes, KINDS, ids, draws),
    }
    return found | {kind: _share(outcomes, [kind], ids, draws) for kind in kinds}


def _share(
    outcomes: Sequence[Outcome], kinds: Sequence[str], ids: Sequence[str], draws: np.ndarray
) -> dict[str, object]:
    marked, every = np.zeros(len(ids)), np.zeros(len(ids))
    place = {name: index for index, name in enumerate(ids)}
    for one in outcomes:
        if one.kind in kinds:
            marked[place[one.id]] += one.marked
            every[place[one.id]] += 1
    drawn = marked[draws].sum(axis=1) / np.maximum(every[draws].sum(axis=1), 1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    share = marked.sum() / max(every.sum(), 1)
    return {
        "share": round(float(share), 3),
        "from": round(float(low), 3),
        "to": round(float(high), 3),
        "of": int(every.sum()),
    }


def timed(every: Sequence[Case], encode_tokens: EncodeTokens) -> list[float]:
    """Milliseconds for answers of five sentences of one document, each citing its own passage, against six passages."""
    taken = []
    for first, case in enumerate(every[: len(every) - _SENTENCES]):
        others = [one for one in every[first:] if one.row["document"] == case.row["document"]][:_SENTENCES]
        if len(others) < _SENTENCES or first % _SENTENCES:
            continue
        text = " ".join(f"{one.row['text']} [{1 + place % len(case.hits)}]" for place, one in enumerate(others))

        def check(hits: Sequence[Hit] = case.hits, text: str = text) -> None:
            passages = Passages(hits)
            writer = CitationWriter(passages)
            writer.feed(text)
            writer.finish()
            Grounding(passages, encode_tokens).check(sentences_of(writer.text), writer.register)

        taken.append(timed_ms(check))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", nargs="+", default=["report"], choices=["tune", "report"])
    parser.add_argument("--libraries", type=Path, help="keep the library in this folder")
    parser.add_argument("--misses", type=Path, help="write what was judged wrongly in the half tune to this file")
    options = parser.parse_args()
    if not SHARED.is_dir():
        emit(benchmark="grounding", skipped=f"{SHARED} is not there")
        return
    settings = Settings()
    with (
        tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder,
        open_embedder(settings.embedding, settings.models_dir) as embedder,
    ):
        for half in options.half:
            every = cases(options.libraries or Path(folder), [half])
            checks = [Grounding(Passages(case.hits), embedder.encode_tokens) for case in every]
            outcomes = [
                outcome
                for case, check in zip(every, checks, strict=True)
                for cited in (True, False)
                for outcome in checked(case, check, cited=cited)
            ]
            taken = timed(every, embedder.encode_tokens)
            for cited in (True, False):
                chosen = [one for one in outcomes if one.cited == cited]
                emit(benchmark="grounding", half=half, cited=cited, sentences=len(every), **shares(chosen))
            emit(benchmark="grounding", half=half, p50_ms=round(percentile(taken, 0.5), 1),
                 p95_ms=round(percentile(taken, 0.95), 1), answers=len(taken))  # fmt: skip
            if options.misses and half == "tune":
                wrong = [one for one in outcomes if one.marked == (one.kind == "clean")]
                options.misses.write_text("".join(f"{one.id} {one.kind} {one.cited}: {one.text}\n" for one in wrong))


if __name__ == "__main__":
    main()
