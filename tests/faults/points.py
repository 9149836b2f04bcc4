"""The named fault points, found by reading the code: a new one is tested without being listed anywhere.

A point that is about some documents is a stage's, which fails there; at every other the process is killed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import PROJECT

_PACKAGES = ("accelerator", "rag_core")
_DEFAULT_KIND = "file"
_WRITERS = ("write_atomically", "write_together", "write_by", "write_sections")


def fault_points() -> list[str]:
    """Every name that the code reaches, with those of atomic.py for each kind of file."""
    calls = [call for path in _modules() for call in _calls(path)]
    kinds = {_DEFAULT_KIND, *(kind for name, call in calls if name in _WRITERS for kind in _kinds(call))}
    return sorted({
        point for name, call in calls if name == "reach" and len(call.args) == 1 for point in _names(call, kinds)
    })  # fmt: skip


def stages() -> list[str]:
    """The names of all stages that can fail for one document."""
    return sorted({
        call.args[0].value
        for path in _modules()
        for name, call in _calls(path)
        if name in ("reach", "stage") and len(call.args) > 1 and isinstance(call.args[0], ast.Constant)
    })  # fmt: skip


def _modules() -> Iterator[Path]:
    for package in _PACKAGES:
        yield from sorted((PROJECT / package).rglob("*.py"))


def _calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """The calls in a file, each with the name that is called. Files that write and reach nothing are not parsed."""
    text = path.read_text()
    if not any(f"{name}(" in text for name in ("reach", "stage", *_WRITERS)):
        return
    for node in ast.walk(ast.parse(text, str(path))):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""), node


def _kinds(call: ast.Call) -> Iterator[str]:
    yield from (str(k.value.value) for k in call.keywords if k.arg == "kind" and isinstance(k.value, ast.Constant))


def _names(call: ast.Call, kinds: set[str]) -> Iterator[str]:
    (point,) = call.args
    if isinstance(point, ast.Constant):
        yield str(point.value)
    else:
        prefix, suffix = point.values if isinstance(point, ast.JoinedStr) else (None, None)
        assert isinstance(prefix, ast.FormattedValue) and ast.unparse(prefix.value) == "kind", ast.unparse(point)
        assert isinstance(suffix, ast.Constant)
        yield from (f"{kind}{suffix.value}" for kind in kinds)
