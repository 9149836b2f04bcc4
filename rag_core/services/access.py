"""Keys of the doors for programs: made, looked up, revoked; and the audit of what was changed.

A key reads `lectern_ID_SECRET`. The secret has 256 random bits, so that a plain SHA-256 of it tells nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Iterable

from rag_core.domain import KEY_PREFIX, ROLES, AccessKey, Role, address_of
from rag_core.errors import ConfigurationError, StoreUnavailable
from rag_core.services.cards import clean_tag
from rag_core.storage import Storage
from rag_core.storage.postgres.access import AccessStore

_NAME_CHARS = 100
# So old may be what is known of keys: one that another process revokes opens nothing any longer after it.
_FRESH_S = 1.0


class Access(AccessStore):
    """Who may use one library from outside. Thread-safe. Raises StoreUnavailable."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage.database)
        self._lock = threading.Lock()
        self._known: dict[str, tuple[AccessKey, bytes]] | None = None
        self._read_at = 0.0
        storage.notices.on(self._forget, "access_keys")

    def create(
        self, name: str, role: Role = "read", tags: Iterable[str] = (), person: str | None = None
    ) -> tuple[AccessKey, str]:  # fmt: skip
        """Make a key. Returns it with its text, which nobody can show again.

        One with `tags` sees the documents that have any of them, and can only read; one of a `person` sees and does
        what that person may, within its role. Raises ConfigurationError.
        """
        name, tags = " ".join(name.split())[:_NAME_CHARS], _clean(tags)
        owner = "" if person is None else address_of(person)
        if not name:
            raise ConfigurationError("A key needs a name.", help="Call it after whoever uses it.")
        if role not in ROLES:
            raise ConfigurationError(f"There is no role {role}.", help=f"Take one of: {', '.join(ROLES)}.")
        if tags and role != "read":
            raise ConfigurationError("A key that is narrowed to tags can only read.", help="Take the role read.")
        if owner and (tags or role == "admin"):
            raise ConfigurationError(
                "A key of a person is not narrowed to tags, and runs nothing.", help="Take the role read or write."
            )
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        self.add(key_id, name, role, tags, _digest(secret), owner)
        self._forget()
        return next(key for key in self.all() if key.id == key_id), f"{KEY_PREFIX}{key_id}_{secret}"

    def revoke(self, key_id: str) -> None:
        """Let a key open nothing any longer. Raises KeyError where there is none that does."""
        try:
            super().revoke(key_id)
        finally:
            self._forget()

    def verify(self, text: str) -> AccessKey | None:
        """The key of this text, or None. However many are asked for, the database is asked once a second at most."""
        key_id, secret = _parts(text)
        found = self._live().get(key_id)
        if found is None or not hmac.compare_digest(found[1], _digest(secret)):
            return None
        return found[0]

    def may_know(self, text: str) -> bool:
        """Whether there may be a key of this text, as far as is known without asking the database."""
        known = self._known
        return known is None or _parts(text)[0] in known

    def _live(self) -> dict[str, tuple[AccessKey, bytes]]:
        """Every key that was not revoked, with the hash of its secret, by its id."""
        with self._lock:
            if self._known is None or time.monotonic() - self._read_at > _FRESH_S:
                try:
                    self._known = {key.id: (key, digest) for key, digest in self.live()}
                except StoreUnavailable:
                    if self._known is None:
                        raise
                    # While the database is away nothing is told to anybody, so each does not have to wait for it.
                self._read_at = time.monotonic()
            return self._known

    def _forget(self) -> None:
        """What is known of keys is out of date, also what another thread is just reading."""
        with self._lock:
            self._known = None


def _clean(tags: Iterable[str]) -> list[str]:
    try:
        return [clean_tag(tag) for tag in tags]
    except ValueError as error:
        raise ConfigurationError(str(error)) from error


def _parts(text: str) -> tuple[str, str]:
    """The id and the secret of a key; no key has an empty id."""
    key_id, _, secret = text.removeprefix(KEY_PREFIX).partition("_") if text.startswith(KEY_PREFIX) else ("", "", "")
    return key_id, secret


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
