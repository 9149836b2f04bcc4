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


def visible(text: str) -> str:
    """The text without what cannot be seen."""
    return str(_INVISIBLE.sub("", text))
