"""The pieces that Streamlit has no widget for: an exchange, a passage, a shelf of documents, tables as read, evidence.

Each is a small ES module and a style sheet in components/, mounted without an iframe. Whatever comes from documents,
models or file names reaches them as data and is drawn through `textContent` alone.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

FOLDER = Path(__file__).parent / "components"


@cache
def component(name: str) -> ComponentRenderer:
    """The component of this name, registered on first use."""
    return st.components.v2.component(
        f"lectern_{name}", html=f'<div class="{name}"></div>', css=_source(name, "css"), js=_source(name, "js")
    )


def _source(name: str, ending: str) -> str:
    """What all components share, the parts of this one (`passage_find.js`), and the component itself."""
    files = [FOLDER / f"common.{ending}", *sorted(FOLDER.glob(f"{name}_*.{ending}")), FOLDER / f"{name}.{ending}"]
    return "".join(file.read_text("utf-8") for file in files)
