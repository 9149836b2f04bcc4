"""Answers that a language model writes from numbered passages: its sentences are checked, their citations put right."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rag_core.answering import confidence
from rag_core.answering.citations import CitationWriter, is_not_found, renumbered, sentences_of
from rag_core.answering.conversation import earlier_turns
from rag_core.answering.dialogues import NOTHING_SAID, Dialogue, Dialogues
from rag_core.answering.draft import Draft
from rag_core.answering.encoding import Encoder, EncodeTokens
from rag_core.answering.grounding import Grounding
from rag_core.answering.quoted import quoted
from rag_core.answering.strategies.base import OnHits, Stop, Strategy
from rag_core.answering.strategies.extractive import Extraction, believed, extract
from rag_core.answering.strategies.units import stands_alone
from rag_core.domain import Answer
from rag_core.models.base import ChatModel
from rag_core.models.opened import OpenModels
from rag_core.models.prompts import WORKED

_EARLIER_SHARE = 32  # of the context, for turns before the last two: each word of them delays the answer's first


class Written(Strategy):
    """Lets any of the language models write."""

    def __init__(self, encoder: Encoder, models: OpenModels) -> None:
        self._encoder = encoder
        self._models = models
        self.dialogues = Dialogues()

    def chain(self, draft: Draft, stopping: Stop, on_widened: OnHits) -> Any:
        """RetrievalQA around the model that was asked for."""
        from rag_core.answering import chain as chains

        settings = draft.settings
        model = self._models.get(draft.model, settings)
        # An answer may take at most half of the context, or there is no room for passages.
        longest = min(settings.generation.max_tokens, model.context_tokens // 2)
        draft.earlier = earlier_turns(draft.history, model.count_tokens, model.context_tokens // _EARLIER_SHARE)
        history = draft.earlier.text
        if draft.worked:
            history += WORKED.fill(sums="; ".join(draft.worked))
        return chains.model_chain(draft.retriever, model, max_tokens=longest, history=history, cancelled=stopping,
            template=settings.answering.prompt, on_widened=on_widened, before=self._before(draft, model),
            follows=draft.query != draft.question, mark=draft.mark,
        )  # fmt: skip

    def _before(self, draft: Draft, model: ChatModel) -> Dialogue:
        """What the model was told and said last in this conversation, where it keeps what it read."""
        last = draft.history[-1].id if draft.history and draft.goes_on else ""
        return self.dialogues.after(draft.model, last) if last and model.keeps_prefix else NOTHING_SAID

    def keep(self, draft: Draft, text: str) -> None:
        """Keep what the model was told and said."""
        told: Dialogue = getattr(draft.combine, "told", NOTHING_SAID)
        if draft.message_id is not None and told.messages and not draft.settings.answering.prompt:
            self.dialogues.keep(draft.model, draft.message_id(), told.said(text))

    def answer(self, draft: Draft, writer: CitationWriter, stopped: bool) -> Answer:
        """The checked answer; where the model found none, with what the passages offer instead."""
        found = believed(draft.query, draft.hits, self._encoder, draft.aim).answerable
        answer = checked(draft, writer, self._encoder.tokens, found, stopped)
        return self._with_closest(answer, draft) if answer.abstained else answer

    def _with_closest(self, answer: Answer, draft: Draft) -> Answer:
        """A model's abstention with what the extractive one would offer from the same passages."""
        near = extract(draft.query, draft.hits, self._encoder, aim=draft.aim).quotes
        offered = tuple(filter(stands_alone, near))
        text, sentences, citations = quoted(Extraction(offered, answer.confidence, True))
        return replace(answer, text=text, sentences=sentences, citations=citations)


def checked(
    draft: Draft,
    writer: CitationWriter,
    encode_tokens: EncodeTokens,
    found: float,
    stopped: bool,
    notes: Sequence[str] = (),
) -> Answer:
    """What a language model wrote as an answer, its sentences checked against the passages.

    `found` is the probability that the passages hold an answer.
    """
    since = time.perf_counter()
    if is_not_found(writer.text) or not writer.text.strip():
        draft.lap("cite", since)
        return draft.abstention(found, stopped=stopped and not is_not_found(writer.text), writer=writer)
    written = sentences_of(writer.text)
    grounded = Grounding(writer.passages, encode_tokens).check(written, writer.register)
    text, sentences, citations = renumbered(writer.text, written, grounded, writer.register)
    sure, told = confidence.written(found, sentences)
    draft.lap("cite", since)
    return Answer(
        question=draft.question,
        text=text,
        sentences=sentences,
        citations=citations,
        hits=draft.hits,
        confidence=sure,
        abstained=False,
        model=draft.model,
        stopped=stopped,
        trace=draft.trace([*notes, *draft.notes(writer)], writer, citations, told),
    )
