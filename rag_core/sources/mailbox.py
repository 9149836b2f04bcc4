"""Mailboxes (mbox, RFC 4155): the messages of one file, each between two lines that begin with “From ”."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from email.errors import MessageError
from email.parser import BytesHeaderParser
from email.policy import default
from email.utils import parsedate_to_datetime
from typing import BinaryIO

from rag_core.errors import LimitExceeded, UnreadableDocument
from rag_core.sources.archives import MAX_MEMBER_BYTES, Budget, Member

# Mail of twenty years, a message after the other: none of it is unfolded.
MAX_MESSAGES = 200_000
_MARK = b"From "
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
_LINE_BYTES = 2**20
_HEAD_BYTES = 64 * 1024
_NO_NAME = re.compile(r"[^\w .,()-]+")
_SUBJECT_CHARS = 60


def mailbox_members(stream: BinaryIO, name: str, budget: Budget) -> Iterator[Member]:
    """The messages of a mailbox, each called by its day and subject. Raises UnreadableDocument for what is none."""
    if not stream.read(len(_MARK)).startswith(_MARK):
        raise UnreadableDocument("The file is named as mailboxes are, but holds none.")
    stream.seek(0)
    names: Counter[str] = Counter()
    for message in _messages(stream):
        budget.count(MAX_MESSAGES)
        called = _name(message)
        names[called] += 1
        number = f" ({names[called]})" if names[called] > 1 else ""
        yield Member(f"{called}{number}.eml", len(message), lambda message=message: message)  # type: ignore[misc]


def _messages(stream: BinaryIO) -> Iterator[bytes]:
    lines, size, is_blank = list[bytes](), 0, True
    while line := stream.readline(_LINE_BYTES):
        if is_blank and line.startswith(_MARK):
            if lines:
                yield _whole(lines)
            lines, size = [], 0
        else:
            lines.append(line)
            size += len(line)
            if size > MAX_MEMBER_BYTES:
                raise LimitExceeded("A message of the mailbox is too large: it and those behind it were not read.")
        is_blank = not line.strip()
    if lines:
        yield _whole(lines)


def _whole(lines: list[bytes]) -> bytes:
    return _QUOTED.sub(rb"\1", b"".join(lines)).rstrip() + b"\n"


def _name(message: bytes) -> str:
    """What a message is called by, the same whenever it is looked at."""
    subject = day = ""
    try:
        head = BytesHeaderParser(policy=default).parsebytes(message[:_HEAD_BYTES])
        subject = " ".join(_NO_NAME.sub(" ", str(head.get("Subject", ""))).split())[:_SUBJECT_CHARS].strip(" .")
        day = parsedate_to_datetime(str(head.get("Date", ""))).date().isoformat()
    except (MessageError, ValueError, TypeError, LookupError, AttributeError, IndexError):
        pass  # it is called by what was found
    return " ".join(filter(None, (day, subject))) or "message"
