"""What every recogniser offers: the lines of a picture. A new one is one new file with a `Recogniser` and one line in
`worker.RECOGNISERS`, and its name in `OcrSettings.engine`:

    "mine": "rag_core.reading.ocr.mine",

The module has a function `open_recogniser(options)`, called in the recognising process when the first page comes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

# From this certainty on a page is taken to stand upright.
CERTAIN = 0.85
# A line of less is a stain, a rule or a part of a photograph.
_LEAST = 0.5
TALL = 1.5
"""How many times as high as wide what holds a line is at least that lies on its side."""

Corner = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Options:
    """What a recogniser is opened with. languages: as tesseract names them; threads: at least one."""

    engine: str
    languages: str
    threads: int


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line on a picture. corners: from the top left clockwise as the letters stand, pixels; certainty: 0 to 1."""

    text: str
    corners: tuple[Corner, Corner, Corner, Corner]
    certainty: float


@dataclass(frozen=True, slots=True)
class Found:
    """The lines of a picture once it stands upright, which is `turned` degrees clockwise from how it came."""

    lines: tuple[FoundLine, ...]
    turned: int
    width: int
    height: int


class Recogniser(ABC):
    """Reads pictures. Used by one thread."""

    name: str

    @abstractmethod
    def lines(self, picture: Image) -> Sequence[FoundLine]:
        """The lines of an RGB picture as it stands."""

    def ways(self, picture: Image) -> Sequence[int]:
        """By how many degrees clockwise a picture may have to be turned to stand upright, the likeliest first."""
        return (0, 90, 270, 180)

    def read(self, picture: Image) -> Found:
        """The lines of a picture, whichever of four ways up it came."""
        best = Found((), 0, picture.width, picture.height)
        for turned in self.ways(picture):
            upright = picture.rotate(-turned, expand=True) if turned else picture
            found = Found(tuple(self.lines(upright)), turned, upright.width, upright.height)
            best = max(best, found, key=_worth)
            if certainty(found.lines) >= CERTAIN and not _is_on_its_side(found):
                break
        return replace(best, lines=tuple(line for line in best.lines if _is_text(line)))


def certainty(lines: Sequence[FoundLine]) -> float:
    """That of the lines' characters, 0 to 1; 0 without any."""
    characters = sum(len(line.text) for line in lines)
    return sum(line.certainty * len(line.text) for line in lines) / characters if characters else 0.0


def _is_text(line: FoundLine) -> bool:
    return bool(line.text.strip()) and line.certainty >= _LEAST


def _is_on_its_side(found: Found) -> bool:
    tall = 0
    for line in found.lines:
        xs, ys = [x for x, _ in line.corners], [y for _, y in line.corners]
        is_tall = max(ys) - min(ys) > TALL * (max(xs) - min(xs))
        tall += len(line.text) if is_tall and len(line.text) > 1 else 0
    return 2 * tall > sum(len(line.text) for line in found.lines)


def _worth(found: Found) -> float:
    """Characters that were read, by their certainty; of lines that run up or down, which are in no order, little."""
    return (0.1 if _is_on_its_side(found) else 1.0) * sum(line.certainty**2 * len(line.text) for line in found.lines)
