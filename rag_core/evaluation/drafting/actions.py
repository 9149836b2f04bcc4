"""Rules for what is done and what follows: who did it, how it is done, what happens when, what something includes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_core.evaluation.drafting.parts import Made, agrees, dangles
from rag_core.evaluation.drafting.words import BASE, BE, FINITE, PAST, Speech, helper

_NAME = r"[A-Z][\w'’.-]+(?: (?:(?:de|van|von|of|the|la|del|di|al|bin|and) )?[A-Z][\w'’.-]*){0,4}"
_DID = (
    "discovered|invented|designed|wrote|founded|established|painted|composed|directed|led|won|defeated|signed|proposed"
    "|announced|coined|published|conquered|introduced|developed|created|built|patented|formulated|proved|demonstrated"
    "|commissioned|ordered|replaced|succeeded|bought|acquired|sold|recorded|scored|hosted|performed|produced|opened"
    "|became|launched|abolished|translated|rejected|organised|organized|arrested|appointed|elected|sponsored"
)
_DOER = re.compile(rf"(?P<who>{_NAME})(?:, [^,]{{4,60}},)? (?P<what>(?:{_DID}) (?=(?:the|an?|\d|[A-Z])).{{8,130}})$")
_IDENTITY = re.compile(rf"(?P<np>The .+?) (?P<be>is|was) (?P<name>(?:the )?{_NAME})$")
_LIST = re.compile(
    r"(?P<np>.+?) (?P<verb>includes?|included|contains?|contained|comprises?|comprised) (?P<what>[^,]{3,60}, .{3,120}"
    r"|[^,]{3,50} and [^,]{3,50})$"
)
_EFFECT = re.compile(
    r"(?P<np>.+?) (?P<verb>causes|prevents|controls|regulates|detects|absorbs|defines|specifies|protects"
    r"|converts|determines"
    r"|identifies|describes) (?P<what>(?!(?:is|are|was|were|at|in|on|as|by|for|to|whether|that|how|what|it"
    r"|its) ).{12,120})$"
)
_HOW_TO = re.compile(
    r"To (?P<what>(?!be |have |date|the |this |some |our |we )[a-z]+ [^,]{4,90}), (?P<how>(?:first "
    r"|simply )?(?:use|press|turn"
    r"|click|select|open|close|enter|choose|set|run|type|add|remove|install|connect|disconnect|place|push"
    r"|pull|hold|check|go"
    r"|follow|create|apply|insert|loosen|tighten|start|stop|make sure|ensure|specify|call|issue|define"
    r"|wear|keep|drag|fill"
    r"|wait|put|take|move|double-click|right-click|hit|tap|switch|slide|lift|cut|draw|write|edit|copy"
    r"|paste|save|visit) .+)$"
)
_CONDITION = re.compile(
    r"(?P<if>If|When|Whenever) (?P<what>(?!\w+ing )[^,]{15,110}), (?P<then>(?:the|a|an|no|all|each|every) .{12,200})$"
)
_NOT_NOW = re.compile(
    rf"\b(?:was|were|had|would|could|might|{'|'.join(sorted(PAST))}|\w{{3,}}ed (?!by|in|on|at|from|to|with|as))\b"
)


def of_doer(clause: str, speech: Speech) -> Iterator[Made]:
    """ "Antoine Lavoisier coined the name oxygen": who coined the name oxygen?"""
    found = _DOER.match(clause)
    if not found or dangles(found["what"]) or not speech.is_name(found["who"].split()[0]):
        return
    if speech.is_telling(found["what"], 4):
        yield Made(f"Who {found['what']}?", (found["who"],), "a name", 4)


def of_identity(clause: str, speech: Speech) -> Iterator[Made]:
    """ "The largest city of the state is Los Angeles": what is the largest city of the state?"""
    found = _IDENTITY.match(clause)
    if found and (np := speech.subject(found["np"])) and len(np.split()) >= 4 and not speech.is_common(found["name"]):
        who = re.search(r"(?:or|er|ist|man|woman|president|king|queen|chief|chair)s?(?: of|$)", np)
        yield Made(f"{'Who' if who else 'What'} {found['be']} {np}?", (found["name"],), "a name", 4)


def of_list(sentence: str, speech: Speech) -> Iterator[Made]:
    """ "The kit contains a lamp, a rope and a knife": what does the kit contain?"""
    found = _LIST.match(sentence)
    if (
        not found
        or not re.search(r"\b(?:and|or)\b", found["what"])
        or re.match(r"(?:that|a number)\b|\d", found["what"])
    ):
        return
    np = speech.subject(found["np"])
    if np and not dangles(found["what"]) and agrees(np, found["verb"]):
        yield Made(f"What {helper(found['verb'])} {np} {BASE[found['verb']]}?", (found["what"],), "a list", 4)


def of_effect(clause: str, speech: Speech) -> Iterator[Made]:
    """ "The valve controls the flow of oil": what does the valve control?"""
    found = _EFFECT.match(clause)
    if not found or dangles(found["what"]) or not (np := speech.subject(found["np"])) or not agrees(np, found["verb"]):
        return
    yield Made(f"What does {np} {BASE[found['verb']]}?", (found["what"],), "a purpose", 3)


def of_how_to(sentence: str, speech: Speech) -> Iterator[Made]:
    """ "To close the valve, turn the handle": how do you close the valve?"""
    found = _HOW_TO.match(sentence)
    if found and not re.search(r"\b(?:this|that|these|it|them)\b", found["what"]):
        yield Made(f"How do you {found['what']}?", (found["how"],), "an instruction", 5)


def of_condition(sentence: str, speech: Speech) -> Iterator[Made]:
    """ "When the pressure falls below 2.5 bar, the pump starts": what happens when the pressure falls ...?"""
    found = _CONDITION.match(sentence)
    if not found or _NOT_NOW.search(f"{found['what']} ") or not re.search(rf"\b{FINITE}\b|\w+s\b", found["what"]):
        return
    if speech.is_telling(found["what"], 3) and not re.search(rf"\b(?:had|{BE} to)\b", found["then"]):
        yield Made(f"What happens {found['if'].lower()} {found['what']}?", (found["then"],), "a condition", 5)
