"""The command line: the words of the library from a shell.

Exit codes: 0 done, 1 failed (the reason stands on standard error), 2 wrong usage, 130 stopped by Ctrl-C, 143 by
SIGTERM. With `--json` every line of standard output is one JSON object.
"""

from __future__ import annotations

import argparse
import getpass
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from rag_core import (
    cli_documents,
    cli_evaluate,
    cli_keys,
    cli_mcp,
    cli_models,
    cli_run,
    cli_search,
    cli_sources,
    serving,
)
from rag_core.cli_output import WrongUsage, complain, emit, plain, shown
from rag_core.domain import Answer, BackupReport, Finding, Report, Scope
from rag_core.errors import EncryptedDocument, LecternError, LibraryInUse, StoreUnavailable
from rag_core.library import Library
from rag_core.remote.library import RemoteLibrary
from rag_core.remote.wire import Wire
from rag_core.settings import Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code."""
    options = _parser().parse_args(arguments)
    _print_any_name()
    try:
        settings = Settings.load(**({"data_dir": options.data_dir} if options.data_dir else {}))
        if options.backend:
            settings = settings.changed("retrieval", backend=options.backend)
        command: Callable[[Any, argparse.Namespace], int] = options.command
        # An application may have it open, the archive is looked at first, or the application opens it.
        if command in (_backup, _restore, cli_run.run, cli_keys.keys):
            return command(settings, options)
        with _opened(settings) as library:
            return command(library, options)
    except WrongUsage as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except LecternError as error:
        complain(error)
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped. Documents that were not finished go on with the next `add`.\n")
        return 130
    except BrokenPipeError:  # `| head` closed the other end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _opened(settings: Settings) -> Library | RemoteLibrary:
    """The library: by its server where one runs, else opened here."""
    served = serving.find(settings.data_dir.expanduser().absolute())
    if served is not None:
        try:
            Wire(served.url, served.key).ask("GET", "/api/v1/health")
            return RemoteLibrary(served.url, served.key)
        except StoreUnavailable:  # it was killed, and its process id is another's by now
            pass
    return Library.open(settings)


def program() -> None:
    """Run one command as a process of its own."""
    stop_on_sigterm()
    sys.exit(main())


def stop_on_sigterm() -> None:
    """Let SIGTERM end this process in order, so that stores are closed and the embedded PostgreSQL is stopped."""

    def leave(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, leave)


def _print_any_name() -> None:
    """Names of files may hold bytes that are no text; they are printed as escapes, which JSON reads as well."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--json", action="store_true", help="print one JSON object per line")
    shared.add_argument("--data-dir", metavar="DIR", help="the library's folder (LECTERN_DATA_DIR)")
    shared.add_argument("--backend", choices=["auto", "cpu", "coreml", "torch"], help="what scores the vectors")
    parser = argparse.ArgumentParser(prog="lectern", description="Ask questions of your own documents.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[Any, argparse.Namespace], int], help: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help, parents=[shared])
        sub.set_defaults(command=run)
        return sub

    cli_run.add(command("run", cli_run.run, cli_run.HELP))
    add = command("add", _add, "Add files, folders and web addresses, and finish what was left pending.")
    add.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="files, folders of them, or addresses: PDF, Office, web, EPUB, mail, CSV, text, source code, images",
    )
    cli_sources.add_web(add)
    add.add_argument("--password", help="password of encrypted PDF documents; asked for when it is left out")
    cli_sources.add_update(command("update", cli_sources.update, cli_sources.UPDATE))
    cli_sources.add_watch(command("watch", cli_sources.watch, cli_sources.WATCH))
    search = command("search", cli_search.search, "Show the passages that fit a question best.")
    cli_search.add(search)
    ask = command("ask", _ask, "Answer one question, with citations.")
    ask.add_argument("question")
    chat = command("chat", _chat, "Talk: one question after another, answers streamed. An empty line ends it.")
    for sub in (ask, chat):
        sub.add_argument("--model", help="extractive, gguf:FILE, server:NAME or gemini")
        sub.add_argument("--conversation", metavar="ID", help="go on with this conversation")
        cli_search.add_scope(sub)
    listed = command("documents", cli_documents.documents, "List the documents.")
    listed.add_argument("--tag", action="append", default=[], help="those with this tag alone")
    tag = command("tag", cli_documents.tag, "Put tags on documents and take others off; without documents, list them.")
    tag.add_argument("documents", nargs="*", metavar="DOCUMENT")
    tag.add_argument("--add", action="append", default=[], metavar="TAG")
    tag.add_argument("--remove", action="append", default=[], metavar="TAG")
    rename = command("rename", cli_documents.rename, "Call a document otherwise; without a title, as it was found.")
    rename.add_argument("document", metavar="DOCUMENT")
    rename.add_argument("title", nargs="?", metavar="TITLE")
    remove = command("remove", cli_documents.remove, "Remove documents by id (or its beginning) or title.")
    remove.add_argument("documents", nargs="+", metavar="DOCUMENT")
    verify = command("verify", _verify, "Compare all stores; the exit code is 1 when something differs.")
    verify.add_argument("--deep", action="store_true", help="read every text, vector and file")
    command("repair", _repair, "Make again what differs from PostgreSQL; nothing is embedded.")
    cli_models.add(command("models", cli_models.models, cli_models.HELP))
    cli_keys.add(command("keys", cli_keys.keys, cli_keys.HELP))
    command("mcp", cli_mcp.mcp, cli_mcp.HELP)
    command("status", _status, "Tell how the library is.")
    reembed = command(
        "reembed", _reembed, "Embed every document anew with another model; the old one answers meanwhile."
    )
    reembed.add_argument("--model", help="packaged model, or a folder; without it that of the settings")
    reembed.add_argument("--precision", choices=["auto", "float32", "bf16", "int8"], help="precision of the model")
    cli_evaluate.add(command("evaluate", cli_evaluate.evaluate, cli_evaluate.HELP))
    backup = command("backup", _backup, "Write everything into one verified archive, while the library is in use.")
    backup.add_argument("file", metavar="FILE")
    backup.add_argument("--replace", action="store_true", help="replace the file if it exists")
    restore = command("restore", _restore, "Fill an empty library from an archive.")
    restore.add_argument("file", metavar="FILE")
    return parser


def _add(library: Library, options: argparse.Namespace) -> int:
    failed = 0
    show = shown(options.json)
    for event in library.resume():
        show(event)
        failed += event.stage == "failed"
    locked: list[tuple[str, str]] = []
    for event in library.add(cli_sources.sources_of(options), password=options.password):
        if isinstance(event.error, EncryptedDocument) and event.document and sys.stdin.isatty() and not options.json:
            locked.append((event.source, event.document.id))
            continue
        show(event)
        failed += event.stage == "failed"
    for source, document_id in locked:
        for event in library.retry(document_id, password=getpass.getpass(f"Password of {source}: ")):
            show(event)
            failed += event.stage == "failed"
    _recognise(library, options)
    return 1 if failed else 0


def _recognise(library: Library, options: argparse.Namespace) -> None:
    """Read pages whose text is a picture before this process, whose background it otherwise is, ends."""
    if not library.to_recognise():
        return
    for step in library.recognise():
        _report(options, plain(step), f"recognised {step.done} of {step.total} pages. {step.note}".rstrip())


def _ask(library: Library, options: argparse.Namespace) -> int:
    _answer(library, options, options.question, options.conversation, cli_search.scope_of(library, options))
    return 0


def _chat(library: Library, options: argparse.Namespace) -> int:
    conversation, scope = options.conversation, cli_search.scope_of(library, options)
    while True:
        try:
            question = input("" if options.json else "\n› ").strip()
        except EOFError:
            return 0
        if not question:
            return 0
        try:
            conversation = _answer(library, options, question, conversation, scope).conversation
            scope = None  # kept with the conversation, where `@name` may change it
        except LecternError as error:
            complain(error)


def _verify(library: Library, options: argparse.Namespace) -> int:
    return _show_report(library, library.verify(options.deep), options)


def _repair(library: Library, options: argparse.Namespace) -> int:
    return _show_report(library, library.repair(), options)


def _show_report(library: Library, report: Report, options: argparse.Namespace) -> int:
    code = 1 if report.findings else 0
    if options.json:
        emit(plain(report))
        return code
    for note in library.notes():
        print(f"note: {note}")
    for finding in report.mended:
        print(f"mended: {_finding(finding)}")
    for finding in report.findings:
        print(f"{_finding(finding)} {'`repair` mends it.' if finding.repairable else finding.help}")
    differ = len({finding.document_id for finding in report.findings})
    print(
        f"{report.documents} documents, {report.chunks} chunks compared in {report.took_s:.1f} s:"
        f" {f'{differ} differ' if differ else 'no difference'}"
    )
    return code


def _finding(finding: Finding) -> str:
    about = f"{finding.document_id[:10]} {finding.title}".strip()
    return f"{finding.store}: {about}: {finding.message}" if about else f"{finding.store}: {finding.message}"


def _status(library: Library, options: argparse.Namespace) -> int:
    status = library.status()
    if options.json:
        emit(plain(status))
        return 0
    print(f"{status.documents} documents, {status.chunks} chunks, {status.pending} pending, {status.failed} failed")
    for name in ("data_dir", "profile", "engine", "postgresql", "chroma", "lexical"):
        print(f"{name.replace('_', ' '):12} {getattr(status, name)}")
    for model in status.models:
        print(f"{'model':12} {model.id}: {'ready' if model.ready else 'not ready. ' + model.reason}")
    for note in status.notes:
        print(f"{'note':12} {note}")
    return 0


def _reembed(library: Library, options: argparse.Namespace) -> int:
    wanted = {name: value for name in ("model", "precision") if (value := getattr(options, name)) is not None}
    chosen = library.settings.changed("embedding", **wanted).embedding if wanted else None
    for step in library.reembed(chosen):
        count = f" {step.done} of {step.total} chunks" if step.total else ""
        _report(options, plain(step), f"{step.stage}{count}. {step.note}".rstrip())
    return 0


def _backup(settings: Settings, options: argparse.Namespace) -> int:
    try:
        with Library.open(settings) as library:
            report = library.backup(options.file, replace=options.replace)
    except LibraryInUse:
        report = Library.backup_beside(options.file, settings, replace=options.replace)
    _report_archive(options, report, "Written and read back")
    return 0


def _restore(settings: Settings, options: argparse.Namespace) -> int:
    _report_archive(options, Library.restore(options.file, settings), "Restored")
    return 0


def _report_archive(options: argparse.Namespace, report: BackupReport, done: str) -> None:
    parts = f"{report.documents} documents, {report.chunks} chunks, {report.files} files, "
    size = f"{report.size_bytes / 2**20:,.1f} MB"
    notes = "".join(f"\nnote: {note}" for note in report.notes)
    _report(options, plain(report), f"{done}: {parts}{report.conversations} conversations, {size}.{notes}")


def _answer(
    library: Library, options: argparse.Namespace, question: str, conversation: str | None, scope: Scope | None
) -> Answer:
    answer: Answer | None = None
    for piece in library.stream(question, conversation=conversation, model=options.model, scope=scope):
        answer = piece.answer or answer
        if not options.json:
            sys.stdout.write(piece.text)
            sys.stdout.flush()
    if answer is None:
        raise LecternError("The model gave no answer.")
    if options.json:
        emit(plain(answer, without={"hits"}))
        return answer
    print()
    for c in answer.citations:
        address = library.document(c.document_id).address
        at = f" {address}" if address else f", page {c.page_label or c.page}"
        print(f"  [{c.number}] {c.title}{at}: {' '.join(c.text.split())}")
    for note in answer.trace.notes:
        print(f"  note: {note}")
    return answer


def _report(options: argparse.Namespace, values: dict[str, Any], line: str) -> None:
    if options.json:
        emit(values)
    else:
        print(line)
