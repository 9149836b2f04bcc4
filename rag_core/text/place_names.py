"""Places of a document as people name them: "page 12", "pp. 3-5", "clause 4.2", "§ 4", "Anhang B", "figure 2"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag_core.text.wordlists import NUMBER_WORDS

PlaceKind = Literal["page", "section", "appendix", "table", "figure"]

# English, German, French; an abbreviation counts with its full stop alone.
_WORDS: dict[PlaceKind, str] = {
    "page": r"pages?|pgs?\.|pp?\.|(?-i:S\.)|seiten?|slides?|folien?|diapositives?",
    "section": r"sections?|sec\.|clauses?|articles?|art\.|paragraphs?|para\.|items?|rules?|steps?|chapters?|ch\.|parts?"
    r"|points?|notes?|§§?|abschnitte?|absatz|artikel|kapitel|klauseln?|paragraf|punkte?|regeln?|schritte?|teil|ziffer"
    r"|paragraphes?|chapitres?|règles?|étapes?|parties?",
    "appendix": r"appendix|appendices|annex(?:es|e)?|schedules?|exhibits?|anhang|anlage",
    "table": r"tables?|tab\.|tabellen?|tableaux?",
    "figure": r"figures?|figs?\.|abbildung(?:en)?|abb\.",
}
_CLAUSE = re.compile(r"sec|clause|art|para|§|abs|klausel|ziffer", re.IGNORECASE)
_ROMAN = r"(?=[ivxl])x{0,3}(?:xl|l?x{0,3})(?:ix|iv|v?i{0,3})(?!\w)"
_DIGITS = r"(?:[a-z][.-]?)?\d{1,4}(?:\.\d{1,3}){0,4}[a-z]?(?!\w)"
_LETTER = {"appendix": r"[a-z](?!\w)"}
_NO_LABEL = r"i(?!\s+(?:of|in|says?|und|and)\b)(?=\s+\w)"  # "the page I read"
_BETWEEN = r"\s*(?:(?P<range>[-–—]|to\b|through\b|bis\b)|[,&]|and\b|und\b|et\b)\s*"
_LEAD = (
    r"(?:\b(?:on|in|at|under|by|from|per|of|according to|auf|laut|nach|unter|sur|dans|à|selon)\s+)?"
    r"(?:\b(?:the|die|der|den|dem|das|la|le|les)\s+)?"
)


def _label(kind: PlaceKind) -> str:
    words = "|".join(NUMBER_WORDS)
    letter = _LETTER.get(kind, r"(?-i:[A-Z])(?!\w)")
    return rf"(?!{_NO_LABEL})(?:{_DIGITS}|{_ROMAN}|(?:{words})\b(?!-)|{letter})"


def _mention(kind: PlaceKind, words: str) -> re.Pattern[str]:
    label, between = _label(kind), _BETWEEN.replace("?P<range>", "")
    # What stands behind a label is a clause's own letter, "(b)", or how many pages there are.
    more = rf"(?:{between}(?:(?:{words})\s*)?{label})*(?:\s?\(\w{{1,3}}\))?(?:\s+of\s+\d+)?"
    first = r"|(?P<ordinal>first|last|erste|letzte)n?\s+(?:page|slide|seite)\b" if kind == "page" else ""
    return re.compile(
        rf"{_LEAD}(?:(?<![\w.])(?P<word>{words})(?:(?<=[.§])\s*|\s+)(?P<labels>{label}{more}){first})", re.IGNORECASE
    )


_MENTIONS = {kind: _mention(kind, words) for kind, words in _WORDS.items()}
_LABELS = {kind: re.compile(rf"(?:{_BETWEEN})?\b(?P<label>{_label(kind)})", re.IGNORECASE) for kind in _WORDS}
_PREPOSITION = re.compile(r"(?:on|in|at|under|by|from|per|of|according|auf|laut|nach|unter|sur|dans|à|selon)\b", re.I)
_ORDINALS = {"first": "1", "erste": "1", "last": "last", "letzte": "last"}
_LONGEST_RANGE = 50
# The beginning of a line that is numbered: "4.2 ", "(b) ", "Article 4", "## 3. ", "Figure 2:".
_NUMBERED = re.compile(
    rf"^(?P<indent>[ \t]*+)[#>* \t]*+\(?(?:(?P<word>{'|'.join(_WORDS.values())})\s*)?"
    rf"(?P<label>{_DIGITS}|{_ROMAN}|(?:{'|'.join(NUMBER_WORDS)})\b|[a-z](?!\w))(?P<mark>[.):]*)"
    r"(?=\t\s*[^\W\d]|(?!\s*%)[^\w\t|]|$)",  # what other cells of figures follow is a table's row
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class PlaceName:
    """A place that a question names. word: what it calls the place; labels: its numbers, or those of several.

    rest: the question without it; about: the question with "it", or nothing behind a preposition, instead.
    """

    kind: PlaceKind
    word: str
    labels: tuple[str, ...]
    rest: str
    about: str

    @property
    def name(self) -> str:
        """ "page 7", "figures 1 and 2" in the question's words."""
        return f"{self.word} {' and '.join(self.labels)}".strip()


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line that begins with a number: where, under which word ("article"), how far it is indented.

    It is `plain` where nothing but a bare number says so ("14 November" is no clause), `marked` where a stop or a
    bracket is behind it. text: the line from there on.
    """

    start: int
    word: str
    label: str
    indent: int
    plain: bool
    marked: bool
    text: str


def place_in(question: str) -> PlaceName | None:
    """The place of a document that a question names, a page last where it names several kinds; None for none."""
    for kind in ("section", "appendix", "table", "figure", "page"):
        found = list(_MENTIONS[kind].finditer(question))
        if not found:
            continue
        labels = [label for one in found for label in _labels(kind, one)]
        rest = about = question
        for one in reversed(found):
            rest = f"{rest[: one.start()]} {rest[one.end() :]}"
            instead = "" if _PREPOSITION.match(one[0]) else "it"
            about = f"{about[: one.start()]} {instead} {about[one.end() :]}"
        about = re.sub(r"\s+(?=[?.!,])", "", " ".join(about.split())).strip(", ")
        return PlaceName(kind, found[0]["word"] or "page", tuple(dict.fromkeys(labels)), rest, about)
    return None


def is_mentioned(place: PlaceName, text: str) -> bool:
    """Whether a text speaks of a place of that kind and number."""
    found = (one for one in _MENTIONS[place.kind].finditer(text) if is_like(one["word"] or place.word, place.word))
    said = (label for one in found for label in _labels(place.kind, one))
    return any(is_same(label, other) for label in said for other in place.labels)


def numbered_lines(text: str) -> Iterator[NumberedLine]:
    """The lines of a text that begin with a number or a letter of their own."""
    for line in _NUMBERED.finditer(text):
        word, label = line["word"] or "", line["label"]
        marked, indent = bool(line["mark"].strip("" if word else ":")), len(line["indent"])
        start = line.start() + indent
        end = text.find("\n", start)
        whole = text[start : end if end >= 0 else len(text)].rstrip()
        yield NumberedLine(start, word, label, indent, not (word or marked or "." in label), marked, whole)


def is_same(label: str, other: str) -> bool:
    """Whether two labels are one: "iv", "IV" and "4"; "B" and "b"."""
    return label.casefold() == other.casefold() or (parts(label) == parts(other) != ())


def is_same_word(word: str, other: str) -> bool:
    """Whether two words for places are one, as "secs." and "Section" are."""
    one, two = word.casefold().rstrip("s."), other.casefold().rstrip("s.")
    return bool(one and two) and (one.startswith(two) or two.startswith(one))


def is_like(word: str, other: str) -> bool:
    """Whether people take one word for the other: a clause is called section, article or paragraph too, no step or
    chapter is."""
    if kind_of_word(word) != kind_of_word(other):
        return False
    return kind_of_word(word) != "section" or is_same_word(word, other) or all(map(_CLAUSE.match, (word, other)))


def kind_of_word(word: str) -> PlaceKind:
    """What a word for places names; a section for none."""
    return next((kind for kind, words in _WORDS.items() if re.fullmatch(words, word, re.IGNORECASE)), "section")


def parts(label: str) -> tuple[int, ...]:
    """ "4.2" as (4, 2), "IV" and "four" as (4,); () for a letter."""
    plain = NUMBER_WORDS.get(label.casefold(), label)
    if re.fullmatch(r"\d+(?:\.\d+)*", plain):
        return tuple(map(int, plain.split(".")))
    if not re.fullmatch(_ROMAN, plain, re.IGNORECASE):
        return ()
    values = [{"i": 1, "v": 5, "x": 10, "l": 50}[letter] for letter in plain.casefold()]
    return (sum(-one if one < two else one for one, two in zip(values, [*values[1:], 0], strict=True)),)


def _labels(kind: PlaceKind, mention: re.Match[str]) -> Iterator[str]:
    """The labels of a mention, those between the ends of a range included."""
    if kind == "page" and mention["ordinal"]:
        yield _ORDINALS[mention["ordinal"].casefold()]
        return
    before = ""
    bare = re.sub(rf"\s?\(.*|\s+of\s+\d+$|(?<=\s)(?:{_WORDS[kind]})\s*", "", mention["labels"], flags=re.IGNORECASE)
    for found in _LABELS[kind].finditer(bare):
        label = NUMBER_WORDS.get(found["label"].casefold(), found["label"])
        head, _, last = label.rpartition(".")
        same_head, _, first = before.rpartition(".")
        if found["range"] and head == same_head and first.isdigit() and last.isdigit():
            between = range(int(first) + 1, min(int(last), int(first) + _LONGEST_RANGE))
            yield from (f"{head}.{number}".lstrip(".") for number in between)
        yield label
        before = label
