"""What the drafting rules know of English: closed lists of words, patterns of numbers and dates, and subjects.

There is no grammar here. A rule takes a sentence only where closed lists say what every word around its verb is, so
that most sentences give no question and few give a poor one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = (
    rf"(?:(?:early|late|mid)[ -])?(?:\d{{1,2}} (?:{_MONTHS})(?: \d{{4}})?|(?:{_MONTHS}) \d{{1,2}}(?!\d)(?:, \d{{4}})?"
    rf"|(?:{_MONTHS}) \d{{4}}|(?:1[0-9]|20)\d\d(?![\d.,]\d|%))"
)
_WORDED = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen twenty thirty forty fifty sixty seventy eighty ninety"
).replace(" ", "|")
_ABOUT = (
    "(?:(?:about|around|approximately|nearly|almost|roughly|over|more than|less than|fewer than|at least|at most|up to"
    "|only|perhaps|no more than|no less than|an estimated|some) )?"
)
NUMBER = (
    rf"{_ABOUT}(?:\d[\d,]*(?:\.\d+)?(?: (?:million|billion|thousand|hundred))?"
    rf"|(?:{_WORDED})(?:-\w+)?(?: hundred| thousand)?)"
)
MONEY = rf"{_ABOUT}(?:US)?[$€£]\s?\d[\d,]*(?:\.\d+)?(?: (?:million|billion|thousand|trillion))?"
PERCENT = rf"{_ABOUT}\d[\d,]*(?:\.\d+)?(?:\s?%| per cent\b| percent\b| percentage points\b)"

_VERBS = """
carry carries carried|hold holds held|have has had|contain contains contained|cover covers covered|own owns owned
employ employs employed|operate operates operated|use uses used|burn burns burned|produce produces produced
cost costs cost|take takes took|last lasts lasted|weigh weighs weighed|measure measures measured|reach reaches reached
draw draws drew|bear bears bore|pay pays paid|need needs needed|give gives gave|make makes made|serve serves served
sell sells sold|buy buys bought|generate generates generated|provide provides provided|include includes included
comprise comprises comprised|span spans spanned|house houses housed|seat seats seated|win wins won|keep keeps kept
score scores scored|receive receives received|earn earns earned|spend spends spent|invest invests invested
publish publishes published|open opens opened|close closes closed|lose loses lost|kill kills killed|build builds built
add adds added|store stores stored|yield yields yielded|grow grows grew|cross crosses crossed|raise raises raised
record records recorded|complete completes completed|feature features featured|require requires required
support supports supported|manage manages managed|process processes processed|repurchase repurchases repurchased
begin begins began|become becomes became|die dies died|join joins joined|move moves moved|come comes came|go goes went
leave leaves left|sign signs signed|write writes wrote|release releases released|launch launches launched
introduce introduces introduced|start starts started|end ends ended|return returns returned|marry marries married
establish establishes established|create creates created|discover discovers discovered|invent invents invented
adopt adopts adopted|acquire acquires acquired|purchase purchases purchased|visit visits visited|meet meets met
conquer conquers conquered|defeat defeats defeated|invade invades invaded|appear appears appeared|live lives lived
announce announces announced|issue issues issued|declare declares declared|enter enters entered|fail fails failed
freeze freezes froze|break breaks broke|sink sinks sank|fall falls fell|rise rises rose|arrive arrives arrived
graduate graduates graduated|retire retires retired|resign resigns resigned|replace replaces replaced
cause causes caused|prevent prevents prevented|control controls controlled|regulate regulates regulated
detect detects detected|absorb absorbs absorbed|define defines defined|specify specifies specified
protect protects protected|convert converts converted|determine determines determined
identify identifies identified|describe describes described|change changes changed|expire expires expired
mature matures matured|work works worked
"""
_FORMS = [forms.split() for forms in re.split(r"[|\n]", _VERBS) if forms.strip()]
BASE = {form: base for base, third, past in _FORMS for form in (base, third, past)}
"""Forms of verbs that take a number or a date, with their base form."""
THIRD = {base: third for base, third, _ in _FORMS}
"""Base forms with the form that goes with he, she and it."""
PAST = frozenset(past for base, _, past in _FORMS if past != base)
PARTICIPLE = (
    r"(?:\w{2,}ed|built|made|laid|held|given|sold|bought|written|sent|won|lost|begun|drawn|cut|struck|shot|found|taken"
    r"|born|brought|fought|led|known|broken|chosen|driven|spent|paid|put|set|split|torn|hit|sung|seen|shown|kept)"
)
BE = r"(?:is|are|was|were)"
FINITE = rf"(?:{BE}|has|have|had|can|must|may|will|{'|'.join(sorted(BASE))}|\w{{3,}}ed)"


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_CLAUSAL = word_set("""
that which who whom whose when where while if because although though than is are was were be been being has have had
will would can could may might must should shall do does did not it he she they we you i this these those such there
here its their his her our your my me us them him one other another also however both either neither as so but or most
many some all any several few each every what why how whether nor yet then thus above below following former latter same
herein thereof respectively therefore respective said further remaining certain additional similar subsequent portion
proceeds
""")
_PREPOSITIONS = word_set("""
in on at by for from to with without after before during under over since until between among through about into onto
upon off near within across along around behind beside beyond despite except inside outside toward towards via per like
unlike against following according due instead given based of
""")
NEVER_FIRST = (
    _CLAUSAL
    | _PREPOSITIONS
    | word_set("""
moreover hence finally first second third fourth today now later once only even no none nobody everyone and nevertheless
meanwhile furthermore additionally similarly currently recently originally historically generally typically usually
often sometimes perhaps indeed instead further next last note see figure table item section chapter page part appendix
exhibit another much more less nothing something everything anyone people others whoever together
""")
)
_ARTICLES = frozenset(("the", "a", "an"))
_PERSONAL = word_set("""
it he she they we you i its their his her our your my me us them him this these those such here following
former latter aforementioned foregoing respectively herein thereof hereby also however therefore thus
""")
# Words that reports write with a capital in every table, and that are no names.
_COMMON = word_set("total net gross operating products services sales revenues")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_TOKEN = re.compile(r"[\w$€£%](?:[\w'’&.,$€£%/-]*[\w'’.%])?")
_OPENING = re.compile(r"(?:^|[.!?:;•|]|\n\s*\n|\n[#*-]+)\s*[\"“‘'(*_]*$")


class Speech:
    """Which words of a document are names: those that stand with a capital amid sentences and never without one."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._small: Counter[str] = Counter()
        self._great: Counter[str] = Counter()
        for text in texts:
            for match in _WORD.finditer(text):
                word = match.group()
                if word[0].islower():
                    self._small[word] += 1
                elif not _OPENING.search(text, max(0, match.start() - 8), match.start()):
                    self._great[word.lower()] += 1

    def is_name(self, word: str) -> bool:
        """Whether a word that begins with a capital is a name, and not a common word at the head of a sentence."""
        plain = word.lower().removesuffix("'s").removesuffix("’s")
        if word[:1].isdigit() or word.isupper():
            return True
        small = self._small[plain] + self._small[word.lower()]
        return word[:1].isupper() and self._great[plain] + self._great[word.lower()] > 2 * small

    def is_common(self, word: str) -> bool:
        """Whether a word is known without a capital."""
        return self._small[word.lower()] > self._great[word.lower()]

    def within(self, text: str) -> str | None:
        """A phrase from a sentence's head as it stands within one; None where its first word may be a name or not."""
        first, space, rest = text.partition(" ")
        small = first.lower()
        if small in _ARTICLES or small in _COMMON:
            return f"{small}{space}{rest}"
        if first[0].islower() or self.is_name(first) or rest[:1].isupper():
            return text
        return f"{small}{space}{rest}" if self.is_common(first) else None

    def subject(self, text: str, most: int = 8, least: int = 2) -> str | None:
        """A subject as it stands within a question; None for what is none, or says too little by itself.

        It has at most `most` words, and a name or `least` words of content.
        """
        words = text.split()
        if not 1 <= len(words) <= most or not all(map(_TOKEN.fullmatch, words)):
            return None
        plain = [word.lower() for word in words]
        content = [word for word in plain if word not in _ARTICLES | _PREPOSITIONS]
        if plain[0] in NEVER_FIRST or any(word in _CLAUSAL for word in plain[1:]) or len(set(content)) < len(content):
            return None
        if plain[-1] in _PREPOSITIONS | _ARTICLES | {"and"} or plain[-1].endswith("ly") or plain.count("and") > 1:
            return None
        told = self.within(text)
        return told if told and self.is_telling(told, least) else None

    def event(self, text: str) -> str | None:
        """A subject of which one can ask when something happened to it: a named or a certain one, not "a complaint"."""
        subject = self.subject(text)
        return None if subject is None or subject.startswith(("a ", "an ")) or text[0].islower() else subject

    def is_telling(self, phrase: str, least: int = 2) -> bool:
        """Whether a phrase says by itself what is meant: it has a name in it, or `least` words of content."""
        empty = _ARTICLES | _PREPOSITIONS | _CLAUSAL | {"and"}
        words = [word for word in phrase.split() if word.lower() not in empty]
        return len(words) >= least or self.has_name(phrase)

    def has_name(self, phrase: str) -> bool:
        """Whether a phrase from within a sentence has a name in it."""
        return any(word[0].isupper() and self.is_name(word) for word in phrase.split())


def stands_alone(question: str) -> bool:
    """Whether nothing in a question points outside it."""
    words = {word.lower() for word in _WORD.findall(question.removeprefix("How do you "))}
    if re.search(
        r"(?<!\bare )(?<!\bwere )\bthere\b|[ ,][,.;]|[,;:]\?$|\b(?:above|below)\b(?! (?:\d|the|a|an|zero))", question
    ):
        return False
    balanced = question.count("(") == question.count(")") and question.count("“") == question.count("”")
    return not words & _PERSONAL and balanced and 3 <= len(question.split()) <= 24 and len(question) <= 180


def helper(verb: str) -> str:
    """The auxiliary that asks with a form of a verb: do, does or did."""
    if verb in PAST:
        return "did"
    return "does" if verb in THIRD.values() else "do"
