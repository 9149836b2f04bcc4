"""A language model as judge: do the passages say what a sentence says?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rag_core.evaluation.asking import fitted, replies
from rag_core.models import ChatModel, prompts

MAX_TOKENS = 96
MAX_PASSAGE_CHARS = 12_000
MAX_SENTENCE_CHARS = 1_000

_EITHER = re.compile(r"\byes\s*(?:/|or)\s*no\b", re.IGNORECASE)
_VERDICT = re.compile(
    r"\b(?P<no>no|not (?:fully |entirely |directly )?(?:supported|stated|said|mentioned)|unsupported|partly|partially"
    r"|false)\b|\b(?P<yes>yes|supported|true)\b",
    re.IGNORECASE,
)


def judge(
    model: ChatModel,
    sentence: str,
    passages: Sequence[str],
    cancelled: Callable[[], bool] | None = None,
) -> bool | None:
    """Whether the passages hold all that the sentence says, as the model judges; None where it says neither.

    Passages that do not fit into the model's context are shortened, each by its share. Raises Cancelled and
    ModelUnavailable.
    """
    statement = " ".join(sentence.split())[:MAX_SENTENCE_CHARS]
    mark = prompts.new_mark()

    def prompt(most: int) -> str:
        share = max(40, most // max(len(passages), 1))
        quoted = prompts.passages((("", text[:share]) for text in passages), mark)
        return prompts.JUDGE.fill(passages=quoted, statement=prompts.plain(statement))

    said = ""
    for said in replies(model, fitted(model, prompt, MAX_PASSAGE_CHARS, MAX_TOKENS), MAX_TOKENS, cancelled):
        # What ends a text may be the beginning of another word: "no" of "nowhere".
        found = verdict(said[:-1]) if said and not said[-1].isalnum() else None
        if found is not None:
            return found
    return verdict(said)


def verdict(reply: str) -> bool | None:
    """The first yes or no of a reply, in its first lines; None where it has neither or leaves both open."""
    found = _VERDICT.search(_EITHER.sub(" ", reply[:400]))
    return None if found is None else found["no"] is None
