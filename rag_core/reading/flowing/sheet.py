"""What a web page's own style sheets hide: rules of elements, classes and ids in its `<style>`, also within others
(`.menu .item`, `div > p`).

Rules for some screens alone, of sheets elsewhere and of states (`:hover`) are not looked at, and a rule that shows what
another hides wins: scripts show such parts on a click. What is hidden so is read, therefore, and marked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from rag_core.reading.flowing.hidden import NOT_SHOWN, TINY, WHITE

GONE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?<![\w-])opacity\s*:\s*0*\.?0*\s*(?:;|$|!)", re.IGNORECASE
)
SMALL = re.compile(r"font-size\s*:\s*(?:0*\.\d+|[01](?:\.\d+)?)(?:px|pt)?\s*(?:;|$|!)", re.IGNORECASE)
PALE = re.compile(r"(?<![\w-])color\s*:\s*(?:#fff(?:fff)?|white|rgba?\(\s*255\s*,\s*255\s*,\s*255\b)", re.IGNORECASE)
GROUND = re.compile(r"background(?!(?:-color)?\s*:\s*(?:white|#f{3}(?:f{3})?)\s*(?:[;!}]|$))", re.IGNORECASE)
_SHOWS = re.compile(r"display\s*:\s*(?!none)\w|visibility\s*:\s*visible", re.IGNORECASE)
_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
_SELECTOR = re.compile(r"(\w*)((?:[.#][\w-]+)*)")
_WITHIN = re.compile(r"\s*(>)\s*|\s+")
_MOST_CHARS, _MOST_RULES, _MOST_AROUND = 500_000, 5_000, 100


@dataclass(frozen=True, slots=True)
class _Part:
    """A selector's part for one element. is_child: whether it stands right within what the part before it is for."""

    tag: str
    names: frozenset[str]
    is_child: bool

    def fits(self, element: Any) -> bool:
        return self.tag in ("", element.tag) and self.names <= _names(element)


@dataclass(frozen=True, slots=True)
class _Rule:
    """own: of the element itself; around: of those around it, the nearest first."""

    own: _Part
    around: tuple[_Part, ...]
    says: str

    @property
    def may_hide(self) -> bool:
        return any(kind.search(self.says) for kind in (GONE, SMALL, PALE))

    def may_fit(self, held: Collection[str]) -> bool:
        """Whether an element may be of a page that holds these tags and names: most sheets are of a whole site."""
        return all(name in held for part in (self.own, *self.around) for name in (part.tag, *part.names))

    def fits(self, element: Any) -> bool:
        if not self.own.fits(element):
            return False
        outer = islice(element.iterancestors(), _MOST_AROUND)
        for inner, part in pairwise((self.own, *self.around)):
            found = islice(outer, 1) if inner.is_child else outer
            if not any(part.fits(one) for one in found):
                return False
        return True


_Rules = dict[str, list[_Rule]]


class Sheet:
    """The rules of a page that may hide text."""

    def __init__(self, root: Any) -> None:
        css = _COMMENT.sub("", "\n".join(root.xpath("//style/text()"))[:_MOST_CHARS])
        held = {name for element in root.iter("*") for name in ("", element.tag, *_names(element))}
        rules = list(islice((rule for rule in _rules(css) if rule.may_fit(held)), _MOST_RULES))
        self._rules, self._hiding = _by_name(rules), _by_name(rule for rule in rules if rule.may_hide)
        # A sheet that is not here may say what white letters stand on.
        self._is_all = not root.xpath("//link[contains(@rel, 'stylesheet')]")

    def why(self, element: Any) -> str:
        """Why an element is not seen; empty where it is, as far as is known."""
        if next(_of(element, self._hiding), None) is None or _SHOWS.search(element.get("style", "")):
            return ""
        whole = ";".join(rule.says for rule in _of(element, self._rules))
        if GONE.search(whole):
            return "" if _SHOWS.search(whole) else NOT_SHOWN
        if SMALL.search(whole):
            return TINY
        return WHITE if PALE.search(whole) and self._is_all and not self._has_ground(element) else ""

    def _has_ground(self, element: Any) -> bool:
        return any(
            GROUND.search(one.get("style", ""))
            or one.get("bgcolor")
            or any(GROUND.search(r.says) for r in _of(one, self._rules))
            for one in (element, *element.iterancestors())
        )


def _by_name(rules: Iterable[_Rule]) -> _Rules:
    """Rules by a name that each element has for which they are."""
    found: _Rules = defaultdict(list)
    for rule in rules:
        found[next(iter(sorted(rule.own.names)), rule.own.tag)].append(rule)
    return found


def _of(element: Any, rules: _Rules) -> Iterator[_Rule]:
    """Those of some rules that are for an element."""
    if not isinstance(element.tag, str):
        return
    for key in (element.tag, *_names(element)):
        yield from (rule for rule in rules.get(key, ()) if rule.fits(element))


def _names(element: Any) -> set[str]:
    """The classes and the id of an element, as selectors write them."""
    names = {f".{name}" for name in element.get("class", "").split()}
    return names | {f"#{element.get('id')}"} if element.get("id") else names


def _parts(selector: str) -> tuple[_Part, ...]:
    """The parts of a selector, the innermost first; none for those of other kinds."""
    words = _WITHIN.split(selector.strip())
    found = [_SELECTOR.fullmatch(word) for word in words[::2]]
    signs = [None, *words[1::2]]
    parts = [
        _Part(one[1].lower(), frozenset(re.findall(r"[.#][\w-]+", one[2])), sign is not None)
        for one, sign in zip(found, signs, strict=True)
        if one and one[0]
    ]
    return tuple(reversed(parts)) if len(parts) == len(found) else ()


def _rules(css: str) -> Iterator[_Rule]:
    """The rules outside of blocks for some media, those of other kinds of selectors left out."""
    depth = begin = opened = 0
    for brace in re.finditer(r"[{}]", css):
        if brace[0] == "{":
            depth += 1
            opened = brace.end() if depth == 1 else opened
        elif depth:
            depth -= 1
            if not depth:
                for selector in css[begin : opened - 1].split(","):
                    if parts := _parts(selector):
                        yield _Rule(parts[0], parts[1:], css[opened : brace.start()].strip())
                begin = brace.end()
