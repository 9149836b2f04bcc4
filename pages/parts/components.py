"""The pieces that Streamlit has no widget for: an exchange, a passage, a shelf of documents, tables as read, evidence.

Each is a small ES module and a style sheet in components/, mounted without an iframe. Whatever comes from documents,
models or file names reaches them as data and is drawn through `textContent` alone, and so do the words of a language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.parts import language

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

FOLDER = Path(__file__).parent / "components"


def component(name: str) -> Callable[..., Any]:
    """What mounts the component of this name: `data` is a dictionary, the rest is as with any of Streamlit's."""
    return partial(_mount, name)


def _mount(name: str, *, data: Mapping[str, Any], **options: Any) -> Any:
    read = {"code": language.current(), "texts": language.words_of(_source(name, "js"))}
    return _registered(name)(data={**data, "language": read}, **options)


@cache
def _registered(name: str) -> ComponentRenderer:
    return st.components.v2.component(
        f"lectern_{name}", html=f'<div class="{name}"></div>', css=_source(name, "css"), js=_source(name, "js")
    )


@cache
def _source(name: str, ending: str) -> str:
    """What all components share, the parts of this one (`passage_find.js`), and the component itself."""
    files = [FOLDER / f"common.{ending}", *sorted(FOLDER.glob(f"{name}_*.{ending}")), FOLDER / f"{name}.{ending}"]
    return "".join(file.read_text("utf-8") for file in files)
