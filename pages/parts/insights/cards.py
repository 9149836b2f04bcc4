"""The main numbers at a glance."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.language import _, figure
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
        (_("Questions"), figure(total.asked), _("Asked in conversations, by any door. Greetings are not counted.")),
        (
            _("Answered"),
            _share(total.answered, total.asked),
            _("{answered} questions have an answer.").format(answered=figure(total.answered)),
        ),
        (
            _("Perhaps"),
            _share(total.perhaps, total.asked),
            _("{perhaps} questions have what may answer them.").format(perhaps=figure(total.perhaps)),
        ),
        (
            _("Not found"),
            _share(total.not_found, total.asked),
            _("The documents did not hold {not_found} answers.").format(not_found=figure(total.not_found)),
        ),
        (_("Time"), f"{figure(whole.p50 / 1000, '.1f')} s" if whole else NOTHING, _slow(whole.p95 if whole else None)),
        (
            _("Thumbs up"),
            _share(up, up + down),
            _("{up} up, {down} down, of answers that were given a thumb.").format(up=figure(up), down=figure(down)),
        ),
        (
            _("Documents"),
            _of(used, used + insights.unused_count) if documents else NOTHING,
            _("Documents that an answer cites, of all there are."),
        ),
    ]


def _of(part: int, whole: int) -> str:
    return _("{done} of {whole}").format(done=figure(part), whole=figure(whole))


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else NOTHING


def _slow(ms: float | None) -> str:
    told = _("The median, from the question to the whole answer.")
    return (
        told if ms is None else f"{told} {_('95 of 100 took at most {time} s.').format(time=figure(ms / 1000, '.1f'))}"
    )
