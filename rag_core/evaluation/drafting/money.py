"""Rules for numbers and dates: how many, how long, how much, by how much, what percentage, when."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_core.evaluation.drafting.parts import (
    LEAD,
    NOUNS,
    Made,
    agrees,
    as_written,
    dangles,
    is_counted,
    is_nested,
    small,
    tail,
    when,
)
from rag_core.evaluation.drafting.words import (
    BASE,
    BE,
    DATE,
    FINITE,
    MONEY,
    NUMBER,
    PARTICIPLE,
    PAST,
    PERCENT,
    Speech,
    helper,
)

_VERB = "|".join(sorted(BASE, key=len, reverse=True))
_DATED_VERB = "|".join(sorted(PAST - {"had", "took", "gave", "made"}, key=len, reverse=True))
_ADJECTIVE = "high|long|wide|deep|tall|thick|broad|old|large|heavy"
_UNIT = (
    "(?:(?:square|cubic|nautical) )?(?:metres?|meters?|kilometres?|kilometers?|miles?|feet|inch(?:es)?|yards?|tonnes?"
    "|tons?|kilograms?|pounds?|litres?|liters?|gallons?|hectares?|acres?|knots|degrees?(?: Celsius)?|kilowatts?"
    "|kilowatt-hours?|megawatts?|volts?|bar|hours?|minutes?|seconds?|days?|weeks?|months?|years?|centimetres?"
    "|millimetres?|centimeters?|millimeters?|crowns?|dollars?|euros?|km|kg|mm|cm|m)"
)
_OBJECT = re.compile(
    rf"{LEAD}(?P<np>.+?)(?P<aux> can)? (?P<verb>{_VERB}) (?P<number>{NUMBER}) {NOUNS}(?P<tail>(?:[ ,].*)?)$"
)
_SUBJECT = re.compile(rf"{LEAD}(?P<number>{NUMBER}) {NOUNS} (?P<rest>{FINITE}\b.*)$")
_SHARE = re.compile(rf"(?P<number>{PERCENT}) of (?P<rest>(?:the )?\w.* {FINITE}\b.*)$")
_THERE = re.compile(
    rf"{LEAD}[Tt]here (?P<be>are|were) (?P<number>{NUMBER}) {NOUNS} (?P<tail>(?:in|on|at|aboard|for|within) .*)$"
)
_DIMENSION = re.compile(rf"(?P<np>.+?) (?P<be>{BE}) (?P<size>{NUMBER} {_UNIT}) (?P<how>{_ADJECTIVE})\b")
_AMOUNT = re.compile(
    rf"{LEAD}(?P<np>.+?) (?P<be>{BE}) (?P<size>{MONEY}|{PERCENT}|{NUMBER}(?: {_UNIT})?)"
    r"(?P<tail>(?: (?:in|for|as of|at|on|per|during|a) .*)?)$"
)
_CHANGE = re.compile(
    rf"{LEAD}(?P<np>.+?) (?P<verb>increased|decreased|grew|rose|fell|declined) (?:by )?(?P<size>{PERCENT}|{MONEY})"
    rf"(?:,? or (?:{PERCENT}|{MONEY}))?,?(?P<tail>(?: (?:in|during|for|over) .*)?)$"
)
_CHANGES = {"increased": "increase", "decreased": "decrease", "grew": "grow", "rose": "rise", "fell": "fall"}
_PASSIVES = (
    re.compile(
        rf"(?P<np>.+?) (?P<be>was|were) (?P<part>(?:\w+ly )?{PARTICIPLE})(?P<rest>(?: [^,]+?)?),? (?:in"
        rf"|on) (?P<date>{DATE})"
        r"(?P<after>.*)$"
    ),
    re.compile(
        rf"(?:In|On) (?P<date>{DATE}),? (?P<np>.+?) (?P<be>was|were) (?P<part>(?:\w+ly )?{PARTICIPLE})"
        r"(?P<rest>(?: [^,]*)?)(?P<after>)$"
    ),
)
_ACTIVES = (
    re.compile(
        rf"(?P<np>.+?) (?P<verb>{_DATED_VERB})(?P<rest>(?: [^,]+?)?),? (?:in|on) (?P<date>{DATE})(?P<after>.*)$"
    ),
    re.compile(rf"(?:In|On) (?P<date>{DATE}),? (?P<np>.+?) (?P<verb>{_DATED_VERB})(?P<rest>(?: [^,]*)?)(?P<after>)$"),
)
_GOES_ON = re.compile(rf" (?:to|until|through|and|or|–|{FINITE})\b")
_LASTING = re.compile(
    rf"{LEAD}(?P<np>.+?) (?:(?P<be>{BE}) (?P<state>[^,\d]+?)|(?P<verb>{_DATED_VERB})(?P<rest>(?: [^,\d]+?)?))"
    rf" for (?P<time>{NUMBER} (?:minutes|hours|days|weeks|months|years|decades))$"
)


def of_object(clause: str, speech: Speech) -> Iterator[Made]:
    """ "The Petrel carries 90 passengers": how many passengers does the Petrel carry?"""
    found = _OBJECT.match(clause)
    if not found or not is_counted(found["noun"]):
        return
    np = speech.subject(found["np"])
    rest = "" if re.match(r",| (?:and|or|to) ", found["tail"]) else tail(found["tail"])
    if np is None or rest is None or not (found["aux"] or agrees(np, found["verb"])):
        return
    asked = f"How many {found['noun']} {found['aux'] or helper(found['verb'])} {np} {BASE[found['verb']]}"
    yield Made(f"{asked}{rest}{when(found['lead'])}?", _counted(found["number"], found["noun"]), "a number", 6)


def of_subject(clause: str, speech: Speech) -> Iterator[Made]:
    """ "Eleven fishing boats broke loose in the outer basin": how many fishing boats ...?"""
    found = _SUBJECT.match(clause) or _SUBJECT.match(small(clause))
    if not found or not is_counted(found["noun"]) or len(found["rest"].split()) < 2:
        return
    told = f"{found['noun']} {found['rest']}"
    if not speech.is_telling(told, 6) or re.search(r"^(?:later|ago|after|before)|\b(?:two|three|\d+)\b", found["rest"]):
        return
    if rest := tail(found["rest"]):
        answers = _counted(as_written(clause, found["number"]), found["noun"])
        yield Made(f"How many {found['noun']}{rest}{when(found['lead'])}?", answers, "a number", 5)


def of_share(clause: str, speech: Speech) -> Iterator[Made]:
    """ "60 per cent of the sailings left in time": what percentage of the sailings ...?"""
    found = _SHARE.match(small(clause))
    if found and speech.is_telling(found["rest"], 4) and len(found["rest"].split()) <= 16:
        number = as_written(clause, found["number"])
        yield Made(f"What percentage of {found['rest']}?", (number,), "a number", 5)


def of_there(clause: str, speech: Speech) -> Iterator[Made]:
    """ "There are four places on the Halcyon": how many places are there on the Halcyon?"""
    found = _THERE.match(clause)
    if not found or not is_counted(found["noun"]):
        return
    rest = tail(found["tail"])
    if rest and speech.is_telling(rest):
        asked = f"How many {found['noun']} {found['be']} there{rest}{when(found['lead'])}?"
        yield Made(asked, _counted(found["number"], found["noun"]), "a number", 6)


def of_dimension(clause: str, speech: Speech) -> Iterator[Made]:
    """ "The dam of Lake Ormen is 6.5 metres high": how high is the dam of Lake Ormen?"""
    found = _DIMENSION.match(clause)
    if found and (np := speech.subject(found["np"])):
        yield Made(f"How {found['how']} {found['be']} {np}?", (found["size"],), "a number", 6)


def of_amount(clause: str, speech: Speech) -> Iterator[Made]:
    """ "The effective tax rate was 14.4 % in 2020": what was the effective tax rate in 2020?"""
    found = _AMOUNT.match(clause)
    if not found or re.fullmatch(DATE, found["size"]) or not (np := speech.subject(found["np"], most=10)):
        return
    rest = "" if found["lead"] else tail(found["tail"])
    if rest is None:
        return
    unit = re.search(rf" ({_UNIT})$", found["size"])
    how = "How much" if re.search(r"[$€£]", found["size"]) else f"How many {unit[1]}" if unit else "What"
    yield Made(f"{how} {found['be']} {np}{rest}{when(found['lead'])}?", (found["size"],), "a number", 5)


def of_change(clause: str, speech: Speech) -> Iterator[Made]:
    """ "Net sales increased 6 % during 2020": by how much did net sales increase during 2020?"""
    found = _CHANGE.match(clause)
    if not found or not (np := speech.subject(found["np"])):
        return
    rest = tail(found["tail"])
    if rest or (rest == "" and found["lead"]):
        asked = f"By how much did {np} {_CHANGES.get(found['verb'], 'decline')}{rest}{when(found['lead'])}?"
        yield Made(asked, (found["size"],), "a number", 5)


def of_dated_passive(clause: str, speech: Speech) -> Iterator[Made]:
    """ "The Halcyon was built at Brevik Yard in 1998": when was the Halcyon built at Brevik Yard?"""
    for pattern in _PASSIVES:
        found = pattern.match(clause)
        if found and (np := _dated(found, speech, 8)):
            yield Made(f"When {found['be']} {np} {found['part']}{found['rest']}?", (found["date"],), "a date", 6)
            return


def of_dated_active(clause: str, speech: Speech) -> Iterator[Made]:
    """ "The first car came ashore at Veyra in 1968": when did the first car come ashore at Veyra?"""
    for pattern in _ACTIVES:
        found = pattern.match(clause)
        if found and (np := _dated(found, speech, 10)):
            yield Made(f"When did {np} {BASE[found['verb']]}{found['rest']}?", (found["date"],), "a date", 5)
            return


def _dated(found: re.Match[str], speech: Speech, most: int) -> str | None:
    """The subject of a clause with a date, if the date is that of its verb."""
    rest = found["rest"]
    if _GOES_ON.match(found["after"]) or len(rest.split()) > most or dangles(rest) or is_nested(rest):
        return None
    np = found["np"]
    # After "In 1998," a subject begins with a small letter; "the" may be given the capital that it has elsewhere.
    return speech.event(f"T{np[1:]}" if np.startswith("the ") else np)


def of_lasting(clause: str, speech: Speech) -> Iterator[Made]:
    """ "Veyra was dark for 31 hours": for how long was Veyra dark?"""
    found = _LASTING.match(clause)
    if not found or not (np := speech.subject(found["np"])):
        return
    state = found["state"] or found["rest"]
    if len(state.split()) > 8 or dangles(state) or is_nested(state.partition(" ")[2]):
        return
    asked = f"{found['be']} {np} {state}" if found["be"] else f"did {np} {BASE[found['verb']]}{state}"
    yield Made(f"For how long {asked}{when(found['lead'])}?", (found["time"],), "a number", 6)


def _counted(number: str, noun: str) -> tuple[str, str]:
    return number, f"{number} {noun}"
