"""The model files of this machine: what they are, whether they fit into memory, and what can be done with them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import formatting, models, resources
from pages.parts.language import _, error_text, figure, server_text
from pages.parts.refreshing import failure, watched
from rag_core.domain import Machine, ModelFile, RuntimeTrial
from rag_core.errors import LecternError
from rag_core.library import Library


def machine(library: Library) -> None:
    """What models have to run on, in one line; looked at again, for llama.cpp may still be compiled."""
    watched(lambda: _machine(library))


def _machine(library: Library) -> None:
    st.caption(told(library.language_models.machine()))


def told(found: Machine) -> str:
    """A machine in words."""
    memory = _("{memory} of memory, {free} free.").format(
        memory=formatting.size(found.memory_bytes), free=formatting.size(found.free_bytes)
    )
    if not found.device:
        usual = _("OpenVINO is ready for models of the kinds Llama and Qwen; others need llama.cpp.")
        return f"{memory} {f'{usual} ' if found.openvino else ''}{server_text(found.missing)}"
    on_card = _("llama.cpp is ready: local models run on the graphics card.")
    return (
        f"{memory} {on_card if found.device == 'GPU' else _('llama.cpp is ready: local models run on the processor.')}"
    )


def section(library: Library) -> None:
    """The files with their buttons; looked at again every second, for a download may add one."""
    watched(lambda: _draw(library))


def _draw(library: Library) -> None:
    try:
        files = library.language_models.files()
    except LecternError as error:
        failure(error)
        return
    if not files:
        with st.container(key="models_no_files"):
            st.markdown(
                _(":gray[:material/deployed_code: No model file yet. Lectern quotes from your documents without one.]")
            )
            st.caption(
                _("Download one below, or put a .gguf file into {folder}.").format(
                    folder=formatting.plain(str(library.language_models.folder))
                )
            )
        return
    chosen = library.preferences.get(models.PREFERENCE)
    with st.container(key="models_files", gap="small"):
        for number, file in enumerate(files):
            _row(library, file, number, chosen=file.id == chosen)


def _row(library: Library, file: ModelFile, number: int, *, chosen: bool) -> None:
    with st.container(key=f"models_file_{number}", horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(gap=None, width="stretch"):
            mark = f" :green-badge[{_('Answers')}]" if chosen else ""
            mark += f" :blue-badge[{_('In memory')}]" if file.loaded else ""
            st.markdown(f"**{formatting.plain(file.name)}**{mark}")
            st.caption(described(file))
            if file.trials:
                st.caption(formatting.plain(pace(file.trials)))
        if not file.problem and not chosen:
            told = _("Let {name} answer").format(name=formatting.plain(file.name))
            st.button(_("Use"), key=f"models_use_{number}", help=told, on_click=_use, args=(file.id,))
        if file.trials:
            told = _("Have {name} tried by each runtime again when it next answers").format(
                name=formatting.plain(file.name)
            )
            st.button(
                "", icon=":material/speed:", key=f"models_try_{number}", help=told, on_click=_try, args=(file.id,)
            )
        if file.loaded:
            st.button(
                _("Unload"), key=f"models_unload_{number}", on_click=library.language_models.unload, args=(file.id,)
            )
        told = _("Remove {name}").format(name=formatting.plain(file.name))
        with st.popover("", icon=":material/delete:", help=told, key=f"models_remove_{number}"):
            st.markdown(
                _("Remove **{name}** ({size}) from this machine?").format(
                    name=formatting.plain(file.name), size=formatting.size(file.size_bytes)
                )
            )
            st.button(_("Remove"), type="primary", key=f"models_removed_{number}", on_click=_remove, args=(file.id,))
    if problem := st.session_state.get(f"models_problem_{file.id}"):
        st.markdown(f":red[:material/error:] {formatting.plain(problem)}")


def described(file: ModelFile) -> str:
    """A model file in one line of Markdown."""
    if file.problem:
        return f":red[{formatting.plain(server_text(file.problem))}]"
    template = _("chat template") if file.has_template else f":orange[{_('no chat template')}]"
    parts = [formatting.size(file.size_bytes), formatting.plain(file.architecture), formatting.plain(file.quantisation)]
    parts += [_("context {tokens}").format(tokens=figure(file.context_tokens)) if file.context_tokens else "", template]
    needs = _("needs about {memory}").format(memory=formatting.size(file.memory_bytes))
    fits = _("fits into memory") if file.fits else f":orange[{_('more than is free now')}]"
    return " · ".join(part for part in (*parts, f"{needs}: {fits}") if part)


def pace(trials: Sequence[RuntimeTrial]) -> str:
    """How fast each runtime was, the one that opens the file first."""
    return "; ".join(_pace(trial, first=not place) for place, trial in enumerate(trials)) + "."


def _pace(trial: RuntimeTrial, *, first: bool) -> str:
    if trial.problem:
        return server_text(trial.problem).rstrip(".")
    threads = _(" on {threads}").format(threads=formatting.count(trial.threads, "thread")) if trial.threads else ""
    wrote = _("wrote {speed}").format(speed=figure(trial.written_per_s, ",.1f")) if trial.written_per_s else ""
    read = _("read {speed} tokens/s").format(speed=figure(trial.read_per_s, ",.0f"))
    by = (_("Opened by {runtime}") if first else _("tried by {runtime}")).format(runtime=f"{trial.runtime}{threads}")
    return f"{by}: {read}, {wrote or _('wrote none in time')}"


def _use(model_id: str) -> None:
    resources.library().preferences.set(models.PREFERENCE, model_id)


def _try(model_id: str) -> None:
    try:
        resources.library().language_models.try_again(model_id)
    except LecternError as error:
        st.session_state[f"models_problem_{model_id}"] = error_text(error)


def _remove(model_id: str) -> None:
    library = resources.library()
    try:
        library.language_models.remove(model_id)
        if library.preferences.get(models.PREFERENCE) == model_id:
            library.preferences.set(models.PREFERENCE, None)
    except LecternError as error:
        st.session_state[f"models_problem_{model_id}"] = error_text(error)
