"""How fast each runtime reads and writes a model on this machine: tried once, kept in the library's folder."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

from rag_core.domain import RuntimeTrial
from rag_core.models.llama import LLAMA, LlamaModel
from rag_core.models.local_model import TRIAL_READ, TRIAL_WRITTEN, LocalModel, Speed
from rag_core.models.openvino_model import OPENVINO

_log = logging.getLogger(__name__)
_FILE = "trials.json"
_PACKAGES = ("llama-cpp-python", "openvino-genai")
_READ, _WRITTEN = 900, 120  # tokens of a usual question with its passages, and of its answer
_LONGEST_S = 20.0
_FIRST = 100  # the number that the first trial begins with


def copies_in(data_dir: Path) -> Path:
    """Where a library keeps trials and OpenVINO's copies of model files."""
    return data_dir / "models"


class Trials:
    """What was tried, by file. `folder` is where it is kept; where there is no such library yet, it is not."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = copies_in(data_dir)
        self._keeps = data_dir.is_dir()

    def of(self, path: Path) -> tuple[RuntimeTrial, ...]:
        """The trials of a file as it is now, on this machine with the runtimes of now; none where there were none."""
        found = self._kept().get(path.name)
        try:
            if isinstance(found, dict) and found["key"] == _key(path):
                return tuple(RuntimeTrial(**row) for row in found["rows"])
        except (KeyError, TypeError, OSError):
            _log.warning("What was tried of %s cannot be read; it is tried again.", path.name)
        return ()

    def keep(self, path: Path, rows: tuple[RuntimeTrial, ...]) -> None:
        """Keep the trials of a file, beside those of files that are still there; without any it is tried again."""
        if not self._keeps:
            return
        kept = {name: found for name, found in self._kept().items() if (path.parent / name).exists()}
        kept[path.name] = {"key": _key(path), "rows": [asdict(row) for row in rows]}
        work = self.folder / f"{_FILE}.part"
        try:
            self.folder.mkdir(exist_ok=True)
            work.write_text(json.dumps(kept), encoding="utf-8")
            work.replace(self.folder / _FILE)
        except OSError as error:
            _log.warning("What was tried of %s is not kept: %s", path.name, error)

    def _kept(self) -> dict[str, Any]:
        try:
            found = json.loads((self.folder / _FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def tried(model: LocalModel, *, threads: int) -> tuple[RuntimeTrial, str]:
    """How fast an open model is, and what it wrote; of llama.cpp by the best number of threads, where none is given."""
    if not isinstance(model, LlamaModel):
        speed = model.trial(_FIRST, _LONGEST_S)
        return _row(model.runtime, threads, speed), speed.text
    best: tuple[RuntimeTrial, str] | None = None
    cores = psutil.cpu_count() or 1
    for place, number in enumerate([threads] if threads else dict.fromkeys((max(cores // 2, 1), cores, 1))):
        model.use_threads(number)
        # One that takes twice as long as another has lost.
        limit_s = _LONGEST_S if best is None else min(_LONGEST_S, 2 * seconds(best[0], TRIAL_READ, TRIAL_WRITTEN) + 1)
        speed = model.trial(_FIRST + place, limit_s)
        row = _row(LLAMA, number, speed)
        if best is None or seconds(row) < seconds(best[0]):
            best = row, speed.text
    assert best is not None  # noqa: S101 - there is a number of threads at least
    model.use_threads(best[0].threads)
    return best


def seconds(row: RuntimeTrial, read: int = _READ, written: int = _WRITTEN) -> float:
    """How long a usual answer takes, seconds; no end where the runtime cannot open the file."""
    if row.problem or not row.read_per_s:
        return float("inf")
    # One that wrote nothing in time is taken for a token a second.
    return read / row.read_per_s + written / (row.written_per_s or 1.0)


def agreed(rows: dict[str, tuple[RuntimeTrial, str]]) -> dict[str, tuple[RuntimeTrial, str]]:
    """The trials, with OpenVINO's put aside where it does not begin to write what llama.cpp writes of the same file.

    llama.cpp is what GGUF files are made for; of a model whose details another runtime mistakes the words are others.
    """
    if LLAMA in rows and OPENVINO in rows:
        (row, text), (_, other) = rows[OPENVINO], rows[LLAMA]
        if not row.problem and other and text[:3] != other[:3]:
            told = "OpenVINO does not write what llama.cpp does of the same file."
            return {**rows, OPENVINO: (RuntimeTrial(OPENVINO, problem=told), "")}
    return rows


def _row(runtime: str, threads: int, speed: Speed) -> RuntimeTrial:
    return RuntimeTrial(runtime, threads, round(speed.read, 1), round(speed.written, 2))


def _key(path: Path) -> list[Any]:
    about = path.stat()
    return [about.st_size, about.st_mtime_ns, psutil.cpu_count(), *(_version(name) for name in _PACKAGES)]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
