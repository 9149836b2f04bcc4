"""Why what comes near to an answer may be none, in words."""

from __future__ import annotations

from rag_core.answering.matching import counted
from rag_core.answering.strategies.composing import Composition
from rag_core.answering.strategies.features import Evidence
from rag_core.answering.summaries.subject import names_of
from rag_core.retrieval.identity import identity_terms
from rag_core.text.languages import language_of
from rag_core.text.terms import terms
from rag_core.text.topics import topic
from rag_core.text.wordlists import stop_words

_MATCHED = 0.5
_MOST_WORDS = 2


def doubt(evidence: Evidence, made: Composition) -> str:
    """Which words of the question's topic neither what is said, and what was read for it, says nor its document goes
    by, years, figures and names first; where none, that in general."""
    held = counted(evidence.full[made.chosen[0]])
    words = evidence.matches.words
    document = made.quotes[0].hit.document
    spoken, names = document.main_language, names_of(document)
    told, question = set(terms(made.text)), " ".join(word.text for word in words)
    topical = set(terms(topic(question)))  # "list" and "explain" ask: no passage need say them
    functional = stop_words(language_of(question, spoken, {spoken}))
    missing = [
        place for place, match in enumerate(held)
        if match < _MATCHED and words[place].text.casefold() not in functional
        and told.isdisjoint(found := terms(words[place].text)) and not topical.isdisjoint(found)
        and not names.issuperset(identity_terms(words[place].text) or ("",))
    ]  # fmt: skip
    missing.sort(key=lambda place: (not (words[place].is_number or words[place].is_name), -evidence.weights[place]))
    lacking = [f"“{words[place].text}”" for place in missing[:_MOST_WORDS]]
    if not lacking:
        return "Not sure: the passage may be about something else."
    return f"Not sure: it does not say {' or '.join(lacking)}."
