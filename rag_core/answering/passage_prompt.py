"""Numbered passages in one prompt, as many as the model's context holds, counted in its own tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rag_core.answering.dialogues import NOTHING_SAID, Dialogue
from rag_core.answering.passages import source_of
from rag_core.answering.widening import text_of, widened
from rag_core.domain import Hit
from rag_core.models import ChatMessage, ChatModel, prompts
from rag_core.models.messages import prompted

_SEPARATOR = "\n\n"
_SEPARATOR_TOKENS = 2


@dataclass(frozen=True, slots=True)
class PassagePrompt:
    """What a model is told: the messages, with the hits that they number, and the hits without room in them."""

    dialogue: Dialogue
    left_out: tuple[Hit, ...]

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All of them, number n of the prompt first."""
        return (*self.dialogue.hits, *self.left_out)


@dataclass(frozen=True, slots=True)
class PromptFrame:
    """What stands around the passages of a prompt.

    max_tokens: the longest answer. history: what is said of the conversation. mark: the question's, for the delimiters
    of its passages. template: takes the place of Lectern's own; see `AnsweringSettings.prompt` for its places.
    instructions: the user's, beside the rules.
    """

    model: ChatModel
    question: str
    max_tokens: int
    mark: str
    history: str = ""
    template: str = ""
    instructions: str = ""

    def filled(self, hits: Sequence[Hit], before: Dialogue = NOTHING_SAID, *, follows: bool = False) -> PassagePrompt:
        """The prompt with what fits of the hits, best first.

        Where the dialogue `before` is about the same passages, or the question `follows` its last, the model is told
        those alone that it does not have yet.
        """
        new = None if self.template else before.new(hits, follows=follows)
        if new is not None:
            going_on = self._fitted(before, new, hits)
            if len(going_on.dialogue.hits) == len(before.hits) + len(new):
                return going_on
        return self._fitted(NOTHING_SAID, hits, hits)

    def _fitted(self, before: Dialogue, new: Sequence[Hit], hits: Sequence[Hit]) -> PassagePrompt:
        """A prompt behind a dialogue with what fits of the new passages."""
        heads = (before.again(hits), prompts.MARKED.fill(mark=self.mark) if new else "")
        count, first = self.model.count_tokens, len(before.hits) + 1
        frame = self.model.prompt_tokens(self._messages(before, heads))
        room = self.model.context_tokens - self.max_tokens - frame
        texts = list(_fitting(self._numbered([replace(hit, around=()) for hit in new], first), room, count))
        fitted = [replace(hit, around=()) for hit in new[: len(texts)]]
        if any(hit.around for hit in new):
            fitted = widened(new[: len(texts)], room - sum(count(text) + _SEPARATOR_TOKENS for text in texts), count)
            texts = self._numbered(fitted, first)
        told = (*before.hits, *fitted)
        ids = {hit.chunk_id for hit in told}
        rest = tuple(replace(hit, around=()) for hit in hits if hit.chunk_id not in ids)
        return PassagePrompt(Dialogue(self._messages(before, (*heads, *texts)), told), rest)

    def _messages(self, before: Dialogue, parts: Sequence[str]) -> tuple[ChatMessage, ...]:
        context = _SEPARATOR.join(filter(None, parts))
        history = "" if before.messages else self.history
        if self.template:
            places = {"context": context, "question": self.question, "history": history}
            return prompted(self.template.format(**places, not_found=prompts.NOT_FOUND))
        told = prompts.with_instructions(prompts.RULES.fill(not_found=prompts.NOT_FOUND), self.instructions)
        rules = ChatMessage("system", told)
        asked = prompts.ANSWER.fill(context=context, history=history, question=self.question)
        return (rules, *before.messages[1:], ChatMessage("user", asked))

    def _numbered(self, hits: Sequence[Hit], first: int) -> list[str]:
        """Passages numbered from `first` in the order of the hits."""
        return [
            prompts.passage(number, source_of(hit), text_of(hit), self.mark)
            for number, hit in enumerate(hits, start=first)
        ]


def _fitting(texts: Sequence[str], room: int, count: Callable[[str], int]) -> Iterator[str]:
    """The first texts that fit into `room` tokens together; a shorter one does not overtake a longer one."""
    for text in texts:
        room -= count(text) + _SEPARATOR_TOKENS
        if room < 0:
            return
        yield text
