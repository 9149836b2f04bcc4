"""The documents that a conversation cites, as BibTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from rag_core.domain import Citation, Document
from rag_core.text.invisible import visible

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_TYPES = {"thesis": "phdthesis", "paper": "article", "article": "article", "handbook": "manual", "manual": "manual"}


def bibtex(documents: Iterable[Document | Citation]) -> str:
    """One entry each, its key of author or title and year. LaTeX's special characters are escaped, others are UTF-8."""
    keys: set[str] = set()
    return "\n\n".join(_entry(one, keys) for one in documents) + "\n"


def _entry(one: Document | Citation, keys: set[str]) -> str:
    fields = {name: value for name, value in _fields(one) if value}
    card = one.card if isinstance(one, Document) else None
    kind = _TYPES.get(card.kind if card else "", "misc")
    key = _key(fields, keys)
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{kind}{{{key},\n{body}}}"


def _fields(one: Document | Citation) -> Iterator[tuple[str, str]]:
    # Braces keep the title's capitals.
    yield "title", f"{{{_escaped(one.title)}}}"
    if isinstance(one, Citation):
        yield "note", "No longer in the library"
        return
    card = one.card
    yield "author", _authors(one.authors)
    yield "organization", f"{{{_escaped(card.organisation)}}}" if card and card.organisation else ""
    yield "year", str(one.year or "")
    yield "doi", _escaped(card.doi) if card else ""
    yield "abstract", _escaped(card.abstract) if card else ""
    yield "url", _escaped(one.address)
    yield "howpublished", _escaped(PurePath(one.sources[0]).name) if one.sources and not one.address else ""


def _authors(names: str) -> str:
    """Names apart as BibTeX wants them. With semicolons each may be "Family, Given"; else commas stand between."""
    between = r"\s*;\s*" if ";" in names else r"\s*,\s*(?:and\s+|&\s+)?|\s+(?:and|und|et|y|&)\s+"
    return " and ".join(_escaped(name) for name in re.split(between, names) if name.strip())


def _key(fields: dict[str, str], keys: set[str]) -> str:
    """`dahl2019`, `handbook2020b`: letters of ASCII alone, unique among `keys`, which it joins."""
    name = fields["author"].split(" and ")[0] if "author" in fields else fields["title"]
    words = re.findall(r"[a-z]{3,}", unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower())
    key = base = (words[-1 if "author" in fields else 0] if words else "document") + fields.get("year", "")
    number = 1
    while key in keys:
        number += 1
        key = f"{base}-{number}"
    keys.add(key)
    return key


def _escaped(text: str) -> str:
    line = " ".join(visible(text).split())
    return "".join(_SPECIAL.get(character, character) for character in line)
