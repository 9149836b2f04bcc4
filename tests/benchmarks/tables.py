"""What whole tables are asked, all defaults, no language model: `python -m tests.benchmarks.tables`.

Three sets, one JSON object each. Files: the tables of a folder together in one library, with what its
`questions.jsonl` asks of them (`file`, `kind`, `question`, `answers`; of the kind "absent" is what no table tells).
People: what they ask of tables of an encyclopaedia, each table a CSV file, each question within the scope of its own.
Rows: a table of orders, as long as `--rows` says, and how long adding and asking it take.

right: the answer stands in the first 40 words; strict: in the first sentence, a number as the only one there; only:
the sentence says nothing beside. wrong: neither right nor refused. The weights of plans were fitted on none of these
tables; how far plans are trusted was, on 400 questions of the people's.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rag_core import Library, Settings, Upload
from rag_core.answering.citations import without_markers
from rag_core.domain import Answer, Scope
from rag_core.tables.columns import normalised
from rag_core.tables.table import WholeTable
from rag_core.tables.values import number_in
from tests.benchmarks.long_table import add, has_followed, percentiles
from tests.benchmarks.measure import SHARED, PeakMemory, emit, percentile, timed_ms
from tests.benchmarks.table_questions import encyclopaedia

_SEEN, _CLOSE = 40, 0.005
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")
_FIGURE = re.compile(r"-?\d[\d,]*(?:\.\d+)?|-?\.\d+")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_BEHIND = re.compile(r"\s*\([^()]*: [^()]*\)\.?$")
_FEWEST_TIMED, _LONGEST_S = 20, 300
_CITIES = ("Oslo", "Bath", "Leeds", "Bern", "Turin", "Ghent")


@dataclass(frozen=True)
class Asked:
    """A question of the file of a name. answers: any of them, or all where `together`; none where nothing tells."""

    file: str
    kind: str
    text: str
    answers: Sequence[str]
    together: bool = False


@dataclass(frozen=True)
class Outcome:
    """A question with its answer."""

    asked: Asked
    answer: Answer
    took_ms: float

    @property
    def is_right(self) -> bool:
        """Whether the first words hold what was expected, or what nothing tells was refused."""
        return self._stands(" ".join(self._text.split()[:_SEEN]))

    @property
    def is_strict(self) -> bool:
        """Whether the first sentence holds it, a number as the only one."""
        is_alone = not self._is_number or self.asked.together or len(self._figures) == 1
        return self.is_right and self._stands(self._first) and is_alone

    @property
    def is_only(self) -> bool:
        """Whether that sentence says nothing beside it and the name of the column."""
        said = _BEHIND.sub("", self._first).rpartition(": ")[2]
        wanted = " ".join(normalised(one) for one in self.asked.answers).split()
        more = [word for word in normalised(said).split() if word not in (*wanted, "and")]
        return self.is_strict and (len(self._figures) == 1 if self._is_number else not more)

    @property
    def is_wrong(self) -> bool:
        """Whether something else was answered."""
        return not self.is_right and not self.answer.abstained

    @property
    def _is_number(self) -> bool:
        return any(_number(one) is not None for one in self.asked.answers)

    @property
    def _figures(self) -> set[float | None]:
        return {_number(figure) for figure in _FIGURE.findall(self._first)}

    @property
    def _text(self) -> str:
        return without_markers(self.answer.text).strip()

    @property
    def _first(self) -> str:
        return _SENTENCE.split(self._text)[0]

    def _stands(self, text: str) -> bool:
        if self.answer.abstained or not self.asked.answers:
            return self.answer.abstained and not self.asked.answers
        close = _CLOSE if self.asked.kind == "mean" else 0.0
        return (all if self.asked.together else any)(_holds(text, one, close) for one in self.asked.answers)


def _number(text: str) -> float | None:
    found = None if _DAY.fullmatch(text.strip()) else number_in(text)
    return abs(found[0]) if found else None


def _holds(text: str, wanted: str, close: float) -> bool:
    """Whether a text says a number, by its amount, or some words, one behind the other."""
    value = _number(wanted)
    if value is None:
        return f" {normalised(wanted)} " in f" {normalised(text)} "
    figures = (_number(one) for one in (*_FIGURE.findall(text), *text.replace(";", " ").split()))
    return any(one is not None and abs(one - value) <= close * value + 1e-9 for one in figures)


def of_folder(folder: Path) -> tuple[list[Upload], list[Asked]]:
    """The tables of a folder, and what is asked of them."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    read = [json.loads(line) for line in lines if line]
    asked = [Asked(one["file"], one["kind"], one["question"], one["answers"]) for one in read]
    names = sorted({one.file for one in asked})
    return [Upload(name, (folder / name).read_bytes()) for name in names], [
        Asked(one.file, one.kind, one.text, ()) if one.kind == "absent" else one for one in asked
    ]


def of_people(most: int) -> tuple[list[Upload], list[Asked]]:
    """Tables of the encyclopaedia that nothing was fitted on, and all that is asked of each."""
    every = encyclopaedia("dev")
    tables = list({id(one.table): one.table for one in every}.values())
    random.Random(1).shuffle(tables)
    uploads: list[Upload] = []
    asked: list[Asked] = []
    for number, table in enumerate(tables):
        if len(asked) >= most:
            break
        name = f"{number:03} {normalised(table.name)}.csv"
        uploads.append(Upload(name, as_csv(table)))
        asked += [Asked(name, one.kind, one.text, one.answers, True) for one in every if one.table is table]
    return uploads, asked[:most]


def as_csv(table: WholeTable) -> bytes:
    """A table as a file."""
    file = io.StringIO()
    rows = (table.text(row, place) for row in range(len(table)) for place in range(len(table.columns)))
    csv.writer(file).writerows([
        [column.head for column in table.columns], *zip(*[rows] * len(table.columns), strict=True)
    ])  # fmt: skip
    return file.getvalue().encode()


def outcomes(library: Library, asked: Sequence[Asked], *, scoped: bool) -> Iterator[Outcome]:
    """Ask one question after the other."""
    ids = {Path(document.sources[0]).name: document.id for document in library.documents()}
    for one in asked:
        scope = Scope(documents=(ids[one.file],)) if scoped else None
        answers: list[Answer] = []
        took = timed_ms(lambda text=one.text, scope=scope, to=answers: to.append(library.ask(text, scope=scope)))
        yield Outcome(one, answers[0], took)


def figures(found: Sequence[Outcome]) -> dict[str, object]:
    """The shares that are reported."""
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for one in found:
        kinds[one.asked.kind].append(one)
    took = [one.took_ms for one in found]
    return {
        "questions": len(found),
        **{
            name: round(sum(getattr(one, f"is_{name}") for one in found) / len(found), 3)
            for name in ("right", "strict", "only", "wrong")
        },
        "refused": round(sum(one.answer.abstained for one in found) / len(found), 3),
        "kinds": {kind: f"{sum(one.is_right for one in some)}/{len(some)}" for kind, some in sorted(kinds.items())},
        "p50_ms": round(percentile(took, 0.5)),
        "p95_ms": round(percentile(took, 0.95)),
    }


def orders(rows: int) -> bytes:
    """A table of orders, each with a number of its own."""
    items = ("router", "monitor", "phone", "toner", "desk", "lamp", "cable")
    lines = (
        f"INV-{row:07},Customer {row * 7919 % 9973},{_CITIES[row * 31 % 6]},{items[row * 17 % 7]},{row % 40 + 1},"
        f"{row * 613 % 99_991 / 100:.2f},{2020 + row % 5}-{row % 12 + 1:02}-{row % 28 + 1:02},"
        f"{'paid' if row % 3 else 'open'}"
        for row in range(rows)
    )
    return ("Invoice,Customer,City,Item,Quantity,Unit price,Date,State\n" + "\n".join(lines)).encode()


def of_rows(rows: int, folder: Path) -> None:
    """Add a table of orders and tell how long it takes, and what is asked of it then and once it is followed."""
    with Library.open(Settings(_env_file=None, data_dir=folder)) as library, ExitStack() as measuring:
        library.warm_up()
        memory = measuring.enter_context(PeakMemory(folder))
        added = timed_ms(lambda: add(library, "orders.csv", orders(rows)))
        adding_s = memory.processor_s
        first = timed_ms(lambda: library.ask("Who is the customer of INV-0000007?"))
        keys = (f"How many pieces were ordered with INV-{number * 7907 % rows:07}?" for number in range(10**6))
        counts = (f"How many orders are from {_CITIES[n % 6]} in {2020 + n // 6 % 5}?" for n in range(10**6))
        emit(
            benchmark="tables", set="rows", rows=rows, added_s=round(added / 1000, 1), processor_s=round(adding_s, 1),
            first_ms=round(first),
            meanwhile_ms=_asked_while(library, keys, counts, quiet=False),
            afterwards_ms=_asked_while(library, keys, counts, quiet=True),
            idle_gb=round(memory.first_bytes / 1e9, 2), peak_gb=round(memory.peak_bytes / 1e9, 2),
        )  # fmt: skip


def _asked_while(library: Library, keys: Iterator[str], counts: Iterator[str], *, quiet: bool) -> dict[str, object]:
    """Milliseconds of look-ups and counts, while indexes follow what was added, or once they have."""
    took: dict[str, list[float]] = {"key": [], "count": []}
    if quiet:
        library.storage.settle()
    began = time.monotonic()
    while len(took["key"]) < _FEWEST_TIMED or (
        not quiet and not has_followed(library) and time.monotonic() - began < _LONGEST_S
    ):
        for name, asked in (("key", keys), ("count", counts)):
            text = next(asked)
            took[name].append(timed_ms(lambda text=text: library.ask(text)))
    return {name: percentiles(some) for name, some in took.items()}


def asked_set(name: str, uploads: Sequence[Upload], asked: Sequence[Asked], *, scoped: bool) -> list[Outcome]:
    """A library of some tables, and its figures."""
    with (
        tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder,
        Library.open(Settings(_env_file=None, data_dir=folder)) as library,
    ):
        errors = [str(event.error) for event in library.add(uploads) if event.error]
        library.storage.settle()
        found = list(outcomes(library, asked, scoped=scoped))
    emit(benchmark="tables", set=name, tables=len(uploads), errors=errors, **figures(found))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[SHARED / "data" / "tables"])
    parser.add_argument("--most", type=int, default=300, help="questions by people; 0 leaves them out")
    parser.add_argument("--rows", nargs="*", type=int, default=[], help="how long the tables of orders are")
    parser.add_argument("--answers", type=Path, help="write each answer to this file")
    options = parser.parse_args()
    found = [one for folder in options.folders for one in asked_set("files", *of_folder(folder), scoped=False)]
    if options.most:
        found += asked_set("people", *of_people(options.most), scoped=True)
    if options.answers:
        options.answers.write_text("".join(map(_line, found)), encoding="utf-8")
    for rows in options.rows:
        with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
            of_rows(rows, Path(folder))


def _line(one: Outcome) -> str:
    said = {"file": one.asked.file, "kind": one.asked.kind, "question": one.asked.text, "gold": list(one.asked.answers)}
    judged = {"right": one.is_right, "strict": one.is_strict, "only": one.is_only, "refused": one.answer.abstained}
    return json.dumps({**said, **judged, "answer": one.answer.text}, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
