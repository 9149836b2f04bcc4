"""The command `completion`: what a shell needs to complete commands, options, titles, tags and models."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from rag_core.cli.output import say_linked


@click.command("completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell, for its start file: eval "$(lectern completion bash)"."""
    from rag_core.cli import commands

    kind = get_completion_class(shell)
    if kind is not None:
        say_linked(kind(commands, {}, "lectern", "_LECTERN_COMPLETE").source())
