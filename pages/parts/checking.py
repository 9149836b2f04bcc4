"""The comparison of all stores: its buttons, what it found, what was repaired."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from pages.parts import formatting
from pages.parts.refreshing import doing, failure, watched
from rag_core.domain import Finding, Job, Report
from rag_core.library import Library

Kind = Literal["verify", "deep", "repair"]
Look = Literal["primary", "secondary"]
SHOWN = 100
DOING = {
    "verify": "Comparing all stores",
    "deep": "Comparing everything that is kept",
    "repair": "Comparing everything, and repairing what differs",
}
BUTTONS: tuple[tuple[Kind, str, str, str], ...] = (
    ("verify", "Verify", ":material/fact_check:", "Compares counts and checksums of all, and a sample of the rest."),
    ("deep", "Verify thoroughly", ":material/manage_search:", "Reads everything that is kept. Takes longer."),
    ("repair", "Repair", ":material/build:", "Makes anew what differs, from the database."),
)
PURPOSE = (
    "Your documents are kept in one database; what finds passages is made from it. "
    "Verify compares them, Repair makes anew what differs."
)


def section(library: Library) -> None:
    """What it is for, the buttons and, below, the check under way or what the last one found."""
    st.markdown("## Is everything in order?")
    st.markdown(PURPOSE)
    watched(lambda: _draw(library))


def _draw(library: Library) -> None:
    last = library.jobs.last("verify", "repair")
    busy = last is not None and not last.finished
    repairable = bool(last and last.result and any(item.repairable for item in last.result.findings))
    with st.container(key="system_buttons", horizontal=True, gap="small"):
        for kind, label, icon, tip in BUTTONS:
            wanted: Look = "primary" if kind == ("repair" if repairable else "verify") else "secondary"
            st.button(
                label, icon=icon, key=f"system_{kind}", type=wanted, help=tip, disabled=busy,
                on_click=begin, args=(library, kind),
            )  # fmt: skip
    if last is None:
        return
    with st.container(key="system_outcome", gap="small"):
        if last.error is not None:
            failure(last.error)
        elif last.result is not None:
            _report(last.result)
        else:
            doing(last, DOING[_kind(last)])


def begin(library: Library, kind: Kind) -> None:
    """Begin a comparison or a repair."""
    if kind == "repair":
        library.jobs.submit("repair")
    else:
        library.jobs.submit("verify", deep=kind == "deep")


def _kind(job: Job) -> Kind:
    if job.kind == "repair":
        return "repair"
    return "deep" if job.params.get("deep") else "verify"


def _report(report: Report) -> None:
    how = "thoroughly, " if report.deep else ""
    looked = f"{formatting.count(report.documents, 'document')} compared {how}in {report.took_s:.1f} s"
    if not report.findings:
        st.markdown(f":green[:material/check_circle:] **No difference** :gray[{looked}]")
    else:
        count = formatting.count(len(report.findings), "difference")
        st.markdown(f":orange[:material/warning:] **{count}** :gray[{looked}]")
        _table(report.findings)
    if report.repaired:
        st.markdown(f":green[:material/build:] **{formatting.count(len(report.repaired), 'difference')} repaired**")
        _table(report.repaired, repaired=True)


def _table(findings: tuple[Finding, ...], *, repaired: bool = False) -> None:
    shown = findings[:SHOWN]
    rows = {
        "Store": [formatting.plain(item.store) for item in shown],
        "Document": [formatting.plain(item.title or item.document_id[:10]) or "all" for item in shown],
        "What differs": [_sentence(item.message) + ("" if repaired else _remedy(item)) for item in shown],
    }
    st.table(rows, border="horizontal", hide_index=True)
    if len(findings) > SHOWN:
        st.caption(f"and {len(findings) - SHOWN:,} more")


def _sentence(message: str) -> str:
    return formatting.plain(message if message.endswith((".", "!", "?")) else f"{message}.")


def _remedy(item: Finding) -> str:
    return " :gray[Repair rebuilds it.]" if item.repairable else f" :orange[{formatting.plain(item.help)}]"
