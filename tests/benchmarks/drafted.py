"""Invented documents with questions, as `questions/reading/*.txt` keep them: what the reader is trained on.

A file's blocks are documents: `# title | kind`, `## section`, numbered sentences, and questions
`? question => numbers of the sentences that answer | the answer in their words, or yes, or no`, `=> none` where the
document does not tell.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

FOLDER = Path(__file__).parent / "questions" / "reading"

_QUESTION = re.compile(r"\? (.*?) => (none|\d[\d, ]*)(?:\s*\|\s*(.*))?")
_SENTENCE = re.compile(r"(\d+)\.? (.*)")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. where: the sentences that answer it, by place, the one that states it first; none where nothing does.

    answer: parts of these sentences, in their words; or yes, or no, alone.
    """

    text: str
    where: tuple[int, ...]
    answer: tuple[str, ...]


@dataclass(slots=True)
class Drafted:
    """A document. sentences: each with its section."""

    title: str
    kind: str
    sentences: list[tuple[str, str]] = field(default_factory=list)
    questions: list[Asked] = field(default_factory=list)

    @property
    def is_kept_out(self) -> bool:
        """Whether the reader does not learn from it: one in ten."""
        return zlib.crc32(self.title.encode()) % 10 == 0

    @property
    def text(self) -> str:
        """As a Markdown file, a paragraph for each section."""
        parts = [f"# {self.title}"]
        for section, group in groupby(self.sentences, key=lambda sentence: sentence[1]):
            parts += [f"## {section}"] * bool(section)
            parts.append(" ".join(text for text, _ in group))
        return "\n\n".join(parts)


def drafted(folder: Path = FOLDER) -> Iterator[Drafted]:
    """The documents of all files, in order. Raises ValueError that says which line is none of the format's."""
    for path in sorted(folder.glob("*.txt")):
        made: Drafted | None = None
        section, places = "", {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                if line.startswith("# "):
                    if made:
                        yield made
                    title, _, kind = line[2:].rpartition(" | ")
                    made, section, places = Drafted(title or kind, kind), "", {}
                elif line.startswith("## "):
                    section = line[3:]
                elif line.startswith("? ") and made:
                    made.questions.append(_asked(line, places))
                elif line.strip() and made:
                    told, text = _matched(_SENTENCE, line)
                    places[int(told)] = len(made.sentences)
                    made.sentences.append((text, section))
            except (KeyError, ValueError) as error:
                raise ValueError(f"{path.name}, line {number}: {error}") from error
        if made:
            yield made


def _asked(line: str, places: dict[int, int]) -> Asked:
    text, where, answer = _matched(_QUESTION, line)
    if where == "none":
        return Asked(text, (), ())
    numbers = [int(number) for number in where.replace(" ", "").split(",") if number]
    return Asked(text, tuple(places[number] for number in numbers), tuple(map(str.strip, (answer or "").split(";"))))


def _matched(pattern: re.Pattern[str], line: str) -> tuple[str, ...]:
    found = pattern.fullmatch(line.strip())
    if not found:
        raise ValueError("neither a title, a section, a sentence nor a question")
    return found.groups()
