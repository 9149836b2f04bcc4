"""Whether whoever looks owns the machine that the server runs on, as far as can be told, and what others may name.

Others may see the pages too: with an admin's key from afar, through a proxy, or signed in. They add files from their
own machines; what a path, or an address of the server's own network, stands for is not for them to try out.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers

from pages.parts import hosting
from rag_core.api import folders
from rag_core.api.owning import owns
from rag_core.errors import AddressRefused
from rag_core.network.guard import is_public, resolve


def is_owner() -> bool:
    """Whether this session is of the owner of the server's machine."""
    return owns(hosting.doors, Headers(dict(st.context.headers.items())))


def reaches_doors() -> bool:
    """Whether the browser is let through a door as it is at the pages."""
    return hosting.doors.sign_in is None


def shared_folders() -> list[str]:
    """The folders of the server's machine that others may name too."""
    return [str(folder) for folder in hosting.doors.settings.folders]


def permitted(folder: str) -> str:
    """A folder of the server's machine, if whoever looks may have it read. Raises AddressRefused."""
    if is_owner():
        return folder
    found = folders.permitted(hosting.doors.settings, Path(folder))
    if found is None:
        raise AddressRefused(f"{folder} cannot be followed from here.", help=folders.HELP)
    return str(found)


def check_server(address: str) -> None:
    """Refuse the address of a server of models within this machine's network to all but its owner.

    Raises AddressRefused.
    """
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
        found = [] if is_owner() else resolve(parts.hostname or "", parts.port or 443)
    except (OSError, UnicodeError, ValueError):  # whoever asks the server says so
        return
    if not all(map(is_public, found)):
        raise AddressRefused(
            "This is an address of the server's machine, or of its network.",
            help="Whoever owns that machine names it there, or in LECTERN_SERVER__ADDRESS.",
        )
