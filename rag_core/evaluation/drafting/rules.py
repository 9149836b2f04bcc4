"""A page of rules: patterns of English sentences and of table rows, each with the question that they answer.

Questions are checked: a subject has to say by itself what is meant, and nothing in a question may point outside it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rag_core.evaluation.drafting.checks import points_out
from rag_core.text.sentences import split_sentences
from rag_core.text.terms import terms
from rag_core.text.topics import capitalised
from rag_core.text.wordlists import NUMBER_WORDS, STOP_WORDS

_MONTH = "(?:Jan|Febr)uary|March|April|May|June|July|August|(?:Septem|Octo|Novem|Decem)ber"
_DATE = rf"(?:(?:\d\d? )?(?:{_MONTH})(?: \d\d?,)?(?: \d{{4}})?|1[0-9]\d\d|20\d\d)"
_WORDED = "|".join(list(NUMBER_WORDS)[2:])
_NUMBER = rf"(?i:(?:(?:about|around|almost|over|at least) )?(?:\d+(?:,\d{{3}})*(?:\.\d+)?(?: [mb]illion)?|{_WORDED}))"
_COUNTED = r"(?!(?:the|an?|of|more|less) )(?:[a-z-]+ ){0,2}?(?:[a-z-]+s|people|feet)(?: (?:of|for) [a-z]+)?"
_NAME = r"[A-Z][\w.'’-]+(?: (?:of |de |van |von )?[A-Z][\w.'’-]*)+"
_BE = "(?P<be>is|are|was|were)"
_DONE = r"(?P<done>(?:\w{2,}ed|built|made|held|sold|bought|written|won|laid|found|taken|led|begun|opened)"
_LEAD = rf"(?:(?P<lead>(?:In|On|By) {_DATE}),? )?"
_TAIL = r"(?P<tail>(?: (?:in|on|at|for|per|an?|from|with) [^,]+?)?)(?:,? (?:and|or|but) .*|, .*)?"
_VERBS = """carry carries carried|hold holds held|have has had|contain contains contained|cover covers covered
use uses used|employ employs employed|operate operates operated|produce produces produced|cost costs cost
take takes took|weigh weighs weighed|reach reaches reached|need needs needed|burn burns burned|serve serves served
sell sells sold|bear bears bore|include includes included|join joins joined|lose loses lost|pay pays paid
receive receives received|own owns owned|build builds built|comprise comprises comprised|mean means meant"""
_FORMS = [forms.split() for forms in re.split(r"[|\n]", _VERBS)]
_BASE = {form: forms[0] for forms in _FORMS for form in forms}
_DO = {form: do for base, third, past in _FORMS for form, do in ((past, "did"), (third, "does"), (base, "do"))}

_OF_WHOLE = ("a reason", "a condition", "an instruction", "a role", "a term")  # more than the main clause is needed

# Of one sentence the first rule that holds is taken, so the best stand first.
_RULES = [
    (re.compile(pattern), question, kind)
    for pattern, question, kind in (
        (r"(?P<np>.+?) (?P<be>is|are|was|were|can|must|may) (?P<rest>[^,]+),? (?P<answer>because (?!of).+)",
         "Why {be} {np} {rest}?", "a reason"),
        (r"(?P<when>(?:If|When|Whenever) (?!\w+ing )[^,]{15,110}), (?P<answer>(?:the|an?|no|all|each|every) .{12,})",
         "What happens {when}?", "a condition"),
        (r"To (?P<what>(?!(?:be|have|the) )[a-z]+ [^,]{4,90}), (?P<answer>(?!\w+ing |(?:an?|in|it|the|we) )[a-z].+)",
         "How do you {what}?", "an instruction"),
        (r"(?:.*\b)?[Tt]he (?P<role>(?:[a-z]+ ){0,3}?[a-z]+(?:or|er|ist|ent|ian|man|clerk)),? (?:is )?"
         rf"(?P<answer>{_NAME})(?:,.*)?", "Who is the {role}?", "a role"),
        (rf"(?!(?i:{_WORDED}) )(?P<term>[A-Z][\w'’-]*(?: [\w'’-]+){{0,3}})(?::| [–—]) "
         r"(?P<answer>(?:the|an?|any|someone|those) .{15,})", "What is meant by “{term}”?", "a term"),
        (rf"{_LEAD}(?P<np>.+?) (?P<verb>{'|'.join(_BASE)}) (?P<answer>{_NUMBER}) (?P<noun>{_COUNTED}){_TAIL}",
         "How many {noun} {do} {np} {base}{tail} {lead}?", "a number"),
        (rf"{_LEAD}[Tt]here {_BE} (?P<answer>{_NUMBER}) (?P<noun>{_COUNTED})"
         r"(?P<tail> (?:in|on|at|aboard) [^,]+?)(?: and .*)?", "How many {noun} {be} there{tail} {lead}?", "a number"),
        (rf"(?P<np>.+?) {_BE} (?P<answer>{_NUMBER} [a-z ]+?) (?P<how>high|long|wide|deep|tall|thick|old)\b.*",
         "How {how} {be} {np}?", "a number"),
        (rf"{_LEAD}(?P<answer>{_NUMBER}) (?P<what>{_COUNTED} (?:were|are|have|had|can|must|\w+ed|broke|came) .{{8,}})",
         "How many {what} {lead}?", "a number"),
        (rf"(?P<answer>{_NUMBER} ?(?:%|per ?cent)) of (?P<what>.+ {_BE} .+)", "What percentage of {what}?", "a number"),
        (rf"(?!An? |.* (?:after|before|that) )(?P<np>.+?) {_BE} {_DONE}(?: [^,]+?)?) (?:in|on) (?P<answer>{_DATE})",
         "When {be} {np} {done}?", "a date"),
        (rf"(?P<np>.+?) {_BE} {_DONE}) by (?:the )?(?P<answer>{_NAME})\b.*", "Who {be} {np} {done} by?", "a name"),
        (rf"(?P<np>.+?) {_BE} (?P<done>located|situated|headquartered|held|stored|kept|born|buried|found) "
         r"(?P<answer>(?:in|at|on|near|between|under) (?!the (?:same|following|form)|\d).{4,80})",
         "Where {be} {np} {done}?", "a place"),
        (rf"(?P<np>.+?) {_BE} used (?P<answer>(?:to|for) .{{8,140}})", "What {be} {np} used for?", "a purpose"),
        (r"(?P<np>(?:[^ ]+ ){0,3}?[^ ]+) (?P<verb>includes?|contains?|comprises?|means) (?P<answer>[^\d].{12,140})",
         "What {do} {np} {base}?", "a statement"),
        (rf"(?P<np>{_NAME}) (?P<be>is|was) (?P<answer>(?:an?|the) (?:[\w-]+ ){{0,3}}?"
         r"(?:\w*ist|\w*ian|king|queen|president|author|writer|engineer)\b.*)", "Who {be} {np}?", "a definition"),
        (r"(?P<np>.+?) (?P<be>is|are) (?P<answer>(?:an?|the) (?!(?:result|part|number|lot|example|same|only)\b).{12,})",
         "What {be} {np}?", "a definition"),
    )
]  # fmt: skip
_SOUND = re.compile(r"[A-Za-z0-9][\w\s,.;:'’“”\"()/%$€£°–—-]{18,300}[.!]")
_BEFORE = re.compile(r"(?:\d\d?[:.]\d\d|[•*-]) +|(?:However|For example|Moreover|In addition|Today|Then), ")
_ASIDE = re.compile(r"\s?\([^()]*\)|\s?\[[^\[\]]*\]")
# Where a main clause ends and a remark on it begins.
_LATER = re.compile(r"; |: | [–—-] |,?(?: in| of| for)? (?:which|who|whose|where|while)\b|, (?:but|so|as|with)\b")
_LINKS = frozenset("a an the of in on at for to from and with".split())  # noqa: SIM905
_POINTING = frozenset("this these those such it its they their we our us another other following company".split())  # noqa: SIM905
_YEAR_LINE = re.compile(r"\s*(?:(?:19|20)\d\d(?:\s+Change)?\s*){2,}")
_MEASURE = re.compile(r"(?i)\b(?:sales|revenues?|income|expenses?|costs?|assets|earnings|debt|profit|tax)\b")


class Made(NamedTuple):
    """A question made of a sentence or row, its answer as it stands there, and from what kind of statement."""

    text: str
    answer: str
    kind: str


class Names:
    """Which words of a document are names: those that stand with a capital amid sentences more often than without."""

    def __init__(self, texts: Iterable[str]) -> None:
        spans = (span for text in texts for span in split_sentences(text) if span.kind == "sentence")
        within = Counter(word for span in spans for word in re.findall(r"[^\W\d_]+", span.text)[1:])
        self._names = {word for word in within if word[0].isupper() and within[word] > 2 * within[word.lower()]}
        self._common = {word for word in within if word[0].islower()}

    def within(self, phrase: str) -> str | None:
        """A phrase from a sentence's head as it stands within one; None where its first word may be a name or not."""
        first, space, rest = phrase.partition(" ")
        plain = re.split(r"\W", first)[0]
        named = plain in self._names or plain[1:2].isupper() or rest[:1].isupper() or not plain[:1].isupper()
        if named and plain.lower() not in _LINKS:
            return phrase
        return f"{first.lower()}{space}{rest}" if plain.lower() in self._common | _LINKS else None

    def column(self, head: str) -> str | None:
        """A column's head as what a thing has ("Yield in summer"); None for one that does not read so."""
        first, *more = head.split() or [""]
        known = first.lower() in self._common or any(map(str.islower, more))
        fits = known and first.lower() not in STOP_WORDS and re.fullmatch(r"[A-Z][a-z][\w ,'’-]{2,50}", head)
        return f"{head[0].lower()}{head[1:]}" if fits else None

    def subject(self, phrase: str) -> str | None:
        """A subject as it stands within a question; None for one that does not say by itself what is meant."""
        words = phrase.split()
        inner = [word.lower() for word in words if word.lower() not in _LINKS]
        if len(words) > 8 or not re.fullmatch(r"(?!(?i:of|in|on|at|for|to|from|and|with) )[\w .'’&/-]+", phrase):
            return None
        if STOP_WORDS.intersection(inner) or len(set(inner)) < len(inner) or words[-1].lower() in _LINKS:
            return None
        named = any(word in self._names for word in re.findall(r"\w+", phrase))
        return self.within(phrase) if named or len(set(terms(phrase))) >= 2 else None


def make(sentence: str, names: Names) -> Made | None:
    """The question that the first fitting rule makes of a sentence, given as one line, if there is one."""
    plain = _ASIDE.sub("", _BEFORE.sub("", sentence, count=1)).strip()
    plain = capitalised(plain)
    whole = plain.rstrip(".!")
    clause = _LATER.split(whole)[0]
    for pattern, question, kind in _RULES if _SOUND.fullmatch(plain) else ():
        found = pattern.fullmatch(whole if kind in _OF_WHOLE else clause)
        if found and (made := _filled(found, question, kind, names)) and made.answer in sentence:
            return made
    return None


def _filled(found: re.Match[str], question: str, kind: str, names: Names) -> Made | None:
    """The question of a rule with what it found put in; None where it does not hold."""
    parts = {name: text or "" for name, text in found.groupdict().items()}
    if "np" in parts:
        parts["np"] = names.subject(parts["np"]) or ""
    if "verb" in parts:
        parts |= {"do": _DO[parts["verb"]], "base": _BASE[parts["verb"]]}
    for part in {"lead", "when"} & parts.keys():
        parts[part] = parts[part][:1].lower() + parts[part][1:]
    text, answer = question.format(**parts).replace(" ?", "?"), parts["answer"]
    open_ended = points_out(text) or not _POINTING.isdisjoint(re.findall("[a-z]+", text.lower()))
    if open_ended or parts.get("np") == "" or answer.split()[-1] in _LINKS - {"in", "on"}:
        return None
    telling = 4 <= len(text.split()) <= 24 and len(set(terms(text))) >= (4 if kind == "a condition" else 2)
    return Made(text, answer, kind) if telling and answer.lower() not in text.lower() else None


def rows(text: str, whose: str, names: Names) -> Iterator[tuple[Made, int, int]]:
    """Questions for the cells of a page's tables, with the spans of their rows: Markdown, and figures below years.

    whose: what stands behind the name of a figure to say whose it is, "of Apple Inc.".
    """
    head, before = list[str](), list[str]()
    for line in re.finditer(r"[^\n]+", text):
        cells = [cell.replace("**", "").strip(" *_`") for cell in line[0].strip("| \r").split("|")]
        if len(cells) > 1 and all(re.fullmatch(":?-{2,}:?", cell) for cell in cells):
            head = before
        elif _YEAR_LINE.fullmatch(line[0]):
            head = (
                [] if re.search("(?i)quarter|months|weeks", " ".join(before)) else ["", *re.findall(r"\d{4}", line[0])]
            )
        elif head and (found := _of_row(cells, head, whose, names)):
            yield from ((made, line.start(), line.end()) for made in found)
        elif not re.search(r"[|\d]", line[0]):
            head = []
        before = cells


def _of_row(cells: list[str], head: list[str], whose: str, names: Names) -> list[Made]:
    """Questions for the cells of one row; `head` names the columns, the first of them being that of the rows' names."""
    if len(cells) > 1:
        label, *values = cells
        thing = names.within(label) or label
        asked = [names.column(column) and f"What is the {names.column(column)} for {thing}?" for column in head[1:]]
    else:
        label, *values = re.split(r"[\s$]{1,3}(?=\(?\d)", cells[0])
        label = label if _MEASURE.search(label) else ""
        be = "were" if label.endswith("s") else "was"
        asked = [f"What {be} the {names.column(label) or label} {whose} in {year}?" for year in head[1:]]
    if len(values) != len(asked) or not re.fullmatch(r"[A-Z][\w ,.'’&/-]{3,59}", label) or label.lower() == "total":
        return []
    told = ((text, value) for text, value in zip(asked, values, strict=True) if re.fullmatch(r"[^_|]{2,60}", value))
    return [Made(text, value, "a row of a table") for text, value in told if text]
