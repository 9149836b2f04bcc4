"""The frame around every page: style sheet, wordmark, and what is shown while the library is not open."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts.opening import Opening

if TYPE_CHECKING:
    from streamlit.navigation.page import Page

logger = logging.getLogger(__name__)

PARTS = Path(__file__).parent
PAGES = PARTS.parent


def dress() -> None:
    """Put on the style sheet and the wordmark of the theme in use."""
    st.html(PARTS / "style.css")
    shade = "dark" if st.context.theme.type == "dark" else "light"
    st.logo(PARTS / f"art/wordmark-{shade}.svg", size="large", icon_image=PARTS / f"art/wordmark-{shade}.svg")


def navigation() -> Page:
    """The pages there are; returns the one that was asked for."""
    return st.navigation(
        [
            st.Page(PAGES / "upload.py", title="Library", icon=":material/library_books:", default=True),
            st.Page(PAGES / "chat.py", title="Chat", icon=":material/forum:", url_path="chat"),
            st.Page(PAGES / "search.py", title="Search", icon=":material/search:", url_path="search"),
            st.Page(PAGES / "evaluation.py", title="Evaluation", icon=":material/monitoring:", url_path="evaluation"),
            st.Page(PAGES / "insights.py", title="Insights", icon=":material/insights:", url_path="insights"),
            st.Page(PAGES / "models.py", title="Models", icon=":material/deployed_code:", url_path="models"),
            st.Page(PAGES / "system.py", title="System", icon=":material/health_and_safety:", url_path="system"),
        ]
    )


def run(page: Page) -> None:
    """Run the page. What nobody foresaw is logged, and said in Lectern's own words instead of Streamlit's."""
    try:
        page.run()
    except Exception:
        logger.exception("A page could not be drawn")
        with st.container(key="frame_failed"):
            st.markdown("#### :material/error: This page could not be drawn")
            st.text("Your documents and conversations are safe. The log says what happened.")
            st.button("Draw it again", icon=":material/refresh:", type="primary", key="frame_again")


def waiting(opening: Opening) -> None:
    """A calm page that looks again by itself until the library is open."""
    with st.container(key="frame_waiting"):
        st.markdown("#### Opening your library")
        st.markdown("The database is starting on this machine. This takes a few seconds.")
    st.fragment(_look_again, run_every=0.4)(opening)


def failed(opening: Opening) -> None:
    """Why the library cannot be opened, and a button to try again."""
    error = opening.error
    with st.container(key="frame_failed"):
        st.markdown("#### :material/error: The library cannot be opened")
        st.text(str(error) if error else "")
        if error and error.help:
            st.text(error.help)
        if st.button("Try again", icon=":material/refresh:", type="primary", key="frame_retry"):
            opening.retry()
            st.rerun()


def _look_again(opening: Opening) -> None:
    if opening.state != "opening":
        st.rerun()
