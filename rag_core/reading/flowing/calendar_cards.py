"""Calendars (iCalendar) and address cards (vCard): a section for each event, task or person, under its name.

Our own reader: icalendar 7.3 and vobject 0.9.9 give up a whole file for one line that is against the rules, which cards
of version 2.1 are full of, and take a second for every four thousand events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rag_core.errors import UnreadableDocument
from rag_core.reading.base import Details
from rag_core.reading.flowing import web
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.flowing.content_lines import Component, ContentLine, components
from rag_core.reading.flowing.event_times import moments, repeats, when
from rag_core.reading.text import read_text

BEGINNING = re.compile(r"BEGIN[ \t]*:[ \t]*V(?:CALENDAR|CARD)\b", re.IGNORECASE)
_CALENDAR = re.compile(r"^(?:X-WR-CALNAME|NAME)(?:;[^:\r\n]*)?:([^\r\n]+)", re.IGNORECASE | re.MULTILINE)
_EVENTS = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Note"}
_CARD = "VCARD"
_PIECE_OF_PAGE = re.compile(r"<(?:br|p|a|b|i|u|ul|ol|li|div|span|html|table)\b[^<>]*>", re.IGNORECASE)
_PARAGRAPHS = re.compile(r"\n\s*\n")
_MAIL = re.compile(r"mailto:", re.IGNORECASE)
_ANSWERS = {"ACCEPTED": "accepted", "DECLINED": "declined", "TENTATIVE": "perhaps", "DELEGATED": "sends another"}
_PACKED = ("PHOTO", "LOGO", "SOUND", "KEY", "ATTACH")
# What the types of a number or an address say to a person.
_PLACES = {"HOME": "home", "WORK": "work", "CELL": "mobile", "MOBILE": "mobile", "FAX": "fax", "PAGER": "pager"}


def read(path: Path, max_chars: int) -> Flow:
    """Read a calendar or cards. Raises UnreadableDocument for what is neither, and LimitExceeded."""
    text, note = read_text(path, max_chars)
    if not BEGINNING.search(text):
        raise UnreadableDocument("The file is named as calendars or address cards are, but holds none.")
    notes = [note] if note else []
    return Flow(blocks(text, notes), Details(_title(text)), notes=notes)


def blocks(text: str, notes: list[str], level: int = 1) -> Iterator[Block]:
    """The events and cards of a file. notes: filled with what was not read."""
    if title := _title(text):
        yield Block("heading", title, level)
        level += 1
    packed = 0
    for found in components(text):
        packed += sum(_is_packed(line) for line in found.all(*_PACKED))
        if found.kind in _EVENTS:
            yield from _event(found, level)
        elif found.kind == _CARD:
            yield from _card(found, level)
    if packed:
        notes.append(f"Pictures, sounds and files within events and cards are not read: {packed:,}.")


def _title(text: str) -> str:
    """What a calendar calls itself; cards have names of their own."""
    found = _CALENDAR.search(text) if not re.match(r"\s*BEGIN:VCARD", text, re.IGNORECASE) else None
    return ContentLine({}, found[1]).text if found else ""


def _event(event: Component, level: int) -> Iterator[Block]:
    yield Block("heading", event.text("SUMMARY") or f"{_EVENTS[event.kind]} without a title", level)
    yield _lines(_facts(event))
    yield from _prose(event.text("DESCRIPTION"))
    yield from _prose(event.text("COMMENT"))


def _facts(event: Component) -> Iterator[tuple[str, str]]:
    start, end = (next(iter(event.all(name)), None) for name in ("DTSTART", "DTEND"))
    yield "When", when(start, end, event.text("DURATION"))
    yield "Due", moments(event.all("DUE"))
    yield "Done", moments(event.all("COMPLETED"))
    yield "Where", " ".join(event.text("LOCATION").split())
    yield from (("Repeats", repeats(line.text)) for line in event.all("RRULE"))
    yield "Also on", moments(event.all("RDATE"))
    yield "Not on", moments(event.all("EXDATE"))
    yield "Instead of the one on", moments(event.all("RECURRENCE-ID"))
    yield "Status", event.text("STATUS").lower().replace("-", " ")
    yield "Organiser", ", ".join(map(_person, event.all("ORGANIZER")))
    yield "Invited", ", ".join(map(_person, event.all("ATTENDEE")))
    yield "Kind", ", ".join(part for line in event.all("CATEGORIES") for part in line.parts(",") if part)
    yield "Link", event.text("URL")
    yield "Attached", ", ".join(line.text for line in event.all("ATTACH") if not _is_packed(line))


def _person(line: ContentLine) -> str:
    address = _MAIL.sub("", line.text, count=1)
    name = line.parameters.get("CN", "")
    answer = _ANSWERS.get(line.parameters.get("PARTSTAT", "").upper(), "")
    who = f"{name} <{address}>" if name and address and name != address else name or address
    return f"{who} ({answer})" if answer else who


def _card(card: Component, level: int) -> Iterator[Block]:
    parts = [part for line in card.all("N")[:1] for part in line.parts(";")]
    # Family name, given, further, before and behind.
    composed = " ".join(" ".join(parts[at] for at in (3, 1, 2, 0, 4) if at < len(parts)).split())
    yield Block("heading", card.text("FN") or composed or card.text("ORG", "EMAIL") or "Card without a name", level)
    yield _lines(_contacts(card))
    yield from _prose(card.text("NOTE"))


def _contacts(card: Component) -> Iterator[tuple[str, str]]:
    yield "Organisation", ", ".join(part for line in card.all("ORG") for part in line.parts(";") if part)
    yield "Position", ", ".join(line.text for line in card.all("TITLE", "ROLE"))
    yield "Known as", card.text("NICKNAME")
    for name, label in (("TEL", "Telephone"), ("EMAIL", "Mail"), ("ADR", "Address"), ("LABEL", "Address")):
        for line in card.all(name):
            said = ", ".join(filter(None, line.parts(";"))) if name == "ADR" else line.text.removeprefix("tel:")
            yield f"{label}{_place(line)}", " ".join(said.split())
    yield "Birthday", moments(card.all("BDAY"))
    yield "Anniversary", moments(card.all("ANNIVERSARY"))
    yield from (("Link", line.text) for line in card.all("URL", "IMPP", "X-SOCIALPROFILE"))
    yield "Kind", ", ".join(part for line in card.all("CATEGORIES") for part in line.parts(",") if part)


def _place(line: ContentLine) -> str:
    types = line.parameters.get("TYPE", "").upper().split(",")
    found = dict.fromkeys(_PLACES[kind] for kind in types if kind in _PLACES)
    return f" ({', '.join(found)})" if found else ""


def _is_packed(line: ContentLine) -> bool:
    """Whether a value is bytes in the place of words."""
    encoding = f"{line.parameters.get('ENCODING')},{line.parameters.get('TYPE')}".upper().split(",")
    return bool({"B", "BASE64"} & {*encoding}) or line.value.startswith("data:")


def _lines(facts: Iterator[tuple[str, str]]) -> Block:
    return Block("paragraph", "\n".join(f"{name}: {said}" for name, said in facts if said))


def _prose(text: str) -> Iterator[Block]:
    """What somebody wrote, also as a piece of a web page."""
    if _PIECE_OF_PAGE.search(text):
        yield from web.blocks(web.parsed(text))
    else:
        yield from (Block("paragraph", part) for part in _PARAGRAPHS.split(text))
