"""The command `search`: passages for a question, and with `--explain` how they were found."""

from __future__ import annotations

import argparse
import sys
from datetime import date

from rag_core.cli_output import WrongUsage, emit, plain
from rag_core.domain import Hit, Scope, Searched
from rag_core.library import Library
from rag_core.plain import plain_hit


def add(command: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    command.add_argument("question")
    command.add_argument("-k", type=int, help="how many passages")
    command.add_argument(
        "--mode", choices=["auto", "hybrid", "dense", "lexical", "scaler"], help="by meaning, by words, or by both"
    )
    command.add_argument("--index", choices=["auto", "dumps", "pgvector", "chroma"], help="where vectors are looked up")
    command.add_argument("--scan", choices=["auto", "exact", "fast"], help="how thoroughly the dumps are searched")
    command.add_argument("--mmr", action="store_true", default=None, help="thin the passages: they differ then")
    command.add_argument(
        "--explain", action="store_true", help="tell every candidate, its scores and what became of it"
    )
    add_scope(command)


def add_scope(command: argparse.ArgumentParser) -> None:
    """The arguments that say what is searched."""
    scope = command.add_argument_group("what is searched; each may be given several times")
    scope.add_argument(
        "--in", action="append", default=[], dest="names", metavar="NAME", help="documents by title, file name or tag"
    )
    scope.add_argument("--document", action="append", default=[], metavar="ID", help="these documents")
    scope.add_argument("--tag", action="append", default=[], help="documents with a tag")
    scope.add_argument("--folder", action="append", default=[], help="documents whose path begins so")
    scope.add_argument("--section", action="append", default=[], metavar="TITLE", help="sections with this title")
    scope.add_argument("--year", action="append", default=[], type=int, help="documents of a year")
    scope.add_argument("--since", type=date.fromisoformat, metavar="DATE", help="documents added then or later")
    scope.add_argument("--until", type=date.fromisoformat, metavar="DATE", help="documents added then or before")


def search(library: Library, options: argparse.Namespace) -> int:
    """Print the hits. Returns the exit code."""
    if options.k is not None and options.k < 1:
        sys.stderr.write("-k must be at least 1.\n")
        return 2
    found = library.retrieve(
        options.question, scope=scope_of(library, options), k=options.k, mode=options.mode, index=options.index,
        scan=options.scan, mmr=options.mmr,
    )  # fmt: skip
    for number, hit in enumerate(found.hits, 1):
        if options.json:
            emit(plain_hit(hit))
        else:
            print(_told(number, hit))
    if options.explain and found.trace.searched is not None:
        if options.json:
            emit({"searched": plain(found.trace.searched), "notes": list(found.trace.notes)})
        else:
            print(explained(found.trace.searched, found.trace.notes))
    return 0


def explained(searched: Searched, notes: tuple[str, ...]) -> str:
    """What was searched as a table: one line for each candidate, then milliseconds by stage."""
    names = sorted({name for one in searched.candidates for name in one.scores})
    lines = [f"{searched.mode or 'nothing'} search of {searched.documents} documents, {searched.chunks} chunks"]
    lines += [f"note: {note}" for note in notes]
    lines.append("  ".join([f"{'outcome':8}", *(f"{name:>8}" for name in names), " page  title"]))
    for one in searched.candidates:
        scores = (f"{one.scores[name]:8.3f}" if name in one.scores else f"{'-':>8}" for name in names)
        lines.append("  ".join([f"{one.outcome:8}", *scores, f"{one.page:5}", one.title]))
    stages = ", ".join(f"{stage} {took:.1f}" for stage, took in searched.latency_ms.items())
    return "\n".join([*lines, f"milliseconds: {stages}"])


def scope_of(library: Library, options: argparse.Namespace) -> Scope | None:
    """The scope that the arguments say, None where they say nothing. Raises WrongUsage for a name that fits nothing."""
    try:
        named = library.scope_of(options.names)
    except KeyError as error:
        raise WrongUsage(f"No document or tag is called “{error.args[0]}”. See: python -m rag_core documents") from None
    documents = (*options.document, *named.documents)
    scope = Scope(
        documents=tuple(dict.fromkeys(documents)), tags=(*options.tag, *named.tags), folders=tuple(options.folder),
        sections=tuple(options.section), years=tuple(options.year), added_since=options.since,
        added_until=options.until,
    )  # fmt: skip
    return scope or None


def _told(number: int, hit: Hit) -> str:
    where = f"{hit.document.title}, page {hit.page_label or hit.page}"
    return f"[{number}] {where}  {hit.score_kind} {hit.score:.3f}\n{' '.join(hit.text.split())}\n"
