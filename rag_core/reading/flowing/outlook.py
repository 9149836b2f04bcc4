"""Outlook's messages (MSG, MS-OXMSG), made into messages as others write them, and read as those are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime, formataddr
from pathlib import Path
from typing import Any

from striprtf import striprtf

from rag_core.errors import LimitExceeded, UnreadableDocument
from rag_core.reading.encoding import decode_as
from rag_core.reading.flowing import compound, mail
from rag_core.reading.flowing.blocks import Flow
from rag_core.reading.flowing.compound import number
from rag_core.reading.flowing.mail_parts import POLICY

# Numbers of properties (MS-OXPROPS), as streams are called by them.
_SUBJECT, _BODY, _HTML, _RICH, _SENT, _CAME = "0037", "1000", "1013", "1009", "0039", "0E06"
_SENDER = (("5D02", "0065", "0042"), ("5D01", "0C1F", "0C1A"))  # addresses, then the name: for whom, and who
_RECIPIENT, _KIND = ("39FE", "3003", "3001"), "0C15"
_FILE_NAME, _OBJECT, _BYTES = ("3707", "3704", "3001"), "3701000D", "3701"
_EVENTS = (".ics", ".vcf")  # that are read as a part of the message
_PAGES = ("3FFD", "3FDE")  # the code pages of texts of one byte a letter, and of HTML
_LISTS, _LIST_HEADS = "__properties_version1.0", (32, 24, 8)  # of a message, one within it, a part
_KINDS = {1: "To", 2: "Cc"}
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_MOST_DEEP = 5
# What packed rich text begins with in its window (MS-OXRTFCP, 2.1.2.1).
_PACKED, _WINDOW = b"LZFu", 4096
_BEGUN = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)


def read(path: Path, max_chars: int) -> Flow:
    """Read a message. Raises UnreadableDocument for what has no message's parts, and LimitExceeded."""
    notes: list[str] = []
    with compound.opened(path) as file:
        message = _Storage(file, (), max_chars).message()
    if not any(message.get(name) for name in ("From", "To", "Subject")) and not message.get_payload():
        raise UnreadableDocument("The file is named as Outlook's are, but holds no message.")
    return Flow(mail.blocks(message, notes), mail.details(message), notes=notes)


class _Storage:
    """A message, or a part of it. way: the names of the storages that lead to it."""

    def __init__(self, file: Any, way: tuple[str, ...], max_chars: int) -> None:
        self._file = file
        self._way = way
        self._max_chars = max_chars
        self._numbers = self._listed()
        self._page = next((f"cp{page}" for name in _PAGES if (page := self._numbers.get(name))), "")

    def message(self) -> EmailMessage:
        """The message as others write them: its heads, its text, what is attached."""
        message = EmailMessage(policy=POLICY)
        people = list(self._people())
        heads = [("From", self._sender()), ("Subject", self.text(_SUBJECT)), ("Date", self._date())]
        heads += [(kind, ", ".join(one for to, one in people if to == kind)) for kind in _KINDS.values()]
        for name, said in heads:
            if said.strip():
                message[name] = " ".join(said.split())
        text, kind = self._body()
        if text.strip():
            message.set_content(text, subtype=kind)
        for part in self._storages("__attach"):
            self._attach(message, part)
        return message

    def text(self, *names: str) -> str:
        """The first of these properties that says something."""
        for name in names:
            if said := self._stream(f"{name}001F").decode("utf-16-le", errors="replace").strip("\0"):
                return said
            if data := self._stream(f"{name}001E"):
                return decode_as(data.strip(b"\0"), self._page)[0]
        return ""

    def _attach(self, message: EmailMessage, part: _Storage) -> None:
        if part.holds(_OBJECT) and len(self._way) < _MOST_DEEP:
            inner = _Storage(self._file, (*part._way, f"__substg1.0_{_OBJECT}"), self._max_chars)
            if inner.holds_list():
                message.add_attachment(inner.message())
                return
        name = " ".join(part.text(*_FILE_NAME).split()) or "without a name"
        data = part._stream(f"{_BYTES}0102") if name.lower().endswith(_EVENTS) else b""
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)

    def holds(self, name: str) -> bool:
        """Whether a property is held as a storage or a stream of its own."""
        return bool(self._file.exists([*self._way, f"__substg1.0_{name}"]))

    def holds_list(self) -> bool:
        """Whether its properties are listed, as those of messages are."""
        return bool(self._file.exists([*self._way, _LISTS]))

    def _body(self) -> tuple[str, str]:
        """The text and whether it is plain or a web page's."""
        if (plain := self.text(_BODY)).strip():
            return plain, "plain"
        if html := self._stream(f"{_HTML}0102") or self.text(_HTML).encode():
            return decode_as(html, self._page if self.holds(f"{_HTML}0102") else "")[0], "html"
        rich = _unpacked(self._stream(f"{_RICH}0102"), self._max_chars).decode("latin-1")
        return (str(striprtf.rtf_to_text(rich, errors="replace")) if rich else ""), "plain"

    def _sender(self) -> str:
        for addresses in _SENDER:
            *mails, name = addresses
            if self.text(*addresses):
                return _address(self.text(name), next((one for one in map(self.text, mails) if "@" in one), ""))
        return ""

    def _people(self) -> Iterator[tuple[str, str]]:
        for part in self._storages("__recip"):
            *mails, name = _RECIPIENT
            address = next((one for one in map(part.text, mails) if "@" in one), "")
            yield _KINDS.get(part._numbers.get(_KIND, 1), ""), _address(part.text(name), address)

    def _date(self) -> str:
        ticks = self._numbers.get(_SENT) or self._numbers.get(_CAME)
        try:
            return format_datetime(_EPOCH + timedelta(microseconds=ticks // 10)) if ticks else ""
        except OverflowError:
            return ""

    def _storages(self, kind: str) -> Iterator[_Storage]:
        storages = (tuple(one) for one in self._file.listdir(streams=False, storages=True))
        for way in sorted(way for way in storages if way[:-1] == self._way and way[-1].startswith(kind)):
            yield _Storage(self._file, way, self._max_chars)

    def _stream(self, name: str) -> bytes:
        data = compound.stream(self._file, "/".join([*self._way, f"__substg1.0_{name}"]))
        if len(data) > 4 * self._max_chars:
            raise LimitExceeded(f"The message holds more than {self._max_chars:,} characters.")
        return data

    def _listed(self) -> dict[str, int]:
        """The properties that are numbers or moments."""
        data = compound.stream(self._file, "/".join([*self._way, _LISTS]))
        head = _LIST_HEADS[0] if not self._way else _LIST_HEADS[1 if self._way[-1].endswith(_OBJECT) else 2]
        places = range(head, len(data) - 15, 16)
        return {f"{number(data, at + 2, 2):04X}": number(data, at + 8, 8) for at in places}


def _address(name: str, address: str) -> str:
    name = " ".join(name.split())
    return formataddr((name if name != address else "", address)) if address else name


def _unpacked(data: bytes, most: int) -> bytes:
    """Rich text as Outlook packs it (MS-OXRTFCP); as far as it goes where it is cut off."""
    if data[8:12] != _PACKED:
        return data[16:]
    size = min(number(data, 4), most)
    window = bytearray(_BEGUN.ljust(_WINDOW, b" "))
    out, at, where = bytearray(), 16, len(_BEGUN)
    while at < len(data) and len(out) < size:
        flags = data[at]
        at += 1
        for bit in range(8):
            if not flags >> bit & 1:
                piece, at = data[at : at + 1], at + 1
                pairs = [piece[0]] if piece else []
                _copy(window, where, pairs, out)
                where = (where + len(pairs)) % _WINDOW
                continue
            pair, at = int.from_bytes(data[at : at + 2], "big"), at + 2
            if pair >> 4 == where:
                return bytes(out)
            for step in range((pair & 0xF) + 2):
                _copy(window, where, [window[((pair >> 4) + step) % _WINDOW]], out)
                where = (where + 1) % _WINDOW
    return bytes(out)


def _copy(window: bytearray, where: int, signs: list[int], out: bytearray) -> None:
    for sign in signs:
        window[where] = sign
        out.append(sign)
