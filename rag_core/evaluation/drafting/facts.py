"""Rules for what is not a number: what something is, means, is called or used for; who, where and why."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_core.evaluation.drafting.parts import Made, dangles, small
from rag_core.evaluation.drafting.words import BE, DATE, FINITE, NEVER_FIRST, NUMBER, Speech, word_set

_NAME = r"(?:[A-Z][\w'’.-]+(?: (?:de|van|von|of|the|la|del|di|al|bin))?(?: [A-Z][\w'’.-]*)+)"
_PERSON_NAME = r"(?P<who>[A-Z][a-z]+(?: [A-Z][\w.-]*){1,2})(?=[,;.]|$)"
_ROLE = (
    r"(?:[a-z][\w'’-]+ ){0,3}(?:\w+(?:ist|man|woman|ian|keeper|master|er|or)|president|chief|clerk|king"
    r"|queen|chair|mayor"
    r"|architect|pilot|superintendent|agent|principal|general|judge|cook|bishop|pope)"
)
_ROLES = (
    re.compile(rf"(?:^|[a-z,;] )[Tt]he (?P<role>{_ROLE}), {_PERSON_NAME}"),
    re.compile(rf"^The (?P<role>{_ROLE}(?: of (?:the )?[A-Z]\w+(?: [A-Z]\w+)*)?) (?P<be>is|was) {_PERSON_NAME}"),
)
_NO_ROLE = word_set("""
number order water paper chapter letter river power matter other tower september october november december summer winter
quarter center theater corner factor sector floor color harbor former latter border layer server computer shelter
register cover error mirror motor door parameter user
""")
_PERSON = re.compile(
    r"\b(?:\w+(?:ist|ician|ologist|trator|ographer)|student|founder|chair|chairman|son|daughter|brother"
    r"|sister|wife|player"
    r"|king|queen|president|writer|author|poet|painter|composer|singer|actor|actress|engineer|architect"
    r"|politician|leader"
    r"|explorer|philosopher|inventor|general|emperor|officer|lawyer|teacher|quarterback|linebacker|coach|astronaut|monk"
    r"|priest|bishop|soldier|merchant|banker|director|people|man|woman|someone|person)\b"
)
_VAGUE = re.compile(
    r"(?:a|an|the|one of the|any) (?:lot|result|matter|member|part|number|case|reason|example|good|same"
    r"|only|larger|smaller"
    r"|bigger|better|best|other|main|most|first|last|second|third|next|few|little|bit|great|major|key|way|fact|subject"
    r"|party|time|list|thing|problem|issue|question|point|total|minimum|maximum|increase|decrease|newer|older|common"
    r"|similar|different|more|less|very|important|big|significant|focus)\b"
)
_DEFINITION = re.compile(
    rf"(?P<np>(?:(?:The|A|An) )?[A-Z\w][\w'’-]*(?: (?:of|the|[\w'’-]+)){{0,4}}?) (?P<be>{BE}) "
    r"(?P<is>(?:a|an|the|one of the|any) .{12,})$"
)
_GLOSSARY = re.compile(
    r"(?P<term>[A-Z][\w'’-]*(?: [\w'’-]+){0,3})(?::|(?<=\w) [–—])\s"
    r"(?P<is>(?:the|a|an|any|someone|anyone|those) [^—]{15,})$"
)
_MEANING = re.compile(r"(?P<np>.+?) (?P<verb>means|refers to|stands for|consists of) (?P<is>.{8,120})$")
_MEANS = {"means": "mean", "refers to": "refer to", "stands for": "stand for", "consists of": "consist of"}
_AGENT = re.compile(
    rf"(?P<np>.+?) (?P<be>{BE}) (?P<part>(?:\w+ly )?(?:written|built|founded|designed|discovered|invented"
    rf"|painted|composed"
    rf"|directed|kept|led|created|developed|established|launched|introduced|published|produced|broken|owned|named|won"
    rf"|defeated|conquered|elected|described|coined|proposed|proved|proven))(?P<rest>(?: (?:in|on|at) [^,]+?)?)"
    rf" by (?:the )?(?P<who>{_NAME})"
)
_REASON = re.compile(
    r"(?P<np>[^,]+?) (?P<be>is|are|was|were|cannot|can|must not|must|may not|does not|do not"
    r"|did not) (?P<what>[^,]+?),? "
    r"(?P<why>because (?!of).{15,160})$"
)
_PLACE = re.compile(
    rf"(?P<np>.+?) (?P<be>{BE}) (?P<part>located|situated|headquartered|based(?! on)|held|stored|kept|born|buried"
    r"|found) (?P<where>(?:in|at|on|near|along|between|beside|under|off) (?!the (?:same|following|form)).{4,80})$"
)
_NO_PLACE = re.compile(
    rf"(?:in|on) {DATE}|in (?:terms|order|accordance|connection|cash|which)|on (?:the basis|a)\b|.*\bby\b"
)
_CALLED = re.compile(
    rf"(?P<np>.+?) (?P<be>{BE}) (?P<part>(?:also |commonly |often |sometimes )?(?:called|known as|referred to as)) "
    r"(?:the |a |an )?(?P<name>[\"“]?[\w'’-]+(?: [\w'’-]+){0,4}[\"”]?)$"
)
_PURPOSE = re.compile(
    rf"(?P<np>.+?) (?P<be>{BE}|can be) (?:primarily |mainly |often |commonly |specifically )?(?P<part>used"
    rf"|required|needed"
    rf"|responsible|intended|designed|caused|made up|composed|made|measured) (?P<link>to|for|by|of"
    rf"|in) (?P<what>.{{8,140}})$"
)
_PURPOSES = {
    "used to": "used for", "used for": "used for", "required for": "required for", "needed for": "needed for",
    "responsible for": "responsible for", "intended to": "intended to do", "intended for": "intended for",
    "designed to": "designed to do", "caused by": "caused by", "made up of": "made up of", "made of": "made of",
    "composed of": "composed of", "measured in": "measured in",
}  # fmt: skip


def of_definition(clause: str, speech: Speech) -> Iterator[Made]:
    """ "A prime number is a natural number greater than 1 ...": what is a prime number?"""
    found = _DEFINITION.match(clause)
    if not found or _VAGUE.match(found["is"]) or dangles(found["is"]):
        return
    np = speech.subject(found["np"], most=5)
    if np is None or (np.startswith("the ") and not speech.has_name(np)):
        return
    person = _PERSON.search(" ".join(found["is"].split()[:6])) and np[0].isupper()
    if person or found["be"] in ("is", "are"):
        yield Made(f"{'Who' if person else 'What'} {found['be']} {np}?", (found["is"],), "a definition", 3)


def of_glossary(sentence: str, speech: Speech) -> Iterator[Made]:
    """ "Sea chest: the opening in the hull ...": what is meant by "Sea chest"?"""
    found = _GLOSSARY.match(sentence)
    if not found or found["term"].isupper() or found["term"].split()[0].lower() in NEVER_FIRST:
        return
    opening = " ".join(found["is"].split()[:5])
    if re.search(rf"\b{FINITE}\b", f"{found['term']} {opening}") or re.match(NUMBER, small(found["term"])):
        return
    if not found["is"].split()[1][0].isupper():
        yield Made(f"What is meant by “{found['term']}”?", (found["is"],), "a definition", 5)


def of_meaning(clause: str, speech: Speech) -> Iterator[Made]:
    """ "NATO stands for ...": what does NATO stand for?"""
    found = _MEANING.match(clause)
    if found and (np := speech.subject(found["np"], most=5)):
        yield Made(f"What does {np} {_MEANS[found['verb']]}?", (found["is"],), "a definition", 4)


def of_agent(clause: str, speech: Speech) -> Iterator[Made]:
    """ "The name oxygen was coined in 1777 by Antoine Lavoisier": who was the name oxygen coined by in 1777?"""
    found = _AGENT.match(clause)
    if found and (np := speech.subject(found["np"])) and not dangles(found["rest"]):
        yield Made(f"Who {found['be']} {np} {found['part']} by{found['rest']}?", (found["who"],), "a name", 5)


def of_role(sentence: str, speech: Speech) -> Iterator[Made]:
    """ "... the crewing clerk, Pavel Orban, ...": who is the crewing clerk?"""
    for pattern in _ROLES:
        found = pattern.search(sentence)
        if found and found["role"].split()[-1] not in _NO_ROLE:
            verb = found.groupdict().get("be") or "is"
            worth = 6 if len(found["role"].split()) > 1 else 3
            yield Made(f"Who {verb} the {found['role']}?", (found["who"],), "a name", worth)
            return


def of_reason(sentence: str, speech: Speech) -> Iterator[Made]:
    """ "The springs are taken first, because ...": why are the springs taken first?"""
    found = _REASON.match(sentence)
    if not found or not (np := speech.subject(found["np"], least=1)) or not 1 <= len(found["what"].split()) <= 12:
        return
    verb, _, no = found["be"].replace("cannot", "can not").partition(" ")
    if not dangles(found["what"]) and " that " not in found["what"]:
        yield Made(f"Why {verb} {np}{no and f' {no}'} {found['what']}?", (found["why"],), "a reason", 6)


def of_place(clause: str, speech: Speech) -> Iterator[Made]:
    """ "The market is located near the old harbour": where is the market located?"""
    found = _PLACE.match(clause)
    if found and not _NO_PLACE.match(found["where"]) and (np := speech.subject(found["np"])):
        yield Made(f"Where {found['be']} {np} {found['part']}?", (found["where"],), "a place", 4)


def of_called(clause: str, speech: Speech) -> Iterator[Made]:
    """ "The entire conflict is known as the Seven Years' War": what is the entire conflict known as?"""
    found = _CALLED.match(clause)
    if found and (np := speech.subject(found["np"])):
        yield Made(f"What {found['be']} {np} {found['part']}?", (found["name"].strip('"“”'),), "a name", 4)


def of_purpose(clause: str, speech: Speech) -> Iterator[Made]:
    """ "A column mask is used to hide ...": what is a column mask used for?"""
    found = _PURPOSE.match(clause)
    if not found or not (np := speech.subject(found["np"])) or dangles(found["what"]):
        return
    if end := _PURPOSES.get(f"{found['part']} {found['link']}"):
        be, space, after = found["be"].partition(" ")
        what = f"to {found['what']}" if found["link"] == "to" else found["what"]
        yield Made(f"What {be} {np}{space}{after} {end}?", (what,), "a purpose", 4)
