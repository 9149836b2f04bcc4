"""What is read out of prose: XQuAD's articles and PolicyQA's policies, each a text file, through `Library.ask`.

`python -m tests.benchmarks.prose [--half tune report] [--libraries DIR]`, no language model, all defaults. The even
articles and policies are for fitting, the odd ones are reported. One JSON object for each set and half. XQuAD, all
articles in one library: shares of the questions whose gold stands in the first thing quoted, within 60 words, and
refused. The same with every other paragraph taken out: how well confidence tells what is left from what is not (area
under the curve), and its calibration. PolicyQA, each question within the scope of its policy: six tenths of a gold's
words stand within 60, and refused.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from rag_core import Answer, Library, Settings, Upload
from rag_core.answering.citations import without_markers
from rag_core.domain import Question, Result, Scope
from rag_core.evaluation.measuring.calibration import calibration
from rag_core.text.tokens import tokens
from tests.benchmarks.measure import SHARED, emit
from tests.benchmarks.retrieval_sets import _plain

HALVES = ("tune", "report")
WORDS, _MOST = 60, 0.6


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a text, with the golds that are all right. place: of its paragraph in the text."""

    text: str
    document: str
    golds: tuple[str, ...]
    place: int


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts by file name, each in paragraphs, and questions of them by half."""

    name: str
    paragraphs: Mapping[str, Sequence[str]]
    questions: Mapping[str, Sequence[Asked]]


def articles() -> Texts:
    """XQuAD."""
    return _texts("xquad", "xquad_en_half.json")


def policies() -> Texts:
    """PolicyQA; what is asked of several paragraphs of a policy is asked once, and any of the golds is right."""
    return _texts("policyqa", "policyqa_dev.json")


def _texts(name: str, file: str) -> Texts:
    paragraphs: dict[str, list[str]] = {}
    found: dict[str, dict[tuple[str, str], Asked]] = {half: {} for half in HALVES}
    for number, article in enumerate(json.loads((SHARED / "data" / file).read_text(encoding="utf-8"))["data"]):
        document = f"{article['title'].replace('/', '_')}.txt"
        paragraphs[document] = [paragraph["context"] for paragraph in article["paragraphs"]]
        known = found[HALVES[number % 2]]
        for place, paragraph in enumerate(article["paragraphs"]):
            for one in paragraph["qas"]:
                key = (document, one["question"])
                golds = tuple(gold["text"] for gold in one["answers"])
                before = known.get(key, Asked(one["question"], document, (), place))
                known[key] = Asked(before.text, document, (*before.golds, *golds), before.place)
    return Texts(name, paragraphs, {half: list(known.values()) for half, known in found.items()})


def opened(folder: Path, texts: Texts, step: int = 1) -> Library:
    """A library of all texts; with a step of 2 without every other paragraph."""
    library = Library.open(Settings(_env_file=None, data_dir=folder / f"prose-{texts.name}-{step}"))
    uploads = [Upload(name, "\n\n".join(paragraphs[::step]).encode()) for name, paragraphs in texts.paragraphs.items()]
    for _ in library.add(uploads):
        pass
    library.storage.settle()
    library.warm_up()
    return library


def ids(library: Library) -> dict[str, str]:
    """Documents' ids by file name."""
    return {Path(document.sources[0]).name: document.id for document in library.documents()}


def _said(answer: Answer) -> list[str]:
    return [] if answer.abstained else without_markers(answer.text).split("\n\n")


def holds(text: str, golds: Sequence[str]) -> bool:
    """Whether a gold stands in a text."""
    return any(_plain(gold).strip() in _plain(text) for gold in golds)


def covers(text: str, golds: Sequence[str]) -> bool:
    """Whether a text has six tenths of the words of a gold."""
    held = _bag(text)
    return any(len(wanted & held) >= _MOST * len(wanted) for wanted in map(_bag, golds) if wanted)


def _bag(text: str) -> set[str]:
    return {text[token.start : token.end].casefold() for token in tokens(text)}


def _share(values: Sequence[bool]) -> float:
    return round(float(np.mean(values)), 3)


def of_articles(folder: Path, halves: Sequence[str]) -> Iterator[dict[str, object]]:
    """XQuAD's figures, with all paragraphs and with half of them."""
    texts = articles()
    with opened(folder, texts) as library:
        for half in halves:
            answers = [library.ask(one.text) for one in texts.questions[half]]
            known = list(zip(texts.questions[half], map(_said, answers), strict=True))
            yield {
                "set": "xquad", "half": half, "questions": len(known),
                "first": _share([bool(said) and holds(said[0], one.golds) for one, said in known]),
                "within_60_words": _share([
                    holds(" ".join(" ".join(said).split()[:WORDS]), one.golds) for one, said in known
                ]),
                "refused": _share([not said for _, said in known]),
            }  # fmt: skip
    with opened(folder, texts, 2) as library:
        for half in halves:
            answers = [library.ask(one.text) for one in texts.questions[half]]
            yield {"set": "xquad halved", "half": half} | _abstention(texts.questions[half], answers)


def _abstention(asked: Sequence[Asked], answers: Sequence[Answer]) -> dict[str, object]:
    there = [one.place % 2 == 0 for one in asked]
    results = [
        Result(
            Question(str(place), one.text), abstained=answer.abstained, confidence=answer.confidence,
            metrics={"correct": float(left and any(holds(said, one.golds) for said in _said(answer)))},
        )
        for place, (one, answer, left) in enumerate(zip(asked, answers, there, strict=True))
    ]  # fmt: skip
    scores = [answer.confidence - answer.abstained for answer in answers]  # what is refused is below what is answered
    pairs = list(zip(there, answers, strict=True))
    return {
        "questions": len(asked),
        "area": round(float(roc_auc_score(there, scores)), 3),
        "answerable_refused": _share([answer.abstained for left, answer in pairs if left]),
        "absent_refused": _share([answer.abstained for left, answer in pairs if not left]),
        "calibration_error": round(calibration(results).error, 3),
    }


def of_policies(folder: Path, halves: Sequence[str]) -> Iterator[dict[str, object]]:
    """PolicyQA's figures."""
    texts = policies()
    with opened(folder, texts) as library:
        by_name = ids(library)
        for half in halves:
            said = [
                " ".join(_said(library.ask(one.text, scope=Scope(documents=(by_name[one.document],)))))
                for one in texts.questions[half]
            ]
            known = list(zip(texts.questions[half], said, strict=True))
            yield {
                "set": "policyqa", "half": half, "questions": len(known),
                "covered": _share([covers(" ".join(text.split()[:WORDS]), one.golds) for one, text in known]),
                "refused": _share([not text for _, text in known]),
            }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", nargs="+", default=["report"], choices=HALVES)
    parser.add_argument("--libraries", type=Path, help="keep the libraries in this folder")
    options = parser.parse_args()
    if not SHARED.is_dir():
        emit(benchmark="prose", skipped=f"{SHARED} is not there")
        return
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
        for measured in (of_articles, of_policies):
            for figures in measured(options.libraries or Path(folder), options.half):
                emit(benchmark="prose", **figures)


if __name__ == "__main__":
    main()
