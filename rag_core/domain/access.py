"""Who may do what through the doors for programs, and what they did."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from rag_core.errors import ConfigurationError

Membership = Literal["reader", "editor", "owner"]
"""What a person may do with a document or a collection; each may do what those before it may."""
Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = ("read", "write", "admin")
"""Each may do what those before it may."""
KEY_PREFIX = "lectern_"
"""How the text of every key begins."""
_MOST_CHARS = 320  # of an address (RFC 5321)


def address_of(person: str) -> str:
    """A person as they are kept: their address in small letters. Raises ConfigurationError for what is none."""
    address = person.strip().lower()
    name, _, domain = address.rpartition("@")
    if (
        not (name and domain)
        or len(address) > _MOST_CHARS
        or any(not one.isprintable() or one == " " for one in address)
    ):
        raise ConfigurationError(f"“{person[:100]}” is no address of a person.", help="Write one as ada@example.org.")
    return address


@dataclass(frozen=True, slots=True)
class AccessKey:
    """A key of a door: what is known of it. Its secret is shown once, and kept as a hash alone.

    One with `tags` sees documents with any of them, and nothing else of the library; one of a `person` sees and does
    what that person may.
    """

    id: str
    name: str
    role: Role
    tags: tuple[str, ...]
    created_at: datetime
    revoked_at: datetime | None = None
    person: str = ""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """What changed data, or tried to: who, what was asked for, and how it ended.

    status: of HTTP, at the doors; the exit code of a command, and likewise 0 or 1 of what was done on a page.
    """

    at: datetime
    who: str
    action: str
    status: int
