"""The sets that retrieval is measured on: documents for one library each, questions, and how hits are judged.

A judge takes the hits for a question, best first, and gives its metrics, each 0..1. Half of the questions ("tune") may
be used to choose parameters by; only the others ("report") are reported.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ir_measures
import pypdfium2

from rag_core import Hit, Upload
from tests.benchmarks.measure import PROJECT, SHARED

DATA = SHARED / "data"
QUESTIONS = Path(__file__).with_name("questions")
SAMPLES = PROJECT / "data" / "samples"
COLLECTIONS = ("cran", "cisi", "med", "time")
_MEASURES = {"ndcg@10": ir_measures.nDCG @ 10, "recall@10": ir_measures.R @ 10, "recall@100": ir_measures.R @ 100}
_HALF = 0.5  # a hit holds a paragraph when it has that share of it

Judge = Callable[[Sequence[Hit]], Mapping[str, float]]


@dataclass(frozen=True)
class Case:
    """One question. `judge` is given at least `Set.k` hits where the library has as many."""

    question: str
    judge: Judge
    split: str


@dataclass(frozen=True)
class Set:
    """Documents that are one library, and questions asked of it, `k` hits each."""

    name: str
    documents: Sequence[Upload]
    cases: Sequence[Case]
    k: int


def sets(names: Sequence[str]) -> Iterator[Set]:
    """The sets of these names, made one after the other."""
    for name in names:
        yield collection(name) if name in COLLECTIONS else _MAKERS[name]()


def collection(name: str) -> Set:
    """A classic collection: each document a text file, judged by its grades."""
    folder = DATA / "ir" / name
    rows = [json.loads(line) for line in (folder / "documents.jsonl").read_text().splitlines()]
    documents = [Upload(f"{row['id']}.txt", row["text"].encode()) for row in rows if row["text"].strip()]
    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines():
        query, document, grade = line.split("\t")
        grades.setdefault(query, {})[document] = int(grade)
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    cases = [
        Case(query["text"], _graded(grades[query["id"]]), "report" if place % 2 else "tune")
        for place, query in enumerate(queries)
        if query["id"] in grades
    ]
    return Set(name, documents, cases, 100)


def spans() -> Set:
    """Two long documents: how many of the gold excerpts' characters the first chunks hold."""
    texts = {path.stem: path.read_text() for path in sorted((DATA / "spans").glob("*.md"))}
    with (DATA / "spans" / "questions.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["corpus_id"] in texts]
    cases = []
    for place, row in enumerate(rows):
        name = f"{row['corpus_id']}.md"
        gold = [(name, one["start_index"], one["end_index"]) for one in json.loads(row["references"])]
        cases.append(Case(row["question"], _covered(gold), "report" if place % 2 else "tune"))
    return Set("spans", [Upload(f"{name}.md", text.encode()) for name, text in texts.items()], cases, 10)


def filings() -> Set:
    """Filings and other PDFs: whether the right page of each side is among the first."""
    cases = [
        Case(row["question"], _paged(row["gold"]), row["split"])
        for row in _rows(QUESTIONS / "filings.jsonl")
    ]  # fmt: skip
    return Set("filings", [_upload(path) for path in _pdfs()], cases, 10)


def people() -> Set:
    """What people ask of documents of all kinds in one library: whether the passages hold every part of the answer.

    Questions that lean on the one before, and those that nothing answers, are not for a search alone.
    """
    paths = [*_pdfs(), *sorted((DATA / "spans").glob("*.md")), *_samples()]
    texts = {path.name: _page_texts(path) for path in paths}
    cases = [
        Case(row["question"], _answered(_parts(row, texts), row["gold"]), row["split"])
        for row in _rows(QUESTIONS / "people.jsonl")
        if not row["refuse"] and not row.get("after")
    ]
    return Set("people", [*map(_upload, paths), *_articles()], cases, 12)


def households() -> Set:
    """What people ask of what households, schools, clubs and small companies have, invented; to be answered alone."""
    paths = sorted((QUESTIONS / "households").iterdir())
    return Set("households", [*map(_upload, paths), *_articles()], [], 12)


def abroad() -> Set:
    """What is asked of papers in German, French and Spanish, mostly in their own language, invented; to be answered."""
    return Set("abroad", [*map(_upload, sorted((QUESTIONS / "abroad").iterdir()))], [], 12)


def languages() -> Set:
    """Questions in five languages on documents of the same: whether the first hits hold the paragraph."""
    folder = QUESTIONS / "languages"
    texts = {path.name: path.read_text() for path in sorted(folder.glob("*.txt"))}
    cases = []
    for place, row in enumerate(_rows(folder / "questions.jsonl")):
        paragraph = texts[row["document"]].strip().split("\n\n")[row["paragraph"] - 1]
        start = texts[row["document"]].index(paragraph)
        judge = _held((row["document"], start, start + len(paragraph)), row["language"])
        cases.append(Case(row["question"], judge, "report" if place % 2 else "tune"))
    return Set("languages", [Upload(name, text.encode()) for name, text in texts.items()], cases, 10)


_MAKERS = {"spans": spans, "filings": filings, "people": people, "languages": languages}
NAMES = (*COLLECTIONS, *_MAKERS)


def name_of(hit: Hit) -> str:
    """The file that a hit's document came as."""
    return Path(hit.document.sources[0]).name


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _upload(path: Path) -> Upload:
    return Upload(path.name, path.read_bytes())


def _pdfs() -> list[Path]:
    """The shared PDFs that open without a password."""
    paths = sorted([*(DATA / "filings").glob("*.pdf"), *(DATA / "documents" / "pdf").glob("*.pdf")])
    return [path for path in paths if _opens(path)]


def _opens(path: Path) -> bool:
    try:
        pypdfium2.PdfDocument(path).close()
    except pypdfium2.PdfiumError:
        return False
    return True


def _samples() -> list[Path]:
    return [path for path in sorted(SAMPLES.iterdir()) if path.suffix in (".pdf", ".md", ".txt")]


def _articles() -> list[Upload]:
    """Encyclopaedia articles, as noise."""
    data = json.loads((DATA / "xquad_en_half.json").read_text())["data"]
    return [
        Upload(f"{article['title']}.txt", "\n\n".join(one["context"] for one in article["paragraphs"]).encode())
        for article in data
    ]


def _page_texts(path: Path) -> list[str]:
    if path.suffix != ".pdf":
        return [path.read_text(encoding="utf-8")]
    document = pypdfium2.PdfDocument(path)
    return [page.get_textpage().get_text_range() for page in document]


def _parts(row: Mapping, texts: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The parts of an answer that stand on a gold page; a "yes" and a computed figure do not."""
    pages = [_plain(texts[side["document"]][page - 1]) for side in row["gold"] for page in side["pages"]]
    return [part for part in row["parts"] if any(_stands(one, page) for one in part for page in pages)]


def _plain(text: str) -> str:
    """Lower case, without marks that print and files differ in; words apart by one space."""
    text = unicodedata.normalize("NFKC", text).casefold().replace(" @,@ ", ",").replace(" @.@ ", ".")
    return " ".join(re.sub(r"[-‐‑]\s*\n\s*|[’'\"“”‘]", "", text).replace("- ", "-").split())


def _stands(part: str, plain: str) -> bool:
    """Whether a part stands in a plain text, not within another word or figure."""
    return re.search(rf"(?<![0-9a-z])(?<!\d[.,]){re.escape(_plain(part))}(?![0-9a-z]|[.,]\d)", plain) is not None


def _graded(grades: Mapping[str, int]) -> Judge:
    def judge(hits: Sequence[Hit]) -> Mapping[str, float]:
        ranked = dict.fromkeys(name_of(hit).removesuffix(".txt") for hit in hits)
        run = {"q": {name: float(-place) for place, name in enumerate(ranked)}}
        found = ir_measures.calc_aggregate(_MEASURES.values(), {"q": dict(grades)}, run)
        return {name: float(found[measure]) for name, measure in _MEASURES.items()}

    return judge


def _covered(gold: Sequence[tuple[str, int, int]]) -> Judge:
    wanted = {(name, place) for name, start, end in gold for place in range(start, end)}

    def judge(hits: Sequence[Hit]) -> Mapping[str, float]:
        return {f"recall@{k}": len(wanted & _places(hits[:k])) / len(wanted) for k in (5, 10)}

    return judge


def _held(paragraph: tuple[str, int, int], language: str) -> Judge:
    name, start, end = paragraph
    wanted = {(name, place) for place in range(start, end)}

    def judge(hits: Sequence[Hit]) -> Mapping[str, float]:
        share = len(wanted & _places(hits[:5])) / len(wanted)
        return {f"{language} found@5": float(share >= _HALF)}

    return judge


def _places(hits: Sequence[Hit]) -> set[tuple[str, int]]:
    return {(name_of(hit), place) for hit in hits for place in range(hit.start, hit.end)}


def _paged(sides: Sequence[Mapping]) -> Judge:
    def judge(hits: Sequence[Hit]) -> Mapping[str, float]:
        return {f"hit@{k}": float(_every_side(sides, hits[:k])) for k in (1, 5, 10)}

    return judge


def _every_side(sides: Sequence[Mapping], hits: Sequence[Hit]) -> bool:
    pages = {(name_of(hit), hit.page) for hit in hits}
    return all(any((side["document"], page) in pages for page in side["pages"]) for side in sides)


def _answered(parts: Sequence[Sequence[str]], sides: Sequence[Mapping]) -> Judge:
    documents = {side["document"] for side in sides}

    def judge(hits: Sequence[Hit]) -> Mapping[str, float]:
        found = {}
        for k in (6, 12):
            texts = [_plain(hit.text) for hit in hits[:k] if name_of(hit) in documents]
            held = all(any(_stands(one, text) for one in part for text in texts) for part in parts)
            found[f"parts@{k}"] = float(held if parts else _every_side(sides, hits[:k]))
        return found

    return judge
