"""Makes rag_core/answering/strategies/reader.json: `python -m tests.benchmarks.fit_reader [--libraries DIR]`.

Fitted on what is not reported on: everyday questions (`people`, `abstention`, `cells`, `households`: "tune", and
`fitting`, which is for this alone) and those of the samples over two libraries, the invented documents that the reader
did not learn from, those whose sections are alike, XQuAD's even articles, the first half of TAT-QA's development set,
each context a page of a PDF, and some hundreds of real questions of documents that the reader did not learn from. Which
cell is asked for, and which unit answers, are conditional logits over the cells and units of a question's passages;
whether the answer is right, and whether there is one, are logistic regressions over what a reader fitted without that
question would have said. Where one document was chosen, a number is added to the odds that the answer is right: by the
questions of PolicyQA's even policies and of those documents, each asked of its own. All are ridge regressions.
Questions without an answer are the near misses, and the others with the passages that answer them taken out.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from rag_core import Hit, Library, Settings, Upload
from rag_core.answering.encoding import Encoder, EncodeTokens
from rag_core.answering.strategies.candidates import gather
from rag_core.answering.strategies.composing import compose
from rag_core.answering.strategies.confidence_model import SIGNS, signs
from rag_core.answering.strategies.features import FEATURES, Evidence, with_cells
from rag_core.answering.strategies.weights import PATH
from rag_core.answering.tables.matching_cells import CELL_FEATURES
from rag_core.domain import Scope
from rag_core.embedding import open_embedder, open_reader
from rag_core.text.terms import coverage, terms
from tests.benchmarks import prose
from tests.benchmarks.alike_sections import alike_sections
from tests.benchmarks.drafted import Drafted, drafted
from tests.benchmarks.measure import emit
from tests.benchmarks.people import filled
from tests.benchmarks.reading_questions import Question as Asked
from tests.benchmarks.reading_questions import real
from tests.benchmarks.retrieval_sets import QUESTIONS, SAMPLES, _plain, _rows, _stands, households, name_of, people
from tests.benchmarks.statements import contexts, is_right, opened

_FOLDS, _WORDS, _HALF, _BEGINNING = 10, 40, 0.5, 40
_RIDGE_RANK, _RIDGE_TRUST = 15.0, 20.0
_RANK_WEIGHTS = {"people": 1.0, "cell": 1.0, "invented": 0.3, "xquad": 0.3, "tatqa": 0.3, "genre": 0.3}
_TRUST_WEIGHTS = {
    "people": 1.0, "cell": 0.7, "near": 1.0, "removed": 0.4, "invented": 0.3, "unsaid": 0.3, "xquad": 0.6,
    "absent": 0.3, "tatqa": 0.1, "genre": 0.3,
}  # fmt: skip
_CELL_WEIGHTS = {"people": 1.0, "cell": 1.0, "tatqa": 0.3}
# Answered from: the least at which the tuning halves of `people` have at most 12 % of wrong figures.
_ANSWER_FROM, _CLOSEST_FROM, _NARROWED_FROM = 0.35, 0.25, 0.2
# Of cells, and set by hand: tables whose groups or whole rows are asked for are too few among these questions.
_HELD = {"whole": 9.5, "group_unasked": -3.2}
_POLICY_QUESTIONS, _INVENTED_QUESTIONS = 500, 1500
_GENRES = ("natural_questions", "squadshifts_wiki", "tydiqa_en", "covidqa", "doc2dial", "time_sensitive_qa")
_FEW, _OF_GENRE = 12, 110  # words of an answer; questions of each

Floats = NDArray[np.float64]
Label = Callable[[str], list[float]]


@dataclass
class Example:
    """A question's evidence. held: the parts of the answer that each unit holds, (units, parts), none without one.

    right: whether a text is the answer. cells: 1 for each figure of the passages' tables that is asked for.
    """

    id: str
    kind: str
    question: str
    evidence: Evidence
    held: Floats
    right: Callable[[str], bool]
    cells: Floats

    @property
    def fold(self) -> int:
        """A question's variants are in one fold."""
        return zlib.crc32(self.id.encode()) % _FOLDS

    @property
    def target(self) -> Floats | None:
        """1 for the units that hold most of the answer; None where none holds any."""
        shares = self.held.mean(axis=1) if self.held.shape[1] else np.zeros(len(self.held))
        return (shares >= shares.max() - 1e-9).astype(float) if shares.max(initial=0) > 0 else None


class Remembering:
    """Remembers the token vectors of texts: the same passages come up for many questions."""

    def __init__(self, encode_tokens: EncodeTokens) -> None:
        self._encode_tokens = encode_tokens
        self._known: dict[str, tuple[NDArray[np.float32], NDArray[np.int64]]] = {}

    def __call__(self, texts: Sequence[str]) -> list[tuple[NDArray[np.float32], NDArray[np.int64]]]:
        """The vectors and spans of tokens."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self._encode_tokens(new), strict=True))
        return [self._known[text] for text in texts]


def example(
    kind: str, name: str, question: str, hits: Sequence[Hit], encoder: Encoder, label: Label,
    documents: Sequence[str] = (), right: Callable[[str], bool] | None = None, **values: object,
) -> Iterator[Example]:  # fmt: skip
    """The question over its passages, where they hold anything; parts count in the named documents alone."""
    evidence = gather(question, hits, encoder, **values)  # type: ignore[arg-type]
    if evidence is None:
        return
    nothing = [0.0] * len(label(""))

    def counted(text: str, hit: Hit) -> list[float]:
        return label(text) if not documents or name_of(hit) in documents else nothing

    def is_right(text: str) -> bool:
        return bool(nothing) and all(label(" ".join(text.split()[:_WORDS])))

    held = [counted(unit.quote.text, unit.quote.hit) for unit in evidence.units]
    first = {quote.passage: quote.hit for quote in reversed(evidence.every)}
    known = evidence.asked.cells if evidence.asked else ()
    cells = [max(counted(cell.part.text, first[cell.passage]), default=0.0) for cell in known]
    shape = (len(evidence.units), len(nothing))
    yield Example(name, kind, question, evidence, np.array(held).reshape(shape), right or is_right, np.array(cells))


def everyday(libraries: Path, encoder: Encoder) -> Iterator[Example]:
    """The tuning half of `people`, near misses, and the others without the passages that answer them."""
    with filled(libraries, people()) as library:
        for name in ("people", "abstention", "cells", "fitting"):
            yield from _tuning(library, name, encoder)
        for row in _rows(SAMPLES / "questions.jsonl"):
            yield from _of_samples(library, row, encoder)


def at_home(libraries: Path, encoder: Encoder) -> Iterator[Example]:
    """The same of `households`."""
    with filled(libraries, households()) as library:
        yield from _tuning(library, "households", encoder)


def _tuning(library: Library, name: str, encoder: Encoder) -> Iterator[Example]:
    by_id = {row["id"]: row for row in _rows(QUESTIONS / f"{name}.jsonl")}
    for row in by_id.values():
        if row["split"] == "tune":
            yield from _asked(library, row, by_id, encoder)


def _asked(library: Library, row: dict, by_id: dict[str, dict], encoder: Encoder) -> Iterator[Example]:
    question = f"{by_id[row['after']]['question']} {row['question']}" if row.get("after") else row["question"]
    question = library.asking.library.understood(question)
    found = library.asking.passages(question)
    meant = found.trace.searched.understood.documents if found.trace.searched else {}
    if row["refuse"]:
        yield from example("near", row["id"], question, found.hits, encoder, lambda _: [], meant=meant)
        return
    documents = [side["document"] for side in row["gold"]]

    def label(text: str) -> list[float]:
        plain = _plain(text)
        return [float(any(_stands(one, plain) for one in part)) for part in row["parts"]]

    rest = [hit for hit in found.hits if name_of(hit) not in documents or not any(label(hit.text))]
    kind = "cell" if row["kind"] == "table" else "people"
    yield from example(kind, row["id"], question, found.hits, encoder, label, documents, meant=meant)
    yield from example("removed", row["id"], question, rest, encoder, lambda _: [], meant=meant)


def _of_samples(library: Library, row: dict, encoder: Encoder) -> Iterator[Example]:
    """A question of the sample library, asked in the larger one; its answer is where half of the excerpt stands."""
    found = library.asking.passages(row["question"])
    meant = found.trace.searched.understood.documents if found.trace.searched else {}
    excerpts = [terms(side["excerpt"]) for side in row.get("gold", ())]

    def label(text: str) -> list[float]:
        held = set(terms(text))
        return [float(coverage(excerpt, held) >= _HALF) for excerpt in excerpts]

    documents = [side["document"] for side in row.get("gold", ())]
    kind = "people" if excerpts else "near"
    yield from example(kind, row["id"], row["question"], found.hits, encoder, label, documents, meant=meant)


def articles(libraries: Path, encoder: Encoder) -> Iterator[Example]:
    """XQuAD's even articles, each question with its article and without it."""
    texts = prose.articles()
    with prose.opened(libraries, texts) as library:
        known = prose.ids(library)
        for number, one in enumerate(texts.questions["tune"]):

            def label(text: str, gold: Sequence[str] = one.golds) -> list[float]:
                return [float(prose.holds(text, gold))]

            name = f"xquad {number}"
            found = library.asking.passages(one.text)
            yield from example("xquad", name, one.text, found.hits, encoder, label)
            others = Scope(documents=tuple(key for file, key in known.items() if file != one.document))
            found = library.asking.passages(one.text, others)
            yield from example("absent", name, one.text, found.hits, encoder, lambda _: [])


def policies(libraries: Path, encoder: Encoder) -> Iterator[Example]:
    """Some questions of PolicyQA's even policies, each asked of its own policy alone."""
    texts = prose.policies()
    asked = random.Random(0).sample(texts.questions["tune"], _POLICY_QUESTIONS)
    with prose.opened(libraries, texts) as library:
        known = prose.ids(library)
        for number, one in enumerate(asked):

            def right(text: str, golds: Sequence[str] = one.golds) -> bool:
                return prose.covers(" ".join(text.split()[: prose.WORDS]), golds)

            found = library.asking.passages(one.text, Scope(documents=(known[one.document],)))
            name = f"policy {number}"
            yield from example("policy", name, one.text, found.hits, encoder, lambda _: [], right=right)


def invented(libraries: Path, encoder: Encoder) -> Iterator[Example]:
    """Some questions of the invented documents that the reader did not learn from, in one library: what they tell, and
    near misses."""
    documents = [document for document in drafted() if document.is_kept_out]
    files = {f"invented-{place}.md": document for place, document in enumerate(documents)}
    with Library.open(Settings(_env_file=None, data_dir=libraries / "invented")) as library:
        for _ in library.add([Upload(name, document.text.encode()) for name, document in files.items()]):
            pass
        library.storage.settle()
        asked = [(name, place) for name, document in files.items() for place in range(len(document.questions))]
        for name, place in random.Random(0).sample(asked, min(_INVENTED_QUESTIONS, len(asked))):
            one = files[name].questions[place]
            found = library.asking.passages(one.text)
            sentences = [_plain(files[name].sentences[where][0]) for where in one.where]
            said = _said_by(sentences, one.answer) if one.where else lambda _: []
            kind = "invented" if one.where else "unsaid"
            yield from example(kind, f"{name} {place}", one.text, found.hits, encoder, said, [name] * bool(one.where))


def of_sections(libraries: Path, encoder: Encoder) -> Iterator[Example]:
    """Invented documents whose sections are alike, each asked of itself: what stands there under another's heading."""
    documents = list(alike_sections("tune"))
    with Library.open(Settings(_env_file=None, data_dir=libraries / "sections")) as library:
        for _ in library.add([Upload(one.name, one.text.encode()) for one in documents]):
            pass
        library.storage.settle()
        known = prose.ids(library)
        for document in documents:
            for place, (question, line) in enumerate(document.questions):
                found = library.asking.passages(question, Scope(documents=(known[document.name],)))
                said = _said_by([], (line,)) if line else lambda _: []
                kind, name = "invented" if line else "unsaid", f"{document.name} {place}"
                yield from example(kind, name, question, found.hits, encoder, said)


def _said_by(sentences: Sequence[str], answer: Sequence[str]) -> Label:
    """A text says the answer where its words stand there, or the sentence's beginning where these are yes or no."""
    parts = [sentences[0][:_BEGINNING]] if answer in (("yes",), ("no",)) else list(answer)
    return lambda text: [float(_stands(part, _plain(text))) for part in parts]


def genres(libraries: Path, encoder: Encoder) -> Iterator[Example]:
    """Real questions of documents that the reader did not learn from, each asked of all of these, and without its own:
    encyclopaedias, papers on medicine, web pages of public bodies."""
    asked = [one for name in _GENRES for one in _of_one_span(real(name, "dev"))[:_OF_GENRE]]
    texts = _texts(asked)
    with Library.open(Settings(_env_file=None, data_dir=libraries / "genres")) as library:
        for _ in library.add([Upload(name, text.encode()) for name, text in texts.items()]):
            pass
        library.storage.settle()
        known = prose.ids(library)
        for number, one in enumerate(asked):
            name, file = f"genres {number}", _file_name(one)
            said = _said_by([], one.answer)
            for kind, scope in _scopes(known, file):
                found = library.asking.passages(one.text, scope)
                meant = found.trace.searched.understood.documents if found.trace.searched else {}
                label = said if one.where and kind != "removed" else lambda _: []
                kind = "unsaid" if not one.where else kind
                yield from example(kind, name, one.text, found.hits, encoder, label, [file], meant=meant)


def _scopes(known: Mapping[str, str], file: str) -> Iterator[tuple[str, Scope]]:
    """All documents, the one that answers alone, and the others."""
    yield "genre", Scope()
    yield "chosen", Scope(documents=(known[file],))
    yield "removed", Scope(documents=tuple(key for name, key in known.items() if name != file))


def _of_one_span(asked: Sequence[Asked]) -> list[Asked]:
    """Those that a few words answer, or nothing does."""
    return [one for one in asked if not one.where or (len(one.answer) == 1 and len(one.answer[0].split()) <= _FEW)]


def _file_name(one: Asked) -> str:
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', one.title).strip('-')[:60]}-{zlib.crc32(one.title.encode()) % 10_000}.md"


def _texts(asked: Sequence[Asked]) -> Mapping[str, str]:
    """Each document as far as its questions have it, by file name."""
    known: dict[str, Drafted] = {}
    for one in asked:
        document = known.setdefault(_file_name(one), Drafted(one.title, one.kind))
        document.sentences += [sentence for sentence in one.sentences if sentence not in document.sentences]
    return {name: document.text for name, document in known.items()}


def statements(libraries: Path, encoder: Encoder) -> Iterator[Example]:
    """What is asked of tables beside text: the first half of TAT-QA's development set."""
    with opened(libraries, "tune") as library:
        ids = {Path(document.sources[0]).name: document.id for document in library.documents()}
        for place, (name, context) in enumerate(contexts("tune")):
            for one in context["questions"]:
                gold = one["answer"] if isinstance(one["answer"], list) else _operands(one["derivation"])

                def label(text: str, gold: Sequence[str] = gold) -> list[float]:
                    return [float(_stands(part, _plain(text))) for part in gold]

                def right(text: str, one: Mapping = one) -> bool:
                    return is_right(one, text)

                found = library.asking.passages(one["question"], Scope(documents=(ids[name],)))
                meant = found.trace.searched.understood.documents if found.trace.searched else {}
                yield from example(
                    "tatqa", f"tatqa {place}", one["question"], found.hits, encoder, label, right=right, meant=meant
                )


def _operands(derivation: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\d[\d,]*(?:\.\d+)?", derivation)))


def fitted_rank(examples: Sequence[Example]) -> Floats:
    """Weights of the units' conditional logit, (len(FEATURES),)."""
    known = [(one, target) for one in examples if one.kind in _RANK_WEIGHTS and (target := one.target) is not None]
    return fitted_choice([(one.evidence.features, target, _RANK_WEIGHTS[one.kind]) for one, target in known])


def fitted_cells(examples: Sequence[Example]) -> Floats:
    """Weights of the cells' conditional logit, (len(CELL_FEATURES),)."""
    return fitted_choice([
        (one.evidence.asked.features, one.cells, _CELL_WEIGHTS[one.kind])
        for one in examples
        if one.kind in _CELL_WEIGHTS and one.evidence.asked is not None and one.cells.any()
    ])  # fmt: skip


def fitted_choice(known: Sequence[tuple[Floats, Floats, float]]) -> Floats:
    """Weights by which what is right is chosen; known: features (things, n), which are right, how much they count."""
    features = np.concatenate([one for one, _, _ in known])
    scale = features.std(axis=0) + 1e-3
    features = features / scale
    targets = np.concatenate([target for _, target, _ in known])
    sizes = [len(target) for _, target, _ in known]
    starts, owner = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(len(known)), sizes)
    counts = np.array([count for *_, count in known])

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = features @ weights
        shares = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        every, right = np.add.reduceat(shares, starts), np.add.reduceat(shares * targets, starts)
        slope = (shares / every[owner] - shares * targets / right[owner]) * counts[owner]
        value = float(-(counts * np.log(right / every)).sum() + _RIDGE_RANK * weights @ weights / 2)
        return value, features.T @ slope + _RIDGE_RANK * weights

    found: Floats = minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B").x / scale
    return found


def fitted_odds(rows: Floats, outcomes: Floats, counts: Floats) -> dict[str, float]:
    """Weights of a logistic regression over SIGNS and its bias, by name."""
    middle, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-3
    known = np.column_stack([(rows - middle) / scale, np.ones(len(rows))])

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = known @ weights
        ridge = _RIDGE_TRUST * np.append(weights[:-1], 0.0)
        value = float((counts * (np.logaddexp(0, odds) - outcomes * odds)).sum() + ridge @ weights / 2)
        return value, known.T @ (counts * (1 / (1 + np.exp(-odds)) - outcomes)) + ridge

    found = minimize(loss, np.zeros(known.shape[1]), jac=True, method="L-BFGS-B").x
    weights = found[:-1] / scale
    named = {name: round(float(weight), 4) for name, weight in zip(SIGNS, weights, strict=True)}
    return named | {"bias": round(float(found[-1] - weights @ middle), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", type=Path, help="keep the library in this folder, as the benchmark people does")
    options = parser.parse_args()
    settings = Settings()
    reader = open_reader(settings.embedding, settings.models_dir)
    embedder = open_embedder(settings.embedding, settings.models_dir)
    encoder = Encoder(Remembering(embedder.encode_tokens), reader.read)
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
        libraries = options.libraries or Path(folder)
        examples = [
            one
            for made in (everyday, at_home, invented, of_sections, statements, articles, genres)
            for one in made(libraries, encoder)
        ]
        made = fitted(examples)
        chosen = [*policies(libraries, encoder), *(one for one in examples if one.kind == "chosen")]
        made |= {"narrowed": fitted_narrowed(chosen, made), "narrowed_from": _NARROWED_FROM}
    PATH.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    emit(benchmark="fit_reader", questions=len(examples), written=PATH.name)


def fitted(examples: Sequence[Example]) -> dict[str, object]:
    """What reader.json holds; the examples' evidence is given the new scores of cells."""
    cell = dict(zip(CELL_FEATURES, map(float, fitted_cells(examples)), strict=True)) | _HELD
    examples = [replace(one, evidence=with_cells(one.evidence, cell, one.question)) for one in examples]
    rows, right, answerable, counts = [], [], [], []
    for fold in range(_FOLDS):
        without = fitted_rank([one for one in examples if one.fold != fold])
        for one in (one for one in examples if one.fold == fold and one.kind in _TRUST_WEIGHTS):
            answer = compose(one.question, one.evidence, one.evidence.features @ without, 3)
            known = signs(one.evidence, answer)
            rows.append([known[name] for name in SIGNS])
            right.append(float(one.right(answer.text)))
            answerable.append(float(one.kind in _RANK_WEIGHTS))
            counts.append(_TRUST_WEIGHTS[one.kind])
    table = np.array(rows)
    return {
        "cell": {name: round(weight, 4) for name, weight in cell.items()},
        "rank": {name: round(float(weight), 4) for name, weight in zip(FEATURES, fitted_rank(examples), strict=True)},
        "right": fitted_odds(table, np.array(right), np.array(counts)),
        "answerable": fitted_odds(table, np.array(answerable), np.array(counts)),
        "answer_from": _ANSWER_FROM,
        "closest_from": _CLOSEST_FROM,
    }


def fitted_narrowed(examples: Sequence[Example], made: Mapping[str, Any]) -> float:
    """What is to be added to the log odds that an answer is right, where the document was chosen (Platt scaling with
    the slope left as it is)."""
    rank, odds = np.array([made["rank"][name] for name in FEATURES]), made["right"]
    answers = [compose(one.question, one.evidence, one.evidence.features @ rank, 3) for one in examples]
    known = [signs(one.evidence, answer) for one, answer in zip(examples, answers, strict=True)]
    log_odds = np.array([odds["bias"] + sum(odds[name] * one[name] for name in SIGNS) for one in known])
    side = np.array([1.0 if one.right(answer.text) else -1.0 for one, answer in zip(examples, answers, strict=True)])
    found = minimize(lambda more: np.logaddexp(0, -side * (log_odds + more[0])).mean(), [0.0])
    return round(float(found.x[0]), 3)


if __name__ == "__main__":
    main()
