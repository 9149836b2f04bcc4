"""Other ways in than dropping files: an address, a folder from the browser, a watched folder of this machine."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from pathlib import PurePath

import streamlit as st

from pages.parts import adding, collections, coverage, formatting, naming, owning, resources
from pages.parts.language import _, figure, ngettext, server_text
from pages.parts.refreshing import failure, fragment, refreshed, working
from rag_core.domain import Coverage, FollowedSource, Job, SourceReport, Upload
from rag_core.errors import LecternError
from rag_core.jobs import Jobs
from rag_core.library import Library

KIND = "visit"
SHOWN = 30
BUSY_S, IDLE_S = 0.5, 3.0


def ways(library: Library) -> Mapping[str, Coverage]:
    """A row of them, below the drop zone. Returns how much is read of each watched folder."""
    followed = [one for one in library.sources.followed() if one.kind == "folder" or one.documents]
    covered = {one.location: one for one in library.sources.coverage()}
    with st.container(key="upload_ways", horizontal=True, gap="small"):
        turn = st.session_state.setdefault("upload_ways_turn", 0)  # what was taken closes where it was typed
        with st.popover(_("Web address"), icon=":material/language:", key=f"upload_web_{turn}"):
            _address()
        with st.popover(_("Folder"), icon=":material/folder:", key=f"upload_folder_way_{turn}"):
            _folder()
        if followed:
            with st.popover(_("Followed ({count})").format(count=len(followed)), icon=":material/sync:"):
                _followed(followed, covered)
    if problem := st.session_state.pop("upload_way_problem", None):
        st.markdown(f":red[:material/error:] {formatting.plain(problem)}")
    if passed_over := st.session_state.get("upload_passed_over"):
        st.caption(f":gray[:material/info:] {formatting.plain(passed_over)}")
    coverage.draw(covered.values())
    for one in followed:
        if one.problem and (one.location not in covered or one.problem != covered[one.location].note):
            st.caption(
                f":orange[:material/warning:] {formatting.plain(one.location)}: "
                f"{formatting.plain(server_text(one.problem))}"
            )
    return covered


def progress(library: Library, before: tuple[bool, int, int, int], covered: Mapping[str, Coverage]) -> None:
    """The addresses and folders being read, and how the last ones ended; the page with them when documents came or
    went.

    before: what was `seen` before the page read its documents, which may be of then. covered: of watched folders.
    """
    fragment(refreshed, BUSY_S if before[0] else IDLE_S)(
        lambda: _lines(library.jobs, covered), lambda: before != seen(library)
    )


def seen(library: Library) -> tuple[bool, int, int, int]:
    """What the page is drawn anew for where it changes: also how many documents there are and how often watched folders
    changed, as these bring them in without a job."""
    try:
        ready, _ = library.intake()
    except LecternError:  # the page says so when it is drawn next
        ready = 0
    return library.jobs.busy(KIND), library.jobs.ended(KIND), ready, library.sources.changes


def _address() -> None:
    with st.form("upload_web", border=False):
        st.text_input(_("Address of a page"), placeholder="https://", key="upload_address", width=420)
        st.number_input(_("Links followed from it, within its path"), 0, 20, 0, key="upload_depth")
        st.number_input(_("At most pages"), 1, 10_000, 50, key="upload_pages")
        st.number_input(_("Seconds between two requests"), 0.0, 60.0, 0.5, 0.1, key="upload_delay")
        st.form_submit_button(_("Add"), icon=":material/add:", type="primary", on_click=_fetch)
    st.caption(_("Pages that a site asks programs to leave alone (robots.txt) are left alone."))
    allowed = resources.library().settings.sources.allowed_hosts if owning.is_owner() else ()
    if not allowed:
        st.caption(_("Addresses within your own network are asked about before they are fetched."))
    for host in allowed:
        key = f"upload_allowed_{host}"
        words = _("Fetch from {host}, of your own network").format(host=formatting.plain(host))
        st.toggle(words, True, key=key, on_change=_allow, args=(key, host))


def _folder() -> None:
    turn = st.session_state.setdefault("upload_folder_turn", 0)
    key = f"upload_folder_{turn}"
    st.file_uploader(_("Add a folder once"), accept_multiple_files="directory", key=key, on_change=_take, args=(key,))
    owner, shared = owning.is_owner(), owning.shared_folders()
    if not (owner or shared):
        st.caption(_("Folders of the server's machine are followed where `LECTERN_DOORS__FOLDERS` names them."))
        return
    with st.form("upload_watch", border=False):
        told = _("Or follow a folder of this machine") if owner else _("Or follow a folder of the server's machine")
        st.text_input(told, placeholder="/home/me/papers" if owner else shared[0], key="upload_watched")
        st.form_submit_button(_("Follow"), icon=":material/visibility:", on_click=_watch)
    st.caption(_("What comes, changes and goes there does so in the library too."))


def _followed(followed: list[FollowedSource], covered: Mapping[str, Coverage]) -> None:
    for number, one in enumerate(followed[:SHOWN]):
        with st.container(key=f"upload_followed_{number}", horizontal=True, vertical_alignment="center", wrap=False):
            icon = ":material/folder:" if one.kind == "folder" else ":material/language:"
            read = covered.get(one.location)
            held = coverage.words(read) if read else formatting.count(one.documents, "document")
            told = [held, formatting.day(one.looked_at)]
            about = " · ".join(part for part in told if part)
            st.markdown(f"{icon} {formatting.plain(formatting.shorten(one.location, 60))} :gray[{about}]")
            st.button(
                _("Update"), key=f"upload_update_{number}", type="tertiary",
                on_click=_update, args=(one.location,),
            )  # fmt: skip
            st.button(
                _("Stop following"), key=f"upload_leave_{number}", type="tertiary",
                on_click=_leave, args=(one.location,),
            )  # fmt: skip
    if len(followed) > SHOWN:
        st.caption(_("and {number} more").format(number=figure(len(followed) - SHOWN)))
    st.caption(_("What is no longer followed keeps its documents here."))


def _lines(jobs: Jobs, covered: Mapping[str, Coverage]) -> None:
    _clear_old(jobs, covered)
    if visits := jobs.all(KIND):
        ended = [job for job in visits if job.finished]
        with st.container(key="upload_sites", gap="xsmall"):
            for job in visits:
                if not job.finished:
                    _working(jobs, job, covered.get(job.name))
            for job in ended[: -adding.FEW - 1 : -1]:  # the rest follow as these are dismissed
                _ended(jobs, job, whole=job.name not in covered)
            if len(ended) > adding.FEW:
                _more(jobs, len(ended) - adding.FEW)


def _more(jobs: Jobs, count: int) -> None:
    with st.container(key="upload_more_sites", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(_("and {number} more").format(number=figure(count)))
        st.button(_("Clear finished"), key="upload_clear_sites", type="tertiary", on_click=jobs.clear, args=(KIND,))


def _clear_old(jobs: Jobs, covered: Collection[str]) -> None:
    """What ended well goes by itself, once it was to be seen for a while; what folders lack is said elsewhere."""
    for job in jobs.all(KIND):
        report = job.result or SourceReport()
        told = job.name in covered or not (report.failed or report.private or report.notes)
        if job.ended_at and job.error is None and told and adding.is_past(job.ended_at):
            jobs.dismiss(job.id)


def _working(jobs: Jobs, job: Job, read: Coverage | None) -> None:
    step = job.progress
    name = formatting.plain(formatting.shorten(step.note or job.name, 70))
    known = _("{done} of {whole} known pages").format(done=step.done, whole=step.total) if step.total else ""
    share = min(step.done / step.total, 1.0) if step.total else 0.0
    if read is not None and read.files and not step.total:
        share = coverage.share(read)
        known = ", ".join([coverage.words(read), *_left(job, share)])
    told = known or (_("waiting") if job.state == "waiting" else "")
    working(
        jobs, job, share, f"{name} :gray[{told}]",
        line=f"upload_job_{job.id}", key=f"upload_cancel_{job.id}", icon=":material/close:",
    )  # fmt: skip


def _left(job: Job, share: float) -> list[str]:
    """`about 6 min left`, by how long it took since this was first looked at."""
    began, before = st.session_state.setdefault(f"upload_visit_{job.id}", (time.time(), share))
    spent_s, done = time.time() - began, share - before
    return [formatting.left(spent_s / done * (1 - share))] if done > 0 and spent_s > adding.LEAST_S else []


def _ended(jobs: Jobs, job: Job, *, whole: bool) -> None:
    """How a visit ended; `whole` with what was not read, which is said of folders elsewhere."""
    report = job.result or SourceReport()
    counts = (
        (report.ready, _("{number} new or changed")), (report.unchanged, _("{number} as before")),
        (len(report.failed), _("{number} not read")),
    )  # fmt: skip
    told = [what.format(number=figure(number)) for number, what in counts if number]
    told += [_("stopped")] * (job.state == "cancelled")
    is_web = job.name.startswith(("http://", "https://"))
    with st.container(key=f"upload_job_{job.id}", horizontal=True, vertical_alignment="center", wrap=False):
        name = formatting.plain(formatting.shorten(job.name, 70))
        icon = ":material/language:" if is_web else ":material/folder:"
        st.markdown(f"{icon} {name} :gray[{', '.join(told) or _('nothing new')}]")
        st.button(_("Dismiss"), key=f"upload_dismiss_{job.id}", type="tertiary", on_click=jobs.dismiss, args=(job.id,))
    if job.error is not None:
        failure(job.error)
    if whole:
        _unread(job, report, is_web)


def _unread(job: Job, report: SourceReport, is_web: bool) -> None:
    for note in report.notes:
        st.caption(formatting.plain(server_text(note)))
    for host in report.private:
        _private(host, job)
    if len(report.failed) == 1 and report.failed[0][0] == job.name:
        _why(report, *report.failed[0][1:])  # the line says which
    elif report.failed:
        lost = len(report.failed)
        unread = (
            ngettext("{number} address not read", "{number} addresses not read", lost) if is_web
            else ngettext("{number} file not read", "{number} files not read", lost)
        )  # fmt: skip
        with st.expander(unread, expanded=not report.ready and not report.unchanged):
            for name, message, help_text in report.failed[:SHOWN]:
                _why(report, message, help_text, name)


def _why(report: SourceReport, message: str, help_text: str, name: str = "") -> None:
    """Why something was not read, and what to do where that is not a switch of the page."""
    named = f"**{formatting.plain(formatting.shorten(name, 90))}** " if name else ""
    st.markdown(named + formatting.plain(server_text(message)))
    if not report.private:
        st.caption(formatting.plain(server_text(help_text)))


def _private(host: str, job: Job) -> None:
    """A switch, where something was refused for being of this machine or its network: its owner may want it read."""
    if not owning.is_owner():
        told = _("{host} belongs to the server's machine or its network. Whoever owns that machine can allow it there.")
        st.caption(f":material/lock: {told.format(host=formatting.plain(host))}")
        return
    key = f"upload_allow_{job.id}_{host}"
    st.toggle(
        _("Let Lectern fetch from {host}, of this machine or its network").format(host=formatting.plain(host)), key=key,
        value=host in resources.library().settings.sources.allowed_hosts, on_change=_allow, args=(key, host, job),
    )  # fmt: skip


def _allow(key: str, host: str, job: Job | None = None) -> None:
    """Allow a host, and look there again; or no longer."""
    library, on = resources.library(), bool(st.session_state[key])
    try:
        library.preferences.fetch_from(host, allowed=on)
    except LecternError as error:
        st.session_state["upload_way_problem"] = f"{server_text(str(error))} {server_text(error.help)}".strip()
        return
    if on and job is not None:
        library.jobs.dismiss(job.id)
        library.jobs.submit(KIND, job.name, **job.params)


def _fetch() -> None:
    address = st.session_state["upload_address"].strip()
    if address:
        address = address if "://" in address else f"https://{address}"
        state = st.session_state
        resources.library().jobs.submit(
            KIND, address, depth=int(state["upload_depth"]), pages=int(state["upload_pages"]),
            delay_s=float(state["upload_delay"]), tags=collections.tags(),
        )  # fmt: skip
        state["upload_address"] = ""
        _taken(_("{address} is being fetched").format(address=formatting.shorten(address, 60)))


def _update(location: str) -> None:
    resources.library().jobs.submit(KIND, location)


def _take(key: str) -> None:
    files = st.session_state.get(key) or []
    library = resources.library()
    wanted = [file for file in files if PurePath(file.name).suffix.lower() in library.sources.suffixes]
    adding.add(library.jobs, [Upload(file.name, file.getvalue()) for file in wanted])
    names = [file.name for file in files if not PurePath(file.name).name.startswith((".", "~$"))]
    st.session_state["upload_passed_over"] = server_text(library.sources.passed_over(names))
    # A new key empties the widget, so that the server forgets the bytes once they are added.
    st.session_state["upload_folder_turn"] += 1


def _watch() -> None:
    folder = st.session_state["upload_watched"].strip()
    if folder:
        try:
            library = resources.library()
            library.jobs.submit(KIND, library.sources.watch(owning.permitted(folder), tags=collections.tags()).location)
        except LecternError as error:
            _taken("")
            st.session_state["upload_way_problem"] = f"{server_text(str(error))} {server_text(error.help)}".strip()
        else:
            st.session_state["upload_watched"] = ""
            _taken(_("{folder} is followed from now on").format(folder=formatting.shorten(folder, 60)))


def _taken(words: str) -> None:
    """Close the panel, and say at once what happens."""
    st.session_state["upload_ways_turn"] += 1
    if words:
        st.toast(formatting.plain(words), icon=":material/check:")


def _leave(location: str) -> None:
    try:
        resources.library().sources.unwatch(location)
    except KeyError:  # another session did so already
        return
    except LecternError as error:
        naming.tell(error)
