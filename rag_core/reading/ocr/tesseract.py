"""Tesseract, a program that is installed by itself, with data for each language."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rag_core.errors import LimitExceeded, ModelUnavailable, UnreadableDocument
from rag_core.reading.ocr.base import FoundLine, Options, Recogniser

if TYPE_CHECKING:
    from PIL.Image import Image

_PROGRAM = "tesseract"
_INSTALL = "Install Tesseract with its language data (Debian: apt install tesseract-ocr), or choose rapidocr."
# Words of a line that are further apart than this share of its height stand in cells of their own.
_CELL_GAP = 1.5
# The recognising process may be ended before that; the program it started then ends by itself.
_LONGEST_S = 300


class TesseractRecogniser(Recogniser):
    """Runs the program once for each page. Raises ModelUnavailable where it or a language is missing."""

    def __init__(self, options: Options) -> None:
        program = shutil.which(_PROGRAM)
        if program is None:
            raise ModelUnavailable("Tesseract is chosen for text recognition, but it is not installed.", help=_INSTALL)
        self.name = _PROGRAM
        self._command = [program, "stdin", "stdout", "-l", options.languages, "--psm", "3", "tsv"]
        # It takes a thread for every core of the machine otherwise.
        self._environment = {**os.environ, "OMP_THREAD_LIMIT": str(options.threads)}
        try:
            listed = self._run([program, "--list-langs"], b"").split()
        except UnreadableDocument as error:
            raise ModelUnavailable(str(error), help=_INSTALL) from error
        if missing := [name for name in options.languages.split("+") if name not in listed]:
            raise ModelUnavailable(f"Tesseract has no data for {', '.join(missing)}.", help=_INSTALL)

    def lines(self, picture: Image) -> Sequence[FoundLine]:
        """The lines of an RGB picture."""
        file = io.BytesIO()
        picture.save(file, "PNG", compress_level=1, dpi=(300, 300))
        return list(parse(self._run(self._command, file.getvalue())))

    def _run(self, command: Sequence[str], data: bytes) -> str:
        try:
            done = subprocess.run(  # a program that the user chose, nothing of the document among its arguments
                command, input=data, capture_output=True, env=self._environment, check=False, timeout=_LONGEST_S
            )
        except subprocess.TimeoutExpired as error:
            raise LimitExceeded(f"Tesseract took longer than {_LONGEST_S} seconds.") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise UnreadableDocument(f"Tesseract failed: {said[-1] if said else done.returncode}.")
        return done.stdout.decode("utf-8", "replace")


def parse(table: str) -> Iterator[FoundLine]:
    """The lines of Tesseract's TSV: words of one line that stand near each other are one."""
    rows = [row for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE) if _is_word(row)]
    for _, words in groupby(rows, lambda row: (row["block_num"], row["par_num"], row["line_num"])):
        run: list[dict[str, str]] = []
        for word in words:
            if run and int(word["left"]) - _right(run[-1]) > _CELL_GAP * int(run[-1]["height"]):
                yield _line(run)
                run = []
            run.append(word)
        yield _line(run)


def _is_word(row: dict[str, str]) -> bool:
    return row.get("level") == "5" and float(row["conf"]) >= 0 and bool((row.get("text") or "").strip())


def _right(word: dict[str, str]) -> int:
    return int(word["left"]) + int(word["width"])


def _line(words: Sequence[dict[str, str]]) -> FoundLine:
    left, right = int(words[0]["left"]), _right(words[-1])
    top = min(int(word["top"]) for word in words)
    bottom = max(int(word["top"]) + int(word["height"]) for word in words)
    letters = sum(len(word["text"]) for word in words)
    certainty = sum(float(word["conf"]) * len(word["text"]) for word in words) / letters / 100
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return FoundLine(" ".join(word["text"] for word in words), corners, certainty)


def open_recogniser(options: Options) -> Recogniser:
    """Look for the program and its languages. Raises ModelUnavailable."""
    return TesseractRecogniser(options)
