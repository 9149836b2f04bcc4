"""Exported models on disk: `models_dir/embedding/<profile id>-<form>/`, whole or absent.

Each holds the model's files and a manifest with their sizes, written last. Exporting runs in a child process, as what
it needs takes seconds to import and memory that is never given back.
"""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import time
from dataclasses import replace
from pathlib import Path

from accelerator.atomic import WORK_SUFFIX, publish_folder, work_path, write_atomically
from rag_core.embedding.source import ModelSource
from rag_core.errors import ModelUnavailable
from rag_core.runtime.low_priority import ProcessEnded, call_once

MANIFEST = "manifest.json"
EXPORT_TIMEOUT_S = 900.0
# What the graph takes and gives. Raise it with every change: other versions of the program go on with their own files.
_FORM = 2
_LEFTOVER_AGE_S = 2 * EXPORT_TIMEOUT_S
_log = logging.getLogger(__name__)


def exported_model(source: ModelSource, precision: str, models_dir: Path) -> Path:
    """The folder of the exported model, exported now if it is not there. Raises ModelUnavailable."""
    stored = "int8" if precision == "int8" else "float32"  # bf16 is how float32's file is computed
    alone = replace(source, in_context=False)  # what stands before a text is not the model's affair
    target = models_dir / "embedding" / f"{alone.profile(stored).id}-{_FORM}"
    if is_whole(target):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        clear(target)
    except OSError as error:
        raise ModelUnavailable(
            f"The models folder cannot be written: {error}", help="Choose another models_dir in the settings."
        ) from error
    # At a terminal warnings alone are shown, and somebody waits there.
    _log.warning("Preparing an embedding model for this machine (half a minute, once) ...")
    _export(source, stored, target)
    if not is_whole(target):
        raise ModelUnavailable(f"The exported model at {target} is not whole", help="Remove that folder and try again.")
    return target


def is_whole(folder: Path) -> bool:
    """Whether an exported model's files are all there in full size."""
    try:
        sizes = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        return bool(sizes) and all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def publish(work: Path, target: Path) -> bool:
    """Write the manifest of `work` and move it to `target`; False where another process was first. Raises OSError."""
    files = [path for path in work.rglob("*") if path.is_file()]
    sizes = {path.relative_to(work).as_posix(): path.stat().st_size for path in files}
    write_atomically(work / MANIFEST, [json.dumps({"files": sizes}).encode()])
    return publish_folder(work, target)


def _export(source: ModelSource, precision: str, target: Path) -> None:
    from rag_core.embedding.export import export_quietly

    try:
        call_once(export_quietly, str(source.folder), target, precision, timeout_s=EXPORT_TIMEOUT_S)
    except (ModelUnavailable, ProcessEnded) as error:
        raise ModelUnavailable(f"The embedding model could not be exported to OpenVINO: {error}") from error


def clear(target: Path) -> None:
    """Remove a damaged folder, and what programs that were killed long ago left beside it."""
    aside = work_path(target)
    with contextlib.suppress(FileNotFoundError):  # nothing there, or another process was first
        target.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)
    for leftover in target.parent.glob(f".*{WORK_SUFFIX}"):
        if leftover.is_dir() and time.time() - leftover.stat().st_mtime > _LEFTOVER_AGE_S:
            shutil.rmtree(leftover, ignore_errors=True)
