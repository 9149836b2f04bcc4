"""Mail (EML), and web pages saved as such (MHTML): who wrote to whom, when and about what, the message and those that
are forwarded with it; of attachments their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from email import message_from_binary_file
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

from rag_core.errors import LimitExceeded, UnreadableDocument
from rag_core.reading.base import Details
from rag_core.reading.flowing import web
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.text import decode

_HEADERS = ("From", "To", "Cc", "Date")
_FORWARDED, _DEEPEST = "message/rfc822", 4
_BROWSER = re.compile(r"\W*Saved by\b", re.IGNORECASE)  # what saved a page stands for who sent it
_PARAGRAPHS = re.compile(r"\n\s*\n")


def read(path: Path, max_chars: int) -> Flow:
    """Read a message. Raises UnreadableDocument for what has none of a message's headers, and LimitExceeded."""
    # Attachments, which are left out, make most of a message: as base64 they take four bytes for three.
    if path.stat().st_size > 8 * max_chars:
        raise LimitExceeded(f"The message has {path.stat().st_size:,} bytes, more than {8 * max_chars:,}.")
    with path.open("rb") as file:
        message: Any = message_from_binary_file(file, EmailMessage, policy=default)  # type: ignore[arg-type]
    if not any(message.get(name) for name in (*_HEADERS, "Subject")):
        raise UnreadableDocument("The file is named as mail is, but holds no message.")
    if _BROWSER.match(str(message.get("From", ""))):
        del message["From"]
    others = (part for part in _attached(message) if part.get_content_type() != _FORWARDED)
    attached = dict.fromkeys(part.get_filename() or part.get_content_type() for part in others)
    notes = [f"Attachments are not read: {', '.join(attached)[:500]}."] if attached else []
    return Flow(_blocks(message, notes), Details(_subject(message), _author(message)), notes=notes)


def _blocks(message: Any, notes: list[str], level: int = 1) -> Iterator[Block]:
    """notes: filled with what was not read."""
    yield Block("heading", _subject(message), level)
    yield Block("paragraph", "\n".join(f"{name}: {message[name]}" for name in _HEADERS if message.get(name)))
    text = _plain(message)
    if text.strip():
        for paragraph in _PARAGRAPHS.split(text.replace("\r\n", "\n")):
            yield Block("paragraph", paragraph)
    elif body := message.get_body(("html",)):
        found = web.blocks(web.parsed(_text(body)))
        first = next(found, None)
        if first and (first.kind, first.text) != ("heading", _subject(message)):  # a saved page says its title itself
            yield first
        yield from found
    for part in _attached(message):
        if part.get_content_type() != _FORWARDED:
            continue
        if level < _DEEPEST:
            yield from _blocks(part.get_content(), notes, level + 1)
        else:
            notes.append(f"A message that is forwarded within {_DEEPEST} others is not read.")


def _attached(message: Any) -> Iterator[Any]:
    """What is sent along; a message that is nothing but another one sends that along."""
    if message.get_content_type() == _FORWARDED:
        yield message
    yield from message.iter_attachments()


def _subject(message: Any) -> str:
    return str(message.get("Subject", ""))


def _plain(message: Any) -> str:
    """The message as plain text; programs that write HTML leave it empty."""
    body = message.get_body(("plain",))
    return _text(body) if body is not None else ""


def _text(part: Any) -> str:
    if part.get_content_charset():
        with suppress(LookupError):  # an encoding that nobody knows
            return str(part.get_content())
    return decode(part.get_payload(decode=True))[0]


def _author(message: Any) -> str:
    sender = message.get("From")
    addresses = getattr(sender, "addresses", ())
    return addresses[0].display_name or addresses[0].addr_spec if addresses else ""
