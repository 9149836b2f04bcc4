"""Texts by which 8-bit models are calibrated."""

from __future__ import annotations


def calibration_texts() -> list[str]:
    """Texts."""
    return ["The quick brown fox jumps over the lazy dog."] * 3
