"""Words by which a sentence leans on another one, hedges, points elsewhere, or says what its document is."""

from __future__ import annotations

import re
from collections.abc import Collection

from rag_core.domain import Document
from rag_core.text.terms import coverage, terms
from rag_core.text.tokens import words

_LEANING = frozenset(
    """i it he she they its his her their this these those that such there here however therefore thus also moreover
    further furthermore then but and or so instead otherwise meanwhile another other both finally lastly similarly
    likewise conversely additionally accordingly consequently nevertheless although see refer note includes
    included including excludes represents reflects consists""".split()  # noqa: SIM905
)
"""First words of sentences that say little by themselves."""

_LEANING_ON = re.compile(
    r"(?:the (?:former|latter|above|following|same)|in (?:addition|contrast|particular)|for (?:example|instance)"
    r"|as (?:a result|such))\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\b(?:may|might|could|would|if|forward[- ]looking|assum\w+|cannot|see|refer)\b", re.IGNORECASE)
_POINTING = re.compile(
    r"\b(?:following (?:table|page|section|chart)|table (?:above|below)|(?:figure|table|note|item|exhibit) \d"
    r"|incorporated (?:herein )?by reference|pursuant to|hereby|check mark|registrant|in our opinion|websites?"
    r"|report on form)\b",
    re.IGNORECASE,
)
_STATING = re.compile(
    r"\b(?:overview|highlights?|summary|abstract|introduction|conclusions?|executive|purpose|business|general|about"
    r"|at a glance|background|results|key|main|performance|proposals?|recommendations?)\b",
    re.IGNORECASE,
)
_THIS = re.compile(r"this (?:\S+ ){0,2}?(?P<kind>[a-z]+)\b", re.IGNORECASE)
_ALWAYS = ("document", "paper", "article", "chapter", "study", "publication")
_ITS_OWN = re.compile(r"(?:(?:the|our) (?:company|corporation|organi[sz]ation|firm)|.{0,60}\btoday announced)\b", re.I)
_DEFINING = re.compile(
    r"\b(?:is|are|was|were|has been) (?:a|an|the|one|thought|considered)\b|\bbegan operations\b", re.IGNORECASE
)
_DOING = re.compile(
    r"\b(?:designs|manufactures|operates?|provides?|offers?|sells|develops|describes|tells|gives?|presents|announced"
    r"|explains|refers to|deals with)\b",
    re.IGNORECASE,
)
_BEGINNING_WORDS, _BEFORE_NAME = 12, 4
_YEARLY = re.compile(r"annual report|quarterly report|10-[kq]|earnings", re.IGNORECASE)
_RESULTS = frozenset(terms("revenues net sales income earnings per share increased decreased grew"))
"""What readers of a company's report look for first."""


def leans(text: str) -> bool:
    """Whether a sentence needs the one before it."""
    first = words(text[:30])
    return bool(first and first[0] in _LEANING) or bool(_LEANING_ON.match(text))


def hedged(text: str) -> bool:
    """Whether it says what may be, not what is."""
    return bool(_HEDGED.search(text))


def points_elsewhere(text: str) -> bool:
    """Whether it leads to a table, a note or a web page, or is a form's."""
    return bool(_POINTING.search(text))


def states(heading: str) -> bool:
    """Whether what stands under a heading is a document's own summary of something."""
    return bool(_STATING.search(heading))


def of_itself(text: str, document: Document) -> bool:
    """Whether a sentence speaks of its document: "This handbook tells ..." in a handbook."""
    found = _THIS.match(text)
    if found is None:
        return False
    kinds = {*_ALWAYS, *words(document.title), *words(document.card.kind if document.card else "")}
    return any(word in kinds for word in words(found[0])[1:])


def says_what(text: str, document: Document, named: Collection[str]) -> float:
    """How far a sentence says what its document is, 0..1.4. named: terms of the document's subject."""
    beginning = " ".join(text.split()[:_BEGINNING_WORDS])
    begins = coverage(list(named), set(terms(" ".join(text.split()[: len(named) + _BEFORE_NAME])))) if named else 0.0
    itself = 1.0 if of_itself(text, document) else 0.5 * bool(_ITS_OWN.match(text))
    does = 0.4 * bool(_DOING.search(beginning))
    return max(itself, 0.7 * begins) + max(does, 0.3 * bool(_DEFINING.search(beginning)))


def sought(text: str, document: Document) -> float:
    """How much of what readers of such a document look for first stands in a sentence, 0..1."""
    if not (document.card and _YEARLY.search(document.card.kind)):
        return 0.0
    return min(3, len(_RESULTS & set(terms(text)))) / 3
