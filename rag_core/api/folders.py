"""Which files of the server's machine those may name who do not own it: what lies within the folders that are set."""

from __future__ import annotations

from pathlib import Path

from rag_core.settings import DoorSettings
from rag_core.sources import Inside

HELP = "LECTERN_DOORS__FOLDERS names folders that may be."


def real_path(path: Path) -> Path | None:
    """Where a path leads to, links followed; None where there is nothing."""
    try:
        return path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None


def permitted(settings: DoorSettings, path: Path) -> Inside | None:
    """A path within a folder that is set, where it leads to; None, whether there is such a file or not, for others."""
    full = real_path(path)
    folders = [folder.expanduser().resolve() for folder in settings.folders]
    folder = next((folder for folder in folders if full is not None and full.is_relative_to(folder)), None)
    return None if full is None or folder is None else Inside(full, folder)
