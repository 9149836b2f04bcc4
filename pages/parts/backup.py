"""Writing a backup: where to, whether it may replace a file, and what it holds."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import streamlit as st

from pages.parts import formatting, owning
from pages.parts.language import _, msgid, server_text
from pages.parts.refreshing import doing, failure, watched
from rag_core.library import Library

SUFFIX = ".lectern"
DOOR = "/api/v1/backup"
PURPOSE = msgid(
    "One file with the documents, conversations and settings of this library, read back before it counts. "
    "It holds the passwords of encrypted documents, so keep it as safe as the library."
)
INSIDE = msgid(
    "It is written into the folder `backups` of the data directory, for another place is not yours to name from here."
)
RESTORE = msgid("It fills an empty library again with `python -m rag_core restore FILE`.")


def section(library: Library) -> None:
    """What it is for, where it goes, the button and, below, what the last one holds."""
    st.markdown(_("## Backup"))
    st.markdown(_(PURPOSE))
    watched(lambda: _draw(library))


def new_name(folder: Path, today: date) -> Path:
    """A file that is not there yet: `lectern-2026-11-20.lectern`, or with a number behind the day."""
    stem = f"lectern-{today:%Y-%m-%d}"
    names = [stem, *(f"{stem}-{number}" for number in range(2, 1000))]
    return next(path for name in names if not exists(path := folder / f"{name}{SUFFIX}"))


def exists(path: Path) -> bool:
    """Whether a file is there, as far as one may look."""
    try:
        return path.exists()
    except OSError:
        return False


def _draw(library: Library) -> None:
    owner = owning.is_owner()
    if owner and "system_backup_file" not in st.session_state:
        st.session_state["system_backup_file"] = str(new_name(Path.home(), date.today()))
    with st.container(key="system_backup", gap="small"):
        with st.form("system_backup_form", border=False):
            if owner:
                # Never disabled: a field that changes to that goes back to what was entered before.
                st.text_input(_("File on this machine"), key="system_backup_file")
            else:
                st.caption(_(INSIDE))
            if owner and st.session_state.get("system_taken"):
                st.checkbox(_("Replace the backup that is there"), key="system_replace")
            st.form_submit_button(
                _("Write backup"), icon=":material/archive:", key="system_write",
                on_click=_submit if owner else _submit_inside, args=(library,), disabled=library.jobs.busy("backup"),
            )  # fmt: skip
        if owning.reaches_doors():
            st.link_button(_("Download one"), DOOR, icon=":material/download:", type="tertiary")
        if problem := st.session_state.get("system_backup_problem", ""):
            st.markdown(f":red[:material/error:] {formatting.plain(problem)}")
        else:
            _outcome(library)
        st.caption(_(RESTORE))


def _submit_inside(library: Library) -> None:
    """Begin one in the data directory, whose name nobody chooses."""
    folder = library.folder / "backups"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        st.session_state["system_backup_problem"] = _("{folder} cannot be made: {strerror}.").format(
            folder=folder, strerror=error.strerror
        )
        return
    path = new_name(folder, date.today())
    library.jobs.submit("backup", path.name, path=str(path), replace=False)


def _submit(library: Library) -> None:
    """Begin, unless the name cannot be one or a file is there that nobody has agreed to replace."""
    state = st.session_state
    if not owning.is_owner():
        return
    text = state["system_backup_file"].strip()
    state["system_backup_problem"] = ""
    try:
        path = Path(text).expanduser().absolute()
    except RuntimeError:  # the home of somebody unknown
        text = ""
    if not text:
        state["system_backup_problem"] = _("Name a file.")
        return
    # Whoever agreed to replace one file has not agreed to replace another.
    agreed = state.get("system_taken") == str(path) and state.get("system_replace", False)
    state["system_taken"] = ""
    if exists(path) and not agreed:
        folder = path.is_dir()
        state["system_backup_problem"] = (
            _("That is a folder: name a file in it.") if folder else _("That file exists. Tick the box to replace it.")
        )
        state["system_taken"] = "" if folder else str(path)
        state["system_replace"] = False
        return
    library.jobs.submit("backup", path.name, path=str(path), replace=agreed)


def _outcome(library: Library) -> None:
    job = library.jobs.last("backup")
    if job is None:
        return
    if job.error is not None:
        failure(job.error)
    elif job.result is None:
        doing(job, _("Writing the backup"))
    else:
        report = job.result
        held = ", ".join([
            formatting.count(report.documents, "document"), formatting.count(report.files, "original file"),
            formatting.count(report.conversations, "conversation"),
        ])  # fmt: skip
        size, took = formatting.size(report.size_bytes), formatting.duration(job.took_s)
        st.markdown(
            _(":green[:material/check_circle:] **Backup written** :gray[{size}, {held}, {took}]").format(
                size=size, held=held, took=took
            )
        )
        st.caption(formatting.plain(report.path))
        for note in report.notes:
            st.caption(f":orange[:material/warning: {formatting.plain(server_text(note))}]")
