"""The named fault points, found by reading the code: a new one is tested without being listed anywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import PROJECT

_PACKAGES = ("accelerator", "rag_core")
_DEFAULT_KIND = "file"


def fault_points() -> list[str]:
    """Every name that the code reaches, with those of atomic.py for each kind of file."""
    trees = [ast.parse(path.read_text(), str(path)) for path in _modules()]
    kinds = {_DEFAULT_KIND, *(kind for tree in trees for kind in _kinds(tree))}
    return sorted({name for tree in trees for name in _names(tree, kinds)})


def _modules() -> Iterator[Path]:
    for package in _PACKAGES:
        yield from sorted((PROJECT / package).rglob("*.py"))


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == name:
                yield node


def _kinds(tree: ast.AST) -> Iterator[str]:
    for writer in ("write_atomically", "write_together", "write_by", "write_sections"):
        for call in _calls(tree, writer):
            yield from (
                str(k.value.value) for k in call.keywords if k.arg == "kind" and isinstance(k.value, ast.Constant)
            )


def _names(tree: ast.AST, kinds: set[str]) -> Iterator[str]:
    for call in _calls(tree, "reach"):
        (point,) = call.args
        if isinstance(point, ast.Constant):
            yield str(point.value)
        else:
            prefix, suffix = point.values if isinstance(point, ast.JoinedStr) else (None, None)
            assert isinstance(prefix, ast.FormattedValue) and ast.unparse(prefix.value) == "kind", ast.unparse(point)
            assert isinstance(suffix, ast.Constant)
            yield from (f"{kind}{suffix.value}" for kind in kinds)
