"""Images: each frame is a page without text, for text recognition to read. Runs in the reading processes alone."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.domain import Page, PageImage
from rag_core.errors import LimitExceeded, UnreadableDocument
from rag_core.reading.base import Details, OpenDocument, RawPage

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

# A sheet of A2 at 600 dots an inch. Decoded it takes three bytes a pixel.
MAX_PIXELS = 140_000_000
MAX_SHOWN_PIXELS = 16_000_000
_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF", "AVIF")
# Resolutions that are believed, dots an inch; what a screen's picture says of itself means nothing.
_LEAST_DPI, _MOST_DPI, _USUAL_DPI = 90, 1200, 150
_POINTS_PER_INCH = 72
# EXIF 2.3, tag 274: how a picture is to be turned or flipped to stand as the camera was held.
_ORIENTATION = 274
_FAULTS = (
    OSError,
    SyntaxError,
    ValueError,
    RuntimeError,
    TypeError,
    LookupError,
    OverflowError,
    struct.error,
    zlib.error,
)


class ImageDocument(OpenDocument):
    """An image as Pillow reads it: of a TIFF every frame is a page, of an animation the first. Raises
    UnreadableDocument, and LimitExceeded for more than `MAX_PIXELS`, before anything is decoded."""

    def __init__(self, path: Path, password: str | None, max_chars: int) -> None:
        self._path = path
        with _opened(path) as image:
            frames = int(getattr(image, "n_frames", 1))
            is_paged = image.format == "TIFF"
            self._is_animation = frames > 1 and image.format in ("GIF", "PNG", "WEBP")
            self.page_count = frames if is_paged else 1

    def read_page(self, number: int, max_chars: int) -> RawPage:
        """The page without a text; one whose frame is damaged or too large has an `error`."""
        try:
            with _opened(self._path, number) as frame:
                width, height = _points(frame)
        except (UnreadableDocument, LimitExceeded) as error:
            if self.page_count == 1:
                raise
            return RawPage(Page(number, "", error=f"Page {number} cannot be read. {error}"))
        return RawPage(Page(number, "", width_pt=width, height_pt=height), pictures=True)

    def details(self) -> Details:
        """An image says nothing about itself that is of use."""
        return Details(notes=("Of an animation the first picture alone is read.",) if self._is_animation else ())

    def page_image(self, number: int, width_px: int) -> PageImage:
        """Draw a page, never larger than it is. Raises UnreadableDocument, LimitExceeded."""
        image = self._drawn(number, width_px, MAX_SHOWN_PIXELS)
        return PageImage(_png(image), image.width, image.height)

    def image(self, number: int, longest_px: int) -> Image:
        """A page as RGB, upright as its camera was held, of `longest_px` at most. Raises as `page_image` does."""
        return self._drawn(number, longest_px, longest_px)

    def _drawn(self, number: int, width_px: int, height_px: int) -> Image:
        if not 1 <= number <= self.page_count:
            raise UnreadableDocument(f"The document has no page {number}.", help="Choose another page.")
        with _opened(self._path, number) as frame:
            most = (height_px, width_px) if _orientation(frame) > 4 else (width_px, height_px)
            return _drawn(frame, *most)


def turned(picture: PageImage, degrees: int) -> PageImage:
    """A picture of a page turned clockwise by 0, 90, 180 or 270 degrees."""
    from PIL import Image

    if not degrees:
        return picture
    with Image.open(io.BytesIO(picture.png), formats=["PNG"]) as image:
        upright = image.rotate(-degrees, expand=True)
        return PageImage(_png(upright), upright.width, upright.height)


def embedded(data: bytes, width_px: int, height_px: int = MAX_SHOWN_PIXELS) -> Image:
    """A picture that a document holds as RGB, never larger than it is. Raises UnreadableDocument, LimitExceeded."""
    with _frame(io.BytesIO(data), _FORMATS) as frame:
        return _drawn(frame, width_px, height_px)


def embedded_image(data: bytes, width_px: int) -> PageImage:
    """The same as PNG."""
    image = embedded(data, width_px)
    return PageImage(_png(image), image.width, image.height)


@contextmanager
def _opened(path: Path, number: int = 1) -> Iterator[ImageFile]:
    """A frame of an image, its size checked and nothing of it decoded yet."""
    with _frame(path, _formats(path), number) as frame:
        yield frame


@contextmanager
def _frame(file: Path | io.BytesIO, formats: tuple[str, ...], number: int = 1) -> Iterator[ImageFile]:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # our own limit says what to do about it
    try:
        with Image.open(file, formats=formats) as image:
            image.seek(number - 1)
            if image.width * image.height > MAX_PIXELS:
                raise LimitExceeded(
                    f"The picture has {image.width * image.height:,} pixels, more than {MAX_PIXELS:,}.",
                    help="Save it smaller: 300 dots an inch are enough to read it.",
                )
            yield image
    except _FAULTS as error:
        raise UnreadableDocument("The picture is damaged: it cannot be decoded.") from error


def _formats(path: Path) -> tuple[str, ...]:
    """What Pillow may try; what it learns from pillow-heif, where that is installed, for such pictures alone."""
    with path.open("rb") as file:
        if file.read(8)[4:] != b"ftyp" or not find_spec("pillow_heif"):
            return _FORMATS
    import pillow_heif

    pillow_heif.register_heif_opener(thumbnails=False)
    return (*_FORMATS, "HEIF")


def _points(frame: ImageFile) -> tuple[float, float]:
    """Width and height in points, as shown."""
    dpi = frame.info.get("dpi", (0, 0))
    across, down = (float(value) if _LEAST_DPI <= value <= _MOST_DPI else _USUAL_DPI for value in dpi)
    width, height = frame.width * _POINTS_PER_INCH / across, frame.height * _POINTS_PER_INCH / down
    return (height, width) if _orientation(frame) > 4 else (width, height)


def _drawn(frame: ImageFile, width_px: int, height_px: int) -> Image:
    from PIL import Image

    pixels = frame.width * frame.height
    share = min(1.0, width_px / frame.width, height_px / frame.height, (MAX_SHOWN_PIXELS / pixels) ** 0.5)
    size = (max(1, round(frame.width * share)), max(1, round(frame.height * share)))
    turn = _orientation(frame)
    frame.draft("RGB", size)  # a JPEG is decoded at a fraction of its size
    shown = _on_white(frame)
    if shown.size != size:
        shown = shown.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
    ways = Image.Transpose
    undo = (
        ways.FLIP_LEFT_RIGHT, ways.ROTATE_180, ways.FLIP_TOP_BOTTOM, ways.TRANSPOSE, ways.ROTATE_270, ways.TRANSVERSE,
        ways.ROTATE_90,
    )  # fmt: skip
    return shown.transpose(undo[turn - 2]) if 2 <= turn <= 8 else shown


def _orientation(frame: ImageFile) -> int:
    # A PNG would be decoded to look for what cameras do not write into it.
    return 1 if frame.format in ("PNG", "GIF", "BMP") else int(frame.getexif().get(_ORIENTATION, 1))


def _on_white(frame: ImageFile) -> Image:
    from PIL import Image

    if frame.mode.startswith("I"):  # 16 bits of grey
        return frame.point(lambda value: value * (1 / 256)).convert("L").convert("RGB")
    if not frame.has_transparency_data:
        return frame.convert("RGB")
    layered = frame.convert("RGBA")
    ground = Image.new("RGBA", layered.size, "white")
    return Image.alpha_composite(ground, layered).convert("RGB")


def _png(image: Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1 if image.width * image.height > 4_000_000 else 6)
    return file.getvalue()
