"""What OpenVINO GenAI opens of GGUF files, and their converted copies, which it opens in seconds.

It knows models of the kinds Llama and Qwen, with vocabularies of byte pairs, in the commoner quantisations. Files are
converted in a process of their own: of a damaged one it takes the process with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import psutil

from rag_core.errors import ModelUnavailable
from rag_core.models.gguf_header import header_of
from rag_core.runtime.child import Child, ChildDied, Program, Watch

INSTALL_OPENVINO = "Install it: .venv/bin/pip install openvino-genai."
_ARCHITECTURES = ("llama", "qwen2", "qwen3")
_VOCABULARY = "gpt2"  # as GGUF calls byte pairs
_MODEL = "openvino_model.xml"
_MOST_KEPT = 3
_LONGEST_S = 1200.0
_MOST_BYTES = 6_000_000_000  # of a file: its copy is as large, and what is larger wants a graphics card
_ROOM, _MEMORY = 1.2, 3.5  # of a file's size, on the disk and for the process that converts it
_CONVERTER = Program("rag_core.models.openvino_files:converter", task="Converting the model")


def openvino_missing() -> str:
    """Why OpenVINO GenAI cannot be used, "" where it can."""
    return "" if find_spec("openvino_genai") else f"The package openvino-genai is not installed. {INSTALL_OPENVINO}"


def openvino_problem(path: Path) -> str:
    """Why OpenVINO cannot open a file, as far as can be seen without trying; "" where it may."""
    if missing := openvino_missing():
        return missing
    try:
        header = header_of(path)
    except ModelUnavailable as error:
        return str(error)
    if header.architecture not in _ARCHITECTURES or header.vocabulary != _VOCABULARY:
        kind = f"{header.architecture or 'unknown'} with a vocabulary of the kind {header.vocabulary or 'unknown'}"
        return f"OpenVINO does not know models of the kind {kind}."
    if path.stat().st_size > _MOST_BYTES:
        return f"OpenVINO is not given files of more than {_MOST_BYTES / 1e9:.0f} GB, for it would copy them."
    return ""


def converted(path: Path, folder: Path) -> Path:
    """The folder of a file's converted copy, made where there is none yet; a few are kept in `folder`.

    Raises ModelUnavailable where OpenVINO cannot open the file or the disk is too full.
    """
    made = folder / _key(path)
    try:
        if not (made / _MODEL).exists():
            folder.mkdir(parents=True, exist_ok=True)
            _drop_old(folder, _MOST_KEPT - 1)
            _check_room(path, folder)
            _convert(path, made)
        os.utime(made)
    except OSError as error:
        raise ModelUnavailable(f"OpenVINO's copy of {path.name} cannot be kept: {error.strerror}.") from error
    return made


def forget(path: Path, folder: Path) -> None:
    """Remove a file's converted copy; harmless where there is none."""
    if path.is_file() and not openvino_missing():
        shutil.rmtree(folder / _key(path), ignore_errors=True)


def converter(at_work: Callable[[], None]) -> Callable[[bytes], bytes]:
    """What the process of conversions answers: a request names a file and a folder, the answer why it failed."""

    def convert(request: bytes) -> bytes:
        import openvino_genai

        source, folder = (Path(name) for name in json.loads(request))
        link = folder / "model.gguf"  # what is made of a file goes beside it, under names of its own
        link.symlink_to(source)
        try:
            openvino_genai.LLMPipeline(str(link), "CPU", enable_save_ov_model=True)
        except (RuntimeError, ValueError, IndexError, KeyError, OSError) as error:
            return b"!" + str(error).strip().rpartition("\n")[2].encode()
        finally:
            link.unlink()
        return b"made" if (folder / _MODEL).exists() else b"!It made no copy."

    return convert


def _check_room(path: Path, folder: Path) -> None:
    size = path.stat().st_size
    if shutil.disk_usage(folder).free < _ROOM * size:
        raise ModelUnavailable(
            f"The disk has no room for OpenVINO's copy of {path.name}.", help="Make room on the disk."
        )
    if psutil.virtual_memory().available < _MEMORY * size:
        raise ModelUnavailable(
            f"OpenVINO's copy of {path.name} is made in {_MEMORY * size / 1e9:.1f} GB of free memory.",
            help="Close other programs.",
        )


def _convert(path: Path, made: Path) -> None:
    work = made.with_name(f"{made.name}.part")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    child = Child(_CONVERTER)
    try:
        answer = child.ask(json.dumps([str(path.resolve()), str(work)]).encode(), Watch(whole_s=_LONGEST_S))
        problem = answer[1:].decode("utf-8", "replace") if answer.startswith(b"!") else ""
        if not problem:
            work.rename(made)
    except ChildDied as error:
        problem = "its process ended" if not error.at_limit else "it took too long"
    finally:
        child.kill()
        shutil.rmtree(work, ignore_errors=True)
    if problem:
        raise ModelUnavailable(f"OpenVINO cannot open {path.name}: {problem}", help="llama.cpp may.")


def _key(path: Path) -> str:
    """A name for a file as it is now, and for the release that converts it."""
    import openvino_genai

    about = path.stat()
    told = f"{path.name} {about.st_size} {about.st_mtime_ns} {openvino_genai.get_version()}"
    return f"{path.stem[:60]}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"


def _drop_old(folder: Path, most: int) -> None:
    """Remove all copies but those `most` that were used last."""
    copies = sorted((made for made in folder.iterdir() if made.is_dir()), key=lambda made: made.stat().st_mtime)
    for made in copies[: len(copies) - most] if len(copies) > most else ():
        shutil.rmtree(made, ignore_errors=True)
