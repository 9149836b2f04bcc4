"""A language model writes SCALER's question for level two, from the question and what the clusters found say."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.evaluation.asking import fitted, replies
from rag_core.models import ChatModel, prompts

_MOST_CHARS = 4_000
_MOST_TOKENS = 64


def written_anew(model: ChatModel, question: str, summaries: Sequence[str]) -> str:
    """The first line of what the model writes; empty where it writes none. Raises ModelUnavailable, Cancelled."""
    mark = prompts.new_mark()

    def prompt(most: int) -> str:
        share = max(40, most // max(1, len(summaries)))
        quoted = prompts.passages((("", text[:share]) for text in summaries), mark)
        return prompts.NEW_QUESTION.fill(passages=quoted, question=prompts.plain(question))

    said = ""
    for said in replies(model, fitted(model, prompt, _MOST_CHARS, _MOST_TOKENS), _MOST_TOKENS):
        if "\n" in said.strip():
            break
    return said.strip().partition("\n")[0]
