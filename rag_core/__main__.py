"""`python -m rag_core`: the command line, which an installed Lectern calls `lectern`."""

from rag_core.cli import program

program()
