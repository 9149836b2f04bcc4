"""Names in place of what points at them: "the Company" and "we" in a report, "she" after a sentence on a ship.

A question has to say what it is about. Where a document says who is meant by a word, or a run of sentences has one
subject, the name is put in; nothing else is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rag_core.evaluation.drafting.words import BE, THIRD, Speech

_DEFINED = re.compile(
    r"(?P<name>[A-Z][\w&'’-]*(?: [A-Z][\w&'’-]*){0,3}(?:,? (?:Inc\.|Corporation|Corp\.|Ltd\.?|plc|Company|AG|GmbH))?)"
    r"(?:,? (?:together with|and) (?:its"
    r"|our) [\w -]{3,40})?,?\s\((?:[\w\s,]*?[\"“][^\"”()]{2,30}[\"”],?(?:\sor|\sand)?\s){0,3}"
    r"(?:the\s)?[\"“](?:the\s|The\s)?Company[,.]?[\"”]"
)
_SUBJECT = re.compile(rf"(?P<np>[A-Z][^,;:()]{{2,60}}?) {BE} (?:a|an|the|one of) ")
_PRONOUN = re.compile(r"(?:It|She|He) (?=[a-z])")
_LOOKED_AT = 12
"""First pages of a document on which it says who "the Company" is."""


def company_of(texts: Iterable[str]) -> str:
    """Whom a document means by "the Company", where its first pages say so; else ""."""
    for _, text in zip(range(_LOOKED_AT), texts, strict=False):
        if found := _DEFINED.search(text):
            return found["name"]
    return ""


def with_company(sentence: str, company: str) -> str:
    """A sentence with the company's name in place of "the Company", "we" and "our" where it begins or leads on."""
    if not company:
        return sentence
    owned = f"{company}'" if company.endswith("s") else f"{company}'s"
    sentence = re.sub(r"\b[Tt]he Company(?=['’]s?\b| )", company, sentence)
    begun = re.match(r"(?P<lead>(?:[^,]{3,40}, )?)(?P<who>[Ww]e|[Oo]ur) (?P<verb>[\w'’-]+)", sentence)
    if not begun or (begun["lead"] and not re.search(r"\d{4}", begun["lead"])):
        return sentence
    rest = sentence[begun.end() :]
    if begun["who"].lower() == "our":
        return f"{begun['lead']}{owned} {begun['verb']}{rest}"
    verb = {"are": "is", "were": "was", "have": "has"}.get(begun["verb"], THIRD.get(begun["verb"], begun["verb"]))
    return f"{begun['lead']}{company} {verb}{rest}"


class Antecedent:
    """The subject that a run of sentences has: begun by "X is a ...", gone on with by "It ..." or "She ..."."""

    def __init__(self, speech: Speech) -> None:
        self._speech = speech
        self._name = ""

    def put_in(self, sentence: str) -> str:
        """The next sentence, its pronoun at the head replaced where it is known who is meant."""
        if self._name and (pronoun := _PRONOUN.match(sentence)):
            name = f"The {self._name[4:]}" if self._name.startswith("the ") else self._name
            return f"{name} {sentence[pronoun.end() :]}"
        begun = _SUBJECT.match(sentence)
        subject = self._speech.subject(begun["np"], most=6) if begun else None
        named = subject is not None and any(map(self._speech.is_name, subject.split()))
        if not (self._name and sentence.lower().startswith(f"{self._name.lower()} ")) or named:
            self._name = subject or "" if named else ""
        return sentence

    def forget(self) -> None:
        """A new paragraph, row or heading begins."""
        self._name = ""
