"""Invented documents of sections that are alike, as recipes, rooms or machines are: what stands above a line tells what
it is of. `questions/sections.txt` holds what they are made of, half of its kinds for fitting.

A block there is a kind: `# title`, the names of its things, and a line for each fact, `line with {} | question with @`,
where @ is the thing and {} a number.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent / "questions" / "sections.txt"
_SEED, _DOCUMENTS = 20_261_127, 3
_MISSING = 0.4  # of the facts, of each thing


@dataclass(frozen=True, slots=True)
class Sectioned:
    """A document as Markdown, and its questions, each with the line that answers it, "" where none does."""

    name: str
    text: str
    questions: tuple[tuple[str, str], ...]


def alike_sections(split: str) -> Iterator[Sectioned]:
    """The documents of a split, "tune" or "report", the same each time."""
    chance = random.Random(_SEED)
    blocks = FILE.read_text(encoding="utf-8").strip().split("\n\n")
    for place, block in enumerate(blocks):
        for number in range(_DOCUMENTS):
            made = _made(f"{split}-{place}-{number}.md", block.splitlines(), chance, number)
            if split == ("report" if place % 2 else "tune"):
                yield made


def _made(name: str, block: list[str], chance: random.Random, number: int) -> Sectioned:
    title, names, *facts = block
    things = chance.sample([one.strip() for one in names.split(";")], 4)
    values = chance.sample(range(11, 98), len(things) * len(facts))
    parts, questions = [title], []
    for thing in things:
        told = [fact for fact in facts if chance.random() >= _MISSING] or facts[:1]
        lines = []
        for fact in facts:
            line, asked = (part.strip() for part in fact.split("|"))
            line = line.replace("{}", str(values.pop()))
            lines += [line] * (fact in told)
            questions.append((asked.replace("@", thing.lower() if number % 2 else thing), line if fact in told else ""))
        mark, between = ("- ", "\n") if number else ("", "\n\n")
        parts += [f"## {thing}", between.join(mark + line for line in lines)]
    return Sectioned(name, "\n\n".join(parts), tuple(questions))
