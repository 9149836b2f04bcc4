"""How well the extractive model quotes and abstains: XQuAD as pages of PDFs, and two long documents.

Even articles were used for tuning ("dev"), odd ones only here ("held"). A question is unanswerable when its article is
taken out of the library. `python -m tests.benchmarks.answering`; keys `first`, `quoted` (share of questions whose first
quote, any quote, holds a gold answer), `in_hits` (the most that could be reached), `wrong_abstentions` and
`right_abstentions` (shares of answerable and unanswerable questions), `quotes` and `words` per answer.
"""

from __future__ import annotations

import csv
import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from langchain_text_splitters import RecursiveCharacterTextSplitter
from numpy.typing import NDArray

from accelerator.mmr import maximal_marginal_relevance
from rag_core.answering.strategies.extractive import extract
from rag_core.domain import Document, Hit
from rag_core.embedding import Embedder, open_embedder
from rag_core.settings import Settings
from rag_core.text.sentences import tidy
from tests.benchmarks.measure import SHARED, emit

DATA = SHARED / "data"
_SEARCH, _ANSWERS = Settings().retrieval, Settings().answering


@dataclass
class Question:
    """A question, where its answer stands, and the answers that are right."""

    text: str
    document: str
    gold: Sequence[str]
    group: str


@dataclass
class Tally:
    """What is counted over the questions of one group."""

    rows: list[tuple[float, ...]] = field(default_factory=list)

    def emit(self, group: str) -> None:
        keys = ("first", "quoted", "in_hits", "wrong_abstentions", "right_abstentions", "quotes", "words")
        means = np.nanmean(np.asarray(self.rows, dtype=float), axis=0)
        emit(
            benchmark="answering", group=group, questions=len(self.rows), **dict(zip(keys, means.round(3), strict=True))
        )


class Encoder:
    """Remembers what it encoded: the same sentences come up for many questions."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, NDArray[np.float32]] = {}
        self._tokens: dict[str, tuple[NDArray[np.float32], NDArray[np.int64]]] = {}

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._embedder.encode(new), strict=True))
        return np.stack([self._known[text] for text in texts])

    def tokens(self, texts: Sequence[str]) -> list[tuple[NDArray[np.float32], NDArray[np.int64]]]:
        """The vectors and spans of tokens."""
        new = [text for text in dict.fromkeys(texts) if text not in self._tokens]
        self._tokens.update(zip(new, self._embedder.encode_tokens(new), strict=True))
        return [self._tokens[text] for text in texts]


class Shelf:
    """Chunks of documents with the search that answers get: fetch_k, k and lambda of the settings."""

    def __init__(self, texts: dict[str, list[str]], encode: Encoder) -> None:
        self.hits = [hit for name, pages in texts.items() for hit in _chunks(name, pages)]
        self.vectors = encode([hit.text for hit in self.hits])
        self.owners = np.array([hit.document.id for hit in self.hits])
        self.encode = encode

    def search(self, question: str, without: str | None = None) -> list[Hit]:
        query = self.encode([question])[0]
        scores = np.where(self.owners == without, -2, self.vectors @ query)
        top = np.argsort(-scores, kind="stable")[:20]
        chosen = maximal_marginal_relevance(query, self.vectors[top], _SEARCH.k, _ANSWERS.mmr_lambda)
        return [replace(self.hits[top[i]], score=float(scores[top[i]])) for i in chosen]


def _chunks(name: str, pages: Sequence[str]) -> Iterator[Hit]:
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200, add_start_index=True)
    document = Document(name, name, "application/pdf", 1, "ready")
    for number, page in enumerate(pages, start=1):
        for index, piece in enumerate(splitter.create_documents([page])):
            start, text = piece.metadata["start_index"], piece.page_content
            key = f"{name}:{number}:{index}"
            yield Hit(key, document, index, number, "", "", text, start, start + len(text), (), 0.0)


def xquad() -> tuple[dict[str, list[str]], list[Question]]:
    """Articles as pages of two paragraphs in lines of 95 characters, as PDFium gives them."""
    texts: dict[str, list[str]] = {}
    questions = []
    for place, article in enumerate(json.loads((DATA / "xquad_en_half.json").read_text())["data"]):
        name = article["title"].replace("_", " ")
        paragraphs = [" \n".join(textwrap.wrap(p["context"], 95)) + " \n" for p in article["paragraphs"]]
        texts[name] = ["".join(paragraphs[i : i + 2]) for i in range(0, len(paragraphs), 2)]
        texts[name][0] = f"{name} \n{texts[name][0]}"
        for entry in (entry for paragraph in article["paragraphs"] for entry in paragraph["qas"]):
            gold = [answer["text"] for answer in entry["answers"]]
            questions.append(Question(entry["question"], name, gold, "held" if place % 2 else "dev"))
    return texts, questions


def spans() -> tuple[dict[str, list[str]], list[Question]]:
    """Two long documents; gold are excerpts, of which one is enough."""
    texts = {path.stem: [path.read_text()] for path in sorted((DATA / "spans").glob("*.md"))}
    with Path(DATA / "spans" / "questions.csv").open(newline="") as file:
        questions = [
            Question(
                row["question"], row["corpus_id"], [one["content"] for one in json.loads(row["references"])], "spans"
            )
            for row in csv.DictReader(file)
            if row["corpus_id"] in texts
        ]
    return texts, questions


def _excerpts(references: str) -> list[str]:
    return [one["content"] for one in json.loads(references)]


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", tidy(text)).casefold()


def _holds(text: str, gold: Sequence[str], exact: bool) -> bool:
    """Whether a text holds a gold answer; a quote need only be a good part of a long excerpt."""
    held = _plain(text)
    return any(_plain(one) in held or (not exact and len(held) > 40 and held in _plain(one)) for one in gold)


def measure(shelf: Shelf, questions: Sequence[Question]) -> None:
    tallies: dict[str, Tally] = {}
    for question in questions:
        exact = question.group != "spans"
        hits = shelf.search(question.text)
        answer = extract(question.text, hits, shelf.encode.tokens)
        other = extract(question.text, shelf.search(question.text, question.document), shelf.encode.tokens)
        quotes = () if answer.abstained else answer.quotes
        right = [_holds(quote.text, question.gold, exact) for quote in quotes]
        there = any(_holds(hit.text, question.gold, exact) for hit in hits)
        words = sum(len(quote.text.split()) for quote in quotes)
        shown = (len(right), words) if right else (np.nan, np.nan)
        row = (bool(right and right[0]), any(right), there, answer.abstained, other.abstained, *shown)
        tallies.setdefault(question.group, Tally()).rows.append(row)
    for group, tally in tallies.items():
        tally.emit(group)


def main() -> None:
    if not DATA.is_dir():
        emit(benchmark="answering", skipped=f"{DATA} is not there")
        return
    settings = Settings()
    embedder = open_embedder(settings.embedding, settings.models_dir)
    articles, questions = xquad()
    encode = Encoder(embedder)
    measure(Shelf(articles, encode), questions)
    documents, more = spans()
    measure(Shelf({**articles, **documents}, encode), more)
    embedder.close()


if __name__ == "__main__":
    main()
