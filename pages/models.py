"""The models page: what answers, the model files of this machine, more of them, a server of models, Gemini."""

from __future__ import annotations

import streamlit as st

from pages.parts import downloading, local_models, models, resources, serving
from pages.parts.language import _
from pages.parts.refreshing import recovering


def main() -> None:
    """Draw the page."""
    library = resources.library()
    with st.container(key="models_page"), recovering(library):
        st.markdown(_("# Models"))
        local_models.machine(library)
        st.markdown(_("## Answers by"))
        models.default(library)
        st.markdown(_("## On this machine"))
        local_models.section(library)
        st.markdown(_("## Get a model"))
        downloading.section(library)
        st.markdown(_("## Model server"))
        serving.section(library)
        st.markdown(_("## Gemini"))
        models.gemini(library)


main()
