"""The pages are for those who sign in by OpenID Connect, where that is configured, and say who changed what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.browser.conftest import Server, serve
from tests.browser.oidc_server import CLIENT, Provider, oidc_server

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SECRETS = """
[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "a secret of this test that is long enough"
client_id = "{client}"
client_secret = "none"
server_metadata_url = "{url}/.well-known/openid-configuration"
"""


@pytest.fixture
def provider() -> Iterator[Provider]:
    with oidc_server() as running:
        yield running


@pytest.fixture
def guarded(provider: Provider, tmp_path: Path) -> Iterator[Server]:
    """A Lectern that lets in whom its provider vouches for, if they are of example.org."""
    (tmp_path / "secrets.toml").write_text(SECRETS.format(client=CLIENT, url=provider.url))
    told = {"STREAMLIT_SECRETS_FILES": str(tmp_path / "secrets.toml"), "LECTERN_DOORS__USERS": '["@example.org"]'}
    told["LECTERN_DOORS__VISITORS"] = "16"  # eight from one address
    with serve(tmp_path / "library", tmp_path / "log", **told) as running:
        yield running


def test_only_those_who_are_named_come_in(guarded: Server, provider: Provider, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(guarded.url)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("ada@example.org")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Add the sample library").click(timeout=60_000)
    page.locator(".shelf tbody tr").nth(2).wait_for(timeout=90_000)
    entries = context.request.get(f"{guarded.url}/api/v1/audit").json()["entries"]
    assert {(entry["who"], entry["status"]) for entry in entries} == {("ada@example.org", 0)}
    provider.claims = {"email": "eve@example.com", "email_verified": True}
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in").click(timeout=60_000)
    expect(page.get_by_text("This library is not open to you")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("eve@example.com")).to_be_visible()
    context.close()
    assert "Traceback" not in guarded.log.read_text()


def rerun(query: str = "") -> bytes:
    """The message that has a page drawn."""
    message = BackMsg()
    message.rerun_script.query_string = query
    return message.SerializeToString()


class Visitor:
    """A program that speaks to the pages as a browser does, with the cookies that it has."""

    def __init__(self, server: Server, cookies: dict[str, str] | None = None) -> None:
        self.url = server.url
        self.http = httpx.Client(base_url=server.url, cookies=cookies, timeout=60)
        self.http.get("/_stcore/health")
        self.session = ""

    def page(self, session: str = "") -> ClientConnection:
        """The connection of an open page that asked to be drawn."""
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.http.cookies.jar)
        protocols = ["streamlit", self.http.cookies["_streamlit_xsrf"], session]
        socket = connect(
            f"ws{self.url.removeprefix('http')}/_stcore/stream",
            subprotocols=[one for one in protocols if one],  # type: ignore[misc]
            additional_headers={"Cookie": cookies},
            origin=self.url,  # type: ignore[arg-type]
        )
        socket.send(rerun())
        return socket

    def drawn(self, socket: ClientConnection) -> str:
        """What a run of the page draws."""
        seen = ""
        while True:
            message = ForwardMsg()
            message.ParseFromString(socket.recv(60))  # type: ignore[arg-type]
            self.session = message.new_session.initialize.session_id or self.session
            seen += str(message)
            if message.WhichOneof("type") == "script_finished":
                return seen

    def uploads(self) -> int:
        """The status of a file that is sent to the session."""
        path = f"/_stcore/upload_file/{self.session}/anything"
        headers = {"X-Xsrftoken": self.http.cookies["_streamlit_xsrf"]}
        return self.http.put(path, files={"file": ("x.txt", b"x" * 2**20)}, headers=headers).status_code


def test_a_stranger_sees_the_sign_in_and_little_else(guarded: Server) -> None:
    visitor = Visitor(guarded)
    with visitor.page() as socket:
        assert "Sign in to see this library" in visitor.drawn(socket)
        assert visitor.session
        assert visitor.uploads() == 401
        away = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        assert visitor.http.get("/auth/logout", headers=away).status_code == 403
        for path in (
            "/media/x.png",
            "/component/x/y.js",
            "/_stcore/bidi-components/x/y.js",
            "/base/media/x.png",
            "/viewer/x/original",
            "/viewer/x/pages/1/picture",
        ):
            assert visitor.http.get(path).status_code == 401, path
        forged = httpx.Client(base_url=guarded.url, cookies={"_streamlit_user": "forged"})
        assert forged.get("/media/x.png").status_code == 401
        for path in ("/", "/chat", "/favicon.png", "/_stcore/host-config"):
            assert visitor.http.get(path).status_code == 200, path
        for path in ("/_stcore/metrics", "/_stcore/agent/openapi.json"):
            assert visitor.http.get(path).status_code == 404, path
        with pytest.raises(ConnectionClosed):
            for _ in range(12):
                socket.send(rerun("x" * 100_000))
            for _ in range(1000):
                socket.recv(10)
        assert socket.close_code == 1008
    with ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(visitor.page())
        with pytest.raises(InvalidStatus) as refused:
            visitor.page()
        assert refused.value.response.status_code == 503


def test_signing_out_ends_what_is_open_elsewhere(guarded: Server, provider: Provider, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(guarded.url)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("ada@example.org")).to_be_visible(timeout=60_000)
    cookies = {one["name"]: one["value"] for one in context.cookies() if one["name"].startswith("_streamlit_user")}
    visitor = Visitor(guarded, cookies)
    with visitor.page() as socket:
        assert "Sign out" in visitor.drawn(socket)
        assert visitor.uploads() == 204
        assert visitor.http.get("/media/x.png").status_code == 404
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible(timeout=60_000)
        with pytest.raises(ConnectionClosed):
            for _ in range(1000):
                socket.recv(10)
    assert visitor.uploads() == 401
    with visitor.page(visitor.session) as again:
        told = visitor.drawn(again)
        assert "Sign in to see this library" in told
        assert "Sign out" not in told
    context.close()
    assert "Traceback" not in guarded.log.read_text()
