"""Characters that nobody sees, with which text can hide or turn around what it says.

Zero-width and bidirectional controls, tags (U+E0000..E007F) and the like; see Boucher et al., "Bad Characters:
Imperceptible NLP Attacks", 2022, and Unicode Technical Report 36. The joiners U+200C and U+200D stay between letters of
scripts that are written with them.
"""

from __future__ import annotations

import regex

_INVISIBLE = regex.compile(
    r"[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    r"|(?<![\p{Arabic}\p{M}\p{Extended_Pictographic}])[\u200c\u200d]"
)


_TAGS = regex.compile(r"[\U000e0001-\U000e007f]+")
_TAG_OFFSET, _SPELT_CHARS = 0xE0000, 80
# Writers put single ones between words, a mark at a text's beginning, and soft hyphens in words.
_HABITUAL, _OF_HABIT = 20, "\u00ad\ufeff\u200b\u200e\u200f\u2060"


def taken_out(text: str) -> str:
    """A note on what `visible` takes out of a text, empty where that is no more than writers' habits."""
    tags = "".join(_TAGS.findall(text))
    others = [one[0] for one in _INVISIBLE.finditer(text) if not _TAGS.fullmatch(one[0])]
    told = []
    if tags:
        spelt = "".join(chr(ord(one) - _TAG_OFFSET) for one in tags[:_SPELT_CHARS]).strip("\x01\x7f")
        told.append(f"tag characters that spell “{spelt}” ({len(tags)})")
    if len(others) > _HABITUAL or any(one not in _OF_HABIT for one in others):
        told.append(f"characters without width, or that turn the text around ({len(others)})")
    return f"Hidden in the text and left out: {', '.join(told)}." if told else ""


def visible(text: str) -> str:
    """The text without what cannot be seen."""
    return str(_INVISIBLE.sub("", text))
