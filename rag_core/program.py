"""The command line as a process of its own: what a running server can answer at once, and all the rest."""

from __future__ import annotations

import sys


def program() -> None:
    """Run one command."""
    from rag_core import quick

    code = quick.answered(sys.argv[1:])
    if code is not None:
        sys.exit(code)
    from rag_core.cli import program as whole

    whole()
