"""What a question means: its kind, names and years, phrases that must stand there, words that must not."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rag_core.domain import QuestionKind, Understood
from rag_core.text.terms import terms

_QUOTED = re.compile(r'"([^"]{2,200})"|“([^”]{2,200})”|„([^“”]{2,200})[“”]|«([^»]{2,200})»')
_REQUIRED = re.compile(r"(?<!\S)\+(\w[\w'’-]*)")  # "+train", a phrase of one word
# Where a question begins or ends a hyphen before a word, not within one, nor before a figure: "fares -train".
_EXCLUDED = re.compile(r"(?:(?<=\s)|^)-([^\W\d_][\w'’]*)(?=[\s,.;:!?]|$)")
_EXCLUDING = re.compile(rf"^(?:[\s,]*{_EXCLUDED.pattern})+|(?:[\s,]*{_EXCLUDED.pattern})+\W*$")
# In a longer text, which was pasted, quotation marks and hyphens are of its prose.
_PROSE_WORDS = 60
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d]|[.,]\d)")
_SHORT_YEAR = re.compile(r"\b[Ff][Yy]\s?['’]?(\d\d)\b")
_NAME = re.compile(r"(?<!\w)(?!I\b)[A-Z][\w&'’.-]*(?:\s+(?:(?:of|the|and|&|de|von|van)\s+)?[A-Z][\w&'’.-]*)*")
_ASKS_AGAIN = re.compile(r"(?<=[?!.]\s)(?:Who|What|When|Where|Which|Why|How|Is|Are|Does|Did|Was|Were|And)\b")
_FIRST_WORD = re.compile(r"\W*\w+")

# "What does the handbook say about dogs?", "Is there anything on dogs in it?": who tells, and of what.
_TELLING = re.compile(
    r"""^\W*(?:(?:and|so|but|please|tell\sme|can\syou\stell\sme)\s)*
    (?:what|which|anything|something|is|are|does|do|did|was|were|(?:tell|give|show)\sme)\b
    (?:\s(?:does|do|did|is|are|has|have|can|i|some|more)\b)*(?P<teller>.{0,80}?)\s
    (?:(?<=\bme\s)about|(?<=\bmore\s)about
      |(?:says?|said|tells?|told|writes?|wrote|written|states?|stated|known?|learn|find|read|anything|something
        |information)\s(?:\w+\s){0,2}?(?:about|regarding|concerning)
      |(?:says?|said|anything|something|information)\son
      |mentions?)\s
    (?P<topic>.*?)(?P<where>\s(?:in|by)\s(?:the|this|my|these|those|any|our)\s[\w\s]+)?\W*$""",
    re.IGNORECASE | re.VERBOSE,
)

# Words that ask, in British and American spelling, which few documents hold.
_ASKING = re.compile(r"sum+ar+(?:y|i[sz]e[sd]?)|overview|gist|outline|tl;?dr|nutshell|takeaways?", re.IGNORECASE)

SUMMARISE = re.compile(
    r"\b(?:zusammen(?:zu)?fass\w+|fass\w*\b.{0,120}\bzusammen|résume[rz]|un résumé|resumir|resumen de)\b"
    r"|^\W*résume\b|(?:を|の)?要約(?:して(?:ください)?)?|(?:请)?总结(?:一下)?",
    re.IGNORECASE,
)
"""What asks for a summary in German, French, Spanish, Japanese and Chinese."""

_KINDS: tuple[tuple[QuestionKind, re.Pattern[str]], ...] = (
    (
        "summary",
        re.compile(
            r"\b(?:sum+ar+i[sz]e|summary|overview|outline|gist|tl;?dr|sum (?:\w+ ){0,3}?up|short (?:story|version)"
            r"|in (?:short|brief|a nutshell|a few (?:lines|words|sentences))"
            r"|main (?:points?|ideas?|findings?|topics?|arguments?)|key (?:points?|takeaways?|findings?))\b"
            rf"|\bwhat(?:['’]s| is| are| was| were) .{{0,60}}\babout\W*$|{SUMMARISE.pattern}",
            re.IGNORECASE,
        ),
    ),
    (
        "comparison",
        re.compile(
            r"\b(?:compare[sd]?|comparing|comparison|versus|vs\.?|differ(?:s|ed|ence|ences|ent)?|similarit(?:y|ies)"
            r"|(?:more|less|fewer|higher|lower|larger|smaller|bigger|better|worse|older|newer|longer|shorter|greater)"
            r"\b.{0,80}\bthan\b(?!\s\d)|which (?:one )?(?:is|was|has|had|of the (?:two|three))\b.{0,60}\bor)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "list",
        re.compile(
            r"^\W*(?:list|enumerate|name (?:all|the|every|some|\w+ \w+s)\b|which \w+s\b"
            r"|what (?:are|were) (?:all )?the\b|give me (?:all|a list))|\b(?:all of the|a list of|every one of)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "definition",
        re.compile(
            r"^\W*(?:define\b|what(?:'s|’s| is| are) (?:an? |the )?[\w'’-]+(?: [\w'’-]+){0,2}\W*$"
            r"|what does .{1,60} (?:mean|stand for)\b)|\b(?:meaning|definition) of\b",
            re.IGNORECASE,
        ),
    ),
)


def understand(question: str, documents: Mapping[str, float] | None = None) -> Understood:
    """What a question was taken to mean. `documents`: ids of those that it names, with how surely, 0..1."""
    phrases, excluded = ((), ()) if len(question.split()) > _PROSE_WORDS else (_phrases(question), _excluded(question))
    return Understood(
        kind=kind_of(question),
        names=_names(question),
        years=tuple(dict.fromkeys([int(year) for year in _YEAR.findall(question)] + _short_years(question))),
        phrases=phrases,
        excluded=excluded,
        documents=dict(documents or {}),
    )


def kind_of(question: str) -> QuestionKind:
    """What kind of answer a question asks for; "fact" where nothing tells."""
    return next((kind for kind, pattern in _KINDS if pattern.search(question)), "fact")


def is_asking(word: str) -> bool:
    """Whether a word asks for a kind of answer, whatever words the documents have."""
    return _ASKING.fullmatch(word) is not None


def looked_for(question: str, understood: Understood) -> str:
    """A question without the words that it excludes, or that only ask what is told of something."""
    if understood.excluded:
        return " ".join(_EXCLUDING.sub(" ", question).split())
    found = _TELLING.match(question)
    return " ".join(f"{found['topic']}{found['where'] or ''} {found['teller']}".split()) if found else question


def topic_of(question: str) -> str:
    """What a question asks to be told of: dogs in "what does the handbook say about dogs", with whose name it has."""
    found = _TELLING.match(question)
    return " ".join((*_names(f"of {found['teller']}"), found["topic"])) if found else question


def unquoted(question: str) -> str:
    """A question without what it quotes."""
    return _QUOTED.sub(" ", question)


def _phrases(question: str) -> tuple[str, ...]:
    quoted = (next(filter(None, found)) for found in _QUOTED.findall(question))
    required = _REQUIRED.findall(unquoted(question))
    return tuple(" ".join(text.split()) for text in (*quoted, *required) if terms(text))


def _excluded(question: str) -> tuple[str, ...]:
    plain = unquoted(question)
    if not _phrases(question) and not terms(_EXCLUDING.sub(" ", plain)):  # nothing would be left to look for
        return ()
    return tuple(dict.fromkeys(word for part in _EXCLUDING.finditer(plain) for word in _EXCLUDED.findall(part.group())))


def _names(question: str) -> tuple[str, ...]:
    """Words written as names anywhere but where a sentence begins; a second question begins with no name either."""
    if question.isupper():
        return ()
    first = _FIRST_WORD.match(question)
    begin = first.end() if first else 0
    found = (
        match.group().rstrip(".'’-")
        for match in _NAME.finditer(_ASKS_AGAIN.sub(lambda found: found[0].lower(), question), begin)
    )
    return tuple(dict.fromkeys(found))


def _short_years(question: str) -> list[int]:
    return [2000 + int(digits) for digits in _SHORT_YEAR.findall(question)]
