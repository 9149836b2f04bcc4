"""Names that a text introduces: what it calls the thing that it is about."""

from __future__ import annotations

import re

_NAME = r"[A-Z][\w+-]*(?:[a-z][A-Z\d]|[A-Z]{2}|[a-z]{2})[\w+-]*"
_BRACKETED = re.compile(rf"\b([A-Za-z][\w-]*)((?:[ -]\w[\w-]*){{0,6}}) \(({_NAME})\)")
_VERBS = "propose|introduce|present|develop|describe|call|name|release|build|train"
_PRESENTED = re.compile(
    rf"\b(?:[Ww]e|I|paper|work|study|article)\s+(?:\w+ly\s+)?(?:{_VERBS})s?\b(?:\s[a-z][\w-]*){{0,6}}?\s({_NAME})\b"
    r"(?![ -][A-Z])"
)
_NEW = re.compile(rf"\b({_NAME}), an?(?: \w+){{0,2}} (?:new|novel)\b")
_SHARED = 2  # letters that a short name begins with as the long one does


def coined_names(text: str) -> list[str]:
    """The names that a text gives to something new, each once: "we propose X", "X, a new method", and what stands in
    brackets behind words that begin alike, as "Zero Redundancy Optimizer (ZeRO)"."""
    flat = " ".join(text.split())
    found = [match[1] for pattern in (_PRESENTED, _NEW) for match in pattern.finditer(flat)]
    for match in _BRACKETED.finditer(flat):
        words = re.split(r"[\s-]+", match[1] + match[2])
        if any(word[:_SHARED].casefold() == match[3][:_SHARED].casefold() for word in words):
            found.append(match[3])
    return list(dict.fromkeys(found))
