"""What was searched: what a search covered, how the question was understood, and what became of each candidate."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts import scoping, words
from pages.parts.components import component
from rag_core.domain import Considered, Searched

OUTCOMES = {
    "passage": "Passage",
    "rank": "Ranked too low",
    "mmr": "Too much like a better one (MMR)",
    "similar": "Near-duplicate",
    "threshold": "Below the threshold",
    "budget": "No room in the prompt",
}
_NUMBERS = ("dense", "lexical", "fused", "rerank", "mmr")
_COLUMNS = {"dense": "Meaning", "lexical": "Words", "fused": "Fused", "rerank": "Re-ranked", "mmr": "MMR"}
SHOWN = 30


def draw(searched: Searched, key: str) -> None:
    """All of it, as lines and a table."""
    st.caption(
        f"{words.count(searched.documents, 'document')}, {words.count(searched.chunks, 'chunk')} ·"
        f" {scoping.label(searched.scope)} · mode {searched.mode}"
    )
    for line in _understood(searched):
        st.caption(words.plain(line))
    if searched.expansion:
        st.caption(f"Expanded by: {words.plain(searched.expansion)}")
    component("table")(key=f"{key}_candidates", data=_table(searched.candidates[:SHOWN]))
    if len(searched.candidates) > SHOWN:
        st.caption(f"and {words.count(len(searched.candidates) - SHOWN, 'more candidate')}")
    if searched.latency_ms:
        times = " · ".join(f"{name} {value:,.1f} ms" for name, value in searched.latency_ms.items())
        st.caption(words.plain(times))


def _understood(searched: Searched) -> list[str]:
    meant = searched.understood
    lines = {
        "Asked for": meant.kind,
        "Names": ", ".join(meant.names),
        "Years": ", ".join(map(str, meant.years)),
        "Together": ", ".join(f"“{phrase}”" for phrase in meant.phrases),
        "Left out": ", ".join(meant.excluded),
    }
    told = " · ".join(f"{name}: {value}" for name, value in lines.items() if value)
    return [told] if told else []


def _table(candidates: tuple[Considered, ...]) -> dict[str, Any]:
    used = [name for name in _NUMBERS if any(name in candidate.scores for candidate in candidates)]
    columns = [
        _column("candidate", "Candidate", "text"),
        *(_column(name, _COLUMNS[name], "number") for name in used),
        _column("outcome", "Outcome", "text"),
    ]
    rows = [
        {
            "id": candidate.chunk_id, "name": candidate.title, "ticked": False, "acts": [],
            "cells": [
                _cell(candidate.title, note=" · ".join(p for p in (f"p. {candidate.page}", candidate.section) if p)),
                *(_cell(f"{candidate.scores[n]:.3f}" if n in candidate.scores else "–") for n in used),
                _cell(OUTCOMES.get(candidate.outcome, candidate.outcome)),
            ],
        }
        for candidate in candidates
    ]  # fmt: skip
    return {
        "kind": "candidates", "label": "Candidates", "columns": columns, "rows": rows, "ticks": False, "sort": None,
    }  # fmt: skip


def _column(key: str, label: str, kind: str) -> dict[str, Any]:
    return {"key": key, "label": label, "kind": kind, "sort": False}


def _cell(text: str, note: str = "") -> dict[str, Any]:
    return {"text": text, "note": note, "tone": "", "open": False, "badge": False, "help": ""}
