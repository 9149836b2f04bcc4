"""A page, and those that it links to: breadth first within its host and path, slowly, as robots.txt asks."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from rag_core.domain import FollowedSource, KnownSource, Visit, WebAddress
from rag_core.errors import AddressRefused, Cancelled, LecternError, SourceUnavailable
from rag_core.network.guard import check_address
from rag_core.sources.base import Fetching, Found, Item, Looking, Refused, Unchanged
from rag_core.sources.web.addresses import Site, clean, joined, key, may_be_read
from rag_core.sources.web.fetching import Fetched, Fetcher
from rag_core.sources.web.links import links, sitemap
from rag_core.sources.web.pages import as_document, is_html
from rag_core.sources.web.robots import Robots

_SITEMAPS = 5
_SITEMAP_BYTES = 10 * 2**20
# Addresses that fail in a row, after which a site is left alone.
_FAILURES = 8
_WAITING = 10
_POLL_S, _LONGEST_WAIT_S = 0.05, 600.0


def crawl(wanted: WebAddress, looking: Looking) -> Iterator[Found]:
    """What is found at an address, and as far beyond as is wanted. It stops where `looking.stopped` says so.

    A page that was fetched before is asked for once more, and told of as unchanged where its server says that it is.
    """
    try:
        start = clean(str(check_address(wanted.address)))
    except (LecternError, ValueError) as error:
        refused = error if isinstance(error, LecternError) else AddressRefused(f"That is no address: {error}.")
        yield Refused(wanted.address, refused)
        return
    with Fetcher(looking.settings, lambda: looking.stopped(wanted.address)) as fetcher:
        yield from _Crawl(start, wanted, looking, fetcher).found()


class _Elsewhere(Exception):
    """A redirect leads out of the site, or to what was fetched already."""


class _Crawl:
    """One site's. `_waiting`: addresses with the number of links that led there."""

    def __init__(self, start: str, wanted: WebAddress, looking: Looking, fetcher: Fetcher) -> None:
        self._start = start
        self._wanted = wanted
        self._looking = looking
        self._fetcher = fetcher
        self._robots = Robots(fetcher)
        self._left_out = looking.left_out() if looking.again else {}
        self._site: Site | None = None
        self._waiting: deque[tuple[str, int]] = deque([(start, 0)])
        self._seen = {key(start)}
        self._next_at = 0.0

    def found(self) -> Iterator[Found]:
        """Page after page."""
        done = failures = 0
        while self._waiting and done < self._wanted.pages and failures < _FAILURES:
            address, depth = self._waiting.popleft()
            if address in self._left_out:
                continue
            done += 1
            yield Fetching(address, done, min(self._wanted.pages, done + len(self._waiting)))
            try:
                yield from self._page(address, depth)
            except _Elsewhere:
                continue
            except LecternError as error:
                yield Refused(address, error)
                if isinstance(error, Cancelled):
                    return
                failures += 1
            else:
                failures = 0
        if failures == _FAILURES:
            told = f"{failures} addresses in a row could not be fetched: the rest of the site was left."
            yield Refused(self._start, SourceUnavailable(told))

    def _page(self, address: str, depth: int) -> Iterator[Found]:
        """What is at an address; what it links to waits then."""
        self._robots.check(address)
        self._wait(address)
        answer = self._fetcher.get(address, lambda hop: self._headers(hop, address))
        answer.check()
        self._seen.add(key(answer.address))
        if self._site is None:
            self._site = Site.of(answer.address)
            self._keep()
        data = answer.data
        if answer.is_unchanged:
            seen = self._known(answer.address)
            if seen is None:
                raise SourceUnavailable("The server says that a page is unchanged that it never gave.")
            data = self._looking.original(seen.document_id) or b""
            visit = replace(seen.visit, etag=answer.etag, last_modified=answer.last_modified)
            yield Unchanged(seen.name, seen.document_id, visit)
        elif not depth or may_be_read(answer.address):
            yield Item(answer.address, as_document(answer), self._visit(answer))
        if depth < self._wanted.depth:
            self._follow(answer, data, depth + 1)

    def _keep(self) -> None:
        """Have the address looked at again, with the same bounds, when that is asked for."""
        wanted = self._wanted
        if not self._looking.again:
            self._looking.follow(FollowedSource(self._start, "web", (), wanted.depth, wanted.pages, wanted.delay_s))

    def _follow(self, answer: Fetched, data: bytes, depth: int) -> None:
        """Have what a page links to wait; with the first also what the site's sitemaps name."""
        if is_html(answer.media_type, data) and not {"nofollow", "none"} & set(answer.robots.replace(",", " ").split()):
            charset = "" if answer.is_unchanged else answer.charset  # kept bytes are as `as_document` made them
            self._enqueue(links(data, answer.address, charset), depth)
        if depth == 1:
            self._enqueue(self._mapped(answer.address), depth)

    def _enqueue(self, addresses: list[str], depth: int) -> None:
        for address in addresses:
            if len(self._waiting) >= _WAITING * self._wanted.pages:
                return
            inside = self._site is not None and self._site.holds(address)
            if inside and may_be_read(address) and key(address) not in self._seen:
                self._seen.add(key(address))
                self._waiting.append((address, depth))

    def _mapped(self, address: str) -> list[str]:
        """The pages that the site's sitemaps name. One that cannot be had is passed over: links say most of it."""
        usual = joined(address, "/sitemap.xml")
        waiting = deque(self._robots.sitemaps(address) or ([usual] if usual else []))
        pages: list[str] = []
        for _ in range(_SITEMAPS):
            if not waiting or len(pages) >= _WAITING * self._wanted.pages:
                break
            one = joined(address, waiting.popleft())
            with suppress(AddressRefused, SourceUnavailable, _Elsewhere):
                if one is not None:
                    self._robots.check(one)
                    self._wait(one)
                    named, maps = sitemap(self._fetcher.get(one, max_bytes=_SITEMAP_BYTES).data)
                    pages += filter(None, (joined(one, page) for page in named))
                    waiting.extend(maps)
        return pages

    def _headers(self, hop: str, asked: str) -> Mapping[str, str]:
        """What makes a server say whether a page changed. Raises what keeps a redirect from being followed."""
        if hop != asked:
            if self._site is not None and (not self._site.holds(hop) or key(hop) in self._seen - {key(asked)}):
                raise _Elsewhere
            self._robots.check(hop)
        seen = self._known(hop)
        if seen is None or seen.state != "ready" or self._looking.original(seen.document_id) is None:
            return {}
        told = {"If-None-Match": seen.visit.etag, "If-Modified-Since": seen.visit.last_modified}
        return {name: value for name, value in told.items() if value}

    def _known(self, address: str) -> KnownSource | None:
        return self._looking.known([address]).get(address)

    def _visit(self, answer: Fetched) -> Visit:
        return Visit(answer.address, "web", self._start, len(answer.data), 0, answer.etag, answer.last_modified)

    def _wait(self, address: str) -> None:
        """Wait until the site may be asked again. Raises Cancelled, and AddressRefused for what no one would wait."""
        delay_s = max(self._wanted.delay_s, self._robots.delay_s(address))
        while (left_s := self._next_at - time.monotonic()) > 0:
            if left_s > _LONGEST_WAIT_S:
                raise AddressRefused(
                    f"The site's robots.txt asks programs to wait {delay_s:,.0f} seconds between two requests.",
                    help="Add the pages that you need one by one.",
                )
            if self._looking.stopped(self._wanted.address):
                raise Cancelled("Stopped.", help="What was fetched before is kept.")
            time.sleep(min(left_s, _POLL_S))
        self._next_at = time.monotonic() + delay_s
