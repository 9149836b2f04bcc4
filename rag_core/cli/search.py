"""The command `search`: passages for a question, and with `--explain` how they were found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rag_core.cli.output import counts, emit, say, table
from rag_core.cli.scoping import cluster_for, mode_option, narrowed, scoped
from rag_core.cli.session import Session, command, scope_of
from rag_core.text.pages import counted
from rag_core.text.sentences import tidy

if TYPE_CHECKING:
    from rag_core.domain import Hit, Searched


@command("search", help="Show the passages that fit a question best.")
@click.argument("question")
@click.option("-k", type=click.IntRange(1), help="how many passages")
@mode_option
@click.option("--index", metavar="NAME", help="where vectors are looked up: auto, dumps, pgvector, chroma, ...")
@click.option("--scan", type=click.Choice(["auto", "exact", "fast"]), help="how thoroughly the dumps are searched")
@click.option("--mmr", is_flag=True, default=None, help="thin the passages: they differ then")
@click.option("--explain", is_flag=True, help="tell every candidate, its scores and what became of it")
@scoped
def search(
    session: Session, question: str, k: int | None, mode: Any, index: Any, scan: Any, mmr: bool | None, explain: bool,
    **given: Any,
) -> None:  # fmt: skip
    """Print the hits."""
    from rag_core.domain.serialiser import hit_to_json, to_json

    scope = scope_of(narrowed(session, given))
    cluster_for(session, mode)
    found = session.library.retrieve(question, scope=scope, k=k, mode=mode, index=index, scan=scan, mmr=mmr)
    for number, hit in enumerate(found.hits, 1):
        if session.as_json:
            emit(hit_to_json(hit))
        else:
            say(_told(number, hit))
    if not found.hits and not session.as_json:
        say("Nothing was found: no passage lies in what is searched.")
        for note in () if explain else found.trace.notes:
            say(f"note: {note}")
    if explain and found.trace.searched is not None:
        if session.as_json:
            emit({"searched": to_json(found.trace.searched), "notes": list(found.trace.notes)})
        else:
            _explain(found.trace.searched, found.trace.notes)


def _explain(searched: Searched, notes: tuple[str, ...]) -> None:
    """What was searched as a table: one line for each candidate, then milliseconds by stage."""
    names = sorted({name for one in searched.candidates for name in one.scores})
    there = counts(document=searched.documents, chunk=searched.chunks)
    say(f"{searched.mode or 'nothing'} search of {there}")
    for note in notes:
        say(f"note: {note}")
    if searched.expansion:
        say(f"expanded by: {searched.expansion}")
    columns = {"outcome": False, **dict.fromkeys(names, True), "page": True, "title": False}
    rows = []
    for one in searched.candidates:
        scores = (f"{one.scores[name]:.3f}" if name in one.scores else "-" for name in names)
        rows.append((one.outcome, *scores, one.page, one.title))
    table(columns, rows)
    say("milliseconds: " + ", ".join(f"{stage} {took:.1f}" for stage, took in searched.latency_ms.items()))


def _told(number: int, hit: Hit) -> str:
    where = f"{hit.document.title}, {counted(hit.page, hit.page_label)}"
    return f"[{number}] {where}  {hit.score_kind} {hit.score:.3f}\n{tidy(hit.text)}\n"
