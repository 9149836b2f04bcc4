"""Answers that a language model writes from numbered passages: its sentences are checked, their citations put right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from rag_core.answering import confidence
from rag_core.answering.citations import CitationWriter, WrittenSentence, is_not_found, renumbered, sentences_of
from rag_core.answering.conversation import earlier_turns
from rag_core.answering.dialogues import NOTHING_SAID, Dialogue, Dialogues
from rag_core.answering.encoding import Encoder, EncodeTokens
from rag_core.answering.going_on import Beginning
from rag_core.answering.grounding import Grounding
from rag_core.answering.passage_prompt import PromptFrame
from rag_core.answering.question import Question
from rag_core.answering.quotations import quoted
from rag_core.answering.strategies.base import PassageStrategy
from rag_core.answering.strategies.extractive import believed, extract
from rag_core.answering.strategies.plain_writing import write_plainly, writes_plainly
from rag_core.answering.strategies.query_intent import QueryIntent
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written, abstain
from rag_core.domain import Retrieval, Sentence
from rag_core.errors import ModelUnavailable
from rag_core.models.base import ChatModel
from rag_core.models.messages import Delta, Usage
from rag_core.models.prompts import WORKED
from rag_core.settings import Settings

_REFUSED = "Not sure: the language model found no answer in the passages."
_EARLIER_SHARE = 32  # of the context, for turns before the last two: each word of them delays the answer's first

OpenModel = Callable[[Question], ChatModel]
"""The language model that a question is for, opened where it is not yet. Raises ModelUnavailable."""


class WrittenByModel(PassageStrategy):
    """Lets any of the language models write. What they were told and said is kept for the next question."""

    def __init__(self, encoder: Encoder, open_model: OpenModel) -> None:
        super().__init__(encoder)
        self._open_model = open_model
        self.dialogues = Dialogues()

    def prepare(self, question: Question) -> None:
        """Open the model that was asked for."""
        self._open_model(question)

    def compose(self, question: Question, retrieval: Retrieval, progress: Progress) -> Written:
        """Ask the model about the passages that fit into its context; without passages it is not asked at all."""
        if not retrieval.hits:
            written = Written(retrieval)
            progress.tell(written)
            return abstain(written, 0.0)
        model, settings = self._open_model(question), question.settings
        if writes_plainly(model, settings):
            return write_plainly(question, retrieval, model, self._encoder, self.dialogues, progress)
        longest, begun = longest_answer(model, settings), question.beginning
        there = begun_tokens(model, begun, longest)
        earlier = earlier_turns(question.history, model.count_tokens, model.context_tokens // _EARLIER_SHARE)
        sums = WORKED.fill(sums="; ".join(retrieval.sums)) if retrieval.sums else ""
        query = retrieval.trace.query
        frame = PromptFrame(
            model, query, longest + there, question.mark, earlier.text + sums, settings.answering.prompt,
            question.instructions,
        )  # fmt: skip
        prompt = frame.filled(retrieval.hits, self._before(question, model), follows=query != question.text)
        # A dialogue that goes on has its turns as they were, and a prompt of the user's own may want none.
        says = bool(earlier.note) and earlier.text in prompt.dialogue.messages[-1].text
        written = Written(
            retrieval, prompt.hits, cited=False, left_out=prompt.left_out, notes=(earlier.note,) if says else (),
            prompt=(*prompt.dialogue.messages, *(begun.messages(prompt.hits) if begun else ())), beginning=begun,
        )  # fmt: skip
        progress.tell(written)
        text, end = _generated(model, written, longest, progress)
        if question.message_id and not settings.answering.prompt and begun is None:
            self.dialogues.keep(question.model, question.message_id, prompt.dialogue.said(text))
        return replace(written, text=text, usage=end.usage, cut=end.cut)

    def check(self, question: Question, written: Written, writer: CitationWriter, *, stopped: bool) -> Written:
        """The checked answer; where the model found none, with what the passages offer instead."""
        query, aim = written.retrieval.trace.query, QueryIntent.of(written.retrieval)
        found = believed(query, written.hits, self._encoder, aim).answerable
        tokens = self._tokens(question, written, writer)
        checked = check_claims(replace(written, tokens=tokens), writer, self._encoder.tokens, found, stopped=stopped)
        if not checked.abstained:
            return checked
        near = extract(query, written.hits, self._encoder, aim=aim)
        offered = replace(near, abstained=True, doubt=near.doubt or _REFUSED)
        text, sentences, citations = quoted(offered)
        if not citations:
            return checked
        return replace(
            checked, text=f"{checked.text}\n\n{text}", sentences=(*checked.sentences, *sentences), citations=citations
        )

    def _before(self, question: Question, model: ChatModel) -> Dialogue:
        """What the model was told and said last in this conversation, where it keeps what it read."""
        last = question.history[-1].id if question.history and question.goes_on else ""
        return self.dialogues.after(question.model, last) if last and model.keeps_prefix else NOTHING_SAID

    def _tokens(self, question: Question, written: Written, writer: CitationWriter) -> dict[str, int]:
        """Those of the prompt and the answer, counted where the answer did not come to its end."""
        model = self._open_model(question)
        usage = written.usage or Usage(model.prompt_tokens(written.prompt), 0)
        return {"prompt": usage.prompt_tokens, "answer": usage.answer_tokens or model.count_tokens(writer.text)}


def check_claims(
    written: Written, writer: CitationWriter, encode_tokens: EncodeTokens, found: float, *, stopped: bool
) -> Written:
    """What a language model wrote, its sentences checked against the passages.

    `writer` has read its text. `found` is the probability that the passages hold an answer.
    """
    written = replace(written, cited=True, removed=writer.removed)
    if is_not_found(writer.text) or not writer.text.strip():
        return abstain(written, found, stopped=stopped and not is_not_found(writer.text))
    said = sentences_of(writer.text)
    grounded = _grounded(written.beginning, said, writer, Grounding(writer.passages, encode_tokens))
    text, sentences, citations = renumbered(writer.text, said, grounded, writer.register)
    sure, told = confidence.written(found, sentences)
    return replace(written, text=text, sentences=sentences, citations=citations, confidence=sure, told=told)


def longest_answer(model: ChatModel, settings: Settings) -> int:
    """Tokens that an answer may take: at most half of the context, or there is no room for passages."""
    return min(settings.generation.max_tokens, model.context_tokens // 2)


def begun_tokens(model: ChatModel, begun: Beginning | None, longest: int) -> int:
    """Tokens of what is gone on with. Raises ModelUnavailable where that leaves no room for what it stands on."""
    tokens = model.count_tokens(begun.text) if begun else 0
    if tokens and 4 * (tokens + longest) > 3 * model.context_tokens:
        raise ModelUnavailable(
            f"The answer is as long as {model.label} can keep in mind.", help="Ask for what is missing by itself."
        )
    return tokens


def _grounded(
    begun: Beginning | None, said: Sequence[WrittenSentence], writer: CitationWriter, grounding: Grounding
) -> list[Sentence]:
    """Sentences that are checked; those that an answer begins with were."""
    known = {one.text: one for one in begun.sentences} if begun else {}
    old = [known.get(one.text) for one in said if begun and one.end <= len(begun.text)]
    new = iter(grounding.check([one for at, one in enumerate(said) if at >= len(old) or not old[at]], writer.register))
    return [(old[at] if at < len(old) else None) or next(new) for at in range(len(said))]


def _generated(model: ChatModel, written: Written, longest: int, progress: Progress) -> tuple[str, Delta]:
    """The model's text, told as it comes, and the last of it."""
    texts, last, begun = [], Delta(), written.beginning
    with closing(model.stream(written.prompt, max_tokens=longest, cancelled=progress.stopping)) as deltas:

        def pieces() -> Iterator[str]:
            nonlocal last
            for last in deltas:
                yield last.text

        for text in filter(None, begun.joined(pieces()) if begun else pieces()):
            texts.append(text)
            progress.tell(text)
    return "".join(texts), last
