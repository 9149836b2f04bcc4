"""`lectern ask` by a server that runs: answered before the library's code would have been imported.

What is not asked in the plainest form is left to the command line proper.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from rag_core import serving
from rag_core.errors import LecternError, StoreUnavailable
from rag_core.places import data_dir


class _NotPlain(Exception):
    """The arguments say more than is understood here."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _NotPlain


def answered(arguments: Sequence[str]) -> int | None:
    """Ask a running server. Returns the exit code, None where the command line proper is to do it."""
    if not arguments or arguments[0] != "ask":
        return None
    try:
        options = _options(arguments[1:])
    except _NotPlain:
        return None
    folder = options.data_dir or os.environ.get("LECTERN_DATA_DIR")
    if folder is None and Path(".env").exists():  # which may name another folder
        return None
    served = serving.find(Path(folder or data_dir() / "library").expanduser().absolute())
    if served is None:
        return None
    try:
        return _ask(served, options)
    except StoreUnavailable as error:
        if error.__cause__ is not None:  # nobody answers there
            return None
        sys.stderr.write(f"{error} {error.help}".rstrip() + "\n")
    except LecternError as error:
        sys.stderr.write(f"{error} {error.help}".rstrip() + "\n")
    return 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(add_help=False)
    parser.add_argument("question")
    parser.add_argument("--json", action="store_true")
    for name in ("--data-dir", "--model", "--conversation"):
        parser.add_argument(name)
    return parser.parse_args(arguments)


def _ask(served: serving.Served, options: argparse.Namespace) -> int:
    from rag_core.remote.wire import Wire

    given = {"question": options.question, "model": options.model, "conversation": options.conversation}
    answer: dict[str, Any] = {}
    for name, told in Wire(served.url, served.key).events("/api/v1/ask", given):
        if name == "answer":
            answer = told
        elif not options.json:
            sys.stdout.write(told["text"])
            sys.stdout.flush()
    if options.json:
        print(json.dumps(answer, ensure_ascii=False))
        return 0
    print()
    for one in answer["citations"]:
        where = one["page_label"] or one["page"]
        print(f"  [{one['number']}] {one['title']}, page {where}: {' '.join(one['text'].split())}")
    for note in answer["trace"]["notes"]:
        print(f"  note: {note}")
    return 0
