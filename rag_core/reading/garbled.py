"""Texts whose characters say nothing: what a font gives that does not tell its letters."""

from __future__ import annotations

import re

_SHARE = 0.3
_LEAST = 20
# Private use, replacement and control characters.
_MEANINGLESS = re.compile("[\ue000-\uf8ff\ufffd\ufffe\uffff\x00-\x08\x0e-\x1f\x7f-\x9f]")


def is_garbled(text: str) -> bool:
    """Whether a text's characters stand for nothing that can be read."""
    meaningless = len(_MEANINGLESS.findall(text))
    return meaningless >= _LEAST and meaningless >= _SHARE * len("".join(text.split()))
