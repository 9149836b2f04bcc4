"""The Gemini key in `.env`: written with care, never shown or logged."""

from __future__ import annotations

from pathlib import Path

from accelerator.atomic import write_atomically
from rag_core.errors import ConfigurationError

_NAME = "GOOGLE_API_KEY"
_FILE = Path(".env")


def keep_key(key: str) -> None:
    """Write the key to `.env` in the working directory, for its owner's eyes alone. Raises ConfigurationError."""
    _write([*_other_lines(), f"{_NAME}={key}"])


def forget_key() -> None:
    """Remove the key from `.env`; harmless when it is not there. Raises ConfigurationError."""
    if _FILE.exists():
        _write(_other_lines())


def _other_lines() -> list[str]:
    if not _FILE.exists():
        return []
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.split("=")[0].strip() != _NAME]


def _write(lines: list[str]) -> None:
    try:
        write_atomically(_FILE, [("\n".join(lines) + "\n").encode()])
    except OSError as error:
        raise ConfigurationError(
            f"The file .env could not be written: {error.strerror or error}.", help="Set GOOGLE_API_KEY yourself."
        ) from error
