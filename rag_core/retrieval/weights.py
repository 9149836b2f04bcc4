"""Numbers that were fitted, kept as data in `weights.json`; `python -m tests.benchmarks.fit_weights` finds them."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def weights() -> dict[str, Any]:
    """The fitted numbers, by what they are of."""
    text = resources.files("rag_core.retrieval").joinpath("weights.json").read_text("utf-8")
    values: dict[str, Any] = json.loads(text)
    return values
