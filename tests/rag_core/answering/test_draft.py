"""What an answer says of how it was made."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rag_core.answering.citations import CitationWriter, Passages
from rag_core.answering.conversation import Earlier
from rag_core.answering.dialogues import Dialogue
from rag_core.answering.draft import Draft
from rag_core.answering.strategies.written import checked
from rag_core.domain import Considered, Searched, Trace
from rag_core.models import ChatMessage
from rag_core.settings import Settings
from tests.rag_core.answering.parts import encode_tokens, hit

HITS = tuple(hit(f"Tea is grown on hill {n}.", page=n, index=n) for n in range(1, 8))


def draft_of(**combine: Any) -> Draft:
    draft = Draft("Where?", "Where?", "model", Settings(), hits=HITS)
    candidates = tuple(Considered(one.chunk_id, "Report", one.page, "", {}, "passage") for one in HITS)
    draft.retriever = SimpleNamespace(trace=Trace(searched=Searched(candidates=candidates)))
    draft.combine = SimpleNamespace(model=None, **combine)
    return draft


@pytest.mark.parametrize("text", ["Tea is grown on hill 1 [1].", "Not found in these documents."])
def test_passages_without_room_are_named_and_marked(text: str) -> None:
    writer = CitationWriter(Passages(HITS))
    writer.feed(text)
    trace = checked(draft_of(left_out=HITS[2:]), writer, encode_tokens, 0.5, stopped=False).trace
    assert trace.notes == (
        "5 of 7 passages did not fit into the prompt and were left out: "
        "Report, p. 3; Report, p. 4; Report, p. 5; and 2 more.",
    )
    assert trace.searched is not None
    assert [one.outcome for one in trace.searched.candidates] == ["passage"] * 2 + ["budget"] * 5
    assert trace.left_out == 5


@pytest.mark.parametrize(("prompt", "notes"), [("Three? Four?", 1), ("Four?", 0)])
def test_what_of_the_conversation_is_not_in_the_prompt_is_told(prompt: str, notes: int) -> None:
    draft = draft_of(told=Dialogue((ChatMessage("user", prompt),)))
    draft.earlier = Earlier("Three?", left_out=2)
    writer = CitationWriter(Passages(HITS))
    writer.feed("Tea is grown on hill 1 [1].")
    assert len(checked(draft, writer, encode_tokens, 0.5, stopped=False).trace.notes) == notes
