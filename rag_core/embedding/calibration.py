"""The texts by which 8-bit models are calibrated: written for Lectern, of many registers and of all lengths."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).with_name("calibration.txt")


def calibration_texts() -> list[str]:
    """Paragraphs, pairs of paragraphs as long as the usual model takes, and single sentences as short as questions."""
    paragraphs = _FILE.read_text(encoding="utf-8").strip().split("\n\n")
    pairs = [" ".join(pair) for pair in zip(paragraphs[::2], paragraphs[1::2], strict=False)]
    sentences = [text.replace("\n", " ").split(". ")[0] for text in paragraphs[::2]]
    return paragraphs + pairs + sentences
