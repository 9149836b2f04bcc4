"""What pages and sitemaps link to. Neither is read into a tree: a hostile one would take memory for it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree

from rag_core.sources.web.addresses import joined

_MAX_BYTES = 5 * 2**20
_MOST = 5_000
_UNZIPPED_BYTES = 20 * 2**20


def links(data: bytes, address: str, charset: str = "") -> list[str]:
    """Where a page of HTML leads, cleaned, in order and each once; nowhere where it asks programs not to follow."""
    found = _Links()
    try:
        parser = etree.HTMLParser(target=found, encoding=charset or None, no_network=True, recover=True)
    except LookupError:  # an encoding that nobody knows
        parser = etree.HTMLParser(target=found, no_network=True, recover=True)
    try:
        parser.feed(data[:_MAX_BYTES])
        parser.close()
    except (etree.LxmlError, AssertionError):  # AssertionError: nothing was fed
        pass
    if found.closed:
        return []
    base = joined(address, found.base) or address
    return list(dict.fromkeys(filter(None, (joined(base, link) for link in found.links))))


def sitemap(data: bytes) -> tuple[list[str], list[str]]:
    """The addresses of pages and of further sitemaps that a sitemap (sitemaps.org) names, zipped or not."""
    if data.startswith(b"\x1f\x8b"):
        try:
            data = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data, _UNZIPPED_BYTES)
        except zlib.error:
            return [], []
    parser = etree.XMLPullParser(
        events=("end",), tag="{*}loc", resolve_entities=False, no_network=True, load_dtd=False, recover=True
    )
    try:
        parser.feed(data)
    except etree.LxmlError:
        return [], []
    pages: list[str] = []
    maps: list[str] = []
    for element in islice(_locations(parser), _MOST):
        is_map = etree.QName(element.getparent()).localname == "sitemap" if element.getparent() is not None else False
        (maps if is_map else pages).append((element.text or "").strip())
    return pages, maps


class _Links:
    """Takes a parser's events. `closed`: the page asks not to be followed."""

    def __init__(self) -> None:
        self.links: list[str] = []
        self.base = ""
        self.closed = False

    def start(self, tag: str, attributes: Any) -> None:
        if tag == "a" and "href" in attributes and len(self.links) < _MOST:
            if "nofollow" not in attributes.get("rel", "").lower().split():
                self.links.append(attributes["href"])
        elif tag == "base" and not self.base:
            self.base = attributes.get("href", "")
        elif tag == "meta" and attributes.get("name", "").lower() == "robots":
            asked = attributes.get("content", "").lower()
            self.closed = self.closed or "nofollow" in asked or "none" in asked

    def end(self, tag: str) -> None:
        """Nothing: it is there since the parser looks for it."""

    def close(self) -> None:
        """Nothing either."""


def _locations(parser: Any) -> Iterator[Any]:
    for _, element in parser.read_events():
        yield element
