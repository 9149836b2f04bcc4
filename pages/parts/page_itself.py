"""Streamlit's page itself, the HTML that its scripts are loaded by, told where the server of a page is.

Streamlit's script asks for the server below the page's own address first, /chat/_stcore/health, and is answered 404,
which browsers put into the console as an error each time that a page is opened by its address.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse
from starlette.routing import Route
from streamlit import file_util

from pages.parts.language import msgid

PLACES = (
    ("chat", msgid("Chat"), "forum"),
    ("search", msgid("Search"), "search"),
    ("evaluation", msgid("Evaluation"), "monitoring"),
    ("insights", msgid("Insights"), "insights"),
    ("models", msgid("Models"), "deployed_code"),
    ("system", msgid("System"), "health_and_safety"),
)
"""The pages besides the first: the last part of the address, which is the file's name too, title and icon."""
_OF_THE_WHOLE = ("evaluation", "models", "system")
_SCRIPTS = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# By the same rule as the page's own scripts, whose addresses are relative, are found.
_SERVER = '<script>window.__streamlit = { BACKEND_BASE_URL: new URL(".", location.href).href }</script>'
_MANIFEST = '<link rel="manifest" href="/viewer/manifest" crossorigin="use-credentials" />'
_ICON = Path(__file__).parent / "art" / "icon.svg"
_ABOUT = {
    "name": "Lectern", "short_name": "Lectern", "start_url": "/chat", "scope": "/", "display": "standalone",
    "background_color": "#fdfcf9", "theme_color": "#22565c",
    "icons": [{"src": "/viewer/icon", "type": "image/svg+xml", "sizes": "any", "purpose": "any"}],
}  # fmt: skip


def places(apart: bool) -> tuple[tuple[str, str, str], ...]:
    """Those that there are; where people have libraries `apart`, without what is of the library as a whole."""
    return tuple(place for place in PLACES if not (apart and place[0] in _OF_THE_WHOLE))


@cache
def html() -> str:
    """The page."""
    page = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
    return page.replace("<script", f"{_MANIFEST}{_SERVER}<script", 1)


def script_hashes() -> list[str]:
    """The hashes of the scripts that stand in the page itself (Content Security Policy, 8.3)."""
    digests = (hashlib.sha256(script.encode()).digest() for script in _SCRIPTS.findall(html()))
    return [f"sha256-{base64.b64encode(digest).decode()}" for digest in digests]


async def _page(request: Request) -> HTMLResponse:
    return HTMLResponse(html(), headers={"Cache-Control": "no-cache"})


async def _manifest(request: Request) -> JSONResponse:
    """What a browser that installs the pages as an application asks for."""
    return JSONResponse(_ABOUT, media_type="application/manifest+json")


async def _icon(request: Request) -> FileResponse:
    return FileResponse(_ICON, media_type="image/svg+xml")


def routes() -> list[Route]:
    """The addresses of the pages besides the first, which asks for nothing below it, and of what installs them."""
    pages = [Route(f"/{place}", _page) for place, _, _ in PLACES]
    return [*pages, Route("/viewer/manifest", _manifest), Route("/viewer/icon", _icon)]
