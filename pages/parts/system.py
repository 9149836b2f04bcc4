"""How the library is: its stores and models, and what is worth saying."""

from __future__ import annotations

import streamlit as st

from pages.parts import formatting, language
from pages.parts.language import LANGUAGES, _, figure, ngettext, server_text
from pages.parts.refreshing import failure, fragment
from rag_core.domain import LibraryStatus
from rag_core.errors import LecternError
from rag_core.library import Library

REFRESH_S = 3.0


def language_choice() -> None:
    """In which language the pages are read. What is chosen is told to the browser, which keeps it and asks anew."""
    with st.container(key="system_language"):
        st.selectbox(
            _("Language"), list(LANGUAGES), format_func=lambda code: LANGUAGES[code],
            index=list(LANGUAGES).index(language.current()), key="system_language_chosen", width=240,
            help=_("Kept in this browser."),
            on_change=lambda: language.choose(st.session_state["system_language_chosen"]),
        )  # fmt: skip


def facts(library: Library) -> None:
    """What the library is made of, one line each, and what is worth saying; looked at again every few seconds."""
    fragment(_facts, REFRESH_S)(library)


def _facts(library: Library) -> None:
    try:
        status = library.maintenance.status()
    except LecternError as error:
        failure(error)
        return
    counts = [formatting.count(status.documents, "document"), formatting.count(status.chunks, "passage")]
    others = ((status.pending, _("{number} waiting")), (status.failed, _("{number} failed")))
    counts += [what.format(number=figure(number)) for number, what in others if number]
    st.caption(", ".join(counts))
    with st.container(key="system_facts", gap="xsmall"):
        folder, *inside = lines(status)
        _fact(*folder)
        with st.expander(_("What it is made of"), key="system_inside"):
            for label, value in inside:
                _fact(label, value)
    for note in status.notes:
        if status.target is None or note != status.target.note:  # it has a part of the page for itself
            st.caption(f":material/info: {formatting.plain(server_text(note))}")


def _fact(label: str, value: str) -> None:
    with st.container(horizontal=True, gap="small"):
        st.caption(label, width=140)
        st.markdown(value, width="stretch")


def lines(status: LibraryStatus) -> list[tuple[str, str]]:
    """Labels and values of a status, as Markdown."""
    found = [
        (_("Folder"), formatting.plain(status.data_dir)),
        (_("Embedding"), formatting.plain(status.profile)),
        (_("Database"), formatting.plain(status.postgresql)),
        *((_(name.capitalize()), formatting.plain(server_text(told))) for name, told in status.indexes.items()),
    ]
    for number, model in enumerate(status.models):
        ready = _("ready") if model.ready else f"{_('not ready.')} {server_text(model.reason)}"
        found.append(
            (
                "" if number else _("Models"),
                f"{formatting.plain(server_text(model.label))} :gray[{formatting.plain(ready)}]",
            )
        )
    return found + _servers(status)


def _servers(status: LibraryStatus) -> list[tuple[str, str]]:
    """The processes that have the database, where it may be several, and what each does not find yet."""
    found = []
    for number, server in enumerate(status.servers):
        about = [_("{name}, this one").format(name=server.name) if server.is_this else server.name]
        if server.lanes:
            about.append(_("worker for {lanes}").format(lanes=", ".join(server.lanes)))
        if server.behind:
            lacking = ngettext(
                "{number} document not found there yet", "{number} documents not found there yet", server.behind
            )
            about.append(lacking.format(number=figure(server.behind)))
        found.append(("" if number else _("Servers"), formatting.plain("; ".join(about))))
    return found
