"""What a note says of itself before its text, between lines of three dashes: its title, other names and tags."""

from __future__ import annotations

import re

FRONT_MATTER = re.compile(r"---[ \t]*\n.*?^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(
    r"^(?P<name>title|aliases|alias|tags?)[ \t]*:[ \t]*(?P<said>[^\n]*)(?P<items>(?:\n[ \t]*-[ \t]+[^\n]*)*)",
    re.MULTILINE,
)
_ITEM = re.compile(r"^[ \t]*-[ \t]+", re.MULTILINE)


def note_title(text: str) -> str:
    """The title that the front matter of a note gives; "" without."""
    return next(iter(_said(text, "title")), "")


def note_names(text: str) -> list[str]:
    """The names beside its title that a note goes by, and its tags, as its front matter lists them."""
    return [*_said(text, "alias"), *_said(text, "tag")]


def _said(text: str, name: str) -> list[str]:
    front = FRONT_MATTER.match(text)
    found = [match for match in _FIELD.finditer(front[0]) if match["name"].startswith(name)] if front else []
    parts = [part for match in found for part in _parts(match["name"], match["said"], match["items"])]
    return [bare for part in parts if (bare := part.strip(" \t\"'#"))]


def _parts(name: str, said: str, items: str) -> list[str]:
    if items:
        return _ITEM.sub("", items.strip("\n")).split("\n")
    return [said] if name == "title" else said.strip().strip("[]").split(",")
