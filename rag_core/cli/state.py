"""The commands that tell how the library is, compare its stores, and make them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rag_core.cli.output import counts, emit, say, steps
from rag_core.cli.session import Session, command, executor_option

if TYPE_CHECKING:
    from rag_core.domain import Finding, Report


@command("status", help="Tell how the library is.")
def status(session: Session) -> None:
    """Print it."""
    now = session.library.maintenance.status()
    if session.as_json:
        emit(now)
        return
    say(f"{counts(document=now.documents, chunk=now.chunks)}, {now.pending} pending, {now.failed} failed")
    known = {"data dir": now.data_dir, "profile": now.profile, "postgresql": now.postgresql, **now.indexes}
    for name, told in known.items():
        say(f"{name:12} {told}")
    for server in now.servers:
        kind = "worker" if server.lanes else "server"
        about = [server.name, *(["this one"] if server.is_this else ()), *server.lanes]
        about += [f"{counts(document=server.behind)} not found there yet"] if server.behind else []
        say(f"{kind:12} {', '.join(about)}")
    for model in now.models:
        say(f"{'model':12} {model.id}: {'ready' if model.ready else 'not ready. ' + model.reason}")
    for note in now.notes:
        say(f"{'note':12} {note}")


@command("verify", help="Compare all stores; the exit code is 1 when something differs.")
@click.option("--deep", is_flag=True, help="read every text, vector and file")
def verify(session: Session, deep: bool) -> int:
    """Print what differs."""
    return _show_report(session, session.library.maintenance.verify(deep))


@command("repair", help="Rebuild what differs from PostgreSQL; nothing is embedded.")
def repair(session: Session) -> int:
    """Print what was repaired, and what could not be."""
    session.changes("repair")
    return _show_report(session, session.library.maintenance.repair())


@command("reembed", help="Re-embed every document with another model; the old one answers meanwhile.")
@click.option("--model", help="packaged model, or a folder; without it that of the settings")
@click.option("--precision", type=click.Choice(["auto", "float32", "bf16", "int8"]), help="precision of the model")
@executor_option
def reembed(session: Session, model: str | None, precision: str | None, executor: str | None) -> None:
    """Print each step."""
    session.changes("reembed")
    session.execute(executor)
    library = session.library
    wanted = {name: value for name, value in (("model", model), ("precision", precision)) if value is not None}
    chosen = library.settings.changed("embedding", **wanted).embedding if wanted else None
    with steps(session.as_json, unit=" chunks") as show:
        for step in library.maintenance.reembed(chosen):
            show(step)


def _show_report(session: Session, found: Report) -> int:
    code = 1 if found.findings else 0
    if session.as_json:
        emit(found)
        return code
    for note in session.library.maintenance.notes():
        say(f"note: {note}")
    for finding in found.repaired:
        say(f"repaired: {_line(finding)}")
    for finding in found.findings:
        say(f"{_line(finding)} {'`repair` rebuilds it.' if finding.repairable else finding.help}")
    differ = len({finding.document_id for finding in found.findings})
    say(
        f"{counts(document=found.documents, chunk=found.chunks)} compared in {found.took_s:.1f} s:"
        f" {f'{differ} differ' if differ else 'no difference'}"
    )
    return code


def _line(finding: Finding) -> str:
    about = f"{finding.document_id[:10]} {finding.title}".strip()
    return f"{finding.store}: {about}: {finding.message}" if about else f"{finding.store}: {finding.message}"
