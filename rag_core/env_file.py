"""Keys, the server of models and hosts to fetch from in `.env`: written with care, never shown or logged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from accelerator.atomic import write_atomically
from rag_core.errors import ConfigurationError
from rag_core.settings import ServerSettings

_GEMINI = "GOOGLE_API_KEY"
_ADDRESS, _KEY, _MODELS = "LECTERN_SERVER__ADDRESS", "LECTERN_SERVER__KEY", "LECTERN_SERVER__MODELS"
_HOSTS = "LECTERN_SOURCES__ALLOWED_HOSTS"
_FILE = Path(".env")


def keep_key(key: str) -> None:
    """Write the Gemini key to `.env` in the working directory, for its owner alone. Raises ConfigurationError."""
    _write([*_lines_without(_GEMINI), f"{_GEMINI}={key}"])


def forget_key() -> None:
    """Remove the Gemini key from `.env`; harmless when it is not there. Raises ConfigurationError."""
    if _FILE.exists():
        _write(_lines_without(_GEMINI))


def keep_server(server: ServerSettings) -> None:
    """Write a server's address, key and models to `.env`. Raises ConfigurationError."""
    key = [f"{_KEY}={server.key.get_secret_value()}"] if server.key else []
    models = f"{_MODELS}='{json.dumps(server.models)}'"
    _write([*_lines_without(_ADDRESS, _KEY, _MODELS), f"{_ADDRESS}={server.address}", models, *key])


def forget_server() -> None:
    """Remove a server from `.env`; harmless when it is not there. Raises ConfigurationError."""
    if _FILE.exists():
        _write(_lines_without(_ADDRESS, _KEY, _MODELS))


def keep_hosts(hosts: Sequence[str]) -> None:
    """Write which hosts of private networks may be fetched from to `.env`. Raises ConfigurationError."""
    _write([*_lines_without(_HOSTS), *([f"{_HOSTS}='{json.dumps(list(hosts))}'"] if hosts else [])])


def _lines_without(*names: str) -> list[str]:
    if not _FILE.exists():
        return []
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.split("=")[0].strip() not in names]


def _write(lines: list[str]) -> None:
    try:
        write_atomically(_FILE, [("\n".join(lines) + "\n").encode()])
    except OSError as error:
        raise ConfigurationError(
            f"The file .env could not be written: {error.strerror or error}.", help="Set the values yourself."
        ) from error
