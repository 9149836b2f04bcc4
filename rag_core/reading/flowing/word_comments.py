"""Which words of a Word document its comments are about."""

from __future__ import annotations

from typing import Any

from docx.oxml.ns import qn

_BEGUN, _CLOSED, _ID = qn("w:commentRangeStart"), qn("w:commentRangeEnd"), qn("w:id")
_TEXT, _PARAGRAPH = qn("w:t"), qn("w:p")
_MOST_CHARS = 500


def commented(body: Any) -> dict[str, str]:
    """The words that comments are about, by the comments' numbers."""
    words: dict[str, str] = {}
    open_now: list[str] = []
    for element in body.iter(_BEGUN, _CLOSED, _TEXT, _PARAGRAPH):
        number = element.get(_ID)
        if element.tag == _BEGUN:
            open_now.append(number)
        elif element.tag == _CLOSED:
            open_now = [one for one in open_now if one != number]
        else:
            said = " " if element.tag == _PARAGRAPH else element.text or ""
            words |= {one: words.get(one, "") + said for one in open_now if len(words.get(one, "")) < _MOST_CHARS}
    return words
