"""What a search does, resolved from settings in this one place."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.retrieval.rankers import MODES
from rag_core.settings import RetrievalSettings, Settings


@dataclass(frozen=True, slots=True)
class Plan:
    """A search's course. `rankers` are names in their registry; `rerank` is as the setting, of what was fused.

    `fetch_k` candidates of each ranker become `k` hits; by MMR with `mmr_lambda`, or the best for None. `k_by_kind`:
    more of them where a question asks for a list, a comparison or a summary. nearest_instead: an answer is made of the
    nearest chunks where none has a question's quoted words; a search then finds nothing. neighbours: chunks before and
    behind each passage of an answer that are found with it.
    """

    rankers: tuple[str, ...]
    index: str
    scan: str
    k: int
    fetch_k: int
    mmr_lambda: float | None
    fusion: str
    k_by_kind: bool
    nearest_instead: bool = False
    neighbours: int = 0
    rerank: str = "none"

    @property
    def by_clusters(self) -> set[str]:
        """The rankers among these that need the library's clusters."""
        return {"clusters", "scaler"} & set(self.rankers)


def planned(settings: RetrievalSettings) -> Plan:
    """The course of a search with these settings."""
    mode = "hybrid" if settings.mode == "auto" else settings.mode
    return Plan(
        rankers=MODES[mode],
        index=settings.index,
        scan=settings.scan,
        k=settings.k,
        fetch_k=max(settings.fetch_k, settings.k),
        mmr_lambda=settings.mmr_lambda if settings.mmr else None,
        fusion=settings.fusion,
        k_by_kind=settings.k_by_kind and settings.mmr,
        nearest_instead=settings.mmr,
        neighbours=settings.neighbours if settings.mmr else 0,
        rerank=settings.rerank,
    )


def for_passages(settings: Settings) -> RetrievalSettings:
    """How the passages of an answer are searched: MMR picks them, with a lambda of their own."""
    return settings.changed("retrieval", mmr=True, mmr_lambda=settings.answering.mmr_lambda).retrieval


def for_search(settings: Settings, **wanted: object) -> RetrievalSettings:
    """How a person's search goes: as the settings say, save for what is `wanted` and not None.

    Raises ConfigurationError.
    """
    changes = {name: value for name, value in wanted.items() if value is not None}
    return settings.changed("retrieval", **changes).retrieval
