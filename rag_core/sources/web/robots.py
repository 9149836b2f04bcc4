"""What sites ask of programs in their robots.txt (RFC 9309), read by Protego."""

from __future__ import annotations

from urllib.parse import urlsplit

from protego import Protego

from rag_core.errors import AddressRefused
from rag_core.sources.web.fetching import AGENT, Fetcher

_MAX_BYTES = 500 * 1024
_NOTHING_ALLOWED = "User-agent: *\nDisallow: /"


class Robots:
    """The rules of each host, fetched when they are first needed."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._rules: dict[str, Protego] = {}

    def check(self, address: str) -> None:
        """Raises AddressRefused where programs are asked not to go there, and what reaching the host may raise."""
        if not self._of(address).can_fetch(address, AGENT):
            raise AddressRefused("The site's robots.txt asks programs not to fetch this page.")

    def delay_s(self, address: str) -> float:
        """The time between two requests that the site asks for, seconds."""
        rules = self._of(address)
        rate = rules.request_rate(AGENT)
        return max(float(rules.crawl_delay(AGENT) or 0), rate.seconds / rate.requests if rate and rate.requests else 0)

    def sitemaps(self, address: str) -> list[str]:
        """Where the site says that its sitemaps are."""
        return list(self._of(address).sitemaps)

    def _of(self, address: str) -> Protego:
        parts = urlsplit(address)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._rules:
            self._rules[origin] = Protego.parse(self._fetched(f"{origin}/robots.txt"))
        return self._rules[origin]

    def _fetched(self, address: str) -> str:
        """The rules as text. Without rules everything is open; those that cannot be had now close everything."""
        answer = self._fetcher.get(address, max_bytes=_MAX_BYTES)
        if answer.status == 429 or answer.status >= 500:
            return _NOTHING_ALLOWED
        return answer.data.decode("utf-8", "replace")
