"""What a web page has around its text and names so: links that skip it, notices of cookies, menus of links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_SKIP = re.compile(
    r"\b(?:skip|jump)\b.{0,12}\bto\b|^skip\b|\bzum (?:haupt)?inhalt\b|\b(?:aller|passer) au contenu\b", re.IGNORECASE
)
_NOTICE = re.compile(
    r"(?:cookie|gdpr|consent|privacy)[\w-]*(?:bar|banner|notice|popup|modal|overlay|dialog)|cookie-?(?:consent|law|bot)",
    re.IGNORECASE,
)
_MENU = re.compile(
    r"(?:^|[\W_])(?:(?:main|top|sub|site|nav)?-?menu|nav|navbar|navigation|breadcrumbs?)(?=$|[\W_])", re.IGNORECASE
)
_HEADINGS = ("h1", "main", "article")
# What makes up more of the page than this share is its text, whatever it is called; of a menu all but this is links.
_MOST_SHARE, _MOST_SKIP_CHARS, _LEAST_LINKS, _LEAST_LINKED = 0.3, 60, 2, 0.7


def drop_around(root: Any) -> None:
    """Take off a page what it names as a link over its text, a notice of cookies or a menu."""
    whole = _length(root) - sum(map(_length, root.iter("script", "style")))
    for element in list(_around(root)):
        is_small = _length(element) <= _MOST_SHARE * whole or element.tag == "a"
        if element.getparent() is not None and is_small and next(element.iterdescendants(*_HEADINGS), None) is None:
            element.drop_tree()


def _around(root: Any) -> Iterator[Any]:
    for element in root.iter("a", "div", "ul", "section", "p"):
        names = f"{element.get('id', '')} {element.get('class', '')}"
        if element.tag == "a":
            text = " ".join("".join(element.itertext()).split())
            is_inside = element.get("href", "").startswith("#") and len(text) <= _MOST_SKIP_CHARS
            if is_inside and _SKIP.search(text):
                yield element
        elif names.strip() and (_NOTICE.search(names) or (_MENU.search(names) and _is_of_links(element))):
            yield element


def _is_of_links(element: Any) -> bool:
    links = list(element.iterdescendants("a"))
    return len(links) >= _LEAST_LINKS and sum(map(_length, links)) >= _LEAST_LINKED * _length(element)


def _length(element: Any) -> int:
    return sum(len("".join(text.split())) for text in element.itertext())
