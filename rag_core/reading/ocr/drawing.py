"""Pages as pictures for recognition: large enough for small type, and no larger."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pypdfium2

from rag_core.errors import UnreadableDocument
from rag_core.reading.base import PDF
from rag_core.reading.embedded import part_bytes
from rag_core.reading.flowing.locked import unlocked
from rag_core.reading.image import ImageDocument, embedded

if TYPE_CHECKING:
    from PIL.Image import Image

# 220 dots an inch on a sheet of A4, where letters of 8 points are some 17 pixels high.
LONGEST_PX = 2600
_MOST_PIXELS = 12_000_000
_MOST_SCALE = 6.0
# A fiftieth of a sheet of A4 at 96 dots an inch, as screens show it.
_LEAST_PIXELS = 18_000


def draw(path: Path, media_type: str, password: str | None, number: int) -> tuple[Image, tuple[float, float]]:
    """A page as RGB, and its size in points. Raises UnreadableDocument, LimitExceeded."""
    if media_type == PDF:
        return _draw_pdf(path, password, number)
    document = ImageDocument(path, password, 0)
    raw = document.read_page(number, 0)
    if raw.page.error:
        raise UnreadableDocument(raw.page.error)
    return document.image(number, LONGEST_PX), (raw.page.width_pt, raw.page.height_pt)


def draw_part(path: Path, password: str | None, part: str) -> Image | None:
    """A picture that a file holds as RGB; None for one that is too small for words. Raises as `draw`."""
    with unlocked(path, password) or nullcontext() as plain:
        picture = embedded(part_bytes(Path(plain.name) if plain else path, part), LONGEST_PX, LONGEST_PX)
    return picture if picture.width * picture.height >= _LEAST_PIXELS else None


def _draw_pdf(path: Path, password: str | None, number: int) -> tuple[Image, tuple[float, float]]:
    try:
        with pypdfium2.PdfDocument(path, password=password or None) as pdf:
            page = pdf[number - 1]
            width, height = page.get_size()
            scale = min(
                LONGEST_PX / max(width, height, 1.0), (_MOST_PIXELS / max(width * height, 1.0)) ** 0.5, _MOST_SCALE
            )
            return page.render(scale=scale, rev_byteorder=True).to_pil().convert("RGB"), (width, height)
    except (pypdfium2.PdfiumError, IndexError) as error:
        raise UnreadableDocument(f"Page {number} cannot be drawn.") from error
