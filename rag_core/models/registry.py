"""Which models there are, which of them can answer now, and what the others need. Imports nothing heavy."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from rag_core.domain import ModelStatus
from rag_core.errors import ModelUnavailable
from rag_core.models.base import ChatModel
from rag_core.settings import Settings

EXTRACTIVE = "extractive"
GEMINI = "gemini"
GGUF_PREFIX = "gguf:"
GGUF_MAGIC = b"GGUF"

INSTALL_LLAMA = (
    "Install it with a C++ compiler at hand: .venv/bin/pip install llama-cpp-python (it compiles for some minutes)."
)
INSTALL_GEMINI = "Install it: .venv/bin/pip install google-generativeai."


def open_model(model_id: str, settings: Settings) -> ChatModel:
    """Open "gguf:FILE" or "gemini". Raises ModelUnavailable with a reason that a person can use."""
    if model_id.startswith(GGUF_PREFIX):
        path = gguf_path(model_id.removeprefix(GGUF_PREFIX), settings.models_dir)
        from rag_core.models.llama import LlamaModel

        return LlamaModel(path, settings.generation)
    if model_id == GEMINI:
        status = gemini_status(settings)
        if not status.ready:
            raise ModelUnavailable(f"Gemini cannot be used: {status.reason}")
        from rag_core.models.gemini import GeminiModel

        return GeminiModel(settings)
    raise ModelUnavailable(
        f"There is no model called {model_id[:100]!r}.", help="Choose 'extractive', 'gguf:FILE' or 'gemini'."
    )


def model_statuses(settings: Settings) -> tuple[ModelStatus, ...]:
    """Every model with whether it can answer now: extractive first, then GGUF files by name, then Gemini."""
    extractive = ModelStatus(EXTRACTIVE, "Quotes from your documents", True)
    return (extractive, *gguf_statuses(settings.models_dir), gemini_status(settings))


def gguf_statuses(folder: Path) -> tuple[ModelStatus, ...]:
    """The GGUF files of a folder; one entry that says what to do where there is none."""
    try:
        files = sorted(path for path in folder.glob("*.gguf") if path.is_file()) if folder.is_dir() else []
    except OSError as error:
        return (ModelStatus("gguf", "Local model", False, f"The folder {folder} cannot be read: {error.strerror}."),)
    if not files:
        return (ModelStatus("gguf", "Local model", False, f"No model file yet. Put a .gguf file into {folder}."),)
    missing = "" if find_spec("llama_cpp") else f"The package llama-cpp-python is not installed. {INSTALL_LLAMA}"
    return tuple(_gguf_status(path, missing) for path in files)


def _gguf_status(path: Path, missing: str) -> ModelStatus:
    reason = missing
    try:
        check_gguf(path)
    except ModelUnavailable as error:
        reason = str(error)
    return ModelStatus(f"{GGUF_PREFIX}{path.name}", path.stem, not reason, reason)


def gemini_status(settings: Settings) -> ModelStatus:
    """Whether Gemini may and can be asked."""
    reason = ""
    if find_spec("google") is None or find_spec("google.generativeai") is None:
        reason = f"The package google-generativeai is not installed. {INSTALL_GEMINI}"
    elif settings.google_api_key is None or not settings.google_api_key.get_secret_value().strip():
        reason = "It needs a key: enter one, or set GOOGLE_API_KEY."
    elif not settings.allow_remote:
        reason = "Confirm first that passages of your documents may leave this machine."
    return ModelStatus(GEMINI, f"Gemini ({settings.generation.gemini_model})", not reason, reason, remote=True)


def gguf_path(name: str, folder: Path) -> Path:
    """The model file of this name inside the folder, checked. Raises ModelUnavailable.

    Model files are read by C code, so nothing outside the folder is opened, by a link neither.
    """
    wanted = folder / name
    if not name or name != Path(name).name or "\\" in name or "\0" in name or not name.endswith(".gguf"):
        raise ModelUnavailable(
            f"{name[:100]!r} is not the name of a GGUF file.", help=f"Put the file into {folder} and choose it there."
        )
    if not wanted.is_file():
        raise ModelUnavailable(f"There is no model file {name} in {folder}.", help=f"Put a .gguf file into {folder}.")
    if wanted.resolve().parent != folder.resolve():
        raise ModelUnavailable(f"{name} points outside {folder}.", help="Copy the file itself into the folder.")
    check_gguf(wanted)
    return wanted


def check_gguf(path: Path) -> None:
    """Look at the first bytes before C code does. Raises ModelUnavailable for what is no GGUF file."""
    try:
        with path.open("rb") as file:
            head = file.read(24)
    except OSError as error:
        raise ModelUnavailable(f"The model file {path.name} cannot be read: {error.strerror}.") from error
    tensors = int.from_bytes(head[8:16], "little")
    if head[:4] != GGUF_MAGIC or len(head) < 24 or not 1 <= tensors < 1_000_000:
        raise ModelUnavailable(
            f"The file {path.name} is not a model in GGUF form, or it is damaged.", help="Download it again."
        )
