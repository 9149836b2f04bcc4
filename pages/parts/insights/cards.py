"""The main numbers at a glance."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rag_core.domain import Document, Insights

NOTHING = "–"


def draw(insights: Insights, documents: Sequence[Document]) -> None:
    """A card for each number."""
    with st.container(key="insights_cards"):
        for label, value, told in numbers(insights, len(documents)):
            st.metric(label, value, border=True, help=told)


def numbers(insights: Insights, documents: int) -> list[tuple[str, str, str]]:
    """Labels, values and what they mean."""
    total, whole = insights.total, next((time for time in insights.times if time.stage == "total"), None)
    up, down = sum(part.up for part in insights.trust), sum(part.down for part in insights.trust)
    used = sum(use.there for use in insights.used)
    return [
        ("Questions", f"{total.asked:,}", "Asked in conversations, by any door. Greetings are not counted."),
        ("Answered", _share(total.answered, total.asked), f"{total.answered:,} questions have an answer."),
        ("Perhaps", _share(total.perhaps, total.asked), f"{total.perhaps:,} questions have what may answer them."),
        ("Not found", _share(total.not_found, total.asked), f"The documents did not hold {total.not_found:,} answers."),
        ("Time", f"{whole.p50 / 1000:.1f} s" if whole else NOTHING, _slow(whole.p95 if whole else None)),
        ("Thumbs up", _share(up, up + down), f"{up:,} up, {down:,} down, of answers that were given a thumb."),
        ("Documents", f"{used:,} of {used + insights.unused_count:,}" if documents else NOTHING,
         "Documents that an answer cites, of all there are."),
    ]  # fmt: skip


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else NOTHING


def _slow(ms: float | None) -> str:
    told = "The median, from the question to the whole answer."
    return told if ms is None else f"{told} 95 of 100 took at most {ms / 1000:.1f} s."
