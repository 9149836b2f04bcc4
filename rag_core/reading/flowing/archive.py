"""Archives that documents come in: looked at before anything in them is unfolded."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat

from lxml import etree

from rag_core.errors import LimitExceeded, UnreadableDocument, UnsupportedDocument

MAX_ENTRIES = 20_000
MAX_UNFOLDED_BYTES = 512 * 2**20
# Office files of figures unfold to about 20 times their size; what is smaller than the least may do so more.
MAX_RATIO, LEAST_BYTES = 150, 32 * 2**20
_ENCRYPTED = 1
_PIECE_BYTES = 4096
_OUTSIDE = re.compile(r"^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)|\x00")
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError)
"""What reading a damaged entry raises."""
MENDABLE = (KeyError, SyntaxError, TypeError, AttributeError, ValueError, *BROKEN)
"""What libraries raise for a file that lacks parts, or says nothing of some, which `mended` may mend."""
DRAWABLE = re.compile(r".+\.(?:png|jpe?g|gif|bmp|tiff?|webp|avif)", re.IGNORECASE)
"""Names of pictures that can be drawn: of drawings (EMF, SVG) the words alone are read."""
_RELATIONS = ".rels"
_XML, _TYPES = (".xml", _RELATIONS), "[Content_Types].xml"
_MAIN, _MAIN_KIND = ("word/document.xml", "xl/workbook.xml", "ppt/presentation.xml"), "/officeDocument"
_USUAL_SPACE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_OFFICE = "application/vnd.openxmlformats-officedocument."
# Parts without which nothing is read, by their usual names, and what they are.
_KINDS = tuple(
    (re.compile(name), f"{_OFFICE}{kind}+xml")
    for name, kind in (
        (r"word/document\.xml", "wordprocessingml.document.main"),
        (r"word/styles\.xml", "wordprocessingml.styles"),
        (r"ppt/presentation\.xml", "presentationml.presentation.main"),
        (r"ppt/slides/slide\d+\.xml", "presentationml.slide"),
        (r"ppt/slideLayouts/slideLayout\d+\.xml", "presentationml.slideLayout"),
        (r"ppt/slideMasters/slideMaster\d+\.xml", "presentationml.slideMaster"),
        (r"ppt/notesSlides/notesSlide\d+\.xml", "presentationml.notesSlide"),
        (r"xl/workbook\.xml", "spreadsheetml.sheet.main"),
        (r"xl/worksheets/sheet\d+\.xml", "spreadsheetml.worksheet"),
        (r"xl/sharedStrings\.xml", "spreadsheetml.sharedStrings"),
        (r"xl/styles\.xml", "spreadsheetml.styles"),
    )
)
# What the strict form of Office files (ISO/IEC 29500) calls its parts, and what they are called in the usual one.
_STRICT, _USUAL = (
    re.compile(rb"(?<==[\"'])http://purl\.oclc\.org/ooxml/(\w+)/"),
    rb"http://schemas.openxmlformats.org/\1/2006/",
)


@contextmanager
def checked(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open the archive at `path`, once its list of entries is found harmless.

    What an entry unfolds to is never more than the list says. Raises LimitExceeded for one that unfolds to too much,
    UnsupportedDocument for one with a password, and UnreadableDocument for names outside it and what is no archive.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check(archive.infolist(), path.stat().st_size)
            yield archive
    except (zipfile.BadZipFile, OSError) as error:  # OSError: places that no file has
        raise UnreadableDocument("The file's archive is damaged: it is cut off, or was changed on its way.") from error


def office(path: Path) -> None:
    """Check an Office file: its archive, and that none of its XML declares a document type, as entities need."""
    with checked(path) as archive:
        for entry in archive.infolist():
            if entry.filename.endswith(_XML):
                with suppress(*BROKEN), archive.open(entry) as stream:  # nobody else can read what is broken
                    _refuse_doctype(stream, entry.filename)


def xml(data: bytes, *, recover: bool = False) -> Any:
    """Parse XML without entities, document types from elsewhere and network. Raises lxml's XMLSyntaxError.

    recover: what can be read of damaged XML, None for nothing.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=recover)
    return etree.fromstring(data, parser)


def sound_xml(data: bytes) -> tuple[Any, bool]:
    """What can be read of XML that may be damaged, None for nothing, and whether that is all of it."""
    try:
        return xml(data), True
    except etree.XMLSyntaxError:
        return xml(data, recover=True) if data.strip() else None, False


def picture_part(part: Any, relation: str) -> str:
    """The place in its archive of the picture that a part of an Office file names; "" for one that cannot be drawn."""
    found = part.rels.get(relation)
    place = "" if found is None or found.is_external else str(found.target_part.partname).lstrip("/")
    return place if DRAWABLE.fullmatch(place) else ""


def usual(path: Path, part: str) -> BinaryIO:
    """An Office file, opened. Of one in the strict form, whose names libraries do not know, a copy in the usual one.

    part: one that says which it is.
    """
    with checked(path) as old:
        if part not in old.namelist() or not _STRICT.search(old.read(part)):
            return path.open("rb")
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                new.writestr(name, _read(old, name))
    return copy


def mended(path: Path) -> tuple[io.BytesIO, list[str]]:
    """A copy of an Office file, in the usual form, with what is sound of its XML and no relation to parts that it does
    not hold, and notes on what it lacks."""
    whole, missing, damaged = io.BytesIO(), list[str](), list[str]()
    with checked(path) as old, zipfile.ZipFile(whole, "w") as new:
        held = set(old.namelist())
        for name in sorted(held, key=lambda name: name.endswith(_RELATIONS)):
            data, is_sound = _sound(old, name)
            if not is_sound:
                damaged.append(name)
            if not (data or is_sound):
                held.remove(name)
                continue
            if name.endswith(_RELATIONS) and data:
                data, gaps = _without_gaps(data, posixpath.dirname(posixpath.dirname(name)), held)
                missing += [gap for gap in gaps if gap not in damaged]
            if name == _TYPES and data:
                data = _with_types(data, held)
            new.writestr(name, data)
    told = (("names but does not hold", missing), ("holds only in part, damaged or nested too deeply", damaged))
    return whole, [f"Parts that the file {how}: {', '.join(sorted(names))[:300]}." for how, names in told if names]


def _read(parts: zipfile.ZipFile, name: str) -> bytes:
    """A part, in the usual form."""
    data = parts.read(name)
    return _STRICT.sub(_USUAL, data) if name.endswith(_XML) else data


def _sound(parts: zipfile.ZipFile, name: str) -> tuple[bytes, bool]:
    """A part as far as it can be read, and whether that is the whole of it."""
    try:
        data = _read(parts, name)
    except BROKEN:
        return b"", False
    root, is_sound = sound_xml(data) if name.endswith(_XML) else (None, True)
    return (data if is_sound else b"" if root is None else etree.tostring(root)), is_sound


def _without_gaps(data: bytes, folder: str, held: set[str]) -> tuple[bytes, list[str]]:
    """A list of relations without those to parts that are not held, and these parts."""
    root, missing = xml(data), []
    for relation in list(root):
        part = posixpath.normpath(posixpath.join("/", folder, relation.get("Target") or "")).lstrip("/")
        is_whole = all(relation.get(name) for name in ("Id", "Type", "Target"))
        if not is_whole or (relation.get("TargetMode") != "External" and part not in held):
            root.remove(relation)
            missing.append(part if is_whole else f"a part of {folder or 'the file'}")
    main = next((name for name in _MAIN if name in held), "")
    if not folder and main and not any(relation.get("Type", "").endswith(_MAIN_KIND) for relation in root):
        tag = root.tag.replace("Relationships", "Relationship")
        etree.SubElement(root, tag, Id="main", Type=f"{_USUAL_SPACE}{_MAIN_KIND}", Target=main)
    return etree.tostring(root), missing


def _with_types(data: bytes, held: set[str]) -> bytes:
    """The list of what kinds the parts are, without entries that say nothing, and with those that it lacks."""
    root = xml(data)
    for entry in list(root):
        if not entry.get("ContentType") or not (entry.get("PartName") or entry.get("Extension")):
            root.remove(entry)
    known = {(entry.get("PartName") or f".{entry.get('Extension')}").lower() for entry in root}
    for name in sorted(held - {_TYPES}):
        kind = next((kind for mark, kind in _KINDS if mark.fullmatch(name)), "")
        suffix = posixpath.splitext(name)[1].lower()
        if f"/{name}".lower() not in known and (kind or suffix not in known):
            kind = kind or ("application/xml" if name.endswith(_XML) else "application/octet-stream")
            etree.SubElement(root, root.tag.replace("Types", "Override"), PartName=f"/{name}", ContentType=kind)
    return bytes(etree.tostring(root))


def number(said: str | None, default: int = 0) -> int:
    """The whole number that an attribute says, `default` where it says none: files are full of such slips."""
    try:
        return int(said) if said else default
    except ValueError:
        return default


def _check(entries: list[zipfile.ZipInfo], size_bytes: int) -> None:
    if len(entries) > MAX_ENTRIES:
        raise LimitExceeded(f"The file's archive has {len(entries):,} entries, more than {MAX_ENTRIES:,}.")
    unfolded = sum(entry.file_size for entry in entries)
    if unfolded > MAX_UNFOLDED_BYTES or unfolded > max(LEAST_BYTES, MAX_RATIO * size_bytes):
        raise LimitExceeded(
            f"The file's archive of {size_bytes:,} bytes would unfold to {unfolded:,}: it was not opened.",
            help="If it is meant to be so large, save its parts, or its text, as files of their own.",
        )
    if any(entry.flag_bits & _ENCRYPTED for entry in entries):
        raise UnsupportedDocument(
            "The file's archive is protected by a password.", help="Save it without a password and add it again."
        )
    if outside := next((entry.filename for entry in entries if _OUTSIDE.search(entry.filename)), None):
        raise UnreadableDocument(f"The file's archive has an entry outside of it: {outside[:80]!r}. It was not opened.")


class _Begun(Exception):
    """The first element was met: no document type can follow."""


def _refuse_doctype(stream: Any, name: str) -> None:
    def declared(*_: object) -> None:
        raise UnsupportedDocument(
            f"{name} in the file declares a document type (DOCTYPE), which Office programs never write: not opened.",
            help="Open the file in its own program, save it anew and add it again.",
        )

    def begun(*_: object) -> None:
        raise _Begun

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = declared
    parser.StartElementHandler = begun
    try:
        while piece := stream.read(_PIECE_BYTES):
            parser.Parse(piece)
    except (_Begun, expat.ExpatError):  # what is no XML is for the format's reader to judge
        return
