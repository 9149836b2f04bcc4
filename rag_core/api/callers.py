"""Who calls a door, and what they may do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from rag_core.api.limits import Hold
from rag_core.api.problems import Refused
from rag_core.domain import ROLES, Role

SCOPE_NAME = "lectern"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request. `tags` are those of the documents that they see, without any all; `person` is whose
    things they see and change, "" for whoever has the library as a whole.

    `owner`: they have the key that lies in the data directory, so they may read this machine's files anyway.
    """

    name: str
    role: Role
    tags: tuple[str, ...] = ()
    owner: bool = False
    person: str = ""

    def may(self, role: Role) -> bool:
        """Whether they may do what this role may."""
        return ROLES.index(self.role) >= ROLES.index(role)


@dataclass(slots=True)
class Passage:
    """A request on its way through the guard: its caller, what it holds, and whether what it does is to be noted."""

    caller: Caller
    id: str
    hold: Hold | None = None
    audited: bool = False
    started: float = field(default=0.0)


def passage_of(connection: HTTPConnection) -> Passage:
    """The way of a request that the guard let through."""
    passage: Passage = connection.scope[SCOPE_NAME]
    return passage


def caller_of(connection: HTTPConnection) -> Caller:
    """The caller of a request that the guard let through."""
    return passage_of(connection).caller


def note(connection: HTTPConnection) -> None:
    """Have a request that changes what others made noted in the audit, though its role is to read."""
    passage_of(connection).audited = True


def needs(role: Role, *, scoped: bool = False, whole: bool = False) -> Callable[[HTTPConnection], Awaitable[None]]:
    """A dependency: whoever calls has this role. Beyond reading, what they do is noted in the audit.

    `scoped` is said of what takes care of a caller's tags itself; whoever is narrowed to some may do nothing else. What
    asks the `whole` library, past the one that `open_library` gives, is for no person.
    """

    async def check(connection: HTTPConnection) -> None:
        passage = passage_of(connection)
        caller = passage.caller
        passage.audited = role != "read"
        if not caller.may(role):
            raise Refused(403, f"This needs a key with the role {role}.", "Ask whoever gave you the key.")
        if caller.tags and not scoped:
            raise Refused(403, "A key that is narrowed to tags searches, asks and reads documents alone.")
        if caller.person and whole:
            raise Refused(403, "This is of the library as a whole.", "Ask whoever runs it.")

    check.role = role  # type: ignore[attr-defined]
    return check
