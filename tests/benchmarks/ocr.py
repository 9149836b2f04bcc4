"""Text recognition: `python -m tests.benchmarks.ocr [--data DIR] [--engine rapidocr]`. One JSON line for each kind.

scans: the real scans of documents/scans against the text that stands on each, whichever way it lies. rendered: pages of
filings and documents/pdf drawn at 200 dots an inch as a scanner gives them (askew by half a degree, soft, grains), a
fourth of them each way up, against the text that the PDFs themselves hold. `cer` is Levenshtein's distance over
the text's length, blanks counted once, so that an order of reading other than the file's counts as errors; `lost_words`
is the share of the text's words that were not read anywhere on the page.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter

from rag_core.domain import Page
from rag_core.reading.base import PDF, PNG
from rag_core.reading.ocr import PageRecogniser
from rag_core.settings import OcrSettings
from tests.benchmarks.measure import SHARED, emit

_SCANNED = "Docling bundles PDF document conversion to JSON and Markdown in an easy self contained package"
_DPI = 200
_LEAST_CHARS = 400
_SEED = 20_261_122


def main(arguments: Sequence[str]) -> int:
    """Recognise and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=SHARED / "data")
    parser.add_argument("--engine", choices=["rapidocr", "tesseract"], default="rapidocr")
    parser.add_argument("--pages", type=int, default=24, help="how many pages are rendered")
    parser.add_argument("--show", action="store_true", help="print each page's figures too")
    options = parser.parse_args(arguments)
    recogniser, settings = PageRecogniser(), OcrSettings(engine=options.engine)
    with tempfile.TemporaryDirectory() as folder:
        kinds = {"scans": _scans(options.data), "rendered": _rendered(options.data, options.pages, Path(folder))}
        for kind, pages in kinds.items():
            rows = []
            for path, media_type, number, truth, turned in pages:
                began = time.perf_counter()
                page = recogniser.recognise(settings, path, media_type, number).page
                rows.append(_row(page, truth, turned, time.perf_counter() - began))
                if options.show:
                    emit(page=f"{path.stem} {number}", **rows[-1])
            _report(kind, options.engine, rows)
    recogniser.close()
    return 0


def _row(page: Page, truth: str, turned: int, took_s: float) -> dict[str, float]:
    wanted, read = _plain(truth), _plain(page.text)
    words, found = Counter(wanted.split()), Counter(read.split())
    return {
        "cer": distance(wanted, read) / max(len(wanted), 1), "lost_words": 1 - (words & found).total() / words.total(),
        "upright": float(page.turned == turned), "certainty": page.certainty, "seconds": took_s, "chars": len(wanted),
    }  # fmt: skip


def _report(kind: str, engine: str, rows: Sequence[dict[str, float]]) -> None:
    if not rows:
        emit(benchmark="ocr", kind=kind, skipped="no pages")
        return
    chars = sum(row["chars"] for row in rows)
    emit(
        benchmark="ocr", kind=kind, engine=engine, pages=len(rows), characters=int(chars),
        cer=round(sum(row["cer"] * row["chars"] for row in rows) / chars, 4),
        cer_median=round(median(row["cer"] for row in rows), 4),
        lost_words=round(sum(row["lost_words"] * row["chars"] for row in rows) / chars, 4),
        upright=mean(row["upright"] for row in rows), certainty=round(mean(row["certainty"] for row in rows), 3),
        seconds_a_page=round(mean(row["seconds"] for row in rows[1:] or rows), 2),
    )  # fmt: skip


Case = tuple[Path, str, int, str, int]


def _scans(data: Path) -> Iterator[Case]:
    """File, its kind, page, text, and how it must be turned."""
    turns = {"nemotron_multipage": (0, 180, 270, 90), "ocr_test": (0,), "ocr_test_rotated_90": (90,)}
    for name, pages in turns.items():
        for number, turned in enumerate(pages, 1):
            yield data / "documents" / "scans" / f"{name}.pdf", PDF, number, _SCANNED, turned


def _rendered(data: Path, count: int, folder: Path) -> Iterator[Case]:
    chance = random.Random(_SEED)
    found = []
    for path in sorted([*data.glob("filings/*.pdf"), *data.glob("documents/pdf/*.pdf")]):
        try:
            with pypdfium2.PdfDocument(path) as pdf:
                found += [(path, number) for number in range(len(pdf)) if "right_to_left" not in path.name]
        except pypdfium2.PdfiumError:  # one has a password
            continue
    made = 0
    for path, number in chance.sample(found, len(found)):
        with pypdfium2.PdfDocument(path) as pdf:
            text = pdf[number].get_textpage().get_text_bounded()
            if len(_plain(text)) < _LEAST_CHARS:
                continue
            picture = pdf[number].render(scale=_DPI / 72).to_pil().convert("RGB")
        turned = 90 * (made % 4)
        file = folder / f"{path.stem}-{number + 1}.png"
        _scanned(picture, chance).rotate(turned, expand=True).save(file, dpi=(_DPI, _DPI))
        yield file, PNG, 1, text, turned
        made += 1
        if made == count:
            return


def _scanned(picture: Image.Image, chance: random.Random) -> Image.Image:
    """A picture as a scanner gives it."""
    askew = picture.rotate(chance.uniform(-0.5, 0.5), fillcolor="white", resample=Image.Resampling.BICUBIC)
    grains = Image.frombytes("L", picture.size, chance.randbytes(picture.width * picture.height)).convert("RGB")
    return Image.blend(askew.filter(ImageFilter.GaussianBlur(0.7)), grains, 0.08)


def _plain(text: str) -> str:
    """A text with its hyphenated words joined, typographic signs as typewriters have them, blanks counted once."""
    for mark in ("\ufffe\r\n", "\ufffe", "\u00ad\n", "\u00ad"):
        text = text.replace(mark, "")
    for signs, plain in (("’‘ʼ", "'"), ("“”", '"'), ("–—‐−", "-"), ("•·●▪", "")):
        for sign in signs:
            text = text.replace(sign, plain)
    return " ".join(text.split())


def distance(one: str, other: str) -> int:
    """Levenshtein's distance, a row at a time."""
    first, second = (np.frombuffer(text.encode("utf-32-le"), np.uint32) for text in (one, other))
    places = np.arange(len(second) + 1)
    row = places.copy()
    for number, letter in enumerate(first, 1):
        changed = np.minimum(row[1:] + 1, row[:-1] + (second != letter))
        row = np.minimum.accumulate(np.concatenate([[number], changed]) - places) + places
    return int(row[-1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
