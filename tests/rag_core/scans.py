"""Scans made here: text drawn on pictures, as pages of a PDF or as images."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFilter, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

SHEET = (827, 1169)


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def sheet(
    lines: Sequence[str], *, size: int = 22, turned: int = 0, columns: int = 1, paper: tuple[int, int] = SHEET
) -> Image.Image:
    """Lines on a sheet, down each column, which then lies `turned` degrees clockwise from upright."""
    picture = Image.new("RGB", paper, "white")
    draw = ImageDraw.Draw(picture)
    each = -(-len(lines) // columns)
    width = (paper[0] - 120) // columns
    for number, line in enumerate(lines):
        place = (60 + number // each * width, 70 + number % each * int(1.6 * size))
        draw.text(place, line, fill="black", font=font(size))
    return picture.rotate(-turned, expand=True)


def noisy(picture: Image.Image, seed: int = 7) -> Image.Image:
    """A picture as a scanner gives it: a little askew, soft, with grains."""
    grains = Image.frombytes("L", picture.size, random.Random(seed).randbytes(picture.width * picture.height))
    soft = picture.rotate(0.6, fillcolor="white").filter(ImageFilter.GaussianBlur(0.8))
    return Image.blend(soft, grains.convert("RGB"), 0.08)


def image_bytes(*pictures: Image.Image, kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    more = {"save_all": True, "append_images": pictures[1:]} if len(pictures) > 1 else {}
    pictures[0].save(file, kind, **more)
    return file.getvalue()


def scanned_pdf(pages: Sequence[Image.Image | str]) -> bytes:
    """A PDF of A4 pages: pictures of text, and texts."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(595, 842))
    for page in pages:
        if isinstance(page, str):
            canvas.drawString(60, 760, page)
        else:
            canvas.setPageSize((595, 595 * page.height / page.width))
            canvas.drawImage(ImageReader(page), 0, 0, 595, 595 * page.height / page.width)
        canvas.showPage()
        canvas.setPageSize((595, 842))
    canvas.save()
    return file.getvalue()
