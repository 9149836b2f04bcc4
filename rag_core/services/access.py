"""Keys of the doors for programs: made, looked up, revoked; and the audit of what was changed.

A key reads `lectern_ID_SECRET`. The secret has 256 random bits, so that a plain SHA-256 of it tells nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Iterable

from rag_core.domain import KEY_PREFIX, ROLES, AccessKey, AuditEntry, Role
from rag_core.errors import ConfigurationError
from rag_core.services.cards import clean_tag
from rag_core.storage import Storage

_NAME_CHARS = 100
_REMEMBERED = 1000


class Access:
    """Who may use one library from outside. Thread-safe. Raises StoreUnavailable."""

    def __init__(self, storage: Storage) -> None:
        self._store = storage.access
        self._lock = threading.Lock()
        self._known: dict[bytes, AccessKey] = {}
        self._revoked = 0

    def create(self, name: str, role: Role = "read", tags: Iterable[str] = ()) -> tuple[AccessKey, str]:
        """Make a key. Returns it with its text, which nobody can show again.

        One with `tags` sees the documents that have any of them, and can only read. Raises ConfigurationError.
        """
        name, tags = " ".join(name.split())[:_NAME_CHARS], _clean(tags)
        if not name:
            raise ConfigurationError("A key needs a name.", help="Call it after whoever uses it.")
        if role not in ROLES:
            raise ConfigurationError(f"There is no role {role}.", help=f"Take one of: {', '.join(ROLES)}.")
        if tags and role != "read":
            raise ConfigurationError("A key that is narrowed to tags can only read.", help="Take the role read.")
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        self._store.add(key_id, name, role, tags, _digest(secret))
        return next(key for key in self._store.all() if key.id == key_id), f"{KEY_PREFIX}{key_id}_{secret}"

    def all(self) -> list[AccessKey]:
        """Every key, revoked ones too, newest first."""
        return self._store.all()

    def revoke(self, key_id: str) -> None:
        """Let a key open nothing any longer. Raises KeyError where there is none that does."""
        there = self._store.revoke(key_id)
        with self._lock:
            self._revoked += 1
            self._known.clear()
        if not there:
            raise KeyError(key_id)

    def verify(self, text: str) -> AccessKey | None:
        """The key of this text, or None."""
        digest = _digest(text)
        with self._lock:
            revoked = self._revoked
            if digest in self._known:
                return self._known[digest]
        key_id, _, secret = text.removeprefix(KEY_PREFIX).partition("_")
        found = self._store.find(key_id) if text.startswith(KEY_PREFIX) else None
        if found is None or not hmac.compare_digest(found[1], _digest(secret)):
            return None
        with self._lock:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            if revoked == self._revoked:  # or it may be the one that was revoked meanwhile
                self._known[digest] = found[0]
        return found[0]

    def note(self, who: str, action: str, status: int) -> None:
        """Write a line of the audit: who asked for what, and how it ended: an HTTP status, or a command's exit code."""
        self._store.note(who, action, status)

    def answered(self, who: str, key: str) -> tuple[str, str] | None:
        """The digest of the request that came under an idempotency key, and what was answered, as JSON."""
        return self._store.answered(who, key)

    def keep_answer(self, who: str, key: str, digest: str, answer: str) -> None:
        """Keep what was answered to a request, for whoever sends it again within a week."""
        self._store.keep_answer(who, key, digest, answer)

    def audit(self, limit: int = 100) -> list[AuditEntry]:
        """The last lines of the audit, newest first."""
        return self._store.audit(limit)


def _clean(tags: Iterable[str]) -> list[str]:
    try:
        return [clean_tag(tag) for tag in tags]
    except ValueError as error:
        raise ConfigurationError(str(error)) from error


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
