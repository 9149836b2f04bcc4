"""GGUF files in the models folder: which there are, and whether they may be given to C code."""

from __future__ import annotations

import sys
import threading
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path

import psutil

from rag_core.errors import ModelUnavailable
from rag_core.paths import IS_CHECKOUT

_LOOKING = threading.Lock()
GGUF_PREFIX = "gguf:"
GGUF_MAGIC = b"GGUF"
_COMMAND = "make llama" if IS_CHECKOUT else "pip install '.[llama]'"
INSTALL_LLAMA = (
    f"Install it with a C++ compiler at hand: {_COMMAND}, in the folder of Lectern's source (it compiles for some"
    " minutes)."
)
# Told to whoever may ask for an answer, so the folder's place on the machine is not in it.
_PUT = "Put a .gguf file into the models folder (LECTERN_MODELS_DIR)."


def gguf_files(folder: Path) -> list[Path]:
    """The GGUF files of a folder by name, links that lead nowhere among them. Raises OSError."""
    found = folder.glob("*.gguf") if folder.is_dir() else ()
    return sorted(path for path in found if path.is_file() or path.is_symlink())


def llama_missing() -> str:
    """Why llama.cpp cannot be used, with what to do; "" where it can, also as soon as set-up has compiled it."""
    with _LOOKING:  # two threads that forget the same folder at once fail
        invalidate_caches()
    if find_spec("llama_cpp"):
        return ""
    try:
        is_compiling = psutil.pid_exists(int((Path(sys.prefix) / "llama.pid").read_text(encoding="ascii")))
    except (OSError, ValueError):
        is_compiling = False
    if is_compiling:
        return "llama.cpp is being compiled, which takes some minutes; local models can be used as soon as it is there."
    return f"The package llama-cpp-python is not installed. {INSTALL_LLAMA}"


def device() -> str:
    """Where llama.cpp computes: "GPU", "processor", or "" where it is not installed."""
    if find_spec("llama_cpp") is None:
        return ""
    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError):
        return ""
    return "GPU" if llama_cpp.llama_supports_gpu_offload() else "processor"


def gguf_path(name: str, folder: Path) -> Path:
    """The model file of this name inside the folder, checked. Raises ModelUnavailable.

    Model files are read by C code, so nothing outside the folder is opened; links are followed within it alone.
    """
    wanted = folder / name
    if not name or name != Path(name).name or "\\" in name or "\0" in name or not name.endswith(".gguf"):
        raise ModelUnavailable(f"{name[:100]!r} is not the name of a GGUF file.", help=_PUT)
    if not wanted.is_file() and wanted.is_symlink():
        raise ModelUnavailable(f"{name} is a link that leads nowhere.", help="Copy the file itself into the folder.")
    if not wanted.is_file():
        raise ModelUnavailable(f"There is no model file {name} in the models folder.", help=_PUT)
    if not wanted.resolve().is_relative_to(folder.resolve()):
        raise ModelUnavailable(
            f"{name} points outside the models folder.", help="Copy the file itself into the folder."
        )
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
