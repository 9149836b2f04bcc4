"""The pages are for those who sign in by OpenID Connect, where that is configured, and say who changed what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Server, serve
from tests.browser.oidc_server import CLIENT, Provider, oidc_server

pytestmark = [pytest.mark.browser, pytest.mark.slow]
_SECRETS = """
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
    (tmp_path / "secrets.toml").write_text(_SECRETS.format(client=CLIENT, url=provider.url))
    told = {"STREAMLIT_SECRETS_FILES": str(tmp_path / "secrets.toml"), "LECTERN_DOORS__USERS": '["@example.org"]'}
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
