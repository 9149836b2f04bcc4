"""What a configuration changes: the form with a widget for each setting that was chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from pages.parts import words
from rag_core.domain import Configuration, Field
from rag_core.errors import LecternError
from rag_core.library import Library

NAME_CHARS = 60
TEXT_CHARS = 40
Put = Callable[[int | None, Configuration | None], None]


def shown(value: object) -> str:
    """A setting's value as a person reads it."""
    if isinstance(value, float):
        return f"{value:g}"
    text = words.shorten(str(value), TEXT_CHARS)
    return f"“{text}”" if isinstance(value, str) and (" " in text or not text) else text


@st.dialog("Configuration", icon=":material/tune:")
def form(
    library: Library, fields: Mapping[str, Field], number: int | None, configuration: Configuration, put: Put
) -> None:
    """A dialog with what a configuration changes; `number` is its place in the list, None for a new one.

    A name that nobody typed follows what is changed.
    """
    tag = f"{number}_{configuration.name}"
    chosen = st.multiselect(
        "What it changes", list(fields), [key for key in configuration.changes if key in fields],
        format_func=lambda key: fields[key].label, placeholder="Choose settings", key=f"evaluation_changes_{tag}",
    )  # fmt: skip
    changes = {key: _field(fields[key], configuration.changes.get(key), tag) for key in chosen}
    suggested = suggestion(fields, changes)
    given = "" if configuration.name == suggestion(fields, configuration.changes) else configuration.name
    name = st.text_input(
        "Name", given, max_chars=NAME_CHARS, key=f"evaluation_configuration_name_{tag}",
        placeholder=suggested or "A name of your own",
    )  # fmt: skip
    with st.container(horizontal=True, horizontal_alignment="right"):
        if number is not None and st.button("Remove", icon=":material/delete:", key="evaluation_remove"):
            put(number, None)
            st.rerun()
        if st.button("Save", type="primary", key="evaluation_save_configuration", disabled=not changes):
            wanted = Configuration(name.strip() or suggested, changes)
            try:
                library.evaluation.check_configuration(wanted)
            except LecternError as error:
                st.markdown(f":red[:material/error:] {words.plain(str(error))}")
                return
            put(number, wanted)
            st.rerun()


def suggestion(fields: Mapping[str, Field], changes: Mapping[str, object]) -> str:
    """What a configuration is called unless a name is given."""
    told = (f"{fields[key].label if key in fields else key} {shown(value)}" for key, value in changes.items())
    return words.shorten("; ".join(told), NAME_CHARS)


def _field(field: Field, value: object, tag: str) -> object:
    """The widget of one setting; returns what it is set to."""
    start: Any = field.value if value is None else value
    key, help_text = f"evaluation_field_{field.key}_{tag}", words.plain(field.help)
    if field.kind == "choice":
        options = list(dict.fromkeys([*field.choices, str(start)]))
        return st.selectbox(field.label, options, index=options.index(str(start)), key=key, help=help_text)
    if field.kind == "text":
        return st.text_area(field.label, str(start), key=key, help=help_text)
    kind = int if field.kind == "integer" else float
    low, high = (None if bound is None else kind(bound) for bound in (field.low, field.high))
    step = 1 if kind is int else 0.05
    return st.number_input(field.label, low, high, kind(start), step, key=key, help=help_text)
