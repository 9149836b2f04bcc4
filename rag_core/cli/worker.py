"""The command `worker`: jobs that servers leave, or have not come to, carried out by a process that serves nothing."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, get_args

import click

from rag_core.cli.output import emit, say
from rag_core.cli.session import Session, command, executor_option
from rag_core.errors import ConfigurationError

if TYPE_CHECKING:
    from rag_core.domain import Job
    from rag_core.library import Library
    from rag_core.settings import Settings

_LOOK_S = 0.5
_USUAL = "adding,recognising"


@command("worker", help="Carry out jobs of a library that servers share, on this machine; serves nothing.")
@click.option("--lanes", default="", help=f"whose jobs, of adding, recognising, clustering ({_USUAL} without it)")
@click.option("--slots", type=click.IntRange(0, 64), default=0, help="documents that are read at a time")
@click.option("--drain", type=click.FloatRange(min=0), default=60.0, help="longest wait for what is under way, seconds")
@executor_option
def worker(session: Session, lanes: str, slots: int, drain: float, executor: str | None) -> None:
    """Work until SIGTERM or Ctrl-C, then end what is under way and leave the rest to others."""
    from rag_core import logs
    from rag_core.library import Library

    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()

    settings = _settings(session.settings, lanes, slots)
    settings = settings.changed("jobs", executor=executor) if executor else settings
    with logs.kept(session.folder, settings.logs), Library.open(settings) as library:
        if settings.jobs.executor != "local":
            _tell(session, "executor", library.maintenance.open_executor())
        for number in (signal.SIGTERM, signal.SIGINT):  # Ray has set its own
            signal.signal(number, stop)
        _tell(session, "takes", ", ".join(settings.jobs.taken))
        library.jobs.resume()
        version, is_loaded = -1, False
        while not stopped.is_set():
            version = _told(session, library, version)
            if not is_loaded and library.jobs.ended():  # by then it is known what computes the vectors
                is_loaded = True
                _tell(session, "embeds", library.maintenance.status().profile)
            library.jobs.wait(version, _LOOK_S)
        _tell(session, "drains", "takes nothing more")
        is_done = library.jobs.drain(drain)
        _told(session, library, version)
    _tell(session, "ended", "" if is_done else "what was under way is left to others")


def _settings(settings: Settings, lanes: str, slots: int) -> Settings:
    """Those of a worker. Raises UsageError for a lane that is none, ConfigurationError for a library of one owner."""
    from rag_core.settings import JobSettings
    from rag_core.settings.keeping import WorkerLane

    known = get_args(WorkerLane)
    wanted = [lane.strip() for lane in lanes.split(",") if lane.strip()] or settings.jobs.taken or _USUAL.split(",")
    for lane in wanted:
        if lane not in known:
            raise click.UsageError(f"There is no lane {lane}. There are: {', '.join(known)}.")
    if not (settings.storage.shared and settings.storage.originals and settings.database_url):
        raise ConfigurationError(
            "A worker needs the database and the originals of servers.",
            help="docs/scale.md: DATABASE_URL, LECTERN_STORAGE__SHARED=true, LECTERN_STORAGE__ORIGINALS.",
        )
    settings = settings.changed("reading", processes=slots) if slots else settings
    return settings.model_copy(update={"jobs": JobSettings.model_validate({"taken": tuple(wanted)})})


def _told(session: Session, library: Library, version: int) -> int:
    """Say which jobs have ended here since. Returns the version of now."""
    version, changed = library.jobs.since(version)
    for job in _ended(changed):
        _tell(session, job.state, job.name if job.error is None else f"{job.name}: {job.error}")
    return version


def _ended(jobs: Iterable[Job]) -> Iterable[Job]:
    return (job for job in jobs if job.finished and job.mark[0] < math.inf)  # or it was another process's


def _tell(session: Session, what: str, about: str) -> None:
    with suppress(BrokenPipeError):  # whoever read what is said has gone; the work has not
        if session.as_json:
            emit({"event": what, "about": about})
        else:
            say(f"{what:10} {about}".rstrip())
