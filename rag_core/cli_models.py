"""The command that lists language models, downloads them and removes them."""

from __future__ import annotations

import argparse
import sys

from rag_core.cli_output import emit, plain
from rag_core.domain import ModelFile, Progress
from rag_core.library import Library

HELP = "List the language models; download a GGUF file by its hub name or address, or remove one."


def add(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--download", metavar="NAME", help="owner/repository[:Q4_K_M], owner/repository/file or address")
    what.add_argument("--remove", metavar="FILE", help="remove a file from the models folder")
    parser.add_argument("--sha256", default="", help="what the downloaded file must have")


def models(library: Library, options: argparse.Namespace) -> int:
    """List, download or remove."""
    if options.download:
        for step in library.language_models.download(options.download, sha256=options.sha256):
            _show(step, as_json=options.json)
    elif options.remove:
        library.language_models.remove(options.remove)
        _say(options, {"removed": options.remove}, f"Removed {options.remove}.")
    else:
        _list(library, options)
    return 0


def _list(library: Library, options: argparse.Namespace) -> None:
    files = {file.id: file for file in library.language_models.files()}
    for status in library.models():
        file = files.get(status.id)
        values = {**plain(status), "file": plain(file) if file else None}
        ready = "ready" if status.ready else f"not ready. {status.reason}"
        _say(options, values, f"{status.id:32} {_about(file)}{ready}")


def _about(file: ModelFile | None) -> str:
    if file is None or file.problem:
        return ""
    parts = [f"{file.size_bytes / 1e9:.1f} GB", file.quantisation, f"{file.context_tokens} tokens"]
    parts += [f"{file.memory_bytes / 1e9:.1f} GB of memory{'' if file.fits else ', more than is free'}"]
    return ", ".join(part for part in parts if part) + ", "


def _show(step: Progress, *, as_json: bool) -> None:
    """One line for each stage; in a terminal the line of a stage changes."""
    if as_json:
        emit(plain(step))
        return
    share = f" {step.done / 1e6:,.0f} of {step.total / 1e6:,.0f} MB" if step.total else ""
    if sys.stdout.isatty():
        sys.stdout.write(f"\r\x1b[K{step.stage}{share} {step.note}" + ("\n" if step.stage == "done" else ""))
        sys.stdout.flush()
    elif step.stage in ("finding", "done"):
        print(f"{step.stage} {step.note}")


def _say(options: argparse.Namespace, values: object, line: str) -> None:
    if options.json:
        emit(values)
    else:
        print(line)
