"""Mail (EML): who wrote to whom, when and about what, and the message; of attachments their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
_PARAGRAPHS = re.compile(r"\n\s*\n")


def read(path: Path, max_chars: int) -> Flow:
    """Read a message. Raises UnreadableDocument for what has none of a message's headers, and LimitExceeded."""
    # Attachments, which are left out, make most of a message: as base64 they take four bytes for three.
    if path.stat().st_size > 8 * max_chars:
        raise LimitExceeded(f"The message has {path.stat().st_size:,} bytes, more than {8 * max_chars:,}.")
    with path.open("rb") as file:
        message: Any = message_from_binary_file(file, EmailMessage, policy=default)  # type: ignore[arg-type]
    if not any(message.get(name) for name in (*_HEADERS, "Subject")):
        raise UnreadableDocument("The file is named .eml but holds no message.")
    attached = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()]
    notes = (f"Attachments are not read: {', '.join(attached)[:500]}.",) if attached else ()
    subject = str(message.get("Subject", ""))
    return Flow(_blocks(message, subject), Details(subject, _author(message), notes=notes))


def _blocks(message: Any, subject: str) -> Iterator[Block]:
    yield Block("heading", subject)
    yield Block("paragraph", "\n".join(f"{name}: {message[name]}" for name in _HEADERS if message.get(name)))
    body = message.get_body(("plain", "html"))
    if body is None:
        return
    text = _text(body)
    if body.get_content_subtype() == "html":
        yield from web.blocks(web.parsed(text))
    else:
        for paragraph in _PARAGRAPHS.split(text.replace("\r\n", "\n")):
            yield Block("paragraph", paragraph)


def _text(part: Any) -> str:
    try:
        return str(part.get_content())
    except LookupError:  # an encoding that nobody knows
        return decode(part.get_payload(decode=True))[0]


def _author(message: Any) -> str:
    sender = message.get("From")
    addresses = getattr(sender, "addresses", ())
    return addresses[0].display_name or addresses[0].addr_spec if addresses else ""
