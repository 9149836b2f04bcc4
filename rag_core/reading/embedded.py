"""Pictures that a document holds, taken out of its file by their names.

One in an archive (Office, EPUB) is named by its place there, one that stands in a text by `data_uris.data_part`.
"""

from __future__ import annotations

from pathlib import Path

from rag_core.domain import PageImage
from rag_core.errors import UnreadableDocument
from rag_core.reading.data_uris import DATA_PART, data_of
from rag_core.reading.flowing import archive
from rag_core.reading.image import embedded_image


def draw_part(path: Path, part: str, width_px: int) -> PageImage:
    """A picture of a file as PNG. Raises UnreadableDocument where it is not there or damaged, LimitExceeded."""
    return embedded_image(part_bytes(path, part), width_px)


def part_bytes(path: Path, part: str) -> bytes:
    """The bytes of a picture of a file. Raises UnreadableDocument where it is not there."""
    try:
        if part.startswith(DATA_PART):
            return data_of(path.read_text("latin-1"), part)
        with archive.checked(path) as opened:
            return opened.read(part)
    except (KeyError, ValueError, *archive.BROKEN) as error:
        raise UnreadableDocument("The picture is damaged, or not in the file.") from error
