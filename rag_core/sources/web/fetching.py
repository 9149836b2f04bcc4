"""Fetching one address: by way of the guard, within limits on bytes, time and redirects."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message

import httpx

from rag_core.errors import AddressRefused, Cancelled, LimitExceeded, SourceUnavailable
from rag_core.network.guard import GuardedNetwork, GuardedTransport, Resolver, check_address, resolve
from rag_core.runtime.closing import Closing
from rag_core.settings import SourcesSettings
from rag_core.sources.web.addresses import clean

AGENT = "Lectern"
_HEADERS = {
    "User-Agent": f"{AGENT}/1.0 (a personal library of documents)",
    "Accept": "text/html, application/xhtml+xml, application/pdf, */*;q=0.8",
    "Accept-Encoding": "gzip",
}
_MOVED = (301, 302, 303, 307, 308)
_GZIP = 16 + zlib.MAX_WBITS

Headers = Callable[[str], Mapping[str, str]]
"""What is sent besides to an address. It may raise LecternError where a redirect must not be followed to it."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a server answered. `address`: where it was found after all redirects. data: empty where it did not give any.

    robots: what the answer's head asks of programs, in small letters.
    """

    address: str
    status: int
    data: bytes = field(default=b"", repr=False)
    media_type: str = ""
    charset: str = ""
    etag: str = ""
    last_modified: str = ""
    robots: str = ""

    @property
    def is_unchanged(self) -> bool:
        """Whether it is what was fetched before."""
        return self.status == 304

    def check(self) -> None:
        """Raises AddressRefused or SourceUnavailable where it is no page."""
        if self.status in (401, 402, 403, 407, 451):
            raise AddressRefused(f"The server does not show this page to everybody ({self.status}).")
        if self.status in (404, 410):
            raise SourceUnavailable(f"The server has no such page ({self.status}).", help="Check the address.")
        if self.status in (429, 503):
            raise SourceUnavailable(f"The server asks for patience ({self.status}).", help="Try again later.")
        if not (200 <= self.status < 300 or self.is_unchanged):
            raise SourceUnavailable(f"The server could not give this page ({self.status}).")


class Fetcher(Closing):
    """Fetches one address after another. Use as a context manager."""

    def __init__(self, settings: SourcesSettings, stopped: Callable[[], bool], resolver: Resolver = resolve) -> None:
        self._settings = settings
        self._network = GuardedNetwork(settings.allowed_hosts, stopped, resolver)
        # The guard's limit is the one that counts; httpx's is for each wait alone.
        self._client = httpx.Client(
            transport=GuardedTransport(self._network), trust_env=False, timeout=settings.timeout_s, headers=_HEADERS
        )

    def close(self) -> None:
        """End its connections."""
        self._client.close()

    def get(self, address: str, headers: Headers = lambda _: {}, max_bytes: int = 0) -> Fetched:
        """Fetch an address, following redirects, each checked anew. max_bytes: less than the settings allow.

        Raises AddressRefused, SourceUnavailable, LimitExceeded and Cancelled.
        """
        self._network.begin(self._settings.timeout_s)
        asked = address
        for _ in range(self._settings.max_redirects + 1):
            url = check_address(address)
            with _translated(url.host), self._client.stream("GET", url, headers=dict(headers(address))) as response:
                if response.status_code not in _MOVED:
                    return self._answer(address, response, max_bytes or self._settings.max_bytes)
                address = clean(str(url.join(response.headers.get("location", ""))))
                self._client.cookies.clear()
        raise SourceUnavailable(
            f"{asked} leads on and on, more than {self._settings.max_redirects} times.", help="Open it in a browser."
        )

    def _answer(self, address: str, response: httpx.Response, max_bytes: int) -> Fetched:
        told, kind = Message(), response.headers.get("content-type", "")
        told["content-type"] = kind
        return Fetched(
            address,
            response.status_code,
            b"".join(self._body(response, max_bytes)) if response.is_success else b"",
            media_type=told.get_content_type() if kind else "",
            charset=told.get_content_charset() or "",
            etag=response.headers.get("etag", "")[:500],
            last_modified=response.headers.get("last-modified", "")[:100],
            robots=response.headers.get("x-robots-tag", "").lower(),
        )

    def _body(self, response: httpx.Response, max_bytes: int) -> Iterator[bytes]:
        """The answer unpacked, a part at a time. httpx would unpack a part whole, however large it becomes."""
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("", "identity", "gzip", "x-gzip"):
            raise SourceUnavailable(f"The server packs its answer in a way that was not asked for ({packing[:40]}).")
        unpack = zlib.decompressobj(_GZIP) if packing.endswith("gzip") else None
        size = 0
        for packed in response.iter_raw():
            self._network.left_s()
            part = unpack.decompress(packed, max_bytes - size + 1) if unpack else packed
            size += len(part)
            if size > max_bytes:
                raise LimitExceeded(
                    f"The server's answer has more than {max_bytes:,} bytes.",
                    help="Save it as a file and add that, or raise the setting sources.max_bytes.",
                )
            yield part
            if unpack is not None and unpack.eof:
                return
        if unpack is not None:
            raise SourceUnavailable("The server's answer ended early.", help="Try again.")


@contextmanager
def _translated(host: str) -> Iterator[None]:
    """Failures of the network in words that a person can use."""
    try:
        yield
    except (AddressRefused, Cancelled, LimitExceeded, SourceUnavailable):
        raise
    except httpx.ConnectError as error:
        reason = "its certificate cannot be trusted" if "CERTIFICATE" in str(error) else "it does not answer"
        raise SourceUnavailable(f"{host} cannot be reached: {reason}.", help="Check address and connection.") from error
    except zlib.error as error:
        raise SourceUnavailable("The server's answer is packed wrongly.") from error
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError) as error:
        raise SourceUnavailable(f"{host} answered in a way that is not understood, or broke off.") from error
