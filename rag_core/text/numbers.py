"""Numbers of a text in one spelling, so that 1,577 and 1577 are the same."""

from __future__ import annotations

import re

from rag_core.text.tokens import tokens
from rag_core.text.wordlists import DECIMAL_COMMA, NUMBER_WORDS

_GAPS = re.compile(r"[\s'’]")  # 1 577 as in French, 1'577 as in Switzerland
_THOUSANDS = {
    mark: re.compile(rf"\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+(?:{re.escape(other)}\d+)?")
    for mark, other in (",.", ".,")
}


def normalise_number(text: str, language: str = "en") -> str:
    """One spelling for one number, without separators of thousands or idle zeros: "1,200.50" becomes "1200.5".

    The language says what a point is: in German "1.577" is 1577, in English one and a half.
    """
    text = _GAPS.sub("", text.rstrip(".,"))
    mark = "." if language in DECIMAL_COMMA else ","
    if _THOUSANDS[mark].fullmatch(text):
        text = text.replace(mark, "")
    text = text.replace(",", ".") if text.count(",") == 1 and "." not in text else text
    if text.count(".") == 1:
        text = text.rstrip("0").rstrip(".")
    return text.lstrip("0") or "0"


def numbers(text: str) -> set[str]:
    """Numbers of an English text in one spelling, those written in words included."""
    found = set()
    for token in tokens(text):
        if token.kind == "number":
            found.add(normalise_number(token.text))
        elif token.text in NUMBER_WORDS:
            found.add(NUMBER_WORDS[token.text])
    return found
