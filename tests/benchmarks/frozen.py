"""Hits and answers to the letter, before and after the house is rebuilt: `python -m tests.benchmarks.frozen FILE`.

Some thousand questions of the benchmarks' sets are searched and asked, all defaults, no language model, the vectors in
float32, which every processor makes alike. Where FILE is not there yet it is written, one JSON line for each question;
where it is, what differs from it is told: one JSON object with the number of questions, how many hits and answers are
others, and the first of those. Exit code 1 where any is another.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rag_core import Answer, Hit, Library, Settings, Upload
from tests.benchmarks import prose
from tests.benchmarks.measure import PROJECT, emit
from tests.benchmarks.retrieval_sets import people

_TOLD = 5


def questions() -> Iterator[str]:
    """Every question, in order: of articles, policies, everyday documents and the samples."""
    for texts in (prose.articles(), prose.policies()):
        for half in prose.HALVES:
            yield from [question.text for question in texts.questions[half]][:240]
    yield from [case.question for case in people().cases]
    samples = (PROJECT / "data" / "samples" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    yield from [json.loads(line)["question"] for line in samples if line.strip()]


def fill(library: Library) -> None:
    """Add the texts that are asked. Raises what adding meets."""
    files = list(people().documents)  # samples, filings and other PDFs are among them
    for texts in (prose.articles(), prose.policies()):
        files += [Upload(name, "\n\n".join(parts).encode()) for name, parts in texts.paragraphs.items()]
    for event in library.add(files):
        if event.error is not None:
            raise event.error
    library.storage.settle()


def line_of(library: Library, question: str) -> str:
    """What is found and answered, as one line that is the same where both are."""
    return json.dumps(
        {"question": question, "hits": [_hit(hit) for hit in library.search(question)], **_said(library.ask(question))},
        ensure_ascii=False,
    )


def _hit(hit: Hit) -> list[object]:
    return [hit.document.id, hit.page, hit.start, round(float(hit.score), 5)]


def _said(answer: Answer) -> dict[str, object]:
    cited = [[citation.number, citation.document_id, citation.page] for citation in answer.citations]
    return {"text": answer.text, "cited": cited, "confidence": round(answer.confidence, 4)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
        settings = Settings(_env_file=None, data_dir=folder).changed("embedding", precision="float32")
        with Library.open(settings) as library:
            fill(library)
            lines = [line_of(library, question) for question in dict.fromkeys(questions())]
    if not options.file.exists():
        options.file.write_text("\n".join(lines), encoding="utf-8")
        emit(benchmark="frozen", questions=len(lines), written=str(options.file))
        return 0
    before = options.file.read_text(encoding="utf-8").splitlines()
    pairs = [(json.loads(old), json.loads(new)) for old, new in zip(before, lines, strict=True) if old != new]
    emit(
        benchmark="frozen", questions=len(lines), hits_differ=sum(old["hits"] != new["hits"] for old, new in pairs),
        answers_differ=sum(old["text"] != new["text"] for old, new in pairs), first=pairs[:_TOLD],
    )  # fmt: skip
    return 1 if pairs else 0


if __name__ == "__main__":
    sys.exit(main())
