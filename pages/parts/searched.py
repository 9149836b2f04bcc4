"""What was searched: what a search covered, how the question was understood, and what became of each candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.parts import formatting, scoping, table
from rag_core.domain import Considered, Document, Searched, Trace
from rag_core.text.pages import counted

OUTCOMES = {
    "passage": "Passage",
    "rank": "Ranked lower",
    "mmr": "Too like a better one",
    "similar": "Near-duplicate",
    "threshold": "Below the threshold",
    "budget": "No room in the prompt",
}
_MODES = {
    "hybrid": "words and meaning", "dense": "meaning", "lexical": "words", "clusters": "words, meaning and clusters",
    "scaler": "clusters first, then within them (SCALER)",
}  # fmt: skip
_SCORES = {
    "dense": "Meaning", "piece": "Best sentence", "lexical": "Words", "clusters": "Clusters",
    "scaler": "Within clusters", "document": "Document",
    "fused": "Fused", "cross_encoder": "Cross-encoder", "rerank": "Re-ranked", "coverage": "Spread", "mmr": "MMR",
}  # fmt: skip
_SEARCH_STAGES = {
    "embed": "question embedded", "dense": "by meaning", "lexical": "by words", "clusters": "by clusters",
    "scaler": "within clusters",
    "fuse": "fused", "texts": "texts fetched", "cross_encoder": "cross-encoder", "pieces": "best sentences",
    "feedback": "like the first", "rows": "table rows", "coverage": "spread over clusters", "fold": "near-duplicates",
    "pick": "picked", "hits": "made ready",
}  # fmt: skip
STAGES = {
    "prepare": "understood", "search": "searched", "first_text": "first words after", "generate": "written",
    "cite": "checked", "total": "in all",
}  # fmt: skip
SHOWN = 30
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
    if searched.candidates:
        shown = rows(searched.candidates[:SHOWN])
        config = {name: st.column_config.NumberColumn(format="%.3f") for name in shown if name in _SCORES.values()}
        table.draw(
            f"{key}_searched_candidates", "Candidates", shown, {**config, "Candidate": table.wide("Candidate", 210)}
        )
    if len(searched.candidates) > SHOWN:
        st.caption(f"and {formatting.count(len(searched.candidates) - SHOWN, 'more candidate')}")
    if searched.latency_ms:
        st.caption(formatting.plain(f"The search: {_times(searched.latency_ms, _SEARCH_STAGES)}"))
    if trace.latency_ms.keys() & STAGES.keys() - {"search"}:
        st.caption(formatting.plain(f"The answer: {_times(trace.latency_ms, STAGES)}"))


def score_name(kind: str) -> str:
    """What a kind of score is called within a line."""
    return _SCORES.get(kind, kind).lower()


def _times(latency_ms: Mapping[str, float], stages: Mapping[str, str]) -> str:
    """Those of `stages`, in its order: a kept trace has lost its own."""
    return " · ".join(f"{said} {latency_ms[name]:,.1f} ms" for name, said in stages.items() if name in latency_ms)


def _lines(trace: Trace, searched: Searched, titles: Mapping[str, str]) -> list[str]:
    """What it went by, each line Markdown with its name first."""
    meant = searched.understood
    surest = sorted(meant.documents.items(), key=lambda item: -item[1])[:_MEANT]
    within, counts = scoping.in_words(searched.scope, titles), formatting.count(searched.documents, "document")
    covered = ", ".join([*([counts] if counts != within else []), formatting.count(searched.chunks, "passage")])
    told = {
        "Searched for": trace.query,
        "Within": f"{within} ({covered})",
        "Found by": _MODES.get(searched.mode, searched.mode),
        "Question": meant.kind if meant.kind != "fact" else "",
        "Names": ", ".join(meant.names),
        "Years": ", ".join(map(str, meant.years)),
        "Together": ", ".join(f"“{phrase}”" for phrase in meant.phrases),
        "Without": ", ".join(meant.excluded),
        "Documents meant": ", ".join(f"{titles.get(key, 'a removed one')} ({sure:.2f})" for key, sure in surest),
        "Expanded by": searched.expansion,
    }
    return [f"**{name}**  {formatting.plain(value)}" for name, value in told.items() if value]


def rows(candidates: Sequence[Considered]) -> dict[str, Sequence[object]]:
    """The table by columns: a candidate with its place, its scores, and what became of it."""
    used = [name for name in _SCORES if any(name in candidate.scores for candidate in candidates)]
    places = [" · ".join(p for p in (counted(item.page), item.section) if p) for item in candidates]
    return {
        "Candidate": [table.text(f"{item.title}, {place}") for item, place in zip(candidates, places, strict=True)],
        **{_SCORES[name]: [item.scores.get(name) for item in candidates] for name in used},
        "Outcome": [OUTCOMES.get(item.outcome, item.outcome) for item in candidates],
    }
