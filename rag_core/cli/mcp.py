"""The command `mcp`: the library for assistants that speak the Model Context Protocol over standard input."""

from __future__ import annotations

import os
import sys

from rag_core.cli.session import Session, command


@command("mcp", help="Serve assistants that speak MCP over standard input and output.")
def mcp(session: Session) -> None:
    """Serve until the other end closes."""
    from rag_core.api.mcp import make_server

    library = session.library
    # What any library prints must not come between the protocol's lines.
    wire = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = wire
    make_server(lambda: library).run("stdio")
