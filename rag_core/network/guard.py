"""The network guard: what a person or a page names as an address must not reach this machine or its network.

A host's name is resolved once, every address that it has must be a public one, and the connection goes to what was
resolved, so that no second answer of a name server, and no redirect, leads elsewhere. Whatever form an address is
written in (decimal, octal, hexadecimal, within IPv6), it is judged by what the system makes of it. Every byte is waited
for within one limit of time, and a stop is heard meanwhile.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import httpcore
import httpx

from rag_core.errors import AddressRefused, Cancelled, LimitExceeded, SourceUnavailable

Resolver = Callable[[str, int], Sequence[str]]
MAX_CHARS = 2000

# What the standard library of Python 3.11 takes for public and is not (IANA's special-purpose registries, 2024).
_NOT_PUBLIC = [ip_network(text) for text in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")]
_PUBLIC_V6 = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")
_CONNECT_S, _SLICE_S = 10.0, 0.2
_MOST_TRIED = 3
_LAST_PORT = 65_535
_SPELLING = "Check how it is written."
_INTRANET = "To reach an intranet, name its hosts in LECTERN_SOURCES__ALLOWED_HOSTS, or allow them on the Library page."


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, in the order in which they are to be tried. Raises OSError."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def is_public(address: str) -> bool:
    """Whether an address of version 4 or 6 is one that everybody on the internet reaches."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        if (inner := _inside(ip)) is not None:
            return is_public(str(inner))
        if ip not in _PUBLIC_V6 or ip.scope_id:
            return False
    odd = ip.is_multicast or ip.is_reserved or ip.is_loopback or ip.is_link_local or ip.is_unspecified
    return ip.is_global and not odd and not any(ip in network for network in _NOT_PUBLIC)


def check_address(address: str) -> httpx.URL:
    """An address that may be asked for, as far as its text tells. Raises AddressRefused."""
    try:
        url = httpx.URL(address)
        host, port = url.host, url.port or 0
    except (httpx.InvalidURL, ValueError) as error:
        raise AddressRefused(f"{address[:100]} is no address: {error}.", help=_SPELLING) from error
    if url.scheme not in ("http", "https") or not host or port > _LAST_PORT:
        raise AddressRefused(f"{address[:100]} is no address of the web.", help="It begins with https:// or http://.")
    if url.userinfo:
        raise AddressRefused("The address holds a user name or password.", help="Leave out what stands before the @.")
    if len(str(url)) > MAX_CHARS:
        raise AddressRefused(f"The address has more than {MAX_CHARS:,} characters.", help="Use a shorter one.")
    return url


class GuardedNetwork(httpcore.NetworkBackend):
    """Makes connections to public addresses, and to hosts that were allowed by name.

    `begin` gives each request its limit of time; with `silence_s` each wait has that one instead. `stopped` is asked
    some times a second.
    """

    def __init__(
        self,
        allowed: Collection[str],
        stopped: Callable[[], bool],
        resolver: Resolver = resolve,
        silence_s: float | None = None,
    ) -> None:
        self._silence_s = silence_s
        self._allowed = {name.strip().lower() for name in allowed}
        self._stopped = stopped
        self._resolve = resolver
        self._plain = httpcore.SyncBackend()
        self._until = 0.0

    def begin(self, timeout_s: float) -> None:
        """From now on everything together may take so long."""
        self._until = time.monotonic() + timeout_s

    def wait(self) -> None:
        """A wait begins."""
        if self._silence_s is not None:
            self.begin(self._silence_s)

    def left_s(self) -> float:
        """Seconds left. Raises LimitExceeded or Cancelled."""
        if self._stopped():
            raise Cancelled("Stopped.", help="What was fetched before is kept.")
        left = self._until - time.monotonic()
        if left <= 0:
            raise LimitExceeded(
                "The server takes too long.", help="Try again later, or raise the setting sources.timeout_s."
            )
        return left

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to what the host's name stands for. Raises AddressRefused, SourceUnavailable, LimitExceeded."""
        self.wait()
        addresses = self._checked(host.lower(), port)
        for place, address in enumerate(addresses, start=1):
            wait_s = min(_CONNECT_S, self.left_s())
            try:
                plain = self._plain.connect_tcp(address, port, wait_s, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if place == len(addresses):
                    raise
            else:
                return _Stream(plain, self)
        raise SourceUnavailable(f"{host} has no address.", help=_SPELLING)

    def _checked(self, host: str, port: int) -> list[str]:
        """The addresses to connect to. One that is not public makes the name a trap, whatever the others are."""
        try:
            addresses = list(dict.fromkeys(self._resolve(host, port)))
        except (OSError, UnicodeError) as error:
            raise SourceUnavailable(f"There is no server of the name {host}.", help=_SPELLING) from error
        if not {host, f"{host}:{port}"} & self._allowed:
            for address in addresses:
                if not is_public(address):
                    told = f"{host} is an address of a private network ({address})."
                    raise AddressRefused(told, help=_INTRANET, private=f"{host}:{port}")
        return addresses[:_MOST_TRIED]


class GuardedTransport(httpx.HTTPTransport):
    """httpx's own, by way of the guard and no proxy."""

    def __init__(self, network: GuardedNetwork) -> None:
        super().__init__(trust_env=False)
        # httpx has no word for it: https://github.com/encode/httpx/discussions/3141
        # A server may hang up a kept connection just when it is used again, and pages are asked for slowly anyhow.
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=2,
            max_keepalive_connections=0,
            network_backend=network,
        )


class _Stream(httpcore.NetworkStream):
    """A connection whose every wait ends in time."""

    def __init__(self, plain: httpcore.NetworkStream, network: GuardedNetwork) -> None:
        self._plain = plain
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._network.wait()
        while True:
            try:
                return self._plain.read(max_bytes, min(_SLICE_S, self._network.left_s()))
            except httpcore.ReadTimeout:
                continue  # `left_s` says when it was too long

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._network.wait()
        self._plain.write(buffer, self._network.left_s())

    def close(self) -> None:
        self._plain.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        wait_s = min(_CONNECT_S, self._network.left_s())
        return _Stream(self._plain.start_tls(ssl_context, server_hostname, wait_s), self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._plain.get_extra_info(info)


def _inside(ip: IPv6Address) -> IPv4Address | None:
    """The address of version 4 that one of version 6 stands for."""
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour
