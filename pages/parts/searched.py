"""What was searched: what a search covered, how the question was understood, and what became of each candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import streamlit as st

from pages.parts import formatting, resources, scoping, table
from pages.parts.language import _, figure, msgid, ngettext, within
from rag_core.domain import Considered, Document, Searched, Trace

OUTCOMES = {
    "passage": msgid("Passage"),
    "rank": msgid("Ranked lower"),
    "mmr": msgid("Too like a better one"),
    "similar": msgid("Near-duplicate"),
    "threshold": msgid("Below the threshold"),
    "budget": msgid("No room in the prompt"),
}
_MODES = {
    "hybrid": msgid("words and meaning"),
    "dense": msgid("meaning"),
    "lexical": msgid("words"),
    "clusters": msgid("words, meaning and clusters"),
    "scaler": msgid("clusters first, then within them (SCALER)"),
}
_SCORES = {
    "dense": msgid("Meaning"),
    "piece": msgid("Best sentence"),
    "lexical": msgid("Words"),
    "clusters": msgid("Clusters"),
    "scaler": msgid("Within clusters"),
    "document": msgid("Document"),
    "fused": msgid("Fused"),
    "cross_encoder": msgid("Cross-encoder"),
    "rerank": msgid("Re-ranked"),
    "mmr": msgid("MMR"),
}
_SEARCH_STAGES = {
    "embed": msgid("question embedded"),
    "dense": msgid("by meaning"),
    "lexical": msgid("by words"),
    "clusters": msgid("by clusters"),
    "scaler": msgid("within clusters"),
    "fuse": msgid("fused"),
    "texts": msgid("texts fetched"),
    "cross_encoder": msgid("cross-encoder"),
    "pieces": msgid("best sentences"),
    "feedback": msgid("like the first"),
    "rows": msgid("table rows"),
    "fold": msgid("near-duplicates"),
    "pick": msgid("picked"),
    "hits": msgid("made ready"),
}
STAGES = {
    "prepare": msgid("understood"),
    "search": msgid("searched"),
    "first_text": msgid("first words after"),
    "generate": msgid("written"),
    "cite": msgid("checked"),
    "total": msgid("in all"),
}
SHOWN = 30
LISTED = 12  # with their words
WORDS_CHARS = 200
_MEANT = 3


def draw(trace: Trace, documents: Sequence[Document], key: str) -> None:
    """All of it, as lines and a table. `documents` are those of the library, for their titles."""
    searched = trace.searched
    if searched is None:
        return
    titles = {document.id: document.title for document in documents}
    with st.container(key=f"{key}_searched_lines", gap="xxsmall"):
        for line in _lines(trace, searched, titles):
            st.markdown(line)
    _passages(searched.candidates, titles, key)
    if searched.candidates and st.toggle(_("Figures of each candidate"), key=f"{key}_searched_figures"):
        _figures(searched, key)
    if searched.latency_ms:
        st.caption(formatting.plain(_("The search: {times}").format(times=_times(searched.latency_ms, _SEARCH_STAGES))))
    if trace.latency_ms.keys() & STAGES.keys() - {"search"}:
        st.caption(formatting.plain(_("The answer: {times}").format(times=_times(trace.latency_ms, STAGES))))


def _passages(candidates: Sequence[Considered], titles: Mapping[str, str], key: str) -> None:
    """What was answered from, and then what came next: each with its words, and a link to its page in another tab."""
    ranked = sorted(candidates, key=lambda item: item.outcome != "passage")[:LISTED]
    with st.container(key=f"{key}_searched_passages", gap="xxsmall"):
        for item in ranked:
            document_id = item.chunk_id.rpartition(":")[0]
            place = formatting.plain(f"{item.title}, {formatting.page(item.page, item.page_label)}")
            if document_id in titles:
                place = f"[{place}](./?{urlencode({'d': document_id, 'p': item.page})})"
            outcome = "" if item.outcome == "passage" else f" :gray[{_(OUTCOMES.get(item.outcome, item.outcome))}]"
            st.markdown(f"{place}{outcome}")
            if words := _words(item) if document_id in titles else "":
                st.caption(formatting.plain(formatting.shorten(words, WORDS_CHARS)))


def _words(item: Considered) -> str:
    """The text of a candidate as the library has it now; "" where it is another by now."""
    document_id, _colon, index = item.chunk_id.rpartition(":")
    if not index.isdecimal():
        return ""
    chunk = next(iter(resources.library().chunks(document_id, first=int(index), limit=1)), None)
    return chunk.text if chunk is not None and chunk.page == item.page else ""


def _figures(searched: Searched, key: str) -> None:
    """Every candidate's scores, for whoever asks how one came before another."""
    shown, scores = rows(searched.candidates[:SHOWN]), {_(score) for score in _SCORES.values()}
    config = {name: st.column_config.NumberColumn(format="%.3f") for name in shown if name in scores}
    table.draw(
        f"{key}_searched_candidates", _("Candidates"), shown,
        {**config, _("Candidate"): table.wide(_("Candidate"), 210)},
    )  # fmt: skip
    if len(searched.candidates) > SHOWN:
        st.caption(
            ngettext("and {number} more candidate", "and {number} more candidates", len(searched.candidates) - SHOWN)
        )


def score_name(kind: str) -> str:
    """What a kind of score is called within a line."""
    return within(_(_SCORES.get(kind, kind)))


def _times(latency_ms: Mapping[str, float], stages: Mapping[str, str]) -> str:
    """Those of `stages`, in its order: a kept trace has lost its own."""
    return " · ".join(
        f"{_(said)} {figure(latency_ms[name], ',.1f')} ms" for name, said in stages.items() if name in latency_ms
    )


def _lines(trace: Trace, searched: Searched, titles: Mapping[str, str]) -> list[str]:
    """What it went by, each line Markdown with its name first."""
    meant = searched.understood
    surest = sorted(meant.documents.items(), key=lambda item: -item[1])[:_MEANT]
    within, counts = scoping.in_words(searched.scope, titles), formatting.count(searched.documents, "document")
    covered = ", ".join([*([counts] if counts != within else []), formatting.count(searched.chunks, "passage")])
    told = {
        _("Searched for"): trace.query,
        _("Within"): f"{within} ({covered})",
        _("Found by"): _(_MODES.get(searched.mode, searched.mode)),
        _("Question"): meant.kind if meant.kind != "fact" else "",
        _("Names"): ", ".join(meant.names),
        _("Years"): ", ".join(map(str, meant.years)),
        _("Together"): ", ".join(f"“{phrase}”" for phrase in meant.phrases),
        _("Without"): ", ".join(meant.excluded),
        _("Documents meant"): ", ".join(titles.get(key, _("a removed one")) for key, _sure in surest),
        _("Expanded by"): searched.expansion,
    }
    return [f"**{name}**  {formatting.plain(value)}" for name, value in told.items() if value]


def rows(candidates: Sequence[Considered]) -> dict[str, Sequence[object]]:
    """The table by columns: a candidate with its place, its scores, and what became of it."""
    used = [name for name in _SCORES if any(name in candidate.scores for candidate in candidates)]
    places = [
        " · ".join(p for p in (formatting.page(item.page, item.page_label), item.section) if p) for item in candidates
    ]
    return {
        _("Candidate"): [table.text(f"{item.title}, {place}") for item, place in zip(candidates, places, strict=True)],
        **{_(_SCORES[name]): [item.scores.get(name) for item in candidates] for name in used},
        _("Outcome"): [_(OUTCOMES.get(item.outcome, item.outcome)) for item in candidates],
    }
