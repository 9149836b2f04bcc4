"""The system page: how the library is, whether its stores agree, another embedding model, a backup."""

from __future__ import annotations

import streamlit as st

from pages.parts import backup, checking, reembedding, resources, system
from pages.parts.evaluation import chunking
from pages.parts.language import _
from pages.parts.refreshing import recovering


def main() -> None:
    """Draw the page."""
    library = resources.library()
    with st.container(key="system_page"), recovering(library):
        st.markdown(_("# System"))
        system.facts(library)
        system.language_choice()
        reembedding.section(library)
        chunking.section(library)
        checking.section(library)
        backup.section(library)


main()
