"""One run of the pages: set up the page, say how the library is, and run the page that was chosen."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts import finder, frame, language, resources, signing_in
from pages.parts.language import _, msgid

HERE = Path(__file__).parent
ABOUT = msgid("**Lectern** answers questions from your own documents, on your own machine, and shows the page it read.")


def main() -> None:
    """Draw one run of the application."""
    language.settle()
    st.session_state.pop(language.TYPING, None)  # until one is drawn
    st.set_page_config(
        page_title="Lectern",
        page_icon=str(HERE / "pages/parts/art/icon.svg"),
        layout="wide",
        initial_sidebar_state=288,
        menu_items={"About": _(ABOUT)},
    )
    frame.dress()
    page = frame.navigation()
    st.set_page_config(page_title=f"{page.title} · Lectern")
    if not signing_in.welcome():
        return
    opening = resources.opening()
    if opening.state == "open":
        opening.library.jobs.resume()
        finder.draw()
        frame.run(page)
        opening.warm_up()
    elif opening.state == "opening":
        frame.waiting(opening)
    else:
        frame.failed(opening)


main()
