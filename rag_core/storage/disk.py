"""Folders and files of the data directory, and what the disk's complaints are to users."""

from __future__ import annotations

from pathlib import Path

from accelerator.atomic import remove_leftovers
from rag_core.errors import ConfigurationError, StoreUnavailable


def prepare_folder(folder: Path, older_s: float = 0.0) -> None:
    """Make a store's folder where there is none, and clear what a killed writer left so many seconds ago.

    Raises ConfigurationError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        remove_leftovers(folder, older_s)
    except OSError as error:
        raise ConfigurationError(
            f"The folder {folder} cannot be used: {error.strerror or error}.",
            help="Move what is in its place out of the way, or give yourself the right to write there.",
        ) from error


def remove_file(path: Path) -> None:
    """Remove a file; harmless when there is none. Raises StoreUnavailable."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise disk_failure(error) from error


def disk_failure(error: OSError) -> StoreUnavailable:
    """The disk's complaint as an error of the house."""
    return StoreUnavailable(
        f"The data directory could not be written: {error.strerror or error}.",
        help="Make room on the disk, or check that the folder can be written, then add the document again.",
    )
