"""The form that calendars (iCalendar, RFC 5545, 3.1) and address cards (vCard, RFC 6350, 3.3) share: folded lines of a
name, parameters and a value, within parts that begin and end.

Cards of version 2.1 have parameters without names and values in quoted-printable. What makes no sense costs its line.
"""

from __future__ import annotations

import quopri
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from rag_core.reading.encoding import decode_as

_LINE_END = re.compile(r"\r\n?|\n")
_QUOTED = "QUOTED-PRINTABLE"
_LINE = re.compile(r"\s*+([A-Za-z0-9._-]++)((?:;(?:\"[^\"]*\"|[^\":;])*+)*+):(.*)", re.DOTALL)
_PARAMETER = re.compile(r";([^=;\"]++)(?:=((?:\"[^\"]*\"|[^\";])*+))?")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LIST_END = {mark: re.compile(rf"(?<!\\){mark}") for mark in ";,"}


class ContentLine(NamedTuple):
    """A value as it is written, with its parameters; those without a name are types, as in cards of version 2.1."""

    parameters: dict[str, str]
    value: str

    @property
    def text(self) -> str:
        """The value as a text."""
        return _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], self.value).strip()

    def parts(self, mark: str) -> list[str]:
        """The texts that a mark, ; or , sets apart in the value."""
        return [ContentLine({}, part).text for part in _LIST_END[mark].split(self.value)]


@dataclass(frozen=True, slots=True)
class Component:
    """What stands between BEGIN and END of a kind, VEVENT for instance, without the parts within it."""

    kind: str
    lines: dict[str, list[ContentLine]] = field(default_factory=lambda: defaultdict(list))

    def all(self, *names: str) -> list[ContentLine]:
        """The lines of these names."""
        return [line for name in names for line in self.lines.get(name, ())]

    def text(self, *names: str) -> str:
        """The first text that one of these names has."""
        return next((line.text for line in self.all(*names) if line.text), "")


def components(text: str) -> Iterator[Component]:
    """The parts of a file, each once it ends, or the file does."""
    open_ones: list[Component] = []
    for line in _lines(text):
        if not (found := _LINE.match(line)):
            continue
        name, value = found[1].rpartition(".")[2].upper(), found[3]
        if name == "BEGIN":
            open_ones.append(Component(value.strip().upper()))
        elif name == "END":
            yield from open_ones[-1:]
            del open_ones[-1:]
        elif open_ones:
            open_ones[-1].lines[name].append(_content(_parameters(found[2]), value))
    yield from open_ones


def _lines(text: str) -> Iterator[str]:
    """The lines, unfolded: one goes on behind a blank, or, in quoted-printable, behind an = at its end."""
    begun, is_quoted = [""], False
    for line in _LINE_END.split(text):
        if is_quoted and begun[-1].endswith("="):
            begun[-1] = begun[-1][:-1]
            begun.append(line)
        elif line.startswith((" ", "\t")):
            begun.append(line[1:])
        else:
            yield "".join(begun)
            begun, is_quoted = [line], _QUOTED in line.partition(":")[0].upper()
    yield "".join(begun)


def _parameters(written: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _PARAMETER.findall(written):
        name, value = (name, value) if value else ("TYPE", name)
        name, value = name.strip().upper(), value.replace('"', "").strip()
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def _content(parameters: dict[str, str], value: str) -> ContentLine:
    if _QUOTED in f"{parameters.get('ENCODING')} {parameters.get('TYPE')}".upper():
        value = decode_as(quopri.decodestring(value.encode()), parameters.get("CHARSET", ""))[0]
    return ContentLine(parameters, value)
