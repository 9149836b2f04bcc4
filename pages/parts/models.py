"""Which language model answers: the choice in the sidebar, and what is missing where one cannot be chosen."""

from __future__ import annotations

import streamlit as st

from pages.parts import formatting, resources, signing_in
from pages.parts.language import _, error_text, msgid, server_text
from pages.parts.refreshing import watched
from rag_core.domain import ModelStatus
from rag_core.errors import LecternError
from rag_core.library import Library

PREFERENCE = "model"
YOURS = msgid("your question and the passages found for it")
KEPT = msgid("In the file .env in Lectern's folder, which you alone can read.")


def choose(library: Library) -> ModelStatus:
    """Draw the choice and return the model that answers; one that is no longer ready gives way, and that is said."""
    with st.container(key="chat_models", gap="small"):
        chosen = _choice(library, _("Answers by"), "chat_model")
        if not signing_in.is_apart():
            _more()
    return chosen


def take(model_id: str) -> None:
    """Choose a model for the chat, as its list does."""
    st.session_state["chat_model"] = model_id
    _keep("chat_model")


def remote_line(chosen: ModelStatus, leaving: str = YOURS) -> None:
    """Say on the page that passages leave the machine while a remote model is chosen."""
    if chosen.remote:
        st.caption(
            _(":orange[:material/cloud_upload:] {model} answers: {what} leave this machine.").format(
                model=formatting.plain(server_text(chosen.label)), what=_(leaving)
            )
        )


def default(library: Library) -> None:
    """The choice of the model that answers, for the Models page; looked at again, for a download may add one."""
    watched(lambda: _default(library))


def _default(library: Library) -> None:
    chosen = _choice(library, _("The model that answers"), "models_default", apart=True)
    remote_line(chosen)


def _choice(library: Library, label: str, key: str, *, apart: bool = False) -> ModelStatus:
    """Draw the choice; `apart`: below a heading, where there is room to tell more. Returns it."""
    statuses = library.language_models.statuses()
    ready = [status for status in statuses if status.ready]
    wanted = library.preferences.get(PREFERENCE) or ready[0].id
    chosen = next((status for status in ready if status.id == wanted), ready[0])
    st.session_state[key] = chosen.id
    st.radio(
        label,
        [status.id for status in ready],
        format_func=lambda model_id: formatting.plain(server_text(next(s.label for s in ready if s.id == model_id))),
        captions=[_("Leaves this machine") if status.remote else "" for status in ready] if apart else None,
        key=key,
        on_change=_keep,
        args=(key,),
        label_visibility="collapsed" if apart else "visible",
    )
    if chosen.id != wanted:
        lost = next((status for status in statuses if status.id == wanted), None)
        name, reason = (server_text(lost.label), f" {server_text(lost.reason)}") if lost else (wanted, "")
        words = _("{model} is not ready; {other} answers.").format(model=name, other=server_text(chosen.label))
        st.caption(f":orange[{formatting.plain(words + reason if apart else words)}]")
    return chosen


def gemini(library: Library) -> None:
    """Whether Gemini can be asked, and the way to use it or to forget its key."""
    status = next((status for status in library.language_models.statuses() if status.id == "gemini"), None)
    if status is not None and status.ready:
        st.caption(_("Gemini has a key, and you confirmed that passages leave this machine."))
        _gemini_choice(library)
        st.button(_("Forget the key"), key="models_gemini_forget", on_click=_forget)
    elif status is not None:
        st.caption(formatting.plain(server_text(status.reason)))
        _gemini_form()


def _gemini_choice(library: Library) -> None:
    """Which of Gemini's models answers; its list is asked for on a click alone."""
    name = formatting.plain(library.language_models.gemini_model)
    if library.settings.generation.gemini_model:
        st.caption(_("The settings name its model: {name}.").format(name=name))
        return
    st.caption(_("{name} answers.").format(name=name) if name else _("The newest small model that Gemini has answers."))
    st.button(_("See its models"), key="models_gemini_list", icon=":material/list:", on_click=_list_gemini)
    if names := st.session_state.get("models_gemini_names"):
        st.session_state["models_gemini_name"] = name if name in names else ""
        st.selectbox(
            _("Gemini's model"), ["", *names], key="models_gemini_name", on_change=_choose_gemini,
            format_func=lambda name: name or _("The newest small one, now {name}").format(name=names[0]),
        )  # fmt: skip
        if name and name not in names:
            st.caption(_(":orange[Gemini has {name} no longer. Choose another.]").format(name=name))
    if problem := st.session_state.get("models_gemini_problem"):
        st.caption(f":red[{formatting.plain(problem)}]")


def _list_gemini() -> None:
    state = st.session_state
    state["models_gemini_names"], state["models_gemini_problem"] = (), ""
    try:
        state["models_gemini_names"] = resources.library().language_models.gemini_models()
    except LecternError as error:
        state["models_gemini_problem"] = error_text(error)


def _choose_gemini() -> None:
    resources.library().language_models.choose_gemini_model(st.session_state["models_gemini_name"])


def _keep(key: str) -> None:
    resources.library().preferences.set(PREFERENCE, st.session_state[key])


def _more() -> None:
    """The way to the others."""
    if st.button(_("More models"), icon=":material/deployed_code:", key="chat_more_models", type="tertiary"):
        st.switch_page("pages/models.py")


def _gemini_form() -> None:
    with st.form("models_gemini_form", border=False):
        st.text_input(_("Gemini key"), type="password", key="models_gemini_key", autocomplete="off")
        st.checkbox(_("Passages of my documents may leave this machine"), key="models_gemini_agreed")
        st.checkbox(_("Keep the key for the next start"), key="models_gemini_keep", help=_(KEPT))
        # In a callback: what a run's body does with a click is lost where another run takes its place before.
        st.form_submit_button(_("Use Gemini"), icon=":material/cloud_upload:", on_click=_use)
    if refusal := st.session_state.pop("models_gemini_refusal", ""):
        st.caption(refusal)


def _use() -> None:
    state = st.session_state
    key = state["models_gemini_key"].strip()
    if not key or not state["models_gemini_agreed"]:
        state["models_gemini_refusal"] = _(":red[Enter a key and tick the first box.]")
        return
    library = resources.library()
    try:
        library.language_models.use_gemini(key, keep=state["models_gemini_keep"])
        library.preferences.set(PREFERENCE, "gemini")
    except LecternError as error:
        state["models_gemini_refusal"] = (
            f":red[{formatting.plain(server_text(str(error)))}] {formatting.plain(server_text(error.help))}"
        )


def _forget() -> None:
    resources.library().language_models.forget_gemini()
