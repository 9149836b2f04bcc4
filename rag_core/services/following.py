"""Sources that are looked at again: watched folders, by themselves; addresses and files, when asked.

Watched folders are compared by a `stat` of each file every few seconds. The system could tell of changes at once, but
not on network drives, and a comparison would be needed beside it for what changed while Lectern was not running.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath

from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Coverage, FollowedSource
from rag_core.errors import ConfigurationError, LecternError, SourceUnavailable, StoreUnavailable
from rag_core.ingest import TAKEN, Ingest
from rag_core.services.cards import clean_tag
from rag_core.services.coverage import coverage
from rag_core.services.files_again import FilesAgain, is_as_seen
from rag_core.settings import Settings
from rag_core.sources import (
    Listing,
    folder_items,
    is_container,
    is_folder,
    list_folder,
    location,
    location_of,
    path_of,
)
from rag_core.storage import Storage
from rag_core.unexpected import stage

logger = logging.getLogger(__name__)
# A file that changed so lately may be written still.
_SETTLED_S = 2.0
_NOTED_S = 60.0
# The share of time that looking at folders may take.
_SHARE = 0.05
_LONGEST = 2000
_GONE = "removed, as its file is gone"
_NAMED = 3  # of each kind that is passed over
Stats = Mapping[str, tuple[int, int]]


class FollowedSources:
    """Follows the sources of one library. Thread-safe; a folder is looked at by one at a time."""

    def __init__(self, storage: Storage, ingest: Ingest, settings: Settings) -> None:
        self._storage = storage
        self._ingest = ingest
        self._every_s = settings.sources.watch_every_s
        self._shared = [folder.expanduser().resolve() for folder in settings.doors.folders]
        self._looking = threading.Lock()
        self._starting = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._seen: dict[str, Stats] = {}
        self._unsettled: dict[str, Stats] = {}
        self._unwanted: set[str] = set()
        self._noted: dict[str, tuple[float, str]] = {}
        self._listed: dict[str, Listing] = {}
        self._failed: dict[str, dict[str, BaseException]] = {}
        self.changes = 0  # how often a watched folder was found changed
        self._start_where_needed()
        storage.notices.on(self._start_where_needed, "followed_sources")

    @property
    def suffixes(self) -> frozenset[str]:
        """The endings of the files that are taken from folders, as ".pdf"; others are judged when they are named."""
        return TAKEN

    def passed_over(self, names: Iterable[str]) -> str:
        """What is to be said of a folder's files, by their names, of which not all are taken; "" for nothing."""
        others = [name for name in names if PurePath(name).suffix.lower() not in TAKEN]
        return Listing(others=others).passed_over("").note if others else ""

    def followed(self) -> list[FollowedSource]:
        """Watched folders, with what keeps them from being followed, and addresses that were added."""
        return self._storage.sources.followed()

    def coverage(self) -> list[Coverage]:
        """How much is read of each watched folder that was looked at since the start, and why not the rest."""
        listed = [(place, listing) for place, listing in list(self._listed.items()) if self._is_watched(place)]
        return [
            replace(coverage(self._storage, place, listing, self._failed.get(place, {})), note=_passed_over(listing))
            for place, listing in listed
        ]

    def file_of(self, document_id: str) -> Path:
        """The file that a document came from, where it is as it was then; else the kept one, under its name.

        Raises KeyError for a document that there is not.
        """
        for one in self._storage.sources.of(document_id).values():
            with suppress(OSError):
                if one.visit.kind == "file" and is_as_seen(one.visit):
                    return Path(one.visit.location)
        document = self._storage.documents.get(document_id)
        if document is None:
            raise KeyError(document_id)
        return self._storage.files.named(document.id, document.sources[0] if document.sources else "")

    def watch(self, folder: str | Path, *, tags: Iterable[str] = ()) -> FollowedSource:
        """Follow a folder from now on, also after a restart: additions, changes, renames and removals.

        Its documents get `tags`. Raises SourceUnavailable, ConfigurationError for one within another that is watched,
        ValueError for a tag that is none.
        """
        path = path_of(folder)
        if not is_folder(path):
            raise SourceUnavailable(f"There is no folder {path}.", help="Check its name and your right to read it.")
        place = location(path)
        if place.startswith("file:") or len(place) > _LONGEST:
            raise ConfigurationError("A folder of this name cannot be watched.", help="Give it a shorter, plain one.")
        for other in self._folders():
            if other.location != place and _holds(place, other.location) | _holds(other.location, place):
                raise ConfigurationError(
                    f"{other.location} is watched already, and one is within the other.", help="Unwatch it first."
                )
        self._storage.sources.follow(FollowedSource(place, "folder", tuple(clean_tag(tag) for tag in tags)))
        self._seen.pop(place, None)
        self._unwanted.discard(place)
        self._start()
        return next(one for one in self._folders() if one.location == place)

    def unwatch(self, location: str, *, remove: bool = False) -> None:
        """Follow a folder no longer. Its documents stay, unless `remove`. Raises KeyError for one that is not."""
        place = location_of(location)
        known = list(self._storage.sources.led_by(place))
        if not self._storage.sources.unfollow(place):
            raise KeyError(place)
        self._forget(place)
        if remove:
            self._unwanted.add(place)  # also what a look that is under way brings in still
            self._storage.forget_sources(known)

    def update(
        self, locations: Iterable[str] | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Look again at addresses, files and watched folders that were added, or at these; fetch only what changed.

        A newer version takes the old one's place when it is ready. What is gone from the web, or was one file, stays
        and is told of as failed, a file once; one that was renamed in its folder is followed. What is gone from a
        watched folder goes. What the user removed is not brought back.
        """
        places = None if locations is None else {location_of(one): one for one in locations}
        chosen = [one for one in self._storage.sources.followed() if places is None or one.location in places]
        known = self._storage.sources.below("") if places is None else self._storage.sources.at(list(places))
        files = [one for one in known.values() if one.visit.kind == "file" and not one.visit.root]
        found = {one.location for one in chosen} | {one.visit.location for one in files}
        for named in (named for place, named in (places or {}).items() if place not in found):
            error = SourceUnavailable(
                "It is none of the files, folders and addresses that are looked at again.",
                help="Add it again, or update the folder or address that it came with.",
            )
            yield AddEvent(named, "failed", error=error)  # the whole path would tell where the server works
        for one in chosen:
            if one.kind == "folder":
                yield from self._look(one, cancellation)
        sites = [one for one in chosen if one.kind == "web" and one.documents]
        again = FilesAgain(self._storage.sources, self._shared)
        yield from self._ingest.bring(lambda looking: again.found(sites, files, looking), cancellation=cancellation)

    def stop(self) -> None:
        """Begin no further look."""
        self._closing.set()

    def join(self) -> None:
        """Wait for the look that is under way."""
        if self._thread is not None:
            self._thread.join()

    def _start_where_needed(self) -> None:
        if self._folders() and not (self._closing.is_set() or self._storage.is_worker):
            self._start()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lectern-watch", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        wait_s = self._every_s
        while not self._closing.wait(wait_s):
            began = time.monotonic()
            try:
                with stage("watch"):
                    folders = self._folders()
            except LecternError as error:
                logger.warning("Folders are looked at later: %s", error)
                folders = []
            for folder in folders:
                if not self._closing.is_set():
                    self._look_in_turn(folder)
            wait_s = max(self._every_s, (time.monotonic() - began) / _SHARE)

    def _is_ours(self, folder: FollowedSource) -> bool:
        """Whether a folder is this server's to look at: one does so at a time, and one that has it, if any has."""
        servers, name = self._storage.servers, f"watch {folder.location}"
        if Path(folder.location).is_dir() or not servers.others():
            return servers.hold(name)
        servers.let_go(name)
        return False

    def _look_in_turn(self, folder: FollowedSource) -> None:
        """Look at a folder in the background; whatever goes wrong there, the next look may go well."""
        try:
            with stage("watch", folder.location):
                if not self._is_ours(folder):
                    return
                for _ in self._look(folder, None, patient=True):
                    if self._closing.is_set():
                        return
        except LecternError as error:
            logger.warning("A folder is looked at later: %s", error)
            with suppress(StoreUnavailable):
                self._note(folder, f"It is looked at again, as the last look failed. {error}", folder.device)

    def _folders(self) -> list[FollowedSource]:
        return [one for one in self._storage.sources.followed() if one.kind == "folder"]

    def _is_watched(self, place: str) -> bool:
        return any(one.location == place for one in self._folders())

    def _look(
        self, folder: FollowedSource, cancellation: Cancellation | None, *, patient: bool = False
    ) -> Iterator[AddEvent]:
        """Bring in what came to a folder or changed, then let go of what is gone: what was renamed stays so.

        patient: a file that may be written still is left to the next look.
        """
        with self._looking:
            self._unwanted.clear()  # what one that was under way then brought in is gone by now
            if not self._is_watched(folder.location):  # unwatched meanwhile
                return
            path = Path(folder.location)
            listing = list_folder(path, TAKEN, within=path)
            problem, device = _problem(folder, path, listing)
            self._listed[folder.location] = listing
            yield from (AddEvent(one.name, "failed", error=one.error) for one in listing.refused())
            if not problem:
                settled = self._settled(folder.location, listing.files) if patient else listing.files
                yield from self._follow(folder, listing, settled, cancellation)
            else:
                yield AddEvent(folder.location, "failed", error=SourceUnavailable(problem))
            if listing.others:
                passed_over = listing.passed_over(folder.location)
                yield AddEvent(passed_over.name, "cancelled", note=passed_over.note)
            self._note(folder, problem or _passed_over(listing), device)
            if not self._is_watched(folder.location):
                self._let_go(folder.location)

    def _let_go(self, place: str) -> None:
        """A folder was unwatched while it was looked at: what that brought in is as the rest of it."""
        known = list(self._storage.sources.led_by(place))
        self._storage.sources.unfollow(place)
        self._forget(place)
        if place in self._unwanted:
            self._storage.forget_sources(known)

    def _forget(self, place: str) -> None:
        for known in (self._seen, self._unsettled, self._noted, self._listed, self._failed):
            known.pop(place, None)

    def _remember(self, place: str, event: AddEvent) -> None:
        """Keep why a file of which no document was made is not read, until it is."""
        failed = self._failed.setdefault(place, {})
        if event.stage == "failed" and event.error is not None and event.document is None:
            failed[event.source] = event.error
        else:
            failed.pop(event.source, None)

    def _follow(
        self, folder: FollowedSource, listing: Listing, settled: Stats, cancellation: Cancellation | None
    ) -> Iterator[AddEvent]:
        before = self._seen.get(folder.location) or self._known(folder.location)
        changed = {name: stat for name, stat in settled.items() if before.get(name) != stat}
        if changed:
            part, path = Listing(changed), Path(folder.location)
            failed = set[str]()
            for event in self._ingest.bring(
                lambda looking: folder_items(Path(folder.location), looking, folder.location, part, path),
                cancellation=cancellation,
            ):
                if event.stage == "ready" and event.document is not None and folder.tags:
                    self._storage.documents.cards.tag([event.document.id], folder.tags, [])
                failed |= {event.source} if event.stage == "failed" else set()
                self._remember(folder.location, event)
                yield event
            if not (self._closing.is_set() or (cancellation is not None and cancellation.is_set())):
                yield from self._taken_out(folder.location, changed, failed)
        known = {*listing.files, *listing.outside}  # a link that was followed once leaves its document as it is
        gone = [name for name in before if not (_stands(name, known) or _is_unread(name, listing))]
        if gone:
            places = [f"{folder.location.rstrip('/')}/{name}" for name in gone]
            held = (self._storage.sources.below(f"{place}/") for place in places if is_container(place))
            self._storage.forget_sources([*places, *(place for inside in held for place in inside)])
            yield from (AddEvent(name, "cancelled", note=_GONE) for name in gone)
        if cancellation is not None and cancellation.is_set():
            return  # what was left undone is found again
        kept = {name: before[name] for name in before if name not in settled and name not in gone}
        self._seen[folder.location] = {**kept, **settled}
        self.changes += bool(changed or gone)

    def _taken_out(self, place: str, changed: Stats, failed: Collection[str]) -> Iterator[AddEvent]:
        """Let go of what a folder's containers held before they changed, and hold no longer."""
        start = len(place.rstrip("/")) + 1
        for name in (name for name in changed if is_container(name) and name not in failed):
            inside = self._storage.sources.below(f"{place.rstrip('/')}/{name}/")
            left = {at[start:]: at for at, one in inside.items() if one.visit.modified_ns != changed[name][1]}
            gone = {one: at for one, at in left.items() if one not in failed}
            if gone:
                self._storage.forget_sources(list(gone.values()))
                yield from (AddEvent(one, "cancelled", note=_GONE) for one in gone)

    def _known(self, place: str) -> dict[str, tuple[int, int]]:
        """What the library knows of a folder's files, by their paths from there."""
        known = self._storage.sources.led_by(place)
        start = len(place.rstrip("/")) + 1
        return {at[start:]: (one.visit.size_bytes, one.visit.modified_ns) for at, one in known.items()}

    def _settled(self, place: str, files: Stats) -> dict[str, tuple[int, int]]:
        """The files that nobody seems to be writing: not changed lately, or as they were at the last look."""
        recent_ns = int((time.time() - _SETTLED_S) * 1e9)
        before = self._unsettled.get(place, {})
        unsettled = {name: stat for name, stat in files.items() if stat[1] > recent_ns and before.get(name) != stat}
        self._unsettled[place] = {name: stat for name, stat in files.items() if stat[1] > recent_ns}
        return {name: stat for name, stat in files.items() if name not in unsettled}

    def _note(self, folder: FollowedSource, problem: str, device: int) -> None:
        """Note the look, now and then while nothing happens."""
        at, told = self._noted.get(folder.location, (float("-inf"), ""))
        now = time.monotonic()
        if problem != told or now - at > _NOTED_S:
            self._noted[folder.location] = (now, problem)
            self._storage.sources.note_look(folder.location, problem, device)


def _problem(folder: FollowedSource, path: Path, listing: Listing) -> tuple[str, int]:
    """Why nothing of a folder can be said, and the device that it is on; 0 where it holds no files."""
    device = 0
    with suppress(OSError):
        device = path.stat().st_dev
    if "" in listing.unread:
        return "The folder is not there, or may not be read. Nothing of it was removed.", 0
    if listing.files:
        return "", device
    # Where a drive was mounted an empty folder is left, on another device.
    if folder.documents and folder.device not in (0, device):
        return "The folder is empty, and its drive is another one than before. Nothing of it was removed.", 0
    return "", 0


def _passed_over(listing: Listing) -> str:
    """What is passed over, the first of each kind by name: links, what is no file, files of no kind to be taken."""
    told = ("Links that lead out of the folder are passed over", listing.outside), (
        "Pipes, devices and links that lead nowhere are passed over", listing.odd)  # fmt: skip
    notes = [f"{said}: {_named(sorted(names))}." for said, names in told if names]
    return " ".join([*notes, *([listing.passed_over("").note] if listing.others else [])])


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _holds(outer: str, inner: str) -> bool:
    return inner.startswith(outer.rstrip("/") + "/")


def _stands(name: str, known: Collection[str]) -> bool:
    """Whether a file is among those that are known, or the container that holds it."""
    parts = name.split("/")
    return name in known or any("/".join(parts[:count]) in known for count in range(1, len(parts)))


def _is_unread(name: str, listing: Listing) -> bool:
    return any(name.startswith(f"{folder}/") for folder in listing.unread)
