"""How the library is: its stores and models, and the comparison of all stores with its findings."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

import streamlit as st

from pages.parts import words
from pages.parts.checking import Check, CheckBoard, Kind
from rag_core.domain import Finding, LibraryStatus, Report

if TYPE_CHECKING:
    from rag_core.library import Library

Look = Literal["primary", "secondary"]
SHOWN = 100
REFRESH_S = 0.5
DOING = {
    "verify": "Comparing all stores",
    "deep": "Comparing every text, vector and file",
    "repair": "Comparing every text and vector, and mending what differs",
}
BUTTONS: tuple[tuple[Kind, str, str, str], ...] = (
    ("verify", "Verify", ":material/fact_check:", "Compares ids, counts and checksums, and a sample of vectors."),
    ("deep", "Verify thoroughly", ":material/manage_search:", "Reads every text, vector and file. Takes longer."),
    ("repair", "Repair", ":material/build:", "Makes again what differs, from PostgreSQL. Nothing is embedded."),
)


def facts(library: Library) -> None:
    """What the library is made of, one line each, and what is worth saying."""
    status = library.status()
    counts = [words.count(status.documents, "document"), words.count(status.chunks, "chunk")]
    others = ((status.pending, "waiting"), (status.failed, "failed"))
    counts += [f"{number:,} {what}" for number, what in others if number]
    st.caption(", ".join(counts))
    with st.container(key="system_facts", gap="xsmall"):
        for label, value in lines(status):
            with st.container(horizontal=True, gap="small"):
                st.caption(label, width=140)
                st.markdown(value, width="stretch")
    for note in status.notes:
        st.caption(f":material/info: {words.plain(note)}")


def lines(status: LibraryStatus) -> list[tuple[str, str]]:
    """Labels and values of a status, as Markdown."""
    found = [
        ("Folder", words.plain(status.data_dir)),
        ("Embedding", words.plain(status.profile)),
        ("Search", words.plain(status.engine)),
        ("Database", words.plain(status.postgresql)),
        ("Index", words.plain(status.chroma)),
    ]
    for number, model in enumerate(status.models):
        ready = "ready" if model.ready else f"not ready. {model.reason}"
        found.append(("" if number else "Models", f"{words.plain(model.label)} :gray[{words.plain(ready)}]"))
    return found


def check(board: CheckBoard) -> None:
    """The buttons and, below, the check under way or what the last one found; it refreshes by itself."""
    st.fragment(_check, run_every=REFRESH_S if board.busy else None)(board, board.busy)


def _check(board: CheckBoard, was_busy: bool) -> None:
    last = board.check
    if was_busy and not board.busy:
        st.rerun()
    repairable = bool(last and last.report and any(item.repairable for item in last.report.findings))
    with st.container(key="system_buttons", horizontal=True, gap="small"):
        for kind, label, icon, tip in BUTTONS:
            wanted: Look = "primary" if kind == ("repair" if repairable else "verify") else "secondary"
            st.button(
                label, icon=icon, key=f"system_{kind}", type=wanted, help=tip, disabled=board.busy,
                on_click=_begin, args=(board, kind),
            )  # fmt: skip
    if st.session_state.pop("system_begun", False):
        st.rerun()  # the whole page, so that this part begins to refresh by itself
    if last is not None:
        _outcome(last)


def _begin(board: CheckBoard, kind: Kind) -> None:
    board.begin(kind)
    st.session_state["system_begun"] = True


def _outcome(last: Check) -> None:
    with st.container(key="system_outcome", gap="small"):
        if last.error is not None:
            st.markdown(f":red[:material/error:] **{words.plain(str(last.error))}**")
            st.caption(words.plain(last.error.help))
        elif last.report is not None:
            _report(last.report)
        else:
            seconds = int(time.monotonic() - last.started)
            with st.container(key="system_doing"):
                st.markdown(f"{DOING[last.kind]} :gray[{seconds} s]")


def _report(report: Report) -> None:
    how = "thoroughly, " if report.deep else ""
    looked = f"{words.count(report.documents, 'document')} compared {how}in {report.took_s:.1f} s"
    if not report.findings:
        st.markdown(f":green[:material/check_circle:] **No difference** :gray[{looked}]")
    else:
        count = words.count(len(report.findings), "difference")
        st.markdown(f":orange[:material/warning:] **{count}** :gray[{looked}]")
        _table(report.findings)
    if report.mended:
        st.markdown(f":green[:material/build:] **{words.count(len(report.mended), 'difference')} mended**")
        _table(report.mended, mended=True)


def _table(findings: tuple[Finding, ...], *, mended: bool = False) -> None:
    shown = findings[:SHOWN]
    rows = {
        "Store": [words.plain(item.store) for item in shown],
        "Document": [words.plain(item.title or item.document_id[:10]) or "all" for item in shown],
        "What differs": [words.plain(item.message) + ("" if mended else _remedy(item)) for item in shown],
    }
    st.table(rows, border="horizontal", hide_index=True)
    if len(findings) > SHOWN:
        st.caption(f"and {len(findings) - SHOWN:,} more")


def _remedy(item: Finding) -> str:
    return " :gray[Repair mends it.]" if item.repairable else f" :orange[{words.plain(item.help)}]"
