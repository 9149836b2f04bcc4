"""Lectern's server: one process on one port with the pages and, beside them, the doors for other programs.

`streamlit run app.py` finds the application here. All of it uses one library, opened when the server starts.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from pages.parts import hosting
from rag_core.api.guard import Guard

app = st.App(
    Path(__file__).parent / "face.py",
    routes=[hosting.doors.route],
    middleware=[Middleware(Guard, doors=hosting.doors)],
    lifespan=hosting.lifespan,
)
