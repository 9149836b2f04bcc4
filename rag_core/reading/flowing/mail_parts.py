"""The parts of a message (RFC 2045 to 2047), found as well in those that programs write against the rules: boundaries
that are not quoted, not named or not closed, encodings that do not exist, base64 that is broken."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from contextlib import suppress
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import EmailPolicy
from typing import Any, Literal, NamedTuple

from rag_core.reading.encoding import decode, decode_as

_FORWARDED = "message/rfc822"
_MOST_NESTED = 50
_READ = ("text/plain", "text/html")
_EVENTS = ("text/calendar", "text/vcard", "text/x-vcard", "text/x-vcalendar", "text/directory", "application/ics")
_BEGINNING, _MOST_EVENT_BYTES = re.compile(rb"BEGIN:V(?:CALENDAR|CARD)", re.IGNORECASE), 500_000
_MARK = b"\xef\xbb\xbf"
_BLANK_LINE = re.compile(rb"\r?\n\r?\n|\r\r")
# The line of a mailbox between two messages, which some programs leave before the first.
_BEFORE = re.compile(rb"\s*(?:>From [^\r\n]*[\r\n]+)?")
_NAMED = re.compile(r"boundary\s*=\s*(?:\"([^\"\r\n]+)\"?|'([^'\r\n]+)'|([^;\"\r\n]+))", re.IGNORECASE)
# A line between two parts, by the header that stands behind it.
_BETWEEN = re.compile(r"^--([^\r\n]{1,200}?)[ \t]*(?:\r?\n|\r)(?=content-[a-z-]+[ \t]*:)", re.IGNORECASE | re.MULTILINE)
_NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")
_WORDS = re.compile(rb"[^\s]+ [^\s]+")


class Part(NamedTuple):
    """A part of a message: a text of it, a message that is sent along, an event or address card, or an attachment by
    its name."""

    kind: Literal["text", "message", "event", "attachment"]
    element: Any
    name: str = ""

    @property
    def is_html(self) -> bool:
        """Whether the part is a text that is written as a web page."""
        return bool(self.element.get_content_type() == "text/html")


class _Lenient(EmailPolicy):
    """Headers that make no sense are given as they were written."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        try:
            return super().header_fetch_parse(name, value)
        except Exception:  # noqa: BLE001 - the parser of headers raises anything for odd ones
            return " ".join(value.split())


POLICY: Any = _Lenient()


def message_of(data: bytes) -> Any:
    """The message that bytes hold, whatever stands before its first header."""
    data = data.removeprefix(_MARK)
    data = data[_BEFORE.match(data).end() :]  # type: ignore[union-attr]  # it matches nothing too
    end = _BLANK_LINE.search(data)
    head = data[: end.start()] if end else data
    if not head.isascii():  # as mail without MIME has it: in UTF-8, or what the writer's machine used
        data = decode(head)[0].encode() + data[len(head) :]
    return message_from_bytes(data, EmailMessage, policy=POLICY)  # type: ignore[arg-type]


def parts(message: Any) -> Iterator[Part]:
    """The parts of a message in their order. Of forms of one text the plain one is given, or what has a text at all."""
    if message.get_content_type() == _FORWARDED:  # it is nothing but another one
        yield Part("message", _inner(message))
    else:
        yield from _within(message, 0)


def text_of(part: Part, notes: list[str]) -> str:
    """What a text says, by its declared encoding where that is one and fits. notes: filled with what is damaged."""
    element = part.element
    if element.is_multipart() or element.get_content_maintype() == "multipart":  # one whose parts were not found
        return decode(_raw(element))[0]
    data, is_damaged = _unpacked(element)
    if is_damaged:
        notes.append("The text of the message is damaged (base64): a part of it may be missing.")
    return decode_as(data, str(element.get_content_charset() or ""))[0]


def _within(element: Any, depth: int) -> Iterator[Part]:
    if element.get_content_maintype() == "multipart":
        children = _children(element)
        if not children or depth == _MOST_NESTED:
            yield Part("text", element)
            return
        kind = element.get_content_subtype()
        if kind == "alternative":
            forms = [list(_within(child, depth + 1)) for child in children]
            yield from _best([[part for part in form if part.kind != "event"] for form in forms])
            yield from (part for form in forms for part in form if part.kind == "event")  # what an invitation is to
        elif kind == "related":  # a page with what it shows
            yield from _within(children[0], depth + 1)
            for child in children[1:]:
                yield Part("attachment", child, _name(child))
        else:
            for child in children:
                yield from _within(child, depth + 1)
    elif element.get_content_type() == _FORWARDED or _name(element).lower().endswith(".eml"):
        yield Part("message", _inner(element))
    elif _is_event(element):
        yield Part("event", element, str(element.get_filename() or ""))
    elif _is_text(element):
        yield Part("text", element)
    else:
        yield Part("attachment", element, _name(element))


def _best(forms: list[list[Part]]) -> list[Part]:
    """Of forms of one text the first that is plain and says anything, else the last that says anything."""
    saying = [form for form in forms if any(text_of(part, []).strip() for part in form if part.kind == "text")]
    plain = (form for form in saying if not any(part.is_html for part in form if part.kind == "text"))
    pages = [form for form in saying if any(part.is_html for part in form)]
    return next(plain, None) or (pages or saying or forms)[-1]


def _is_text(element: Any) -> bool:
    if element.get_content_maintype() != "text" or element.get_content_disposition() == "attachment":
        return False
    return element.get_content_type() in _READ or not element.get_filename()


def _is_event(element: Any) -> bool:
    """Whether it is an event or an address card, so small that it is a part of what the message says."""
    if element.get_content_type() not in _EVENTS and not _name(element).lower().endswith((".ics", ".vcf")):
        return False
    data = _unpacked(element)[0]
    return len(data) <= _MOST_EVENT_BYTES and _BEGINNING.search(data) is not None


def _name(element: Any) -> str:
    return str(element.get_filename() or element.get_content_type())


def _children(element: Any) -> list[Any]:
    """The parts of one that has several; what parts them is looked for where it is not said as it should be."""
    payload = element.get_payload()
    if isinstance(payload, list):
        return payload
    text = str(payload)
    named = _NAMED.search(next((value for name, value in element.raw_items() if name.lower() == "content-type"), ""))
    found = [mark.strip() for mark in (named.groups() if named else ()) if mark]
    found += [mark[1] for mark in _BETWEEN.finditer(text)][:1]
    mark = next((mark for mark in found if f"--{mark}" in text), None)
    if mark is None:
        return []
    quoted = mark.replace("\\", r"\\").replace('"', r"\"")
    head = f'Content-Type: {element.get_content_type()}; boundary="{quoted}"\n\n'
    again: Any = message_from_bytes(head.encode(errors="surrogateescape") + _raw(element), EmailMessage, policy=POLICY)  # type: ignore[arg-type]
    payload = again.get_payload()
    return payload if isinstance(payload, list) else []


def _inner(element: Any) -> Any:
    """The message that a part holds, also one that is packed, which is against the rules."""
    payload = element.get_payload()
    if not isinstance(payload, list):
        return message_of(_unpacked(element)[0])
    inner = payload[0]
    if str(element.get("Content-Transfer-Encoding", "")).strip().lower() == "base64" and not inner.keys():
        with suppress(binascii.Error):
            return message_of(_from_base64(_raw(inner)))
    return inner


def _raw(element: Any) -> bytes:
    return str(element.get_payload()).encode("utf-8", errors="surrogateescape")


def _unpacked(element: Any) -> tuple[bytes, bool]:
    """The bytes of a part, and whether some are missing."""
    data = element.get_payload(decode=True) or b""
    if str(element.get("Content-Transfer-Encoding", "")).strip().lower() != "base64":
        return data, False
    raw = _raw(element)
    if _WORDS.search(raw):  # it says so, but is not packed
        return raw, False
    with suppress(binascii.Error):
        sound = _from_base64(raw)
        return sound, bool(element.defects)
    return data, True


def _from_base64(raw: bytes) -> bytes:
    """What can be unpacked of base64 that may be cut off."""
    letters = _NO_BASE64.sub(b"", raw)
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    return binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))
