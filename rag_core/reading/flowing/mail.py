"""Mail (EML), and web pages saved as such (MHTML): who wrote to whom, when and about what, the message and those that
are forwarded with it, events and address cards that are attached; of other attachments their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from rag_core.errors import LimitExceeded, UnreadableDocument
from rag_core.reading.base import Details
from rag_core.reading.flowing import calendar_cards, web
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.flowing.damage import spared
from rag_core.reading.flowing.mail_parts import Part, message_of, parts, text_of
from rag_core.reading.flowing.unseen import hidden_note, hidden_texts

_HEADERS = ("From", "To", "Cc", "Date")
_DEEPEST, _MOST_ATTACHED = 4, 500
_BROWSER = re.compile(r"\W*Saved by\b", re.IGNORECASE)  # what saved a page stands for who sent it
_PARAGRAPHS = re.compile(r"\n\s*\n")
_PAGE = re.compile(r"\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)


def read(path: Path, max_chars: int) -> Flow:
    """Read a message. Raises UnreadableDocument for what has none of a message's headers, and LimitExceeded."""
    # Attachments, which are left out, make most of a message: as base64 they take four bytes for three.
    if path.stat().st_size > 8 * max_chars:
        raise LimitExceeded(f"The message has {path.stat().st_size:,} bytes, more than {8 * max_chars:,}.")
    message = message_of(path.read_bytes())
    if not any(message.get(name) for name in (*_HEADERS, "Subject")):
        raise UnreadableDocument("The file is named as mail is, but holds no message.")
    if _BROWSER.match(str(message.get("From", ""))):
        del message["From"]
    notes: list[str] = []
    return Flow(blocks(message, notes), details(message), notes=notes)


def details(message: Any) -> Details:
    """What a message is about, and who wrote it."""
    return Details(_subject(message), _author(message))


def blocks(message: Any, notes: list[str], level: int = 1) -> Iterator[Block]:
    """What a message says. notes: filled with what was not read."""
    yield Block("heading", _subject(message), level)
    found = list(parts(message))
    attached, unread = (_names(found, kinds) for kinds in (("event", "attachment"), ("attachment",)))
    heads = [f"{name}: {message[name]}" for name in _HEADERS if message.get(name)]
    heads += [f"Attachments: {attached}"] if attached and message.get("From") else []  # a saved page's are its pictures
    yield Block("paragraph", "\n".join(heads))
    texts = [part for part in found if part.kind == "text"]
    forwarded = [part for part in found if part.kind == "message"]
    for part in texts:
        yield from spared(_body(part, _subject(message), notes), "The text of the message", notes)
    # An invitation often comes twice, as a form of the text and attached.
    events = {" ".join(text.split()): text for part in found if part.kind == "event" and (text := text_of(part, notes))}
    for text in events.values():
        yield from spared(calendar_cards.blocks(text, notes, level + 1), "An event or address card", notes)
    if unread:
        notes.append(f"Attachments are not read: {unread}.")
    if not forwarded and not events and not any(text_of(part, []).strip() for part in texts):
        notes.append(f"The message “{_subject(message)[:100]}” has no text of its own.")
    for part in forwarded:
        if level < _DEEPEST:
            yield from spared(blocks(part.element, notes, level + 1), "A message that is forwarded", notes)
        else:
            notes.append(f"A message that is forwarded within {_DEEPEST} others is not read.")


def _names(found: list[Part], kinds: tuple[str, ...]) -> str:
    """The names of parts of some kinds; an invitation that is a form of the text has none."""
    return ", ".join(dict.fromkeys(part.name for part in found if part.kind in kinds and part.name))[:_MOST_ATTACHED]


def _body(part: Part, subject: str, notes: list[str]) -> Iterator[Block]:
    text = text_of(part, notes)
    if not part.is_html and not _PAGE.match(text):
        for paragraph in _PARAGRAPHS.split(text.replace("\r\n", "\n")):
            yield Block("paragraph", paragraph)
        return
    root = web.parsed(text)
    notes += filter(None, [hidden_note(hidden_texts(root))])
    found = web.blocks(root)
    first = [block for block in [next(found, None)] if block]
    is_title = [(block.kind, block.text) for block in first] == [("heading", subject)]  # as a saved page has it
    yield from chain(() if is_title else first, found)


def _subject(message: Any) -> str:
    return str(message.get("Subject", ""))


def _author(message: Any) -> str:
    sender = message.get("From")
    addresses = getattr(sender, "addresses", ())
    return addresses[0].display_name or addresses[0].addr_spec if addresses else ""
