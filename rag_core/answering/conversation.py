"""Follow-up questions: "And the year before?" becomes a question that stands alone, by rules without a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_core.answering.encoding import Encode
from rag_core.answering.planning.parts import about_subject
from rag_core.answering.swapping import swapped_phrase
from rag_core.domain import Message
from rag_core.models.prompts import EARLIER, TURN
from rag_core.text.sentences import split_sentences
from rag_core.text.terms import terms

_OPENING = re.compile(
    r"(?:and|but|or|so|also|then|und|et|ok(?:ay)?|what about|how about|what else|why|how so|really|more)\b[\s,]*", re.I
)
_BACK = re.compile(
    r"""\b(?:(?-i:(?!IT\b))it|its|they|them|their|theirs|he|him|his|she|her|hers|this|these|those|there|then|former|latter
    |the\s(?:same|other|(?:first|second|last|previous)(?:\sones?|(?=\W*$))))\b""",
    re.IGNORECASE | re.VERBOSE,
)
# In "the ships and their limits" it points back within the question, and in "how many are there" nowhere.
_WITHIN = re.compile(
    r"(?<=\w)\s(?:and|with)\s(?:their|its|his|her)\b|(?<=\w\s)(?:is|are|was|were)\sthere\b|^(?:is|are|was|were)\sthere\b",
    re.IGNORECASE,
)
# "that" is mostly a conjunction; it refers back when it ends a clause or follows a preposition or a verb of being.
_THAT = re.compile(
    r"\b(?:about|of|is|was|does|did|do|to|for|from|with|in|on|like|after|before) that\b(?!\s+\w+\s+\w+s\b)", re.I
)
_MOST_CHARS = 4_000  # of an earlier question; one is no longer, but for those that other programs tell of
_YEAR = re.compile(r"\b(1\d{3}|20\d\d)\b")
_YEAR_BEFORE = re.compile(
    r"\b(?:the )?(?:year before|previous year|prior year|last year|year earlier|preceding year)\b", re.I
)
_YEAR_AFTER = re.compile(r"\b(?:the )?(?:year after|next year|following year|year later)\b", re.I)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*)*")
_CELL = re.compile(r"(?<=“)[^”]+(?=”)")  # of a plan over a table in words
_MOST_HISTORY_CHARS = 600
_WHOLE_TURNS = 2


def wordings(question: str, history: Sequence[Message], encode: Encode) -> tuple[str, ...]:
    """The ways in which a question can be searched for, of which its passages tell the best: one where that is sure.

    A follow-up's are the question before with its phrase in it, if it fits, it with the name that its pronoun stands
    for, both questions joined, and it by itself.
    One whose year or name was put into the question before is not asked by itself, nor one without a word of its own
    ("And what do they cost?" has one, "Why is that?" has none): there it says too little.
    """
    previous = _last_asked(history)
    if not previous or not is_follow_up(question):
        return (question,)
    if sure := _swapped_year(question, previous) or _swapped_name(question, previous):
        return (sure,)
    opening = _OPENING.match(question)
    swapped = swapped_phrase(question[opening.end() :], previous, encode) if opening else ""
    own = terms(_BACK.sub("", question[opening.end() :] if opening else question))
    named = "" if all(map(str.isdigit, own)) else about_subject(question, previous)  # "What was it in 2021?"
    return (*filter(None, [named, swapped]), f"{previous.rstrip()} {question}", *([question] if own else []))


def is_follow_up(question: str) -> bool:
    """Whether a question cannot be understood without the one before it."""
    opening = _OPENING.match(question)
    rest = question[opening.end() :] if opening else question
    own = [term for term in terms(rest) if not term.isdigit()]
    if opening and len(own) <= 4:
        return True
    names = _NAME.findall(question)
    return len(own) <= 1 or (not names and points_back(question))


def points_back(question: str) -> bool:
    """Whether a word stands for something that was said before: "of them", "their", "the first one"."""
    return bool(_BACK.search(_WITHIN.sub(" ", question)) or _THAT.search(question))


def stands_alone(question: str) -> bool:
    """Whether a question takes up nothing said before, so that only its few words let it seem a follow-up."""
    return not (_OPENING.match(question) or points_back(question))


def _last_asked(history: Sequence[Message]) -> str:
    """The last question as it was searched for, so that a chain of follow-ups keeps its subject."""
    for message in reversed(history):
        if message.answer is not None and message.answer.trace.query:
            return message.answer.trace.query[:_MOST_CHARS]
        if message.question.strip():
            return message.question[:_MOST_CHARS]
    return ""


def _swapped_year(question: str, previous: str) -> str:
    """The previous question with its one year replaced, when the follow-up asks for nothing but another year."""
    years = _YEAR.findall(previous)
    if len(set(years)) != 1:
        return ""
    year, asked = int(years[0]), _YEAR.findall(question)
    if _YEAR_BEFORE.search(question):
        wanted, rest = year - 1, _YEAR_BEFORE.sub("", question)
    elif _YEAR_AFTER.search(question):
        wanted, rest = year + 1, _YEAR_AFTER.sub("", question)
    elif len(asked) == 1:
        wanted, rest = int(asked[0]), _YEAR.sub("", question)
    else:
        return ""
    return "" if terms(_OPENING.sub("", rest, count=1)) else _YEAR.sub(str(wanted), previous)


def _swapped_name(question: str, previous: str) -> str:
    """The previous question with its one name replaced: "Who leads Apple?", "And Dell?" asks who leads Dell."""
    opening = _OPENING.match(question)
    rest = (question[opening.end() :] if opening else "").strip(" ?.!")
    wanted = re.fullmatch(
        r"(?:(?:in|for|of|at|from|to|by|with|about) )?(?:the )?([A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*)*)", rest
    )
    names = _CELL.findall(previous) or _NAME.findall(previous.rstrip(" ?.!"))
    return previous.replace(names[0], wanted[1]) if wanted and len(names) == 1 else ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """Questions with their answers for a prompt: of `left_out` first ones it has nothing, of `shortened` not all."""

    text: str = ""
    shortened: int = 0
    left_out: int = 0

    @property
    def note(self) -> str:
        """What the reader should know of it."""
        told = [f"{self.shortened} shortened"] if self.shortened else []
        told += [f"the first {self.left_out} left out"] if self.left_out else []
        return f"Earlier questions and answers in the prompt: {', '.join(told)}." if told else ""


def earlier_turns(history: Sequence[Message], count: Callable[[str], int], room: int) -> Earlier:
    """The last two questions with their answers, and of those before the first sentences, in `room` tokens."""
    turns = [(one.question, _unmarked(one.answer.text)) for one in history if one.answer and one.answer.text]
    told: list[str] = []
    shortened = 0
    for place, (question, answer) in enumerate(reversed(turns)):
        first = split_sentences(answer)[:1] if place >= _WHOLE_TURNS else []
        turn = _turn(question, first[0].text if first else answer)
        if place >= _WHOLE_TURNS and (room := room - count(turn)) < 0:
            break
        told.append(turn)
        shortened += len(turn) < len(TURN.fill(question=question, answer=answer))
    text = EARLIER.fill(turns="\n".join(reversed(told))) if told else ""
    return Earlier(text, shortened, len(turns) - len(told))


def _turn(question: str, answer: str) -> str:
    return TURN.fill(question=question[:_MOST_HISTORY_CHARS], answer=answer[:_MOST_HISTORY_CHARS])


def _unmarked(text: str) -> str:
    """An answer without its citation numbers, which count the passages of another question."""
    return re.sub(r"\s*\[\d[\d,\s]*\]", "", text)
