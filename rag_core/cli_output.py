"""What every command prints: JSON lines, and errors with what to do."""

from __future__ import annotations

import json
import sys
from typing import Any

from rag_core.errors import LecternError
from rag_core.plain import plain as plain


class WrongUsage(Exception):
    """Arguments that contradict what there is: exit code 2."""


def emit(values: Any) -> None:
    """Print one JSON object on a line of its own."""
    print(json.dumps(values, ensure_ascii=False), flush=True)


def complain(error: LecternError) -> None:
    """Say on standard error what went wrong and what to do."""
    sys.stderr.write(f"{error} {error.help}".rstrip() + "\n")
