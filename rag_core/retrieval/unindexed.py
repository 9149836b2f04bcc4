"""Documents that the lexical index has yet to take: their candidates get the score that it would give them.

Otherwise what was added a moment ago would stand behind everything whose words are known.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rag_core.retrieval.indexes import Indexes
from rag_core.retrieval.memory_lexical import MemoryLexical
from rag_core.retrieval.query import Query
from rag_core.retrieval.rankers import Ranked, Sources


def caught_up(query: Query, ranked: Mapping[str, Ranked], sources: Sources, indexes: Indexes) -> Mapping[str, Ranked]:
    """What each ranker found, the lexical one also the waiting documents' chunks that another found.

    Raises StoreUnavailable.
    """
    lexical = ranked.get("lexical")
    if sources.lexical is None or lexical is None or not sources.waiting:
        return ranked
    late = list(dict.fromkeys(ref for some in ranked.values() for ref in some.refs if ref[0] in sources.waiting))
    rows = indexes.rows(late) if late else {}
    memory = MemoryLexical(sources.lexical.idf)
    for document in indexes.documents({key for key, _ in rows}).values():
        chunks = ((row.index, row.section, row.text) for row in rows.values() if row.document_id == document.id)
        memory.add(document.id, document.title, document.main_language, chunks)
    found = memory.search(query.weights, max(len(late), 1), phrases=query.phrases, excluded=query.excluded)
    # What the index has of them is of before.
    kept = [place for place, ref in enumerate(lexical.refs) if ref[0] not in sources.waiting]
    refs = [*(lexical.refs[place] for place in kept), *((key, index) for key, index, _ in found)]
    scores = np.array([*lexical.scores[kept].tolist(), *(score for _, _, score in found)], dtype=np.float32)
    best = sorted(range(len(refs)), key=lambda place: (-scores[place], refs[place]))
    return {**ranked, "lexical": Ranked([refs[place] for place in best], scores[best], lexical.low)}
