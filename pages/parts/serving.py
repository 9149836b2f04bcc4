"""A server of models: its address and key, what it has, and which of it may answer."""

from __future__ import annotations

import streamlit as st

from pages.parts import formatting, models, owning, resources
from pages.parts.language import _, error_text, msgid, ngettext, server_text
from rag_core.domain import ModelServer
from rag_core.errors import LecternError
from rag_core.library import Library

PURPOSE = msgid(
    "Ollama, LM Studio, vLLM, llama-server, or any other that speaks OpenAI's protocol. On this machine nothing leaves "
    "it; of a server elsewhere the page says so while it answers."
)
AGREED = msgid("If the server is not on this machine: passages of my documents may be sent to it")


def section(library: Library) -> None:
    """The server that is set, and the form for another."""
    st.caption(_(PURPOSE))
    server = library.language_models.server()
    with st.container(key="models_server", gap="small"):
        if server.address:
            _present(server)
        _form(server)
        found = st.session_state.get("models_served")
        if found is not None:
            _choice(found)
        if problem := st.session_state.get("models_server_problem", ""):
            st.markdown(f":red[:material/error:] {formatting.plain(problem)}")


def _present(server: ModelServer) -> None:
    with st.container(key="models_server_line", horizontal=True, vertical_alignment="center", gap="small"):
        names = ", ".join(formatting.plain(name) for name in server.models) or _("no model chosen yet")
        st.markdown(f"**{formatting.plain(server.address)}** :gray[{names}]", width="stretch")
        st.button(_("Forget the server"), key="models_server_forget", on_click=_forget)
    if server.problem:
        st.caption(f":orange[{formatting.plain(server_text(server.problem))}]")
    elif not server.here:
        st.caption(_(":orange[:material/cloud_upload: This server is not on this machine.]"))


def _form(server: ModelServer) -> None:
    with st.form("models_server_form", border=False):
        st.text_input(_("Address"), value=server.address, placeholder="http://localhost:11434", key="models_address")
        kept = _("the key that is set, if it stays empty") if server.has_key else _("empty where it wants none")
        st.text_input(_("Key"), type="password", key="models_server_key", placeholder=kept, autocomplete="off")
        st.checkbox(_(AGREED), key="models_server_agreed")
        st.form_submit_button(_("Test"), icon=":material/network_check:", key="models_server_test", on_click=_test)


def _choice(found: tuple[str, ...]) -> None:
    """What a server that was asked has."""
    if not found:
        st.markdown(
            _(":orange[:material/info:] The server answers, and has no models yet. Load one there, then test again.")
        )
        return
    st.markdown(
        ngettext(
            ":green[:material/check_circle:] The server answers and has {number} model.",
            ":green[:material/check_circle:] The server answers and has {number} models.",
            len(found),
        )
    )
    with st.form("models_served_form", border=False):
        st.multiselect(_("Models that may answer"), found, default=list(found[:1]), key="models_served_chosen")
        st.checkbox(_("Keep address and key for the next start"), key="models_server_keep", help=_(models.KEPT))
        st.form_submit_button(_("Use these"), icon=":material/check:", key="models_server_use", on_click=_use)


def _test() -> None:
    state = st.session_state
    state["models_served"], state["models_server_problem"] = None, ""
    try:
        owning.check_server(state["models_address"])
        state["models_served"] = resources.library().language_models.served(
            state["models_address"], state["models_server_key"], agreed=state["models_server_agreed"]
        )
    except LecternError as error:
        state["models_server_problem"] = error_text(error)
    else:
        # Fields of a password are emptied with their form; what was tested is what will be used.
        state["models_tested"] = (state["models_address"], state["models_server_key"], state["models_server_agreed"])


def _use() -> None:
    state, library = st.session_state, resources.library()
    address, key, agreed = state["models_tested"]
    names = tuple(state["models_served_chosen"])
    try:
        library.language_models.use_server(address, key, names, agreed=agreed, keep=state["models_server_keep"])
        if names:
            library.preferences.set(models.PREFERENCE, f"server:{names[0]}")
    except LecternError as error:
        state["models_server_problem"] = error_text(error)
        return
    state["models_served"], state["models_server_problem"] = None, ""


def _forget() -> None:
    try:
        resources.library().language_models.forget_server()
    except LecternError as error:
        st.session_state["models_server_problem"] = error_text(error)
