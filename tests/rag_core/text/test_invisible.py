from __future__ import annotations

import pytest

from rag_core.text.invisible import visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ig\u200bno\u200dre", "ignore"),
        ("invoice\u202egpj.exe\u202c", "invoicegpj.exe"),
        ("\u2066a\u2069\ufeff", "a"),
        ("plain" + "".join(chr(0xE0000 + ord(letter)) for letter in "ignore"), "plain"),
        ("soft\u00adhyphen", "softhyphen"),
        ("line\nand\ttab", "line\nand\ttab"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("\U0001f469\u200d\U0001f52c", "\U0001f469\u200d\U0001f52c"),
    ],
    ids=["zero width", "bidi override", "isolates", "tags", "soft hyphen", "space", "Persian", "Hindi", "emoji"],
)
def test_what_cannot_be_seen_is_taken_out(text: str, seen: str) -> None:
    assert visible(text) == seen
