"""What a question is about, as a heading: without the words that ask."""

from __future__ import annotations

import re

_AUX = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|may)"
_AMOUNT = re.compile(
    rf"^how (?:many|much) (.+?) {_AUX} (?:(?:the|a|an) )?(?:i|you|we|they|it|there|(.+?))(?: (?:have|has|had|there))?$",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rf"^(?:(?:please|and|so|(?:can|could) you|(?:tell|show|give) me|list|enumerate|explain|describe|summari[sz]e)\s+)*"
    rf"(?:(?:what|which|who|whom|whose|when|where|why|how(?: (?:many|much|long|often|far|old|high|large|big|fast))?)\b"
    rf"(?:'s)?(?:\s+{_AUX}\b)?\s*)?(?:(?:the|a|an|there)\s+)?",
    re.IGNORECASE,
)
_MENTION = re.compile(r"@(\"?)([^\"\s]+(?:[^\"]*(?=\"))?)\1")


def topic(question: str) -> str:
    """`Annual leave of employees` of "What is the annual leave of employees?"; the question where nothing is left."""
    words = " ".join(_MENTION.sub(r"\2", question).replace("?", " ").split()).rstrip("!. ").removesuffix(" about")
    counted = _AMOUNT.match(words)
    rest = ": ".join(filter(None, counted.groups())) if counted else words[_ASKS.match(words).end() :]  # type: ignore[union-attr]
    return capitalised(rest) if any(letter.isalnum() for letter in rest) else question


def capitalised(text: str) -> str:
    """A text with a capital in front, but for a name that has its own further in ("iPhone", "eBay")."""
    has_own = any(letter.isupper() for letter in text.partition(" ")[0][1:])
    return text if has_own else text[:1].upper() + text[1:]
