"""Archives and mailboxes: each document in them is one of its own, what is hostile or damaged costs itself alone."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from docx import Document

from rag_core import AddEvent, Library, Upload
from rag_core.jobs import Request
from rag_core.sources import Item, Refused, expand, here
from rag_core.sources.archives import LEAST_BYTES, MAX_MEMBERS, Budget
from rag_core.sources.mailbox import mailbox_members
from tests.rag_core.samples import TEXTS
from tests.rag_core.sources.test_folders import ends, names, soon, write

TAKEN = frozenset({".txt", ".md", ".eml", ".docx"})


def zipped(parts: dict[str, bytes | str]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return whole.getvalue()


def tarred(parts: dict[str, bytes | str], mode: str = "w") -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in parts.items():
            entry = tarfile.TarInfo(name)
            data = data.encode() if isinstance(data, str) else data
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return whole.getvalue()


def found(data: bytes, name: str) -> tuple[dict[str, bytes], dict[str, str]]:
    """The documents that a container leads to, and what is refused of it, with why."""
    items, refused = {}, {}
    for one in expand([Upload(name, data)], here(TAKEN, lambda _: False)):
        if isinstance(one, Item):
            assert isinstance(one.data, bytes)
            items[one.name] = one.data
        elif isinstance(one, Refused):
            assert one.error.help
            refused[one.name] = str(one.error)
    return items, refused


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (zipped, "a.zip"),
        (tarred, "a.tar"),
        (lambda parts: tarred(parts, "w:gz"), "a.tar.gz"),
        (lambda parts: tarred(parts, "w:bz2"), "a.tbz2"),
        (lambda parts: tarred(parts, "w:xz"), "A.TAR.XZ"),
    ],
)
def test_what_an_archive_holds_is_found_by_its_path_inside(make: Callable[[object], bytes], name: str) -> None:
    parts = {"contracts/a.txt": "One.", "b.md": "Two.", "c.bin": b"\0", "__MACOSX/._b.md": b"x", ".hidden.txt": b"y"}
    items, refused = found(make(parts), name)
    assert items == {f"{name}/contracts/a.txt": b"One.", f"{name}/b.md": b"Two."}
    assert not refused
    *_, last = expand([Upload(name, make(parts))], here(TAKEN, lambda _: False))
    assert "c.bin" in last.note  # type: ignore[union-attr]


def test_archives_within_archives_are_opened_once_and_office_files_are_none() -> None:
    office = io.BytesIO()
    Document().save(office)
    deep = zipped({"deep.txt": "Deep."})
    inner = zipped({"a.txt": "Inner.", "deeper.zip": deep})
    items, refused = found(zipped({"in.zip": inner, "n.txt.gz": gzip.compress(b"Packed.")}), "out.zip")
    assert items == {"out.zip/in.zip/a.txt": b"Inner.", "out.zip/n.txt.gz/n.txt": b"Packed."}
    assert list(refused) == ["out.zip/in.zip/deeper.zip"]
    assert found(office.getvalue(), "letter.zip")[0] == {"letter.zip": office.getvalue()}
    assert found(zipped({"letter.docx": office.getvalue()}), "a.zip")[0] == {"a.zip/letter.docx": office.getvalue()}


def hostile_tar() -> bytes:
    """An archive with a link, a pipe, a way out and a file."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for name, kind in (("link.txt", tarfile.SYMTYPE), ("pipe.txt", tarfile.FIFOTYPE), ("../../out.txt", b"0")):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
        entry = tarfile.TarInfo("good.txt")
        entry.size = 5
        archive.addfile(entry, io.BytesIO(b"Good."))
    return whole.getvalue()


def with_a_huge_head() -> bytes:
    """An archive whose first entry has a name of many megabytes, packed small."""
    entry = tarfile.TarInfo("././@LongLink")
    entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, 24 * 2**20
    return gzip.compress(entry.tobuf() + bytes(entry.size), 9)


def locked_zip() -> bytes:
    data = bytearray(zipped({"a.txt": "One."}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


HOSTILE = {
    "a way out": (lambda: zipped({"../a.txt": "x", "/b.txt": "x", "C:\\c.txt": "x"}), "a.zip", "leads out"),
    "links and pipes": (hostile_tar, "a.tar", "link, or no ordinary file"),
    "a bomb": (lambda: zipped({f"{n}.txt": bytes(2**24) for n in range(4)}), "a.zip", "unfolds to"),
    "a packed bomb": (lambda: gzip.compress(bytes(2 * LEAST_BYTES), 9), "a.txt.gz", "unfolds to"),
    "a tar bomb": (lambda: tarred({"a.bin": bytes(2 * LEAST_BYTES)}, "w:gz"), "a.tgz", "unfolds to"),
    "a huge head": (with_a_huge_head, "a.tgz", "head is too large"),
    "too many": (lambda: zipped({f"{n}.bin": b"" for n in range(MAX_MEMBERS + 1)}), "a.zip", "more than 20,000"),
    "a password": (locked_zip, "a.zip", "password"),
    "cut off": (lambda: zipped({"a.txt": "One."})[:-9], "a.zip", "damaged"),
    "cut off within": (lambda: tarred({"a.txt": os.urandom(9999)}, "w:gz")[:5000], "a.tgz", "damaged"),
    "another thing": (lambda: b"just words", "a.zip", "damaged"),
    "no mailbox": (lambda: b"just words", "a.mbox", "holds none"),
    "nothing": (lambda: zipped({}), "a.zip", "no file of a kind"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_hostile_or_damaged_is_said_and_costs_itself(case: str) -> None:
    make, name, says = HOSTILE[case]
    items, refused = found(make(), name)
    assert any(says in why for why in refused.values()), refused
    assert set(items) <= {"a.tar/good.txt", "a.zip/0.txt", "a.zip/1.txt"}


def test_a_damaged_member_costs_no_other(tmp_path: Path) -> None:
    data = zipped({"a.txt": "One " * 99, "b.txt": "Two."})
    broken = data.replace(data[35:45], b"\xff" * 10, 1)
    items, refused = found(broken, "a.zip")
    assert (list(items), list(refused)) == (["a.zip/b.txt"], ["a.zip/a.txt"])


def test_messages_of_a_mailbox_are_called_by_day_and_subject() -> None:
    box = (
        b"From ada Mon Mar  2 10:00:00 2020\nSubject: =?utf-8?q?Fahrpl=C3=A4ne/M=C3=A4rz?=\nFrom: ada@example.org\n"
        b"Date: Mon, 02 Mar 2020 10:00:00 +0100\n\nDear Bo,\n\n>From now on at four.\n\n"
        b"From bo Mon Mar  2 11:00:00 2020\nSubject: Tea\n\nFirst.\n\n"
        b"From bo Mon Mar  2 11:00:00 2020\nSubject: Tea\n\nx"
    )
    items, refused = found(box, "inbox.mbox")
    first = "inbox.mbox/2020-03-02 Fahrpläne März.eml"
    assert (list(items), refused) == ([first, "inbox.mbox/Tea.eml", "inbox.mbox/Tea (2).eml"], {})
    assert items[first].endswith(b"\n\nFrom now on at four.\n")


def test_an_archive_added_again_brings_in_what_changed_alone(library: Library, tmp_path: Path) -> None:
    archive = tmp_path / "notes" / "a.zip"
    archive.parent.mkdir()

    def pack(parts: dict[str, bytes | str], age_s: float) -> None:
        archive.write_bytes(zipped(parts))
        os.utime(archive, (time.time() - age_s,) * 2)

    pack({f"old/{name}": text for name, text in TEXTS.items()} | {"x.txt": b""}, 100)
    told = ends(library.add([archive]))
    assert told.pop("a.zip/x.txt")[0] == "failed"
    assert set(told) == {f"a.zip/old/{name}" for name in TEXTS} == names(library)
    assert set(ends(library.add([archive])).values()) >= {("ready", "already in the library")}
    old = next(one for one in library.documents() if one.sources == ("a.zip/old/bakery.md",))
    library.catalogue.tag([old.id], add=["bread"])
    parts = {f"old/{name}": text for name, text in TEXTS.items() if name != "chess.txt"}
    pack(parts | {"old/bakery.md": TEXTS["bakery.md"].replace("4.20", "5.30")}, 50)
    told = ends(library.sources.update())
    assert told["a.zip/old/bakery.md"] == ("ready", "")
    assert "in its archive no longer" not in str(told)  # it is an error's, and its document is kept
    assert told["a.zip/old/chess.txt"][0] == "failed" and "a.zip/old/chess.txt" in names(library)
    new = next(one for one in library.documents() if one.sources == ("a.zip/old/bakery.md",))
    assert (new.tags, new.id != old.id) == (("bread",), True)
    assert "5.30" in library.search("What does a loaf of rye bread cost?", k=1)[0].text
    assert library.sources.file_of(new.id).read_bytes().decode().startswith(TEXTS["bakery.md"][:20])


def test_a_watched_folder_follows_its_archives(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    write(folder / "chess.txt", TEXTS["chess.txt"])

    def pack(*chosen: str, age_s: float) -> None:
        (folder / "a.zip").write_bytes(zipped({name: TEXTS[name] for name in chosen}))
        os.utime(folder / "a.zip", (time.time() - age_s,) * 2)

    def look() -> dict[str, tuple[str, str]]:
        return ends(library.sources.update([watched.location]))

    pack("bakery.md", "glacier.txt", age_s=100)
    watched = library.sources.watch(folder)
    look()
    assert names(library) == {"chess.txt", "a.zip/bakery.md", "a.zip/glacier.txt"}
    assert look() == {}
    pack("glacier.txt", "lighthouse.txt", age_s=50)
    assert look()["a.zip/bakery.md"][0] == "cancelled"
    assert names(library) == {"chess.txt", "a.zip/glacier.txt", "a.zip/lighthouse.txt"}
    gone = next(one for one in library.documents() if one.sources == ("a.zip/glacier.txt",))
    library.remove(gone.id)  # it stays out, as its file would
    (folder / "a.zip").touch()
    os.utime(folder / "a.zip", (time.time() - 30,) * 2)
    look()
    assert names(library) == {"chess.txt", "a.zip/lighthouse.txt"}
    whole = (folder / "a.zip").read_bytes()
    (folder / "a.zip").write_bytes(whole[:50])  # half copied
    os.utime(folder / "a.zip", (time.time() - 20,) * 2)
    assert look()["a.zip"][0] == "failed"
    assert names(library) == {"chess.txt", "a.zip/lighthouse.txt"}
    (folder / "a.zip").unlink()
    look()
    assert names(library) == {"chess.txt"}


def test_an_archive_that_is_uploaded_is_a_job_for_each_document(library: Library) -> None:
    parts = {f"old/{name}": text for name, text in TEXTS.items()} | {"empty.txt": b"", "map.dwg": b"x"}
    (job,) = library.jobs.submit_all("add", [Request("a.zip", private=Upload("a.zip", zipped(parts)))])
    assert soon(lambda: len(names(library)) == len(TEXTS) and not library.jobs.busy())
    jobs = {one.name: one for one in library.jobs.all("add")}
    assert set(jobs) == {"a.zip", *(f"a.zip/old/{name}" for name in TEXTS)}
    assert {one.state for one in jobs.values()} == {"done"}
    note = library.jobs.get(job.id).progress.note
    assert note.startswith(f"{len(TEXTS)} documents found in it. Not taken: empty.txt (The file is empty.).")
    assert "map.dwg" in note
    (job,) = library.jobs.submit_all("add", [Request("b.zip", private=Upload("b.zip", b"PK\x03\x04"))])
    assert soon(lambda: library.jobs.get(job.id).finished)
    assert "damaged" in str(library.jobs.get(job.id).error)


def test_events_say_which_document_of_which_archive(library: Library) -> None:
    events: list[AddEvent] = list(library.add([Upload("a.zip", zipped({"b/c.txt": TEXTS["chess.txt"]}))]))
    assert {event.source for event in events} == {"a.zip/b/c.txt"}
    assert events[-1].document is not None and events[-1].document.sources == ("a.zip/b/c.txt",)


def test_a_mailbox_may_hold_more_messages_than_an_archive_files() -> None:
    message = b"From a@b Mon Jan  5 10:00:00 2026\nSubject: Nets\n\nMended.\n\n"
    whole = message * (MAX_MEMBERS + 1)
    members = mailbox_members(io.BytesIO(whole), "all.mbox", Budget(len(whole)))
    assert sum(1 for _ in members) == MAX_MEMBERS + 1
