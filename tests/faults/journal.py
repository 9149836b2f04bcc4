"""What a process means to do to a library and what was acknowledged: a synced file outside the data directory.

A line is written before an operation (`will`) and after its acknowledgement (`did`), so that whoever reads the file
after a kill knows of each document whether it must be there, must not be there, or may be either.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

State = Literal["present", "absent", "open"]


class Journal:
    """Appends to the file. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._lock = threading.Lock()

    def will(self, action: Literal["add", "remove"], ids: Iterable[str]) -> None:
        self.write(will=action, ids=list(ids))

    def did(self, action: Literal["add", "remove"], document_id: str) -> None:
        self.write(did=action, ids=[document_id])

    def write(self, **line: Any) -> None:
        data = json.dumps(line).encode() + b"\n"
        with self._lock:
            os.write(self._descriptor, data)
            os.fsync(self._descriptor)


@dataclass(slots=True)
class Expected:
    """What a journal says of each document, and what its writers found wrong themselves."""

    states: dict[str, State] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def ids(self, state: State) -> set[str]:
        return {key for key, value in self.states.items() if value == state}


def read_journal(path: Path) -> Expected:
    """Go through a journal. A last line that was cut off was acknowledged to nobody."""
    expected = Expected()
    for line in _lines(path):
        if "wrong" in line:
            expected.wrong.append(line["wrong"])
        elif "judged" in line:
            held = set(line["judged"])
            for key in expected.states.keys() | held:
                expected.states[key] = "present" if key in held else "absent"
        for key in line.get("ids", ()):
            acknowledged: State = "present" if line.get("did") == "add" else "absent"
            expected.states[key] = "open" if "will" in line else acknowledged
    return expected


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        for line in path.read_bytes().split(b"\n")[:-1]:
            yield json.loads(line)
