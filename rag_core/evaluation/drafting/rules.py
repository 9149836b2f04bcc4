"""From a sentence to questions: which sentences can be trusted, where their main clause ends, and what is kept.

The rules themselves are patterns over a main clause with a template each. What they make is kept only if its subject
says by itself what is meant, nothing in the question points outside it, and it does not give its answer away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rag_core.evaluation.drafting import actions, facts
from rag_core.evaluation.drafting import money as figures
from rag_core.evaluation.drafting.parts import Made
from rag_core.evaluation.drafting.words import Speech, stands_alone

Rule = Callable[[str, Speech], Iterator[Made]]

OF_CLAUSES: tuple[Rule, ...] = (
    figures.of_object, figures.of_there, figures.of_dimension, figures.of_subject, figures.of_share, figures.of_change,
    figures.of_amount, figures.of_lasting, figures.of_dated_passive, figures.of_dated_active, facts.of_agent,
    facts.of_place, facts.of_called, facts.of_purpose, facts.of_meaning, facts.of_definition, actions.of_doer,
    actions.of_identity, actions.of_effect,
)  # fmt: skip
OF_SENTENCES: tuple[Rule, ...] = (
    facts.of_glossary, facts.of_role, facts.of_reason, actions.of_list, actions.of_how_to, actions.of_condition,
)  # fmt: skip

_ASIDE = re.compile(
    r"^(?:\d{1,2}[:.]\d\d|\d{1,2}\.|[•*-])\s+|\s?\[(?:\d{1,3}(?:[,–-]\s?\d{1,3})*|[a-z ]+)\]|\s?\([^()]*\)"
)
_OPENING = re.compile(
    r"(?:However|For example|For instance|Moreover|In addition|Furthermore|Today|Additionally|Similarly"
    r"|Finally|Also|Thus"
    r"|Therefore|Usually|Historically|Eventually|Later|Then|In general|Generally), "
)
_LATER = re.compile(
    r"\s*[;:–—]\s|\s-\s|,? (?:which|who|whose|whom|where|while|although|though|whereas|because|since(?! \w+ \d{4})"
    r"|so that|until)\b"
    r"|, (?:but|and|so|as|with|including|or|after|before|when|not|making|causing|resulting|compared|primarily|due)\b"
)
_LEANS = re.compile(r"(?:our|its|their|his|her|this|these|those|we|it|they|he|she)\b", re.IGNORECASE)
_ODD = re.compile(r"https?:|www\.|@|\.\.\.|…|\||_{2}|[A-Z]{4,} [A-Z]{4,}|\?| ,")


def make(sentence: str, speech: Speech) -> Iterator[Made]:
    """Every question that the rules make of a sentence, given as one line; most sentences give none."""
    plain = _ASIDE.sub("", sentence).strip()
    if opening := _OPENING.match(plain):
        plain = plain[opening.end() :][:1].upper() + plain[opening.end() + 1 :]
    if not _is_sound(plain):
        return
    whole = plain.rstrip(".!")
    later = _LATER.search(whole)
    clause = whole[: later.start()] if later else whole
    for rules, text in ((OF_CLAUSES, clause), (OF_SENTENCES, whole)):
        for rule in rules:
            yield from filter(None, (_kept(made, sentence) for made in rule(text, speech)))


def _is_sound(sentence: str) -> bool:
    """Whether a sentence can be trusted: whole, of ordinary length and characters."""
    letters = sum(character.isalpha() or character == " " for character in sentence)
    figures = sum(character.isdigit() for character in sentence)
    return (
        20 <= len(sentence) <= 320
        and (sentence[0].isupper() or sentence[0].isdigit())
        and sentence[-1] in ".!"
        and letters >= 0.6 * len(sentence)
        and letters + figures >= 0.85 * len(sentence)
        and not _ODD.search(sentence)
        and sentence.count('"') % 2 == 0
    )


def _kept(made: Made, sentence: str) -> Made | None:
    """What a rule made, with the answers that stand in the sentence; None where it does not hold."""
    text = made.text[:1].upper() + " ".join(made.text[1:].split()).replace(" ?", "?")
    answers = tuple(answer.strip() for answer in made.references if answer.strip() and answer in sentence)
    if any(_LEANS.match(answer) for answer in answers):
        return None
    given_away = any(re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) for answer in answers)
    return Made(text, answers, made.rule, made.worth) if answers and not given_away and stands_alone(text) else None
