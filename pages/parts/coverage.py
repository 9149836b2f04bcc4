"""How much of each watched folder is read: `423 of 501 read`, why not the rest, and what mends that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from pages.parts import formatting
from rag_core.domain import Coverage

_NAMED = 20
_PASSED_OVER = ("Of kinds that are not taken from folders.", "Add one by itself to have it tried.")


def draw(covered: Iterable[Coverage]) -> None:
    """A folded part for each folder of which something is not read."""
    for number, one in enumerate(one for one in covered if not one.is_whole or one.passed_over):
        with st.expander(_title(one), icon=":material/folder:", key=f"upload_covered_{number}"):
            for (reason, help_text), names in reasons(one).items():
                files = formatting.count(len(names), "file")
                st.markdown(f"**{files}** {formatting.plain(reason)} :gray[{formatting.plain(help_text)}]")
                more = [f"and {len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
                st.caption(", ".join([*map(formatting.plain, names[:_NAMED]), *more]))


def words(one: Coverage) -> str:
    """`423 of 501 read`."""
    return f"{one.ready:,} of {one.files:,} read"


def reasons(one: Coverage) -> Mapping[tuple[str, str], Sequence[str]]:
    """Why files are not read, and what mends it, with their names; most files first."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, reason, help_text in one.unread:
        found.setdefault((reason, help_text), []).append(name)
    if one.passed_over:
        found[_PASSED_OVER] = list(one.passed_over)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _title(one: Coverage) -> str:
    waiting = one.files - one.ready - len(one.unread) - len(one.passed_over)
    told = [words(one), *([f"{waiting:,} on their way"] if waiting > 0 else [])]
    return f"{formatting.plain(formatting.shorten(one.location, 60))} :gray[{', '.join(told)}; why not the rest]"
