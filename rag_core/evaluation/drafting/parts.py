"""What the drafting rules share: the question that they make, and pieces of clauses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_core.evaluation.drafting.words import DATE, PARTICIPLE, helper

LEAD = (
    rf"(?:(?P<lead>(?:In|On|During|As of|By|Since) (?:the (?:year|summer|winter|spring|autumn) (?:of )?)?{DATE}),? )?"
)
"""A date that a sentence begins with."""
NOUNS = (
    r"(?P<noun>(?:[a-z][\w'’-]+ ){0,2}(?:[a-z][\w-]*s|people|men|women|children|sheep|fish|aircraft|species|feet)"
    r"(?: of [a-z][\w-]+)?)"
)
"""Things that are counted."""
# What may have a date of its own, so that the date of a clause may be that one's.
_NESTED = re.compile(rf"\d|\b(?:{PARTICIPLE}|after|before|when|while|to \w+)\b")
_DANGLING = re.compile(
    r"\b(?:and|or|of|the|a|an|in|on|at|to|by|for|from|with|early|late|mid|since|until|when|under|into"
    r"|through|than|is|are"
    r"|was|were|and this)$"
)
_CUT_SHORT = re.compile(r"\b(?:that|either|both|between|from)\b|[\d%]$")
_NOT_COUNTED = re.compile(
    r"(?:ss|us|is|times|points|others|hundreds|thousands|more|less|other|further|additional|of|in|on|at|for|from)"
)
_JOINS = frozenset(("and", "or", "but"))
_STOPS = _JOINS | frozenset(("a", "an", "the", "to", "that", "than", "as", "when", "if", "by", "with"))


@dataclass(frozen=True, slots=True)
class Made:
    """A question made of a sentence, its answers, and the kind of rule that made it. Greater `worth` is better."""

    text: str
    references: tuple[str, ...]
    rule: str
    worth: int


def tail(text: str) -> str | None:
    """What follows in a question: the rest of a clause up to "and", "or" or a comma. None where a cut would lie."""
    words = text.split()
    end = next((place for place, word in enumerate(words) if word in _JOINS or word.endswith(",")), len(words))
    cut = end < len(words)
    kept = " ".join(words[: end + 1] if cut and words[end] not in _JOINS else words[:end]).rstrip(",")
    if len(kept.split()) > 12 or (cut and _CUT_SHORT.search(kept)):
        return None
    return f" {kept}" if kept else ""


def when(lead: str | None) -> str:
    """A date that leads a sentence, as it ends a question."""
    return f" {lead[0].lower()}{lead[1:]}" if lead else ""


def agrees(subject: str, verb: str) -> bool:
    """Whether subject and verb may belong together: no "the ships carries", no "the ship carry"."""
    last = subject.split()[-1]
    plural = (last.endswith("s") and not last.endswith(("ss", "us", "is", "'s", "’s"))) or last in ("people", "men")
    kind = helper(verb)
    if kind == "does":
        return not (plural and last[0].islower())
    return kind == "did" or plural or " and " in subject


def is_counted(noun: str) -> bool:
    """Whether what a number stands before can be counted."""
    words = noun.split()
    if any(word in _STOPS for word in words) or re.search(r"(?:ss|us|is)$", words[-1]):
        return False
    return not any(map(_NOT_COUNTED.fullmatch, (words[0], words[-1])))


def is_nested(phrase: str) -> bool:
    """Whether a phrase before a date has a verb that the date may belong to."""
    return _NESTED.search(phrase) is not None


def dangles(phrase: str) -> bool:
    """Whether a phrase ends in the middle of something."""
    return _DANGLING.search(phrase) is not None


def small(clause: str) -> str:
    """A clause with a small letter at its head."""
    return clause[:1].lower() + clause[1:]


def as_written(clause: str, answer: str) -> str:
    """An answer that was found in `small(clause)`, with the capital that it has there."""
    return clause[: len(answer)] if clause[: len(answer)].lower() == answer.lower() else answer
