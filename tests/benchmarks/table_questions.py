"""Questions of whole tables: people's of an encyclopaedia's tables, and invented ones of offices' tables."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path

from rag_core.tables.columns import normalised
from rag_core.tables.links import Link
from rag_core.tables.plans import Plan, Result, rows_left, run
from rag_core.tables.table import WholeTable, table_of
from rag_core.tables.values import number_in
from rag_core.text.stems import stem
from tests.benchmarks.measure import SHARED

_CLOSE = 0.005
_COUNTED = ("", "", "two", "three", "four", "five", "six")


@dataclass(frozen=True)
class Asked:
    """A question of a table. answers: what a right answer lists; none where the table does not tell. kind: what its
    annotators call what is done, where they do."""

    text: str
    table: WholeTable
    answers: tuple[str, ...]
    kind: str = ""


def is_right(result: Result | None, answers: Sequence[str]) -> bool:
    """Whether a plan found the answers and nothing else."""
    if result is None or not answers:
        return False
    if result.groups and not result.texts:
        return {_group(*one) for one in result.groups} == set(answers)
    if result.value is not None:
        wanted = number_in(answers[0]) if len(answers) == 1 else None
        return wanted is not None and abs(wanted[0] - result.value) <= _CLOSE * abs(result.value)
    return {_same(text) for text in result.texts} == {_same(text) for text in answers}


def _group(text: str, figure: float) -> str:
    return f"{text}: {figure:.3f}"


def _same(text: str) -> str:
    number = number_in(text)
    return str(number[0]) if number else normalised(text)


@cache
def encyclopaedia(split: str) -> list[Asked]:
    """The questions of WikiTableQuestions, whose rows are those that the training sets have."""
    tables: dict[str, WholeTable | None] = {}
    found = []
    with lzma.open(SHARED / "data" / "train" / "wikitablequestions.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            one = json.loads(line)
            key = json.dumps(one["sentences"])
            if key not in tables:
                tables[key] = _table([row[0] for row in one["sentences"]], one["document"])
            computed = one.get("computed", {})
            value = computed.get("value")
            answers = tuple(one["answer"]) or ((str(value),) if value is not None else ())
            if one["split"] == split and (table := tables[key]) and answers:
                found.append(Asked(one["question"], table, answers, computed.get("operation", "look-up")))
    return found


def _table(rows: Sequence[str], name: str) -> WholeTable | None:
    cells = [dict(part.split(": ", 1) for part in row.split("; ") if ": " in part) for row in rows]
    heads = list(dict.fromkeys(head for row in cells for head in row))
    if len(heads) < 2:
        return None
    texts = [[row.get(head, "") for head in heads] for row in cells]
    return table_of(heads, texts, [(1, number, number) for number in range(len(texts))], name)


_SIGNS = {">": ">", "<": "<", "@": "within", "!": "", "~": "", "-": "<"}
_TEMPLATES = Path(__file__).with_name("questions") / "tables.txt"


@dataclass(frozen=True)
class _Template:
    """Wordings of a plan. conditions: columns with "" or the sign of how they are compared. target, by: columns."""

    operation: str
    conditions: Sequence[tuple[str, str]]
    target: str
    by: str
    wordings: Sequence[str]


@dataclass(frozen=True)
class _Office:
    """A table as offices keep it: the heads that each column may have, and what is asked of it."""

    heads: Mapping[str, Sequence[str]]
    templates: Sequence[_Template]


def invented(count: int, seed: int = 0) -> list[Asked]:
    """Questions of so many invented tables, whose answers are known."""
    chance = random.Random(seed)
    return [one for _ in range(count) for one in _asked(chance.choice(_offices()), chance)]


@cache
def _words() -> dict[str, list[str]]:
    """What cells are made of."""
    lines = _blocks()[0].splitlines()[1:]
    return {key: words.split(", ") for key, words in (line.split(": ") for line in lines)}


def _blocks() -> list[str]:
    return _TEMPLATES.read_text(encoding="utf-8").split("\n\n")


@cache
def _offices() -> list[_Office]:
    found = []
    for block in _blocks()[1:]:
        lines = block.splitlines()[1:]
        heads = [line[2:].split(": ", 1) for line in lines if line.startswith("= ")]
        templates = [_template(line) for line in lines if not line.startswith("= ")]
        found.append(_Office({key: names.split(", ") for key, names in heads}, templates))
    return found


def _template(line: str) -> _Template:
    operation, conditions, target, wordings = (part.strip() for part in line.split("|"))
    signs = [(part.lstrip("><@!~-"), part[:1] if part[:1] in _SIGNS else "") for part in conditions.split()]
    asked, _, by = (part.strip("-") for part in target.partition(" "))
    return _Template(operation, signs, asked, by, wordings.split(" / "))


def _asked(office: _Office, chance: random.Random) -> Iterator[Asked]:
    """Questions of one such table, a wording of each template."""
    keys = list(office.heads)
    heads = {key: chance.choice(names) for key, names in office.heads.items()}
    rows = _rows(keys, chance)
    name = chance.choice(("", "Overview", "list 2024"))
    table = table_of(list(heads.values()), rows, [(1, row, row) for row in range(len(rows))], name)
    for template in office.templates:
        conditions, told = _conditions(template, keys, table, chance)
        size = chance.randint(2, 6) if "[n]" in template.wordings[0] else 1
        told.append(("n", chance.choice((str(size), _COUNTED[size]))))
        plan = Plan(
            conditions, template.operation, *(keys.index(key) if key else -1 for key in (template.target, template.by)),
            size,
        )  # fmt: skip
        result = run(plan, table, rows_left(table, conditions))
        text = chance.choice(template.wordings)
        for key, value in told:
            text = text.replace(f"[{key}]", value, 1)
        for key, head in heads.items():
            text = text.replace(f"{{{key}}}", head.lower() if head.istitle() else head)
        if result is not None and "[" not in text:
            answers = result.texts if result.value is None else (f"{result.value:.6f}",)
            answers = answers or tuple(_group(*one) for one in result.groups)
            yield Asked(text, table, answers)


def _conditions(
    template: _Template, keys: Sequence[str], table: WholeTable, chance: random.Random
) -> tuple[tuple[Link, ...], list[tuple[str, str]]]:
    """Conditions that one row of the table meets, and how each is worded."""
    row = chance.randrange(len(table))
    links, told = [], []
    for key, sign in template.conditions:
        place = keys.index(key)
        column = table.columns[place]
        if len(template.conditions) > 1 and template.conditions[0] == template.conditions[-1] and links:
            row = (row + 1) % len(table)
        number = float(column.numbers[row])
        if sign == "-":  # said by the words: what is paid is below zero
            links.append(Link(0, 0, place, comparison="<"))
        elif sign == "~":
            part = _part(table.text(row, place), chance)
            words = {stem(word) for word in normalised(part).split()}
            codes = [
                code for code, text in enumerate(column.texts) if words <= set(map(stem, normalised(text).split()))
            ]
            links.append(Link(0, 0, place, tuple(codes), exact=False))
            told.append((key, part))
        elif sign in ("", "!"):
            links.append(Link(0, 0, place, (int(column.codes[row]),), is_negated=bool(sign)))
            told.append((key, table.text(row, place)))
        elif column.kind == "date":
            day = date(1970, 1, 1) + timedelta(days=number)
            is_year = sign != "@" or chance.random() < 0.5
            first = day.replace(month=1 if is_year else day.month, day=1)
            last = date(day.year + (is_year or day.month == 12), 1 if is_year or day.month == 12 else day.month + 1, 1)
            bounds = [(one - date(1970, 1, 1)).days for one in (first, last - timedelta(days=1))]
            links.append(Link(0, 0, place, comparison=_SIGNS[sign], value=bounds[0], until=bounds[1]))
            told.append((key, str(day.year) if is_year else f"{_words()['months'][day.month - 1]} {day.year}"))
        else:
            bound = float(round(number))
            links.append(Link(0, 0, place, comparison=_SIGNS[sign], value=bound))
            told.append((key, chance.choice((f"{bound:.0f}", f"{bound:,.0f}"))))
    return tuple(links), told


def _part(text: str, chance: random.Random) -> str:
    """A part of a description as people say it: a shop's name, or what kind of shop it is."""
    shop = next((one for one in _words()["shops"] if one.upper() in text), text)
    return chance.choice((shop, shop.split()[-1], shop.split()[-1].lower()))


def _rows(keys: Sequence[str], chance: random.Random) -> list[list[str]]:
    """Rows of invented cells, a key's each another."""
    count = chance.randint(8, 60)
    prefix = chance.choice(("ORD-", "A-", "INV", "B", "R-00"))
    names = chance.sample([f"{given} {name}" for given in _words()["given"] for name in _words()["names"]], count)
    lands = chance.sample(
        [f"{name}{end}" for name in _words()["names"] for end in ("ia", "land", " Ltd", "burg", " Union")], count
    )
    sizes = chance.sample([f"{part}{end}" for part in _words()["parts"] for end in ("", " B", " set", " grey")], count)
    parts = dict(enumerate(sizes))
    european = chance.random() < 0.5
    ways = chance.choice((("CARD PAYMENT", "DIRECT DEBIT", "CARD PAYMENT", "TRANSFER TO"),
                          ("KARTENZAHLUNG", "LASTSCHRIFT", "KARTENZAHLUNG", "GIROCARD")))  # fmt: skip
    paid = [f"{ways[at % 4]} {shop.upper()}{chance.choice(('', ' 0231', ' OSLO'))}"
            for at, shop in enumerate(_words()["shops"] * chance.choice((1, 2, 6)))]  # fmt: skip

    def describe(row: int) -> str:
        """What a statement says of a payment, or of what came in with each ninth row."""
        if row % 9 == 0:
            return f"{_words()['income'][row % 3]} {_words()['names'][row % 3].upper()}"
        return chance.choice(paid)

    makes: dict[str, Callable[[int], str]] = {
        "key": lambda row: f"{prefix}{1000 + 7 * row}",
        "person": lambda _: f"{chance.choice(_words()['given'][:5])} {chance.choice(_words()['names'][:4])}",
        "name": names.__getitem__,
        "land": lands.__getitem__,
        "code": lambda row: f"{lands[row][:2].upper()}{chr(65 + row % 26)}{chr(65 + row // 26)}",
        "town": lambda _: chance.choice(_words()["towns"]),
        "item": lambda _: chance.choice(_words()["items"]),
        "few": lambda _: str(chance.randint(1, 40)),
        "money": lambda _: f"{chance.randint(500, 99999) / 100:.2f}",
        "cents": lambda _: f"{chance.randint(5, 999)},{chance.randint(10, 99)}",
        "state": lambda _: chance.choice(("open", "paid", "overdue", "cancelled")),
        "num": lambda row: str(1001 + 3 * row),
        "group": lambda _: chance.choice(_words()["groups"]),
        "note": lambda _: chance.choice(_words()["notes"]),
        "part": parts.__getitem__,
        "level": lambda _: str(chance.randint(80, 900)),
        "heat": lambda _: str(chance.randint(-5, 31)),
        "team": lambda _: chance.choice(_words()["teams"]),
        "pay": lambda _: f"{chance.randint(21, 78)},{chance.randint(100, 999)}",
        "role": lambda _: chance.choice(_words()["roles"]),
        "reason": lambda _: chance.choice(_words()["reasons"]),
        "type": lambda _: chance.choice(_words()["types"]),
        "maker": lambda _: chance.choice(_words()["shops"]),
        "driver": names.__getitem__,
        "hours": lambda _: f"{chance.randint(1, 20) / 2:g}",
        "km": lambda _: str(chance.randint(20, 2400) * 100),
        "room": lambda row: str(101 + 3 * row),
        "yesno": lambda _: chance.choice(("yes", "no")),
        "rain": lambda _: f"{chance.random() * 30:.1f}",
        "high": lambda _: f"{chance.uniform(4, 35):.1f}",
        "low": lambda _: f"{chance.uniform(-9, 14):.1f}",
        "wind": lambda _: f"{chance.random() * 12:.1f}",
        "sky": lambda _: chance.choice(("rain", "sun", "fog", "snow", "drizzle")),
        "big": lambda _: f"{chance.randint(1, 90)},{chance.randint(100, 999)},{chance.randint(100, 999)}",
        "area": lambda _: str(chance.randint(1, 900)),
        "year": lambda _: str(chance.randint(1800, 2020)),
        "kind": lambda _: chance.choice(("Energy", "Farming", "coastal", "alpine")),
        "whom": lambda _: chance.choice(_words()["shops"]),
        "what": lambda _: chance.choice(_words()["purposes"]),
        "text": describe,
        "flow": lambda row: f"{'' if row % 9 == 0 else '-'}{chance.randint(3, 900)},{chance.randint(10, 99)}",
        "left": lambda _: f"{chance.randint(900, 5000)},{chance.randint(10, 99)}",
        "out": lambda row: "" if row % 9 == 0 else f"{chance.randint(300, 90000) / 100:.2f}",
        "in": lambda row: f"{chance.randint(300, 90000) / 100:.2f}" if row % 9 == 0 else "",
        "sum": lambda _: f"-{chance.randint(3, 900)},{chance.randint(10, 99)}",
    }
    start = date(2022, 1, 1) + timedelta(days=chance.randint(0, 300))

    def day(row: int) -> str:
        one = start + timedelta(days=11 * row)
        return f"{one:%d.%m.%Y}" if european and "when" in keys else one.isoformat()

    makes |= dict.fromkeys(("day", "date", "when", "from"), day)
    return [[makes[key](row) for key in keys] for row in range(count)]
