"""Addresses in one form, so that a page is fetched once, and what of a site belongs to what was asked for."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass
from posixpath import dirname
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

_PORTS = {"http": 80, "https": 443}
# Parameters that say where a reader came from and change nothing of the page. Longer lists (that of courlan, which
# trafilatura brings) take off `source`, `game` or `reference` too, and so make two pages one.
_TRACKING = re.compile(
    r"(?:utm|mtm|pk|piwik|hsa)_\w+|_g[al]|gclid|fbclid|yclid|dclid|msclkid|twclid|gbraid|wbraid|mc_[ce]id|igshid|mkt_tok",
    re.IGNORECASE,
)
_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp)$", re.IGNORECASE)
_MEDIA = ("image/", "audio/", "video/", "font/")
_NOT_READ = (
    ".css", ".js", ".mjs", ".map", ".rss", ".atom", ".zip", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".jar", ".exe",
    ".dmg", ".iso", ".msi", ".deb", ".rpm", ".apk", ".bin",
)  # fmt: skip


def clean(address: str) -> str:
    """An address in small letters where case says nothing, without fragment, default port and tracking parameters."""
    parts = urlsplit(address.strip())
    host, port = (parts.hostname or "").lower(), parts.port
    netloc = f"[{host}]" if ":" in host else host
    if port and port != _PORTS.get(parts.scheme.lower()):
        netloc = f"{netloc}:{port}"
    query = parts.query
    if query and any(_TRACKING.fullmatch(name) for name, _ in parse_qsl(query, keep_blank_values=True)):
        query = urlencode([(k, v) for k, v in parse_qsl(query, keep_blank_values=True) if not _TRACKING.fullmatch(k)])
    return urlunsplit((parts.scheme.lower(), netloc, parts.path or "/", query, ""))


def key(address: str) -> str:
    """What two addresses of one page have in common: of a cleaned one, without an index at its end."""
    return _INDEX.sub("/", address)


def joined(base: str, link: str) -> str | None:
    """Where a link of a page leads, cleaned; None where that is nowhere on the web."""
    try:
        address = urljoin(base, link.strip())
        return clean(address) if address.startswith(("http://", "https://")) else None
    except ValueError:  # half an address of version 6, a port that is no number
        return None


def may_be_read(address: str) -> bool:
    """Whether an address' ending leaves it open that a document is there."""
    path = urlsplit(address).path.lower()
    kind = mimetypes.guess_type(path)[0] or ""
    return not kind.startswith(_MEDIA) and not path.endswith(_NOT_READ)


@dataclass(frozen=True, slots=True)
class Site:
    """The host and path within which pages belong together: those of a page, or of the folder of a file."""

    origin: str
    path: str

    @classmethod
    def of(cls, address: str) -> Site:
        """That of a page. `/docs/` and `/docs` hold what is below docs, `/docs/intro.html` what stands beside it."""
        parts = urlsplit(address)
        is_file = "." in parts.path.rpartition("/")[2]
        folder = dirname(parts.path) if is_file else parts.path
        return cls(f"{parts.scheme}://{parts.netloc}", folder.rstrip("/"))

    def holds(self, address: str) -> bool:
        """Whether an address belongs to it. http and https of a host are one."""
        parts = urlsplit(address)
        same = self.origin.partition("://")[2] == parts.netloc
        return same and (parts.path == self.path or parts.path.startswith(f"{self.path}/"))
