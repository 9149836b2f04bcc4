"""The dialog that is open on the page: runs end by themselves, and the page is drawn anew under it then."""

from __future__ import annotations

from typing import Any, NoReturn

import streamlit as st

WANTED = "evaluation_dialog"
"""Where the session keeps it; every dialog of the page is drawn until that is gone."""


def want(kind: str, what: Any = None) -> None:
    """Have a dialog opened, in the place of any other, on something."""
    st.session_state[WANTED] = (kind, what)


def is_wanted(kind: str) -> bool:
    """Whether a dialog of this kind is to be drawn."""
    return wanted()[0] == kind


def wanted() -> tuple[str, Any]:
    """Which kind is open and on what; the same tuple until another is."""
    found: tuple[str, Any] = st.session_state.get(WANTED, ("", None))
    return found


def forget() -> None:
    """Draw none any more."""
    st.session_state.pop(WANTED, None)


def close() -> NoReturn:
    """End the one that is open, and draw the page."""
    forget()
    st.rerun()
