"""Who owns the machine that a server runs on, as far as the head of a request tells."""

from __future__ import annotations

import base64
import binascii
import hmac
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from rag_core.api.doors import Doors

_PROXIES = (
    b"forwarded", b"via", b"x-real-ip", b"x-client-ip", b"x-cluster-client-ip", b"true-client-ip", b"cdn-loop",
    b"fastly-client-ip", b"fly-client-ip",
)  # fmt: skip
# X-Forwarded-For and its kin; Cloudflare's, Envoy's, and those by which proxies keep what they change.
_PROXIES_BEGIN = (b"x-forwarded-", b"x-original-", b"x-envoy-", b"cf-")


def owns(doors: Doors, headers: Headers) -> bool:
    """Whether a request for the pages comes from whoever owns the machine: they are there, or have the server's key."""
    return has_own_key(doors, key_of(headers)) or (doors.sign_in is None and is_here(doors, headers))


def is_here(doors: Doors, headers: Headers) -> bool:
    """Whether being on this machine is enough for a request, or its browser was let in by the printed address.

    By another name others call, through a proxy on this machine, and most proxies say that they are one. Where those
    who sign in have libraries of their own, nobody has the others' by being here.
    """
    if doors.sign_in is not None and doors.settings.apart:
        return False
    if host_name(headers.get("host", "")) not in doors.own_names or is_proxied(headers):
        return False
    return doors.keyless or (doors.entry is not None and doors.entry.knows(headers))


def has_own_key(doors: Doors, text: str) -> bool:
    """Whether a key is the one of the server's note, which the owner of the data directory alone can read."""
    return hmac.compare_digest(text.encode(), doors.key.encode())


def host_name(host: str) -> str | None:
    """The name in a Host header, without its port."""
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018  raises for one that is no number
    except ValueError:
        return None
    return parts.hostname if parts.netloc == host and "@" not in host else None


def key_of(headers: Headers) -> str:
    """The key that a request brings: as bearer, as password, or by itself."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return value.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")


def is_proxied(headers: Headers) -> bool:
    """Whether a request says that it came through a proxy."""
    return any(name in _PROXIES or name.startswith(_PROXIES_BEGIN) for name, _ in headers.raw)
