"""Signing in by OpenID Connect, where `.streamlit/secrets.toml` has a section [auth] (Streamlit's own sign-in)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.parts import words
from rag_core.settings import Settings

if TYPE_CHECKING:
    from streamlit.runtime.secrets import AttrDict

_OWN_FIELDS = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url", "client_kwargs",
               "expose_tokens")  # fmt: skip


def configured() -> bool:
    """Whether the pages are for those who sign in."""
    return _section() is not None


def who() -> str:
    """Who uses this session: the address that they signed in with, empty where nobody does, or outside of a session."""
    if get_script_run_ctx(suppress_warning=True) is None or not configured() or not st.user.is_logged_in:
        return ""
    return str(st.user.get("email") or "")


def welcome() -> bool:
    """Whether whoever looks may see the pages; draws what they can do about it where not."""
    if not configured():
        return True
    if not st.user.is_logged_in:
        _offer()
        return False
    if not may(st.user.to_dict(), Settings.load().doors.users):
        _turn_away()
        return False
    with st.sidebar:
        st.caption(words.plain(who()))
        st.button("Sign out", icon=":material/logout:", type="tertiary", key="signing_out", on_click=st.logout)
    return True


def may(claims: Mapping[str, Any], users: Collection[str]) -> bool:
    """Whether a person whom the provider vouches for is among `users`: addresses, or all of a domain (`@example.org`).

    An address that the provider has not verified is nobody's.
    """
    address = str(claims.get("email") or "").casefold()
    name, _, domain = address.rpartition("@")
    wanted = {user.casefold() for user in users}
    known = bool(name) and (address in wanted or f"@{domain}" in wanted)
    return known and claims.get("email_verified", True) is True


def _section() -> AttrDict | None:
    try:
        return st.secrets.get("auth")
    except FileNotFoundError:
        return None


def _offer() -> None:
    section: Mapping[str, Any] = _section() or {}
    providers: list[str | None] = [
        name for name, value in section.items() if name not in _OWN_FIELDS and isinstance(value, Mapping)
    ]
    with st.container(key="frame_signing_in"):
        st.markdown("#### Sign in to see this library")
        for name in providers or [None]:
            told = f"Sign in with {name}" if name else "Sign in"
            arguments = [name] if name else []
            st.button(told, icon=":material/login:", type="primary", key=f"signing_in_{name or ''}",
                      on_click=st.login, args=arguments)  # fmt: skip


def _turn_away() -> None:
    with st.container(key="frame_failed"):
        st.markdown("#### :material/block: This library is not open to you")
        st.text(f"You are signed in as {who() or 'somebody without a verified address'}.")
        st.text("Whoever runs it can add you: LECTERN_DOORS__USERS names addresses, or domains as @example.org.")
        st.button("Sign out", icon=":material/logout:", key="signing_out", on_click=st.logout)
