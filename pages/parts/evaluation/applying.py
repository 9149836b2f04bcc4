"""Making a configuration the library's own, and the way back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

import streamlit as st

from pages.parts import formatting
from pages.parts.evaluation import chunking, dialogs
from pages.parts.evaluation.configurations import shown
from pages.parts.language import _, dialog, error_text, ngettext, server_text
from pages.parts.refreshing import failure
from rag_core.domain import Configuration, Field
from rag_core.errors import LecternError
from rag_core.library import Library

BEFORE = "evaluation_before"
PROBLEM = "evaluation_applying_problem"


@dialog("Make it the library's?", until_closed=dialogs.WANTED, icon=":material/check_circle:")
def form(library: Library, configuration: Configuration) -> None:
    """Say what changes, and do it once that was confirmed."""
    fields = {field.key: field for field in library.evaluation.fields()}
    st.markdown(f"**{formatting.plain(configuration.name)}**")
    st.caption(_("From now on searches and answers use:"))
    for key, value in configuration.changes.items():
        field = fields.get(key)
        own = f" :gray[{_('instead of {value}').format(value=formatting.plain(shown(field.value)))}]" if field else ""
        st.markdown(
            f"{formatting.plain(server_text(field.label) if field else key)}: **{formatting.plain(shown(value))}**{own}"
        )
    if rechunks(configuration.changes):
        count = sum(document.state == "ready" for document in library.documents())
        st.caption(
            ngettext(
                "{number} document is re-chunked in the background.",
                "{number} documents are re-chunked in the background.",
                count,
            )
        )
    st.caption(_("You can take it back on this page."))
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Leave it"), key="evaluation_leave"):
            dialogs.close()
        if st.button(_("Make it the library's"), type="primary", key="evaluation_apply_confirmed"):
            try:
                apply(library, configuration, fields)
            except LecternError as error:
                st.markdown(f":red[:material/error:] {formatting.plain(error_text(error))}")
                return
            dialogs.close()


def apply(library: Library, configuration: Configuration, fields: Mapping[str, Field]) -> None:
    """Make it the library's, and keep what was before. Raises ConfigurationError."""
    before = {key: fields[key].value for key in configuration.changes if key in fields}
    library.evaluation.apply(configuration)
    if rechunks(configuration.changes):
        chunking.begin()
    kept = {
        "name": configuration.name, "before": before, "now": dict(configuration.changes),
        "at": datetime.now(UTC).isoformat(),
    }  # fmt: skip
    library.preferences.set(BEFORE, json.dumps(kept))


def differs(configuration: Configuration, own: Mapping[str, object]) -> bool:
    """Whether a configuration changes anything of the library's own settings."""
    return any(own.get(key) != value for key, value in configuration.changes.items())


def rechunks(changes: Mapping[str, object]) -> bool:
    """Whether documents have to be re-chunked for some changes."""
    return any(key.startswith("chunking.") for key in changes)


def section(library: Library) -> None:
    """What was applied, with the way back, and the re-chunking that follows from it."""
    way_back(library)
    chunking.section(library)


def way_back(library: Library) -> None:
    """A line that says what was made the library's here, with a button to take it back."""
    if problem := st.session_state.pop(PROBLEM, None):
        failure(problem)
    kept = library.preferences.get(BEFORE)
    if kept is None:
        return
    held = json.loads(kept)
    own = {field.key: field.value for field in library.evaluation.fields()}
    if any(own.get(key) != value for key, value in held["now"].items()):
        return  # changed elsewhere since: what was before it is no longer known
    when = formatting.day(datetime.fromisoformat(held["at"]))
    with st.container(key="evaluation_way_back", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            _(":green[:material/check_circle:] “{name}” is the library's :gray[since {when}]").format(
                name=formatting.plain(held["name"]), when=when
            )
        )
        st.button(
            _("Take it back"), icon=":material/undo:", type="tertiary", key="evaluation_take_back", on_click=_take_back,
            args=(library, held["before"]),
        )  # fmt: skip


def _take_back(library: Library, before: Mapping[str, object]) -> None:
    try:
        library.evaluation.apply(Configuration("before", before))
    except LecternError as error:
        st.session_state[PROBLEM] = error
        return
    if rechunks(before):
        chunking.begin()
    library.preferences.set(BEFORE, None)
