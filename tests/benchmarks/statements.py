"""What is read off tables: TAT-QA's development set, each context a page of a PDF whose table has no lines.

`python -m tests.benchmarks.statements [--half tune report] [--libraries DIR] [--answers FILE]`, no language model, all
defaults, each question within the scope of its page. The first half of the contexts is for fitting, the second is
reported. One JSON object for each half: shares of the questions whose gold stands in the first 30 words (one span, by
where it stands), in 60 words (several spans), and whose computed figure stands in the first 30.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table
from reportlab.platypus.flowables import Flowable

from rag_core import Library, Settings, Upload
from rag_core.answering.citations import without_markers
from rag_core.domain import Scope
from tests.benchmarks.measure import SHARED, emit
from tests.benchmarks.retrieval_sets import _plain, _stands

_ONE, _SEVERAL = 30, 60
_FIGURE = re.compile(r"[-−–(]?\d[\d,]*(?:\.\d+)?")


def contexts(half: str) -> list[tuple[str, Mapping]]:
    """The names and contexts of a half."""
    every = json.loads((SHARED / "data" / "tatqa_dev.json").read_text())
    chosen = every[: len(every) // 2] if half == "tune" else every[len(every) // 2 :]
    return [(f"statement-{context['table']['uid'][:8]}.pdf", context) for context in chosen]


def page(context: Mapping) -> bytes:
    """A PDF of one page: the paragraphs in order, the table behind the first, its columns set apart by blank alone."""
    styles = getSampleStyleSheet()
    rows = context["table"]["table"]
    width = A4[0] - 72
    labels = max(0.3, 0.62 - 0.08 * (len(rows[0]) - 1)) * width
    others = [(width - labels) / max(len(rows[0]) - 1, 1)] * (len(rows[0]) - 1)
    small = ParagraphStyle("cell", styles["BodyText"], fontSize=8, leading=10)
    right = ParagraphStyle("figure", small, alignment=TA_RIGHT)
    cells = [[Paragraph(_escaped(cell), right if place else small) for place, cell in enumerate(row)] for row in rows]
    table = Table(cells, colWidths=[labels, *others])
    paragraphs = [Paragraph(_escaped(one["text"]), styles["BodyText"]) for one in context["paragraphs"]]
    story: list[Flowable] = [*paragraphs[:1], Spacer(1, 6), table, Spacer(1, 6), *paragraphs[1:]]
    height = sum(flowable.wrap(width, 10_000)[1] + 8 for flowable in story) + 144
    file = io.BytesIO()
    SimpleDocTemplate(file, pagesize=(A4[0], max(height, A4[1])), leftMargin=36, rightMargin=36).build(story)
    return file.getvalue()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("₹", "Rs").strip()


def opened(folder: Path, half: str) -> Library:
    """A library of the pages of a half."""
    library = Library.open(Settings(_env_file=None, data_dir=folder / f"statements-{half}"))
    for _ in library.add([Upload(name, page(context)) for name, context in contexts(half)]):
        pass
    library.storage.settle()
    return library


def kind_of(question: Mapping) -> str:
    """The name its share is reported under."""
    if question["answer_type"] == "span":
        return {"table": "span_in_table", "text": "span_in_text"}.get(question["answer_from"], "span_in_both")
    return {"multi-span": "several_spans"}.get(question["answer_type"], question["answer_type"])


def is_right(question: Mapping, text: str) -> bool:
    """Whether an answer's first words hold the gold."""
    words = text.split()
    if question["answer_type"] in ("span", "multi-span"):
        shown = _plain(" ".join(words[: _ONE if question["answer_type"] == "span" else _SEVERAL]))
        return all(_stands(part, shown) for part in question["answer"])
    return _computed(float(question["answer"]), " ".join(words[:_ONE]))


def _computed(gold: float, text: str) -> bool:
    """Whether a figure stands there that is the gold's magnitude, rounded as a reader would."""
    for found in _FIGURE.findall(text):
        digits = found.strip("-−–(").replace(",", "")
        decimals = len(digits.partition(".")[2])
        if abs(float(digits) - abs(gold)) <= max(0.5 * 10**-decimals, 0.006) and (
            decimals or abs(gold) >= 10 or gold == int(gold)
        ):
            return True
    return False


def asked(library: Library, half: str) -> Iterator[tuple[Mapping, str, str]]:
    """Each question with its kind and answer's text."""
    ids = {Path(document.sources[0]).name: document.id for document in library.documents()}
    for name, context in contexts(half):
        for question in context["questions"]:
            answer = library.ask(question["question"], scope=Scope(documents=(ids[name],)))
            yield question, kind_of(question), "" if answer.abstained else without_markers(answer.text)


def figures(outcomes: Sequence[tuple[Mapping, str, str]]) -> dict[str, object]:
    """The shares that are reported."""
    by_kind: dict[str, list[bool]] = {}
    for question, kind, text in outcomes:
        right = is_right(question, text)
        by_kind.setdefault(kind, []).append(right)
        if question["answer_type"] == "span":
            by_kind.setdefault("span", []).append(right)
    shares = {kind: round(sum(found) / len(found), 3) for kind, found in sorted(by_kind.items())}
    return {
        "questions": len(outcomes),
        "refused": round(sum(not text for *_, text in outcomes) / len(outcomes), 3),
        **shares,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", nargs="+", default=["report"], choices=["tune", "report"])
    parser.add_argument("--libraries", type=Path, help="keep the libraries in this folder")
    parser.add_argument("--answers", type=Path, help="write each answer of the half tune to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
        for half in options.half:
            with opened(options.libraries or Path(folder), half) as library:
                outcomes = list(asked(library, half))
            emit(benchmark="statements", half=half, **figures(outcomes))
            if options.answers and half == "tune":
                rows = (
                    {"question": one["question"], "kind": kind, "gold": one["answer"], "derivation": one["derivation"],
                     "right": is_right(one, text), "answer": text} for one, kind, text in outcomes
                )  # fmt: skip
                options.answers.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


if __name__ == "__main__":
    main()
