"""Invented tables, lists and lines of things that a code alone tells apart, as tanks, rooms or faults are.

`questions/codes.txt` holds what they are made of. A block there is a kind: `# title | thing | forms of codes`, where #
is a digit, and a line for each column, `head | values | questions | sentence`: figures from one to another, or words
with / between; @ is the thing's code in questions and sentence, {} the value in the sentence.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.drafted import Asked, Drafted

FILE = Path(__file__).parent / "questions" / "codes.txt"
_SEED, _DOCUMENTS = 20_261_128, 24
_FEWEST, _MOST = 3, 7  # things
_ABSENT = 0.3  # of the questions ask for a code that is not there
_BETWEEN_CELLS = "  "


@dataclass(frozen=True, slots=True)
class _Column:
    head: str
    values: str
    questions: tuple[str, ...]
    sentence: str

    def value(self, chance: random.Random) -> str:
        low, _, high = self.values.partition("-")
        if low.isdigit() and high.isdigit():
            return f"{chance.randint(int(low), int(high)):{chance.choice([',', ''])}}"
        return chance.choice(self.values.split(" / "))


def coded() -> Iterator[Drafted]:
    """The documents, the same each time."""
    chance = random.Random(_SEED)
    for block in FILE.read_text(encoding="utf-8").strip().split("\n\n"):
        (title, thing, forms), *columns = (
            tuple(part.strip() for part in line.removeprefix("# ").split("|")) for line in block.splitlines()
        )
        known = [_Column(head, values, tuple(asked.split("; ")), told) for head, values, asked, told in columns]
        for number in range(_DOCUMENTS):
            yield _made(f"{title} {number + 1}", thing, chance.choice(forms.split("; ")), known, chance)


def _made(title: str, thing: str, form: str, columns: list[_Column], chance: random.Random) -> Drafted:
    codes = _codes(form, chance)
    absent = codes.pop(chance.randrange(len(codes)))
    columns = chance.sample(columns, chance.randint(1, len(columns)))
    values = {(code, column): column.value(chance) for code in codes for column in columns}
    document = Drafted(title, "list")
    lines = _lines(thing, codes, columns, values, chance)
    for text, _ in lines:
        document.sentences.append((text, ""))
    for column in columns:
        for code in codes:
            question = chance.choice(column.questions)
            if chance.random() < _ABSENT:
                document.questions.append(Asked(question.replace("@", absent), (), ()))
                continue
            where = tuple(place for place, (_, told) in enumerate(lines) if (code, column) in told)
            document.questions.append(Asked(question.replace("@", code), where, (values[code, column],)))
    return document


def _lines(
    thing: str, codes: list[str], columns: list[_Column], values: dict[tuple[str, _Column], str], chance: random.Random
) -> list[tuple[str, list[tuple[str, _Column]]]]:
    """Each line, and what it tells."""
    form = chance.choice(["heads", "cells", "sentences", "named"])
    if form == "sentences":
        return [
            (one.sentence.replace("@", c).replace("{}", values[c, one]), [(c, one)]) for c in codes for one in columns
        ]
    told = [(code, [values[code, one] for one in columns]) for code in codes]
    if form == "heads":
        texts = [
            f"{code}, " + "; ".join(f"{one.head}: {value}" for one, value in zip(columns, cells, strict=True))
            for code, cells in told
        ]
    elif form == "cells":
        texts = [_BETWEEN_CELLS.join([code, *cells]) for code, cells in told]
    else:
        mark = chance.choice([": ", " – ", ", ", " has "])
        texts = [f"{thing.capitalize()} {code}{mark}{', '.join(cells)}" for code, cells in told]
    head = [(_BETWEEN_CELLS.join([thing.capitalize(), *(one.head for one in columns)]), [])] * (form != "heads")
    return head + [(text, [(code, one) for one in columns]) for text, code in zip(texts, codes, strict=True)]


def _codes(form: str, chance: random.Random) -> list[str]:
    """Neighbouring codes of a form, in order."""
    digits = form.count("#")
    most = max(10**digits, 20) - 1
    count = chance.randint(_FEWEST, _MOST) + 1
    first = chance.randint(1, most - count)
    numbers = sorted(chance.sample(range(first, min(most, first + 2 * count)), count))
    return [form.replace("#" * digits, str(number).zfill(digits if digits > 1 else 1)) for number in numbers]
