"""The system page: how the library is, and whether its stores agree."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, resources, system, words
from rag_core.errors import LecternError

PURPOSE = (
    "Every document is kept in PostgreSQL; the search index, the dump files and Chroma are made from it. "
    "Verify compares them all, Repair makes again what differs."
)


def main() -> None:
    """Draw the page."""
    frame.insist()
    library, board = resources.library(), resources.checks()
    with st.container(key="system_page"):
        st.markdown("# System")
        try:
            system.facts(library)
        except LecternError as error:
            st.markdown(f"**{words.plain(str(error))}**")
            st.caption(words.plain(error.help))
        st.markdown("## Do the stores agree?")
        st.markdown(PURPOSE)
        system.check(board)


main()
