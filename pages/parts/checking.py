"""The comparison of all stores: its buttons, what it found, what was repaired."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from pages.parts import formatting
from pages.parts.language import _, figure, msgid, ngettext
from pages.parts.refreshing import doing, failure, watched
from rag_core.domain import Finding, Job, Report
from rag_core.library import Library

Kind = Literal["verify", "deep", "repair"]
Look = Literal["primary", "secondary"]
SHOWN = 100
DOING = {
    "verify": msgid("Comparing all stores"),
    "deep": msgid("Comparing everything that is kept"),
    "repair": msgid("Comparing everything, and repairing what differs"),
}
BUTTONS: tuple[tuple[Kind, str, str, str], ...] = (
    (
        "verify",
        msgid("Verify"),
        ":material/fact_check:",
        msgid("Compares counts and checksums of all, and a sample of the rest."),
    ),
    (
        "deep",
        msgid("Verify thoroughly"),
        ":material/manage_search:",
        msgid("Reads everything that is kept. Takes longer."),
    ),
    ("repair", msgid("Repair"), ":material/build:", msgid("Makes anew what differs, from the database.")),
)
PURPOSE = msgid(
    "Your documents are kept in one database; what finds passages is made from it. "
    "Verify compares them, Repair makes anew what differs."
)


def section(library: Library) -> None:
    """What it is for, the buttons and, below, the check under way or what the last one found."""
    st.markdown(_("## Is everything in order?"))
    st.markdown(_(PURPOSE))
    watched(lambda: _draw(library))


def _draw(library: Library) -> None:
    last = library.jobs.last("verify", "repair")
    busy = last is not None and not last.finished
    repairable = bool(last and last.result and any(item.repairable for item in last.result.findings))
    with st.container(key="system_buttons", horizontal=True, gap="small"):
        for kind, label, icon, tip in BUTTONS:
            wanted: Look = "primary" if kind == ("repair" if repairable else "verify") else "secondary"
            st.button(
                _(label), icon=icon, key=f"system_{kind}", type=wanted, help=_(tip), disabled=busy,
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
            doing(last, _(DOING[_kind(last)]))


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
    compared = (
        _("{documents} compared thoroughly, in {time} s") if report.deep else _("{documents} compared in {time} s")
    )
    documents = formatting.count(report.documents, "document")
    looked = compared.format(documents=documents, time=figure(report.took_s, ".1f"))
    if not report.findings:
        st.markdown(_(":green[:material/check_circle:] **No difference** :gray[{looked}]").format(looked=looked))
    else:
        count = formatting.count(len(report.findings), "difference")
        st.markdown(f":orange[:material/warning:] **{count}** :gray[{looked}]")
        _table(report.findings)
    if report.repaired:
        st.markdown(
            ngettext(
                ":green[:material/build:] **{number} difference repaired**",
                ":green[:material/build:] **{number} differences repaired**",
                len(report.repaired),
            )
        )
        _table(report.repaired, repaired=True)


def _table(findings: tuple[Finding, ...], *, repaired: bool = False) -> None:
    shown = findings[:SHOWN]
    rows = {
        _("Store"): [formatting.plain(item.store) for item in shown],
        _("Document"): [formatting.plain(item.title or item.document_id[:10]) or _("all") for item in shown],
        _("What differs"): [_sentence(item.message) + ("" if repaired else _remedy(item)) for item in shown],
    }
    st.table(rows, border="horizontal", hide_index=True)
    if len(findings) > SHOWN:
        st.caption(_("and {number} more").format(number=figure(len(findings) - SHOWN)))


def _sentence(message: str) -> str:
    return formatting.plain(message if message.endswith((".", "!", "?")) else f"{message}.")


def _remedy(item: Finding) -> str:
    return _(" :gray[Repair rebuilds it.]") if item.repairable else f" :orange[{formatting.plain(item.help)}]"
