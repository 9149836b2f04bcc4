"""The frame around every page: style sheet, wordmark, and what is shown while the library is not open."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import signing_in
from pages.parts.components import component
from pages.parts.language import ASKED_FOR, _, server_text
from pages.parts.opening import Opening
from pages.parts.page_itself import places

if TYPE_CHECKING:
    from streamlit.navigation.page import Page

logger = logging.getLogger(__name__)

PARTS = Path(__file__).parent
PAGES = PARTS.parent
_PAGE = "frame_page"  # that was drawn last


def dress() -> None:
    """Put on the style sheet and the wordmark of the theme in use."""
    st.html(PARTS / "style.css")
    shade = "dark" if st.context.theme.type == "dark" else "light"
    words = {
        "--lectern-choose": _("Choose files"), "--lectern-choose-folder": _("Choose a folder"),
        "--lectern-drop": _("or drop them here"),
    }  # fmt: skip
    said = "; ".join(f"{name}: {json.dumps(text, ensure_ascii=False)}" for name, text in words.items())
    said += f"; color-scheme: {shade}"  # dialogs and menus stand beside what Streamlit says this of
    said += f"; --lectern-side: {st.get_option(f'theme.{shade}.sidebar.backgroundColor')}"
    st.html(f"<style>:root {{ {said} }}</style>")
    with st.container(key="frame_drawer"):
        component("drawer")(key="frame_drawer_part", data={})
    st.logo(PARTS / f"art/wordmark-{shade}.svg", size="large", icon_image=PARTS / f"art/wordmark-{shade}.svg")


def navigation() -> Page:
    """The pages there are; returns the one that was asked for."""
    return st.navigation(
        [
            st.Page(PAGES / "upload.py", title=_("Library"), icon=":material/library_books:", default=True),
            st.Page(_to_library, title=_("Library"), url_path="library", visibility="hidden"),
            *(
                st.Page(PAGES / f"{place}.py", title=_(title), icon=f":material/{icon}:", url_path=place)
                for place, title, icon in places(signing_in.is_apart())
            ),
        ]
    )


def _to_library() -> None:
    """What somebody types who looks for the Library page by its name: it has no name in its address."""
    st.switch_page("pages/upload.py", query_params={name: st.query_params.get_all(name) for name in st.query_params})


def run(page: Page) -> None:
    """Run the page. What nobody foresaw is logged, and said in Lectern's own words instead of Streamlit's.

    A dialog ends with the page that it was opened on, where that is left by another way than by closing it.
    """
    if st.session_state.get(_PAGE) not in (None, page.url_path):
        for name in ASKED_FOR:
            st.session_state.pop(name, None)
    st.session_state[_PAGE] = page.url_path
    try:
        page.run()
    except Exception:
        logger.exception("A page could not be drawn")
        with st.container(key="frame_failed"):
            st.markdown(_("#### :material/error: This page could not be drawn"))
            st.text(_("Your documents and conversations are safe. The log says what happened."))
            st.button(_("Draw it again"), icon=":material/refresh:", type="primary", key="frame_again")


def waiting(opening: Opening) -> None:
    """A calm page that looks again by itself until the library is open."""
    with st.container(key="frame_waiting"):
        st.markdown(_("#### Opening your library"))
        st.markdown(_("The database is starting on this machine. This takes a few seconds."))
    st.fragment(_look_again, run_every=0.4)(opening)


def failed(opening: Opening) -> None:
    """Why the library cannot be opened, and a button to try again."""
    error = opening.error
    with st.container(key="frame_failed"):
        st.markdown(_("#### :material/error: The library cannot be opened"))
        st.text(server_text(str(error)) if error else "")
        if error and error.help:
            st.text(server_text(error.help))
        if st.button(_("Try again"), icon=":material/refresh:", type="primary", key="frame_retry"):
            opening.retry()
            st.rerun()


def _look_again(opening: Opening) -> None:
    if opening.state != "opening":
        st.rerun()
