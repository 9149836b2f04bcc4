"""The command that lists language models, downloads them and removes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rag_core.cli.output import report, steps
from rag_core.cli.session import Session, command

if TYPE_CHECKING:
    from rag_core.domain import ModelFile


@command("models", help="List the language models; download a GGUF file by its hub name or address, or remove one.")
@click.option("--download", metavar="NAME", help="owner/repository[:Q4_K_M], owner/repository/file or address")
@click.option("--remove", metavar="FILE", help="remove a file from the models folder")
@click.option("--sha256", default="", help="what the downloaded file must have")
def models(session: Session, download: str | None, remove: str | None, sha256: str) -> None:
    """List, download or remove."""
    if download and remove:
        raise click.UsageError("--download and --remove exclude each other.")
    if download:
        session.changes("models --download", download)
        with steps(session.as_json, told=("finding", "done"), unit=" bytes") as show:
            for step in session.library.language_models.download(download, sha256=sha256):
                show(step)
    elif remove:
        session.changes("models --remove", remove)
        session.library.language_models.remove(remove)
        report(session.as_json, {"removed": remove}, f"Removed {remove}.")
    else:
        _list(session)


def _list(session: Session) -> None:
    from rag_core.domain.serialiser import to_json

    files = {file.id: file for file in session.library.language_models.files()}
    for status in session.library.language_models.statuses():
        file = files.get(status.id)
        values = {**to_json(status), "file": to_json(file) if file else None}
        ready = "ready" if status.ready else f"not ready. {status.reason}"
        report(session.as_json, values, f"{status.id:32} {_about(file)}{ready}")


def _about(file: ModelFile | None) -> str:
    if file is None or file.problem:
        return ""
    parts = [f"{file.size_bytes / 1e9:.1f} GB", file.quantisation, f"{file.context_tokens} tokens"]
    parts += [f"{file.memory_bytes / 1e9:.1f} GB of memory{'' if file.fits else ', more than is free'}"]
    return ", ".join(part for part in parts if part) + ", "
