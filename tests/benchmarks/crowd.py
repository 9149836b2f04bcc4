"""Several people ask at once, without a language model: `python -m tests.benchmarks.crowd --chunks 47000`.

Each asks `Library.ask` one question after another, all defaults, in a thread of its own; every question is another one
and begins a conversation. One JSON object for one person alone and one for all at once: p50 and p95 of an answer in
milliseconds, answers a second, and how many said that they found nothing.

Then the same library is that of a hundred people: half of its documents are everybody's, each of the others is
somebody's, and twenty collections are shared, each with readers and with editors who put documents of their own into
it. As many ask at once as before, each question by the next of the hundred: of all that they see (one alone first), and
of a collection alone. These objects also say how many hits and citations were of documents that whoever asked may not
see, by what was given and shared and not by what the library says of it.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from rag_core import Library, Scope
from rag_core.domain import Answer
from rag_core.personal import library_of as library_of_person
from tests.benchmarks.measure import emit, library_of, percentile, sentences

_WARMING = 10


@dataclass(frozen=True)
class Person:
    """One of many who have documents of their own: their address, what they may see, and a collection among that."""

    address: str
    sees: set[str]
    collection: str


def asked(ask: Callable[[str], Answer], some: Sequence[Sequence[str]], chunks: int, **told: Any) -> None:
    """Ask several rows of questions at once, beginning together."""
    together = threading.Barrier(len(some))
    took_ms: list[float] = []
    abstained: list[bool] = []

    def ask_all(questions: Sequence[str]) -> None:
        together.wait()
        for question in questions:
            began = time.perf_counter()
            answer = ask(question)
            took_ms.append((time.perf_counter() - began) * 1000)
            abstained.append(answer.abstained)

    began = time.perf_counter()
    with ThreadPoolExecutor(len(some)) as threads:
        for done in [threads.submit(ask_all, questions) for questions in some]:
            done.result()
    took_s = time.perf_counter() - began
    emit(
        benchmark="crowd", people=len(some), chunks=chunks, questions=len(took_ms),
        p50_ms=round(percentile(took_ms, 0.5), 1), p95_ms=round(percentile(took_ms, 0.95), 1),
        answers_per_s=round(len(took_ms) / took_s, 1), abstained=sum(abstained),
        **{name: value() if callable(value) else value for name, value in told.items()},
    )  # fmt: skip


def shared_out(library: Library, owners: int, collections: int) -> list[Person]:
    """Give half of the documents to people and share collections of theirs; what an earlier run did so is undone."""
    for one in library.collections.all():
        library.collections.remove(one.id)
    ids = sorted(document.id for document in library.documents())
    addresses = [f"person{number}@example.org" for number in range(owners)]
    own = {address: ids[1::2][number::owners] for number, address in enumerate(addresses)}
    library.people.give(ids, "")
    for address, given in own.items():
        library.people.give(given, address)
    held = [list[str]() for _ in range(collections)]
    members = [[addresses[place] for place in range(number, owners, collections)] for number in range(collections)]
    for number, (owner, *readers) in enumerate(members):
        editors = members[(number + 1) % collections][1:]
        made = library_of_person(library, owner).collections.make(f"Shared {number}")
        library.catalogue.tag(own[owner], add=[made.name])
        held[number] += own[owner]
        for role, some in (("reader", readers), ("editor", editors)):
            for person in some:
                library.people.share(made.id, person, role)  # type: ignore[arg-type]
        for person in editors:
            for document_id in own[person][:1]:
                library_of_person(library, person).people.put(made.id, document_id)
                held[number].append(document_id)
    people = []
    for place, address in enumerate(addresses):
        number = place % collections
        seen = {number} if place < collections else {number, (number - 1) % collections}
        sees = {*ids[::2], *own[address], *(one for some in seen for one in held[some])}
        people.append(Person(address, sees, f"Shared {number}"))
    return people


def asked_by_people(
    library: Library, people: Sequence[Person], some: Sequence[Sequence[str]], chunks: int, *, narrowed: bool
) -> None:
    """The same, each question by the next of them, of all that they see or of a collection alone."""
    turns, strangers = count(), list[str]()

    def ask(question: str) -> Answer:
        person = people[next(turns) % len(people)]
        scope = Scope(tags=(person.collection,)) if narrowed else None
        answer = library_of_person(library, person.address).ask(question, scope=scope)
        found = [hit.document.id for hit in answer.hits] + [one.document_id for one in answer.citations]
        strangers.extend(one for one in found if one not in person.sees)
        return answer

    asked(
        ask, some, chunks, owners=len(people), collections=len({person.collection for person in people}),
        narrowed=narrowed, cross_tenant=lambda: len(strangers),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--questions", type=int, default=25, help="of each; one alone asks four times as many")
    parser.add_argument("--owners", type=int, default=100, help="who have documents of their own, in the second half")
    parser.add_argument("--collections", type=int, default=20, help="that they share")
    parser.add_argument("--library", type=Path, help="keep the library in this folder for another run")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder,
        library_of(options.chunks, options.library or Path(folder)) as library,
    ):
        for _ in library.clusters.update():  # which would go on in the background
            pass
        library.warm_up()
        different = (f"What about {' '.join(sentence.split()[1:5])}?" for sentence in sentences())

        def rows(people: int, questions: int) -> list[list[str]]:
            return [[next(different) for _ in range(questions)] for _ in range(people)]

        chunks, alone = library.maintenance.status().chunks, (1, 4 * options.questions)
        together = (options.people, options.questions)
        for _ in range(_WARMING):
            library.ask(next(different))
        for many in (alone, together):
            asked(library.ask, rows(*many), chunks)
        people = shared_out(library, options.owners, options.collections)
        for many, narrowed in ((alone, False), (together, False), (together, True)):
            asked_by_people(library, people, rows(*many), chunks, narrowed=narrowed)


if __name__ == "__main__":
    main()
