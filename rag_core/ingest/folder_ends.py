"""What is told at the end of a folder: which of its files were not taken, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.errors import EncryptedDocument, LecternError, LimitExceeded, UnreadableDocument, UnsupportedDocument

_NAMED = 10
_WORDS = (("password", "with a password"), ("empty", "empty"), ("is no ordinary file", "no ordinary files"))
_KINDS: tuple[tuple[type[LecternError], str], ...] = (
    (EncryptedDocument, "with a password"),
    (LimitExceeded, "too large"),
    (UnsupportedDocument, "of kinds that are not read"),
    (UnreadableDocument, "that cannot be read"),
)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that was added: what is said of files of other kinds, and the names of all that was tried."""

    name: str
    note: str
    tried: Sequence[str]

    def told(self, failures: Mapping[str, LecternError]) -> str:
        """What is said of it at its end; nothing where all was taken."""
        groups: dict[str, list[str]] = defaultdict(list)
        for name in dict.fromkeys(self.tried):
            if name in failures:
                groups[_reason(failures[name])].append(name)
        parts = [f"{len(names):,} {reason} ({_named(names)})" for reason, names in groups.items()]
        return " ".join(filter(None, [f"Not taken: {'; '.join(parts)}." if parts else "", self.note]))


def _reason(error: LecternError) -> str:
    said = next((words for mark, words in _WORDS if mark in str(error)), "")
    return said or next((words for kind, words in _KINDS if isinstance(error, kind)), "for other reasons")


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
