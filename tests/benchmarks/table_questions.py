"""Questions of whole tables: people's of an encyclopaedia's tables, and invented ones of offices' tables."""

from __future__ import annotations

import json
import lzma
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rag_core.tables.table import WholeTable, normalised, table_of
from rag_core.tables.plans import Result
from rag_core.tables.values import number_in

DATA = Path(os.environ.get("LECTERN_DATA_SETS", Path(__file__).resolve().parents[3] / "shared" / "data"))
_CLOSE = 0.005


@dataclass(frozen=True)
class Asked:
    """A question of a table. answers: what a right answer lists; none where the table does not tell."""

    text: str
    table: WholeTable
    answers: tuple[str, ...]


def is_right(result: Result | None, answers: Sequence[str]) -> bool:
    """Whether a plan found the answers and nothing else."""
    if result is None or not answers:
        return False
    if result.value is not None:
        wanted = number_in(answers[0]) if len(answers) == 1 else None
        return wanted is not None and abs(wanted[0] - result.value) <= _CLOSE * abs(result.value)
    return {_same(text) for text in result.texts} == {_same(text) for text in answers}


def _same(text: str) -> str:
    number = number_in(text)
    return str(number[0]) if number else normalised(text)


@cache
def encyclopaedia(split: str) -> list[Asked]:
    """The questions of WikiTableQuestions, whose rows are those that the training sets have."""
    tables: dict[str, WholeTable | None] = {}
    found = []
    with lzma.open(DATA / "train" / "wikitablequestions.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            one = json.loads(line)
            key = json.dumps(one["sentences"])
            if key not in tables:
                tables[key] = _table([row[0] for row in one["sentences"]], one["document"])
            value = one.get("computed", {}).get("value")
            answers = tuple(one["answer"]) or ((str(value),) if value is not None else ())
            if one["split"] == split and (table := tables[key]) and answers:
                found.append(Asked(one["question"], table, answers))
    return found


def _table(rows: Sequence[str], name: str) -> WholeTable | None:
    cells = [dict(part.split(": ", 1) for part in row.split("; ") if ": " in part) for row in rows]
    heads = list(dict.fromkeys(head for row in cells for head in row))
    if len(heads) < 2:
        return None
    texts = [[row.get(head, "") for head in heads] for row in cells]
    return table_of(heads, texts, [(1, number, number) for number in range(len(texts))], name)


_TOWNS = "Oslo Bern Lyon Porto Gdansk Turku Leeds Ghent Split Cork Malmo Graz".split()
_NAMES = "Brekke Haas Roche Patel Tanaka Silva Novak Okafor Lindqvist Moreau Keller Ferro Duarte Olsen".split()
_GIVEN = "Ola Sina Jean Asha Mei Rui Petra Chidi Karin Luc Anna Marco Ines Nils".split()
_ITEMS = "desk lamp chair shelf monitor keyboard printer cable bench stool cabinet easel".split()
_STATES = ("open", "paid", "overdue", "cancelled")


def invented(count: int, seed: int = 0) -> list[Asked]:
    """Questions of so many invented tables, whose answers are known."""
    chance = random.Random(seed)
    return [one for _ in range(count) for one in chance.choice((_orders, _staff, _weather, _accounts))(chance)]


def _made(heads: Sequence[str], rows: Sequence[Sequence[object]], name: str) -> WholeTable:
    texts = [[str(cell) for cell in row] for row in rows]
    return table_of(heads, texts, [(1, number, number) for number in range(len(rows))], name)


def _orders(chance: random.Random) -> Iterator[Asked]:
    heads = (chance.choice(("Order", "order_id", "Invoice no.", "Number")), chance.choice(("Customer", "customer", "Client")),
             chance.choice(("City", "city", "Town")), chance.choice(("Item", "product", "Article")),
             chance.choice(("Quantity", "qty", "Pieces")), chance.choice(("Amount", "total", "Price")),
             chance.choice(("Status", "state", "Paid")))  # fmt: skip
    prefix = chance.choice(("ORD-", "A-", "INV", "", "2024-"))
    rows = [
        (f"{prefix}{1000 + 7 * place}", f"{chance.choice(_GIVEN)} {chance.choice(_NAMES)}", chance.choice(_TOWNS),
         chance.choice(_ITEMS), chance.randint(1, 12), f"{chance.randint(500, 99999) / 100:.2f}", chance.choice(_STATES))
        for place in range(chance.randint(15, 60))
    ]  # fmt: skip
    table = _made(heads, rows, chance.choice(("Orders", "invoices 2024", "")))
    row = chance.choice(rows)
    noun = chance.choice(("order", "invoice", "orders", "number"))
    head = dict(zip(("key", "who", "town", "item", "pieces", "amount", "state"), heads, strict=True))
    city, state, item = chance.choice(rows)[2], chance.choice(rows)[6], chance.choice(rows)[3]

    def some(place: int, value: str) -> list[Sequence[object]]:
        return [one for one in rows if one[place] == value]

    amounts = [float(one[5]) for one in rows]
    cities = [one[2] for one in rows]
    commonest = [town for town in sorted({*cities}) if cities.count(town) == max(map(cities.count, cities))]
    yield Asked(f"What is the {head['state'].lower()} of {noun} {row[0]}?", table, (row[6],))
    yield Asked(
        chance.choice(
            (
                f"Which city did {row[0]} go to?",
                f"Where did {noun} {row[0]} go?",
                f"What is the {head['town']} of {row[0]}?",
            )
        ),
        table,
        (row[2],),
    )
    yield Asked(
        chance.choice(
            (f"How much was {noun} {row[0]}?", f"What is the {head['amount']} of {row[0]}?", f"what did {row[0]} cost")
        ),
        table,
        (row[5],),
    )
    yield Asked(
        chance.choice(
            (
                f"Who placed {noun} {row[0]}?",
                f"Which {head['who'].lower()} has {row[0]}?",
                f"Who is the customer of {row[0]}?",
            )
        ),
        table,
        (row[1],),
    )
    yield Asked(
        chance.choice(
            (
                f"How many orders came from {city}?",
                f"How many orders went to {city}?",
                f"How many are from {city}?",
                f"number of orders in {city}",
            )
        ),
        table,
        (str(len(some(2, city))),),
    )
    yield Asked(
        chance.choice((f"How many orders are {state}?", f"How many {state} orders are there?")),
        table,
        (str(len(some(6, state))),),
    )
    yield Asked(
        chance.choice((f"How many orders were for a {item}?", f"How often was a {item} ordered?")),
        table,
        (str(len(some(3, item))),),
    )
    yield Asked(
        f"How many {state} orders are there from {city}?",
        table,
        (str(len([one for one in some(2, city) if one[6] == state])),),
    )
    yield Asked(
        chance.choice(
            (
                f"What is the total {head['amount'].lower()} of all orders?",
                f"What is the sum of {head['amount']}?",
                "How much were all orders together?",
            )
        ),
        table,
        (f"{sum(amounts):.2f}",),
    )
    yield Asked(
        chance.choice(
            (
                f"What is the total {head['amount'].lower()} of orders from {city}?",
                f"How much did orders from {city} come to in total?",
            )
        ),
        table,
        (f"{sum(float(one[5]) for one in some(2, city)):.2f}",),
    )
    yield Asked(
        chance.choice(
            (f"What is the average {head['amount'].lower()}?", f"What is the mean {head['amount']} of an order?")
        ),
        table,
        (str(sum(amounts) / len(amounts)),),
    )
    yield Asked(
        chance.choice(
            (
                f"What is the highest {head['amount'].lower()}?",
                f"What is the largest {head['amount'].lower()} of an order?",
            )
        ),
        table,
        (f"{max(amounts):.2f}",),
    )
    yield Asked(
        f"Which {noun.rstrip('s')} has the {chance.choice(('largest', 'highest'))} {head['amount'].lower()}?",
        table,
        tuple(one[0] for one in rows if float(one[5]) == max(amounts)),
    )
    yield Asked(
        f"Which {noun.rstrip('s')} has the {chance.choice(('smallest', 'lowest'))} {head['amount'].lower()}?",
        table,
        tuple(one[0] for one in rows if float(one[5]) == min(amounts)),
    )
    yield Asked(
        chance.choice(
            (
                f"Which {head['town'].lower()} has the most orders?",
                f"From which {head['town'].lower()} do most orders come?",
                f"What is the most frequent {head['town'].lower()}?",
            )
        ),
        table,
        tuple(commonest),
    )
    yield Asked(f"How many different {head['item'].lower()}s are there?", table, (str(len({one[3] for one in rows})),))
    sold = sum(int(str(one[4])) for one in some(3, item))
    yield Asked(
        chance.choice((f"How many {item}s were sold altogether?", f"How many {item}s did we sell in total?")),
        table,
        (str(sold),),
    )
    yield Asked(
        chance.choice(
            (
                f"How many pieces does {row[0]} have?",
                f"How many were bought with {row[0]}?",
                f"What is the quantity of {row[0]}?",
            )
        ),
        table,
        (str(row[4]),),
    )
    bound = chance.randint(50, 900)
    yield Asked(
        chance.choice(
            (
                f"How many orders are over {bound}?",
                f"How many orders have a {head['amount'].lower()} above {bound}?",
                f"How many orders were more than {bound}?",
            )
        ),
        table,
        (str(len([one for one in amounts if one > bound])),),
    )


def _staff(chance: random.Random) -> Iterator[Asked]:
    heads = (chance.choice(("Name", "Employee", "name")), chance.choice(("Department", "Team", "dept")),
             chance.choice(("Salary", "Monthly pay", "salary_eur")), chance.choice(("Room", "Office")),
             chance.choice(("Started", "Hired", "start date")), chance.choice(("Remote", "Badge", "First aid")))  # fmt: skip
    teams = ("Sales", "Support", "Finance", "Workshop", "Design")
    people = [f"{given} {name}" for given in _GIVEN for name in _NAMES]
    rows = [
        (name, chance.choice(teams), f"{chance.randint(21, 78)},{chance.randint(100, 999)}", chance.randint(101, 420),
         f"20{chance.randint(10, 24)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}", chance.choice(("yes", "no")))
        for name in chance.sample(people, chance.randint(8, 40))
    ]  # fmt: skip
    table = _made(heads, rows, chance.choice(("Staff", "Employees 2024", "")))
    row, team = chance.choice(rows), chance.choice(rows)[1]
    pay = [int(one[2].replace(",", "")) for one in rows]
    yield Asked(
        chance.choice(
            (f"What does {row[0]} earn?", f"How much does {row[0]} earn?", f"What is the salary of {row[0]}?")
        ),
        table,
        (row[2],),
    )
    yield Asked(
        chance.choice(
            (
                f"In which {heads[3].lower()} is {row[0]}?",
                f"What is {row[0]}'s {heads[3].lower()}?",
                f"Which {heads[3].lower()} does {row[0]} have?",
            )
        ),
        table,
        (str(row[3]),),
    )
    yield Asked(chance.choice((f"When did {row[0]} start?", f"When was {row[0]} hired?")), table, (row[4],))
    yield Asked(
        chance.choice(
            (f"Which department does {row[0]} work in?", f"Where does {row[0]} work?", f"What team is {row[0]} in?")
        ),
        table,
        (row[1],),
    )
    yield Asked(
        chance.choice((f"Who has {heads[3].lower()} {row[3]}?", f"Who sits in {heads[3].lower()} {row[3]}?")),
        table,
        tuple(one[0] for one in rows if one[3] == row[3]),
    )
    yield Asked(
        chance.choice((f"Who works in {team}?", f"Who is in {team}?", f"List everybody in {team}.")),
        table,
        tuple(one[0] for one in rows if one[1] == team),
    )
    yield Asked(
        chance.choice(
            (f"How many people work in {team}?", f"How many employees are in {team}?", f"How many are in {team}?")
        ),
        table,
        (str(len([one for one in rows if one[1] == team])),),
    )
    yield Asked(
        chance.choice(("Who earns the most?", "Who has the highest salary?", "Which employee has the highest pay?")),
        table,
        tuple(one[0] for one, value in zip(rows, pay, strict=True) if value == max(pay)),
    )
    yield Asked(
        chance.choice(("Who earns the least?", "Who has the lowest salary?")),
        table,
        tuple(one[0] for one, value in zip(rows, pay, strict=True) if value == min(pay)),
    )
    yield Asked("What is the average salary?", table, (str(sum(pay) / len(pay)),))
    yield Asked(
        f"What is the average salary in {team}?",
        table,
        (
            str(
                sum(v for one, v in zip(rows, pay, strict=True) if one[1] == team)
                / len([one for one in rows if one[1] == team])
            ),
        ),
    )
    yield Asked(
        chance.choice(
            ("How many people are there?", "How many employees are there?", "How many employees does the list have?")
        ),
        table,
        (str(len(rows)),),
    )
    yield Asked(
        chance.choice(("Who started last?", "Who was hired most recently?", "Who is the newest?")),
        table,
        tuple(one[0] for one in rows if one[4] == max(o[4] for o in rows)),
    )
    yield Asked(
        chance.choice(("Who started first?", "Who was hired first?", "Who has been here the longest?")),
        table,
        tuple(one[0] for one in rows if one[4] == min(o[4] for o in rows)),
    )
    year = chance.randint(2011, 2023)
    yield Asked(
        chance.choice((f"Who started in {year}?", f"Who was hired in {year}?")),
        table,
        tuple(one[0] for one in rows if one[4].startswith(str(year))),
    )
    yield Asked(
        chance.choice((f"How many people started after {year}?", f"How many were hired after {year}?")),
        table,
        (str(len([one for one in rows if one[4] > f"{year}-12-31"])),),
    )
    yield Asked(
        chance.choice((f"How many people started before {year}?", f"How many were hired before {year}?")),
        table,
        (str(len([one for one in rows if one[4] < f"{year}"])),),
    )


def _weather(chance: random.Random) -> Iterator[Asked]:
    heads = (chance.choice(("Date", "Day")), chance.choice(("Rain (mm)", "precipitation", "Rain")),
             chance.choice(("Max temperature", "temp_max", "High (°C)")), chance.choice(("Wind", "wind speed")),
             chance.choice(("Sky", "weather", "Condition")))  # fmt: skip
    month = chance.randint(1, 10)
    rows = [
        (f"2023-{month + place // 28:02}-{place % 28 + 1:02}", round(chance.random() * 30, 1), round(chance.uniform(-5, 35), 1),
         round(chance.random() * 12, 1), chance.choice(("rain", "sun", "fog", "snow", "drizzle")))
        for place in range(chance.randint(20, 56))
    ]  # fmt: skip
    table = _made(heads, rows, chance.choice(("Weather", "Station north", "")))
    row, sky = chance.choice(rows), chance.choice(rows)[4]
    yield Asked(f"What was the {heads[2]} on {row[0]}?", table, (str(row[2]),))
    yield Asked(f"How was the {heads[4].lower()} on {row[0]}?", table, (row[4],))
    yield Asked(
        chance.choice(
            (f"How many days had {sky}?", f"On how many days was there {sky}?", f"How many {sky} days were there?")
        ),
        table,
        (str(len([one for one in rows if one[4] == sky])),),
    )
    yield Asked(
        chance.choice((f"What was the highest {heads[2]}?", f"What is the maximum {heads[2]}?")),
        table,
        (str(max(one[2] for one in rows)),),
    )
    yield Asked(f"What was the lowest {heads[2]}?", table, (str(min(one[2] for one in rows)),))
    yield Asked(
        chance.choice(
            (f"On which day was the {heads[3].lower()} strongest?", f"When was the highest {heads[3].lower()}?")
        ),
        table,
        tuple(one[0] for one in rows if one[3] == max(o[3] for o in rows)),
    )
    yield Asked(f"What was the total {heads[1]}?", table, (str(round(sum(one[1] for one in rows), 1)),))
    yield Asked(f"What was the average {heads[2]}?", table, (str(sum(one[2] for one in rows) / len(rows)),))
    kinds = [one[4] for one in rows]
    yield Asked(
        f"What was the most common {heads[4].lower()}?",
        table,
        tuple(k for k in {*kinds} if kinds.count(k) == max(map(kinds.count, kinds))),
    )
    bound = chance.randint(5, 25)
    yield Asked(
        chance.choice(
            (f"How many days had more than {bound} {heads[1].lower()}?", f"How many days had over {bound} mm of rain?")
        ),
        table,
        (str(len([one for one in rows if one[1] > bound])),),
    )
    yield Asked(
        f"How many days had a {heads[2].lower()} below {bound}?",
        table,
        (str(len([one for one in rows if one[2] < bound])),),
    )


def _accounts(chance: random.Random) -> Iterator[Asked]:
    heads = (chance.choice(("Country", "Region", "Company")), chance.choice(("Capital", "City", "Headquarters")),
             chance.choice(("Population", "Employees", "Members")), chance.choice(("Area", "Revenue", "Budget")),
             chance.choice(("Founded", "Year", "Since")), chance.choice(("Sector", "Group", "Category")))  # fmt: skip
    kinds = ("north", "south", "coastal", "alpine")
    names = chance.sample(
        [f"{one}{end}" for one in _NAMES for end in ("ia", "land", " Ltd", "burg")], chance.randint(8, 40)
    )
    rows = [
        (name, f"{chance.choice(_TOWNS)}", f"{chance.randint(1, 90)},{chance.randint(100, 999)},{chance.randint(100, 999)}",
         f"{chance.randint(1, 900)}", chance.randint(1800, 2020), chance.choice(kinds))
        for name in names
    ]  # fmt: skip
    table = _made(heads, rows, chance.choice(("Overview", "list", "")))
    row, kind = chance.choice(rows), chance.choice(rows)[5]

    def figure(one: Sequence[object]) -> int:
        return int(str(one[2]).replace(",", ""))

    yield Asked(f"What is the {heads[1].lower()} of {row[0]}?", table, (row[1],))
    yield Asked(
        chance.choice(
            (f"How many {heads[2].lower()} does {row[0]} have?", f"What is the {heads[2].lower()} of {row[0]}?")
        ),
        table,
        (row[2],),
    )
    yield Asked(f"What is the {heads[3].lower()} of {row[0]}?", table, (row[3],))
    yield Asked(
        f"Which {heads[0].lower()} has the largest {heads[2].lower()}?",
        table,
        tuple(one[0] for one in rows if figure(one) == max(map(figure, rows))),
    )
    yield Asked(
        f"Which {heads[0].lower()} has the smallest {heads[3].lower()}?",
        table,
        tuple(one[0] for one in rows if int(one[3]) == min(int(o[3]) for o in rows)),
    )
    yield Asked(chance.choice((f"When was {row[0]} founded?", f"Since when is there {row[0]}?")), table, (str(row[4]),))
    yield Asked(
        chance.choice((f"Which is the oldest {heads[0].lower()}?",)),
        table,
        tuple(one[0] for one in rows if one[4] == min(o[4] for o in rows)),
    )
    yield Asked(f"How many {kind} ones are there?", table, (str(len([one for one in rows if one[5] == kind])),))
    yield Asked(f"Which of them are {kind}?", table, tuple(one[0] for one in rows if one[5] == kind))
    yield Asked(
        f"How many {heads[0].lower()}s are {kind}?", table, (str(len([one for one in rows if one[5] == kind])),)
    )
    yield Asked(
        f"What is the total {heads[3].lower()} of the {kind} ones?",
        table,
        (str(sum(int(one[3]) for one in rows if one[5] == kind)),),
    )
    first, second = chance.sample(rows, 2)
    more = first if figure(first) > figure(second) else second
    yield Asked(f"Which has more {heads[2].lower()}, {first[0]} or {second[0]}?", table, (more[0],))
    yield Asked(
        f"What is the difference in {heads[3].lower()} between {first[0]} and {second[0]}?",
        table,
        (str(abs(int(first[3]) - int(second[3]))),),
    )
