"""Fonts of this machine that a PDF can be written with. None ships with Lectern."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from fontTools.ttLib import TTFont, TTLibError

REGULAR = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "Helvetica.ttf")
"""By how much they hold, each with its bold face beside it."""
BOLD = {"DejaVuSans.ttf": "DejaVuSans-Bold.ttf", "Arial.ttf": "Arial Bold.ttf"}
_LIKELY = ("unicode", "cjk", "noto", "dejavu", "droid", "gothic", "ming", "song", "arab", "symbol")
_MOST_OPENED = 80
_MOST_CHOSEN = 6


def choose(text: str) -> list[Path]:
    """Files of fonts that together have the text's characters, as far as this machine has them; the body's first."""
    wanted = {ord(character) for character in text if not character.isspace()}
    known = {path.name.lower(): path for path in installed()}
    body = next((known[name.lower()] for name in REGULAR if name.lower() in known), None)
    chosen: list[Path] = []
    for path in islice(_likely_first(body), _MOST_OPENED):
        found = wanted & characters(path)
        if found or path == body:
            chosen.append(path)
            wanted -= found
        if (not wanted and chosen) or len(chosen) == _MOST_CHOSEN:
            break
    return chosen


def bold_of(path: Path) -> Path:
    """The bold face beside a regular one, or itself."""
    names = (BOLD.get(path.name, ""), path.name.replace("-Regular", "-Bold"))
    return next((path.with_name(name) for name in names if name and path.with_name(name).is_file()), path)


@cache
def characters(path: Path) -> frozenset[int]:
    """The code points that a font has; none where it cannot be read, or is not of a kind that a PDF can embed."""
    try:
        with TTFont(path, fontNumber=0, lazy=True) as font:
            return frozenset(font.getBestCmap() or ()) if "glyf" in font or "CFF " in font else frozenset()
    except (TTLibError, OSError, ValueError, KeyError, AssertionError):
        return frozenset()


@cache
def installed() -> tuple[Path, ...]:
    """Every TrueType and OpenType font in the folders where systems keep them."""
    suffixes = {".ttf", ".otf", ".ttc"}
    found = (path for folder in _folders() if folder.is_dir() for path in sorted(folder.rglob("*")))
    return tuple(path for path in found if path.suffix.lower() in suffixes)


def _likely_first(body: Path | None) -> Iterator[Path]:
    """The body's font, then those whose names promise many characters, then the others."""
    if body is not None:
        yield body
    others = [path for path in installed() if path != body]
    yield from sorted(others, key=lambda path: not any(word in path.name.lower() for word in _LIKELY))


def _folders() -> Sequence[Path]:
    home = Path.home()
    if sys.platform == "darwin":
        return [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts"]
    if sys.platform == "win32":
        return [Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts"]
    return [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), home / ".local/share/fonts", home / ".fonts"]
