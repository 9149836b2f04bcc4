"""What a web page's own style sheets hide: rules of elements, classes and ids in its `<style>`, also within others
(`.menu .item`, `div > p`).

Rules for some screens alone, of sheets elsewhere and of states (`:hover`) are not looked at, and a rule that shows what
another hides wins: scripts show such parts on a click. What is hidden so is read, therefore, and marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from rag_core.reading.flowing.hidden import NOT_SHOWN, TINY, WHITE

GONE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?<![\w-])opacity\s*:\s*0*\.?0*\s*(?:;|$|!)", re.IGNORECASE
)
SMALL = re.compile(r"font-size\s*:\s*(?:0*\.\d+|[01](?:\.\d+)?)(?:px|pt)?\s*(?:;|$|!)", re.IGNORECASE)
PALE = re.compile(r"(?<![\w-])color\s*:\s*(?:#fff(?:fff)?|white|rgba?\(\s*255\s*,\s*255\s*,\s*255\b)", re.IGNORECASE)
GROUND = re.compile(r"background(?!(?:-color)?\s*:\s*(?:white|#f{3}(?:f{3})?)\s*(?:[;!}]|$))", re.IGNORECASE)
_SHOWS = re.compile(r"display\s*:\s*(?!none)\w|visibility\s*:\s*visible", re.IGNORECASE)
_LOOKED_AT = (GONE, SMALL, PALE, GROUND, _SHOWS)
_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
_RULE = re.compile(r"([^{}]*)\{((?:[^{}]|\{[^{}]*\})*+)\}")
_PART = re.compile(r"(\w*)((?:[.#][\w-]+)*)")
_NAME = re.compile(r"([.#])([\w-]+)")
_WITHIN = re.compile(r"\s*(>)\s*|\s+")
_MOST_CHARS, _MOST_RULES = 500_000, 5_000


class Sheet:
    """What the rules of a page say of its elements, where it may hide text."""

    def __init__(self, root: Any) -> None:
        css = _COMMENT.sub("", "\n".join(root.xpath("//style/text()"))[:_MOST_CHARS])
        held = {element.tag for element in root.iter("*")} | {f"#{key}" for key in root.xpath("//@id")}
        held |= {f".{name}" for names in set(root.xpath("//@class")) for name in names.split()}
        self._says: dict[Any, str] = {}
        for path, says in islice(_rules(css, held), _MOST_RULES):
            for element in root.xpath(path):
                self._says[element] = f"{self._says.get(element, '')};{says}"
        # A sheet that is not here may say what white letters stand on.
        self._is_all = not root.xpath("//link[contains(@rel, 'stylesheet')]")

    def why(self, element: Any) -> str:
        """Why an element is not seen; empty where it is, as far as is known."""
        says = self._says.get(element, "")
        if not says or _SHOWS.search(element.get("style", "")):
            return ""
        if GONE.search(says):
            return "" if _SHOWS.search(says) else NOT_SHOWN
        if SMALL.search(says):
            return TINY
        return WHITE if PALE.search(says) and self._is_all and not self._has_ground(element) else ""

    def _has_ground(self, element: Any) -> bool:
        return any(
            one.get("bgcolor") or GROUND.search(f"{one.get('style', '')};{self._says.get(one, '')}")
            for one in (element, *element.iterancestors())
        )


def _rules(css: str, held: set[str]) -> Iterator[tuple[str, str]]:
    """What rules say, each with the path to its elements. Most sheets are of a whole site: a rule for tags and names
    that the page does not hold is left out, as are those in blocks for some media and those of other kinds."""
    for rule in _RULE.finditer(css):
        says = rule[2].strip()
        if "{" not in says and any(kind.search(says) for kind in _LOOKED_AT):
            yield from ((path, says) for one in rule[1].split(",") if (path := _path(one.strip(), held)))


def _path(selector: str, held: set[str]) -> str:
    """A selector as XPath; empty for one of another kind, or that no element of the page fits."""
    words = _WITHIN.split(selector)
    parts = [_PART.fullmatch(word) for word in words[::2]]
    path = ""
    for part, sign in zip(parts, [None, *words[1::2]], strict=True):
        if not part or not part[0]:
            return ""
        names = _NAME.findall(part[2])
        if not held.issuperset({*filter(None, [part[1].lower()]), *("".join(name) for name in names)}):
            return ""
        path += f"{'/' if sign else '//'}{part[1].lower() or '*'}" + "".join(
            f"[@id='{name}']" if mark == "#" else f"[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]"
            for mark, name in names
        )  # fmt: skip
    return path
