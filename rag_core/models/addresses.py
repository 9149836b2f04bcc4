"""Addresses of model servers: which stay on this machine, and which may carry passages elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from rag_core.errors import ModelUnavailable


@dataclass(frozen=True, slots=True)
class Address:
    """`url` begins every request; `here` says that it is this machine."""

    url: str
    name: str
    here: bool


def is_here(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def server_address(text: str) -> Address:
    """An address as a person writes it, "localhost:11434" or "https://host/v1". Raises ModelUnavailable.

    What leaves the machine travels encrypted, save within the network at hand, where few servers can.
    """
    text = text.strip()
    try:
        parts = urlsplit(text if "//" in text else f"http://{text}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _odd(text) from error
    if not host or parts.scheme not in ("http", "https") or parts.username or not text.isprintable() or " " in text:
        raise _odd(text)
    here = is_here(host)
    if parts.scheme == "http" and not here and not _is_near(host):
        raise ModelUnavailable(
            f"The address {text[:200]} is not an https address.",
            help="Give an https address, or one on this machine or in your own network.",
        )
    path = parts.path.rstrip("/") or "/v1"
    return Address(f"{parts.scheme}://{parts.netloc}{path}", f"{host}:{port}" if port else host, here)


def _is_near(host: str) -> bool:
    try:
        return ip_address(host).is_private
    except ValueError:
        return host.endswith(".local")


def _odd(text: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"{text[:200]!r} is not the address of a server.", help="Write it like http://localhost:11434/v1."
    )
