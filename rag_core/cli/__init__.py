"""The command line: the words of the library from a shell. A command is one file here and one line in `_COMMANDS`.

Exit codes: 0 done, 1 failed (the reason stands on standard error), 2 wrong usage, 130 stopped by Ctrl-C, 143 by
SIGTERM. With `--json` every line of standard output is one JSON object. A command is imported when it is used, and what
asks a running server imports none of the library: `lectern ask` takes hardly longer than the answer.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType

import click

from rag_core import __version__
from rag_core.cli.output import complain
from rag_core.errors import LecternError

_COMMANDS = {
    "run": "run", "serve": "run", "worker": "worker", "add": "sources", "update": "sources", "watch": "sources",
    "search": "search", "ask": "ask", "chat": "chat", "export": "export", "documents": "documents", "tag": "documents",
    "collection": "collections", "rename": "documents", "remove": "documents", "verify": "state", "repair": "state",
    "models": "models", "keys": "keys", "mcp": "mcp", "status": "state", "reembed": "state", "evaluate": "evaluate",
    "backup": "archive", "restore": "archive", "dumps": "dumps", "app": "app",
    "fetch": "sources", "crawl": "sources", "query": "ask", "completion": "completion",
}  # fmt: skip


class _Commands(click.Group):
    """Commands by name, each from its own module."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Their names, those that are used most first."""
        return [*_COMMANDS]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of a name."""
        if name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"rag_core.cli.{_COMMANDS[name]}"), name)
        return command

    def invoke(self, context: click.Context) -> object:
        """Run the command that was named. Returns its exit code."""
        try:
            return super().invoke(context)
        except BrokenPipeError:  # `| head` closed the other end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


commands = _Commands("lectern", help="Ask questions of your own documents.")
commands = click.version_option(__version__, message="%(prog)s %(version)s")(commands)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code."""
    _print_any_name()
    try:
        code = commands.main(None if arguments is None else [*arguments], "lectern", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except LecternError as error:
        complain(error)
        return 1
    except click.Abort:
        sys.stderr.write("Stopped. Documents that were not finished go on with the next `add`.\n")
        return 130
    return code or 0


def program() -> None:
    """Run one command as a process of its own."""
    _stop_on_sigterm()
    sys.exit(main())


def _stop_on_sigterm() -> None:
    """Let SIGTERM end this process in order, so that stores are closed and the embedded PostgreSQL is stopped."""

    def leave(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, leave)


def _print_any_name() -> None:
    """Names of files may hold bytes that are no text; they are printed as escapes, which JSON reads as well."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
