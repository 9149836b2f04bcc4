"""Lectern's server: one process on one port with the pages and, beside them, the doors for other programs.

`streamlit run app.py` finds the application here. All of it uses one library, opened when the server starts.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

from pages.parts import finder, hosting, page_itself, viewer
from rag_core.api.guard import Guard


def library(request: Request) -> RedirectResponse:
    """Where the Library page stood once, as bookmarks have it."""
    return RedirectResponse(str(request.url.replace(path="/")))


app = st.App(
    Path(__file__).parent / "face.py",
    routes=[hosting.doors.route, Route("/upload", library), *page_itself.routes(), finder.route(), *viewer.routes()],
    middleware=[Middleware(Guard, doors=hosting.doors)],
    lifespan=hosting.lifespan,
)
