"""What a web page hides in its own words: `hidden`, and styles of an element itself. It is not read, and told of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lxml import etree

from rag_core.reading.flowing.sheet import GONE, GROUND, PALE, SMALL

_UNSEEN_TAGS = "script style noscript template head iframe object svg math button select datalist canvas audio video"
UNSEEN = frozenset(_UNSEEN_TAGS.split())
"""Tags whose inside is no text of the page."""
_FOLDED = "until-found"  # what a browser's search unfolds
# Words that a hidden part has at least to be told of: labels of buttons have fewer.
_LEAST_WORDS, _SHOWN_CHARS = 4, 100


def is_hidden(element: Any) -> bool:
    """Whether an element says itself that it is not shown."""
    style = element.get("style", "")
    return element.get("hidden", _FOLDED) != _FOLDED or (
        bool(style)
        and bool(GONE.search(style) or SMALL.search(style) or (PALE.search(style) and not _has_ground(element)))
    )


def hidden_parts(root: Any) -> Iterator[Any]:
    """The outermost elements that a page hides."""
    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        if is_hidden(element):
            walk.skip_subtree()
            yield element


def hidden_texts(root: Any) -> list[str]:
    """The texts of a page that it hides, those of a word or two, as buttons have, left out."""
    parts = (" ".join("".join(one.itertext()).split()) for one in hidden_parts(root) if one.tag not in UNSEEN)
    return [part for part in parts if len(part.split()) >= _LEAST_WORDS]


def hidden_note(texts: Sequence[str]) -> str:
    """What is told of hidden texts; nothing of none."""
    if not texts:
        return ""
    beginning = f"{texts[0][:_SHOWN_CHARS]}{'…' if len(texts[0]) > _SHOWN_CHARS else ''}"
    count = "1 part" if len(texts) == 1 else f"{len(texts)} parts"
    return f"Hidden on the page and left out: {count}, “{beginning}”."


def _has_ground(element: Any) -> bool:
    """Whether an element, or one around it, says what it stands on, or may by a style sheet, which is not read."""
    around = (element, *element.iterancestors())
    by_sheet = any(one.get("class") or one.get("id") for one in around[:2])
    return by_sheet or any(GROUND.search(one.get("style", "")) or one.get("bgcolor") for one in around)
