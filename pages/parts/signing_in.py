"""Signing in by OpenID Connect, where `.streamlit/secrets.toml` has a section [auth] (Streamlit's own sign-in)."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.auth_util import get_cookie_with_chunks, get_origin_from_redirect_uri
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from pages.parts import formatting
from pages.parts.language import _
from rag_core.domain import address_of
from rag_core.errors import NotAllowed
from rag_core.settings import Settings

if TYPE_CHECKING:
    from streamlit.runtime.secrets import AttrDict

_OWN_FIELDS = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url", "client_kwargs",
               "expose_tokens")  # fmt: skip
_KEPT = 10_000
_WHO = "frame_who"


class Cookies:
    """Who signed in, by the signed cookies that Streamlit gave them; and who signed out, as long as the server runs.

    Streamlit looks at them when a page opens its connection, and forgets a sign-out with the cookie alone.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended: OrderedDict[bytes, None] = OrderedDict()

    def who(self, cookies: Mapping[str, str]) -> str:
        """The address of whoever signed in and may see the pages; empty for anybody else."""
        return self.among(Settings.load().doors.users, cookies)

    def among(self, users: Collection[str], cookies: Mapping[str, str]) -> str:
        """The same where these users may see the pages."""
        claims = {} if self.has_ended(cookies) else _claims(cookies)
        return str(claims["email"]) if may(claims, users) else ""

    def end(self, cookies: Mapping[str, str]) -> None:
        """Let nobody in with these any longer."""
        if _claims(cookies):  # what is not from here would fill the list
            with self._lock:
                self._ended[_mark(cookies)] = None
                if len(self._ended) > _KEPT:
                    self._ended.popitem(last=False)

    def has_ended(self, cookies: Mapping[str, str]) -> bool:
        """Whether whoever had these has signed out."""
        with self._lock:
            return bool(self._ended) and _mark(cookies) in self._ended


COOKIES = Cookies()
"""Those of this server."""


def configured() -> bool:
    """Whether the pages are for those who sign in."""
    return _section() is not None


def knows_people() -> bool:
    """Whether whoever signs in has a library of their own."""
    return configured() and Settings.load().doors.apart


def is_apart() -> bool:
    """Whether this session is shown one person's library, or nobody's yet, and not the whole one."""
    try:
        return bool(person(own_cookies()))
    except NotAllowed:
        return True


def person(cookies: Mapping[str, str]) -> str:
    """Whose library is shown to whoever has these cookies; "" for the whole one: everybody's where the pages know no
    people, else of who runs it.

    Raises NotAllowed for who did not sign in, and for an address that could be taken for somebody else's.
    """
    doors = Settings.load().doors if configured() else None
    if doors is None or not doors.apart:
        return ""
    address = COOKIES.among(doors.users, cookies)
    if not address:
        raise NotAllowed("Only those who have signed in have a library here.", help="Sign in on the page.")
    known = address_of(address)
    if known != address.encode().lower().decode():  # which makes capitals of ASCII small, and nothing else
        raise NotAllowed("Your address has letters that others look like.", help="Sign in with another one.")
    return "" if known in {one.lower() for one in doors.run_by} else known


def own_cookies() -> Mapping[str, str]:
    """The cookies with which this session was opened; none outside of a session."""
    return st.context.cookies if get_script_run_ctx(suppress_warning=True) is not None else {}


def who() -> str:
    """Who uses this session: the address that they signed in with, empty where nobody does who may, or outside of one.

    By the cookies that it was opened with last: what Streamlit knows of a user may be of who had the session before.
    """
    cookies = own_cookies()
    return COOKIES.who(cookies) if cookies and configured() else ""


def welcome() -> bool:
    """Whether whoever looks may see the pages; draws what they can do about it where not."""
    if not configured():
        return True
    if not (address := who()):
        _turn_away() if st.user.is_logged_in and not COOKIES.has_ended(st.context.cookies) else _offer()
        return False
    if st.session_state.setdefault(_WHO, address) != address:  # somebody else goes on with this session
        st.session_state.clear()
        st.session_state[_WHO] = address
    with st.sidebar:
        st.caption(formatting.plain(address))
        st.button(_("Sign out"), icon=":material/logout:", type="tertiary", key="signing_out", on_click=st.logout)
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


def _claims(cookies: Mapping[str, str]) -> dict[str, Any]:
    """What the provider says of whoever has these cookies; empty where they are not from here, or too old."""
    secret = get_cookie_secret()

    def signed(name: str) -> bytes | None:
        value = cookies.get(name)
        return decode_signed_value(secret, name, value.encode("latin-1")) if value else None

    try:
        claims = json.loads(get_cookie_with_chunks(signed, USER_COOKIE_NAME) or b"{}")
    except ValueError:
        return {}
    # Another server of this machine's name may have the same secret.
    here = claims.get("origin") == get_origin_from_redirect_uri() and claims.get("is_logged_in") is True
    return claims if here else {}


def _mark(cookies: Mapping[str, str]) -> bytes:
    return hashlib.sha256(cookies.get(USER_COOKIE_NAME, "").encode("utf-8", "replace")).digest()


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
        st.markdown(_("#### Sign in to see this library"))
        for name in providers or [None]:
            told = _("Sign in with {name}").format(name=formatting.plain(name)) if name else _("Sign in")
            arguments = [name] if name else []
            st.button(told, icon=":material/login:", type="primary", key=f"signing_in_{name or ''}",
                      on_click=st.login, args=arguments)  # fmt: skip


def _turn_away() -> None:
    with st.container(key="frame_failed"):
        st.markdown(_("#### :material/block: This library is not open to you"))
        known = str(st.user.get("email") or _("somebody without a verified address"))
        st.text(_("You are signed in as {who}.").format(who=known))
        st.text(_("Whoever runs it can add you: LECTERN_DOORS__USERS names addresses, or domains as @example.org."))
        st.button(_("Sign out"), icon=":material/logout:", key="signing_out", on_click=st.logout)
