"""Which addresses are this machine's own."""

from __future__ import annotations

import ipaddress


def is_own(address: str) -> bool:
    """Whether whoever reaches a server at this address is on this machine."""
    try:
        return address == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
