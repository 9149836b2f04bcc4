"""Whether whoever looks owns the machine that the server runs on, as far as can be told.

Others may see the pages too: with an admin's key from afar, through a proxy, or signed in. What a path or an address
of the server's own network says is not for them to name.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from pages.parts import hosting


def is_owner() -> bool:
    """Whether this session is of the server's own machine, by the name that the browser calls it by."""
    doors = hosting.doors
    host = urlsplit(f"//{st.context.headers.get('Host', '')}").hostname
    return doors.keyless and doors.sign_in is None and (host is None or host in doors.own_names)
