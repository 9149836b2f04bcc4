"""How much of each watched folder is read: `423 of 501 read`, why not the rest, and what mends that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from pages.parts import filtering, formatting
from pages.parts.language import _, figure, msgid, server_text
from rag_core.domain import Coverage

_NAMED = 20
_PASSED_OVER = (
    msgid("Of kinds that are not taken from folders."), msgid("Add one by itself to have it tried."),
)  # fmt: skip


def draw(covered: Iterable[Coverage]) -> None:
    """A folded part for each folder of which something is not read."""
    for number, one in enumerate(one for one in covered if one.unread or one.passed_over):
        with st.expander(_title(one), icon=":material/folder:", key=f"upload_covered_{number}"):
            for (reason, help_text), names in reasons(one).items():
                files = formatting.count(len(names), "file")
                st.markdown(
                    f"**{files}** {formatting.plain(server_text(reason))} "
                    f":gray[{formatting.plain(server_text(help_text))}]"
                )
                rest = _("and {number} more").format(number=figure(len(names) - _NAMED))
                more = [rest] if len(names) > _NAMED else []
                st.caption(", ".join([*map(formatting.plain, names[:_NAMED]), *more]))
            if one.unread and one.ready >= filtering.FILTER_FROM:
                st.button(
                    _("Show those that failed in the list"), icon=":material/filter_list:", type="tertiary",
                    key=f"upload_unread_of_{number}", on_click=filtering.only, args=("failed",),
                )  # fmt: skip


def words(one: Coverage) -> str:
    """`423 of 501 read`."""
    return _("{done} of {whole} read").format(done=figure(one.ready), whole=figure(one.files))


def share(one: Coverage) -> float:
    """How much of a folder is done with, from 0 to 1: read, or known not to be."""
    return (one.files - _waiting(one)) / one.files if one.files else 0.0


def reasons(one: Coverage) -> Mapping[tuple[str, str], Sequence[str]]:
    """Why files are not read, and what mends it, with their names; most files first."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, reason, help_text in one.unread:
        found.setdefault((reason, help_text), []).append(name)
    if one.passed_over:
        found[_PASSED_OVER] = list(one.passed_over)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _title(one: Coverage) -> str:
    waiting = _waiting(one)
    coming = _("{number} to go").format(number=figure(waiting))
    told = ", ".join([words(one), *([coming] if waiting > 0 else [])])
    why = _("{told}; why not the rest").format(told=told)
    return f"{formatting.plain(formatting.shorten(one.location, 60))} :gray[{why}]"


def _waiting(one: Coverage) -> int:
    return max(one.files - one.ready - len(one.unread) - len(one.passed_over), 0)
