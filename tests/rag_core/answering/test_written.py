"""What an answer says of how it was made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.answering.citations import CitationWriter, Passages
from rag_core.answering.question import Question
from rag_core.answering.strategies.written import check_claims
from rag_core.answering.written import Written, answer_of
from rag_core.domain import Considered, Retrieval, Searched, Trace
from rag_core.settings import Settings
from tests.rag_core.answering.parts import encode_tokens, hit

HITS = tuple(hit(f"Tea is grown on hill {n}.", page=n, index=n) for n in range(1, 8))
QUESTION = Question("Where?", ("Where?",), "model", Settings())
SEARCHED = Searched(candidates=tuple(Considered(one.chunk_id, "Report", one.page, "", {}, "passage") for one in HITS))
WRITTEN = Written(Retrieval(HITS, Trace(searched=SEARCHED)), HITS, cited=False)


@pytest.mark.parametrize("text", ["Tea is grown on hill 1 [1].", "Not found in these documents."])
def test_passages_without_room_are_named_and_marked(text: str) -> None:
    writer = CitationWriter(Passages(HITS))
    writer.feed(text)
    checked = check_claims(replace(WRITTEN, left_out=HITS[2:]), writer, encode_tokens, 0.5, stopped=False)
    trace = answer_of(QUESTION, checked, {"total": 3.0}, stopped=False).trace
    assert trace.notes == (
        "5 of 7 passages did not fit into the prompt and were left out: "
        "Report, p. 3; Report, p. 4; Report, p. 5; and 2 more.",
    )
    assert trace.searched is not None
    assert [one.outcome for one in trace.searched.candidates] == ["passage"] * 2 + ["budget"] * 5
    assert trace.left_out == 5
    assert trace.latency_ms == {"total": 3.0}
