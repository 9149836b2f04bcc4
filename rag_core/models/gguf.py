"""Language models in GGUF files: which there are, and which runtime opens one, OpenVINO GenAI or llama.cpp.

Where both can, the faster by a trial on this machine does: `rag_core.models.trials`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from rag_core.domain import ModelStatus, RuntimeTrial
from rag_core.errors import ModelUnavailable
from rag_core.models.base import Provider
from rag_core.models.gguf_files import GGUF_PREFIX, device, gguf_files, gguf_path, llama_missing
from rag_core.models.llama import LLAMA, LlamaModel
from rag_core.models.local_model import LocalModel
from rag_core.models.openvino_files import openvino_problem
from rag_core.models.openvino_model import OPENVINO, OpenVinoModel
from rag_core.models.trials import Trials, agreed, seconds, tried
from rag_core.settings import Settings

_log = logging.getLogger(__name__)


def gguf_statuses(folder: Path, runtime: str = "auto") -> tuple[ModelStatus, ...]:
    """The GGUF files of a folder; one entry that says what to do where there is none."""
    try:
        files = gguf_files(folder)
    except OSError as error:
        return (ModelStatus("gguf", "Local model", False, f"The models folder cannot be read: {error.strerror}."),)
    if not files:
        return (ModelStatus("gguf", "Local model", False, f"No model file yet. Put a .gguf file into {folder}."),)
    missing = llama_missing()
    return tuple(_status(path, runtime, missing) for path in files)


def trials_of(path: Path, settings: Settings) -> tuple[RuntimeTrial, ...]:
    """What was tried of a file, the runtime that opens it first; none where it was not opened yet."""
    return tuple(sorted(Trials(settings.data_dir).of(path), key=seconds))


def forget_trials(path: Path, settings: Settings) -> None:
    """Have a file tried again when it is next opened."""
    Trials(settings.data_dir).keep(path, ())


def open_gguf(path: Path, settings: Settings) -> LocalModel:
    """Open a file by the runtime that the settings name, or by the fastest that can. Raises ModelUnavailable."""
    problems = _problems(path, settings.generation.runtime)
    able = [name for name, problem in problems.items() if not problem]
    if not able:
        raise ModelUnavailable(" ".join(problems.values()))
    if LLAMA in able and _needs_no_trial(able, settings):
        return LlamaModel(path, settings.generation)
    trials = Trials(settings.data_dir)
    kept = [row for row in sorted(trials.of(path), key=seconds) if row.runtime in able]
    if {row.runtime for row in kept} == {*able} and seconds(kept[0]) < float("inf"):
        return _opened(path, settings, trials.folder, kept[0])
    try:
        return _raced(path, settings, able, trials)
    except ModelUnavailable as error:
        others = " ".join(problem for problem in problems.values() if problem)
        raise ModelUnavailable(f"{error} {others}".strip(), help=error.help) from error


def _needs_no_trial(able: list[str], settings: Settings) -> bool:
    """Whether llama.cpp opens a file in the way that is clear: by the graphics card, or with threads that were set."""
    generation = settings.generation
    return bool(able == [LLAMA] and generation.threads) or (generation.gpu_layers != 0 and device() == "GPU")


def _raced(path: Path, settings: Settings, able: list[str], trials: Trials) -> LocalModel:
    """Open a file by each runtime in turn, see how fast it is, and go on with the fastest."""
    found: dict[str, tuple[RuntimeTrial, str]] = {}
    failures: list[ModelUnavailable] = []
    model: LocalModel | None = None
    for name in able:
        if model is not None:
            model.close()
        try:
            model = _opened(path, settings, trials.folder, RuntimeTrial(name))
            found[name] = tried(model, threads=settings.generation.threads)
        except ModelUnavailable as error:
            _log.warning("%s", error)
            found[name] = RuntimeTrial(name, problem=str(error)), ""
            failures.append(error)
    rows = tuple(sorted((row for row, _ in agreed(found).values()), key=seconds))
    _log.info("%s was tried: %s", path.name, rows)
    if seconds(rows[0]) == float("inf"):
        if model is not None:
            model.close()
        raise failures[0]
    if rows[0].written_per_s:  # else the machine was too busy to tell
        trials.keep(path, rows)
    if model is not None and not model.is_closed and model.runtime == rows[0].runtime:
        return model
    if model is not None:
        model.close()
    return _opened(path, settings, trials.folder, rows[0])


def _opened(path: Path, settings: Settings, folder: Path, row: RuntimeTrial) -> LocalModel:
    if row.runtime == OPENVINO:
        return OpenVinoModel(path, settings.generation, folder)
    return LlamaModel(path, settings.generation, row.threads)


def _problems(path: Path, runtime: str, missing: str | None = None) -> dict[str, str]:
    """Of each runtime that may be used why it cannot open a file, "" where it can."""
    ways: dict[str, Callable[[], str]] = {
        LLAMA: lambda: llama_missing() if missing is None else missing,
        OPENVINO: lambda: openvino_problem(path),  # last, for it mostly wins and then is open already
    }
    return {name: problem() for name, problem in ways.items() if runtime in ("auto", name)}


def _status(path: Path, runtime: str, missing: str) -> ModelStatus:
    try:
        gguf_path(path.name, path.parent)
        problems = _problems(path, runtime, missing)
        # Of two reasons the one that something can be done about.
        reason = "" if "" in problems.values() else problems.get(LLAMA) or problems[OPENVINO]
    except ModelUnavailable as error:
        reason = f"{error} {error.help}".strip()
    return ModelStatus(f"{GGUF_PREFIX}{path.name}", path.stem, not reason, reason)


def _open(model_id: str, settings: Settings) -> LocalModel:
    return open_gguf(gguf_path(model_id.removeprefix(GGUF_PREFIX), settings.models_dir), settings)


PROVIDER = Provider(
    GGUF_PREFIX, lambda settings: gguf_statuses(settings.models_dir, settings.generation.runtime), _open
)
