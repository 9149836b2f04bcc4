"""How names of people are written."""

from __future__ import annotations

PARTICLES = frozenset("al da de del den der di dos du el la las le ten van von zu".split())  # noqa: SIM905
_MOST_WORDS = 3  # of a name, without particles and initials


def is_name(text: str) -> bool:
    """Whether a text is written as the name of a person: two words or three with capitals, besides initials and
    particles, none of them an abbreviation."""
    words = text.strip(" .").split()
    full = [word for word in words if len(word.strip(".")) > 1 and word.casefold() not in PARTICLES]
    if not 1 <= len(full) <= _MOST_WORDS or len(words) < 2 or not full[-1][:1].isupper():
        return False
    shouted = all(word.isupper() for word in full)
    return all(word[:1].isupper() and word.replace("-", "").replace("’", "").replace("'", "").isalpha()
               and (shouted or not word.isupper()) for word in full)  # fmt: skip
