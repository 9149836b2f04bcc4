"""What kind of answer a question asks for, and whether a sentence holds one: who, when, how many, where.

A simple form of answer type matching (Li and Roth 2002), by surface cues alone so that it works on any document.
"""

from __future__ import annotations

import re
from typing import Literal

from rag_core.tables.question_words import question_in_english
from rag_core.text.wordlists import NUMBER_WORDS

AnswerType = Literal["date", "number", "money", "percent", "name", "place", "reason", "definition", "other"]

_MONTH = r"""(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?
    |oct(?:ober)?|nov(?:ember)?|dec(?:ember)?
    |januar|februar|märz|mai|juni|juli|oktober|dezember
    |janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre
    |enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"""
_WEEKDAY = r"""(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?
    |lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)"""
_OTHER_NUMBERS = """|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|deux|trois|quatre|cinq|sept|huit|neuf|dix
    |onze|douze|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|täglich|wöchentlich|monatlich|jährlich"""
# "what city", "which local team": the noun that names the kind of answer.
_OF_KIND = r"\b(?:what|which)\s(?:\w+\s)?"

_WHY = r"""(?:\b(?:why|reasons?|how\scome)\b
    | \bwhat\s(?:caused?|causes|dragged|drove|kept|keeps|led\sto|made|makes|pushed)\b(?!\s(?:of|up)\b)
    | \bwhat(?:['’]s|\sis|\swas)\sbehind\b)"""


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.VERBOSE)


_ASKS: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    (
        "reason",
        _pattern(rf"{_WHY} | \b(?:due\sto|attribut(?:ed|able))\b"),
    ),
    (
        "definition",
        _pattern(r"""\bmean(?:s|t)?\b(?!\s(?:of|value)) | \bdefin | \brefer(?:s|red)?\sto\b | \bstands?\sfor\b
            | \bhow\s(?:is|are|was|were)\b.*\b(?:calculated|computed|determined|measured|recogni[sz]ed)\b"""),
    ),
    ("date", _pattern(rf"\bwhen\b | {_OF_KIND}(?:year|date|day|month|decade|century|time)\b")),
    (
        "money",
        _pattern(r"""\bhow\smuch\s(?:money|did\s.*\s(?:cost|pay|earn|spend))
            | \b(?:price|cost|revenue|salary|fee|fare|rent|budget)s?\b | \bin\s(?:dollars|euros|pounds|crowns)\b"""),
    ),
    ("percent", _pattern(r"\bpercent(?:age)?\b | \bwhat\s(?:share|fraction|proportion)\b | %")),
    (
        "number",
        _pattern(r"""\bhow\s(?:many|much|long|far|tall|high|old|large|big|fast|often|deep|wide|heavy|hot|cold)\b
            | \bwhat\s(?:is\sthe\s)?(?:number|population|amount|rank|size|rate)\b"""),
    ),
    (
        "name",
        _pattern(rf"""\bwho(?:m|se)?\b | \bname\sof\b
            | {_OF_KIND}(?:person|player|company|team|group|king|president|author|scientist|organi[sz]ation)\b"""),
    ),
    (
        "place",
        _pattern(rf"""\bwhere\b
            | {_OF_KIND}(?:city|country|state|place|town|region|river|street|building|stadium)\b"""),
    ),
    ("definition", _pattern(r"^what\s(?:is|are|was|were)\s(?:an?\s|the\s)?[\w-]+(?:\s[\w-]+)?\?*$")),
)
_ASKS_TO_WRITE = _pattern(
    r"""\b(?:explain|simpler?|translate|rephrase|rewrite|paraphrase|(?:own|other|plain)\swords
    |erkläre|übersetze|explique|tradui\w+)\b
    |\bmean(?:s|ing)?\b.{0,20}\b(?:section|clause|page|article|paragraph|chapter|table|figure)\b
    |\b(?:this|section|clause|page|article|paragraph|chapter|table|figure)\b.{0,20}\bmean(?:s|ing)?\b"""
)
_ASKS_WHY = _pattern(_WHY)
_CAPITALISED = re.compile(r"(?<=[a-z,;'’)] )(?:[A-Z][\w'’.-]+)|^(?:[A-Z][\w'’-]+ ){1,3}[A-Z][\w'’-]+")
_HOLDS: dict[AnswerType, re.Pattern[str]] = {
    "date": _pattern(rf"""\b(?:1\d{{3}}|20\d\d)s?\b | \b{_MONTH}\b | \bcentury\b
        | \b\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{2,4}}\b | \b\d{{1,2}}:\d\d\b | \b\d{{1,2}}\s?[ap]\.?m\b
        | \b{_WEEKDAY}\b | \b(?:noon|midnight)\b"""),
    "money": _pattern(r"[$€£¥]\s*\d | \d\s*(?:dollars|euros?|pounds|usd|eur|gbp|million|billion)\b"),
    "percent": _pattern(
        r"""\d\s*(?:%|per\s?cent|prozent|pour\s?cent|por\s?ciento) | \bpercent\b
        | \b(?:half|third|quarter|fifth|majority)\b"""
    ),
    "number": _pattern(
        r"\d | \b(?:"
        + "|".join(NUMBER_WORDS)
        + _OTHER_NUMBERS
        + r"|hundred|thousand|million|billion|dozen|half|twice|once)\b"
    ),
    "name": _CAPITALISED,
    "place": _CAPITALISED,
    "reason": _pattern(r"""\b(?:because|due\sto|since|therefore|thus|caused?|result(?:ed|s)?|in\sorder\sto|so\sthat
        |reason|led\sto|owing|weil|wegen|damit|parce\sque|afin|porque|debido)\b"""),
    "definition": _pattern(
        r"\b(?:bedeutet|heißt|signifie|significa|is|are|was|were|means?|refers?|defined|called|known\sas)\b"
    ),
}


def answer_type(question: str) -> AnswerType:
    """The kind of answer that a question asks for, by its words."""
    asked = question_in_english(question)
    return next((kind for kind, pattern in _ASKS if pattern.search(asked)), "other")


def asks_why(question: str) -> bool:
    """Whether a question asks for a reason, which no figure is."""
    return _ASKS_WHY.search(question_in_english(question)) is not None


def asks_to_write(question: str) -> bool:
    """Whether a question asks for more than what a document says: to have it explained, translated, said simply."""
    return _ASKS_TO_WRITE.search(question) is not None


def asks_for_words(question: str) -> bool:
    """Whether a question asks for what no figure says: a reason, a definition, a name or a place."""
    return answer_type(question) in ("reason", "definition", "name", "place")


def holds_answer(kind: AnswerType, sentence: str) -> bool:
    """Whether a sentence holds something of this kind; always so for "other"."""
    pattern = _HOLDS.get(kind)
    return pattern is None or pattern.search(sentence) is not None
