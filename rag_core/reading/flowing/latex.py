r"""LaTeX: the sections, paragraphs, lists, captions and tables of a source, without its preamble and comments.

A command says what stands in its braces, and a letter or sign that it names; pylatexenc, which knows more of maths,
leaves out what \texttt and units say, and is slower than the rest of reading.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

from rag_core.reading.base import Details
from rag_core.reading.flowing.blocks import Block, Flow, Row
from rag_core.reading.text import raised, read_text

_INNER = r"(?:[^{}\\]|\\.|\{(?:[^{}\\]|\\.|\{[^{}]*\})*\})*"
_BRACED, _OPTION = rf"\{{({_INNER})\}}", r"(?:\s*\[[^\[\]]*\])?"
_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_NAMED = {"abstract": "Abstract", "thebibliography": "References"}
# What is not closed goes on to the end, and is not looked for again.
_LISTING = r"\\begin\{(?P<listing>verbatim\*?|lstlisting|minted)\}(?P<code>.*?)(?:\\end\{(?P=listing)\}|\Z)"
_PART = re.compile(
    rf"""{_LISTING}
    |\\begin\{{(?P<table>tabular[*x]?|longtable)\}}(?P<cells>.*?)(?:\\end\{{(?P=table)\}}|\Z)
    |\\(?P<section>{"|".join(_LEVELS)})\b\*?{_OPTION}\s*\{{(?P<heading>{_INNER})\}}
    |\\caption\b\*?{_OPTION}\s*\{{(?P<caption>{_INNER})\}}
    |\\(?:item\b(?:\s*\[(?P<mark>[^\[\]]*)\])?|bibitem\b{_OPTION}\{{[^{{}}]*\}})(?P<item>)
    |\\begin\{{(?P<named>{"|".join(_NAMED)})\}}(?:\{{[^{{}}]*\}})?
    |\\(?:begin|end)\{{[^{{}}]*\}}{_OPTION}
    |\n[ \t]*\n""",
    re.DOTALL | re.VERBOSE,
)
_COMMENT = re.compile(rf"({_LISTING})|(?<!\\)((?:\\\\)*)%[^\n]*(?:\n[ \t]*(?=[^\s%]))?", re.DOTALL)
_BODY = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|\Z)", re.DOTALL)
_OF_ITSELF = {of: re.compile(rf"\\{of}\b{_OPTION}\s*{_BRACED}", re.DOTALL) for of in ("title", "author")}
_DEFINED = re.compile(rf"\\(?:re)?newcommand\*?\{{?\\([a-zA-Z]+)\}}?\s*{_BRACED}", re.DOTALL)
_CITED = re.compile(r"\\[a-zA-Z]*cite[a-z]*\*?(?:\[[^\[\]]*\])*\{([^{}]*)\}")
_UNSAID = re.compile(
    r"\\(?:includegraphics|bibliography(?:style)?|[a-z]*ref|label|[vh]space|title|author|date|thanks|setlength\{[^{}]*\})"
    rf"\*?{_OPTION}{_BRACED}",
    re.DOTALL,
)
_OPTIONS = re.compile(r"\A(?:\[[^\[\]]*\]|\{\w*\})+")  # of a listing
_NOTE = re.compile(rf"\\footnote{_BRACED}", re.DOTALL)
_LINK, _SHARE = re.compile(r"\\href\{([^{}]*)\}\{([^{}]*)\}"), re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_UNIT = re.compile(r"\\(?:SI|qty|si|unit)(?:\[[^\[\]]*\])?(?:\{([\d.,+-]*)\})?\{([^{}]*)\}")
_UNIT_PART = re.compile(r"(?<!kilo)(?<!milli)(?<!centi)(?<!micro)(?<!mega)\\")
_POWER = re.compile(r"\^\{?(\d+)\}?")
_ACCENT = re.compile(r"\\(?:([\"'`^~=.])\s*|([uvHcr])(?:\s+|(?=\{)))\{?\\?([a-zA-Z])\}?")
_MARKS = dict(
    zip("\"'`^~=.uvHcr", "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u030a", strict=True)
)
_COMMAND = re.compile(r"\\([a-zA-Z]+)\*?(?:\[[^\[\]]*\])?(?:\{\})?|\\(.)|([{}$])|``|''|---?|~", re.DOTALL)
_SIGNS = {"``": "“", "''": "”", "---": "—", "--": "–", "~": " "}
_SYMBOLS = {
    **{name: name for name in ("LaTeX", "TeX", "log", "exp", "max", "min", "sin", "cos", "lim")},
    "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "approx": "≈", "times": "×", "cdot": "·", "pm": "±",
    "infty": "∞", "sum": "∑", "prod": "∏", "int": "∫", "sqrt": "√", "in": "∈", "to": "→", "rightarrow": "→",
    "ldots": "…", "dots": "…", "euro": "€", "pounds": "£", "S": "§", "copyright": "©", "textdegree": "°", "ss": "ß",
    "ae": "æ", "AE": "Æ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "and": ",",
}  # fmt: skip
_BEFORE_STOP = re.compile(r" (?=[,.;:)])")
_RULE = re.compile(r"\\(?:hline|(?:top|mid|bottom)rule|c(?:mid)?(?:line|rule))\b(?:\([a-z]*\))?(?:\{[\d-]*\})?")
_COLUMNS = {"tabular": 1, "longtable": 1, "tabular*": 2, "tabularx": 2}  # arguments before the first cell
_ROW_END, _CELL_END = re.compile(r"\\\\\*?(?:\[[^\[\]]*\])?|\\tabularnewline\b"), re.compile(r"(?<!\\)&")
_SPANNING = re.compile(rf"\s*\\multicolumn\{{(\d{{1,2}})\}}\{{[^{{}}]*\}}{_BRACED}\s*", re.DOTALL)
_BESIDE = re.compile(r"\\multirow\{[^{}]*\}(?:\{[^{}]*\}|\*)")


def read(path: Path, max_chars: int) -> Flow:
    """Read a LaTeX source. Raises LimitExceeded for one that is too large."""
    text, note = read_text(path, max_chars)
    source = _COMMENT.sub(lambda found: found[1] or found[4] or "", text.replace("\r\n", "\n"))
    meant = {name: _said(value, {}) for name, value in _DEFINED.findall(source) if "#" not in value}
    title, authors = (_said(found[1], meant) if (found := one.search(source)) else "" for one in _OF_ITSELF.values())
    body = _BODY.search(source)
    details = Details(title, authors, notes=(note,) if note else ())
    return Flow(_blocks(body[1] if body else source, title, meant), details)


def _blocks(source: str, title: str, meant: Mapping[str, str]) -> Iterator[Block]:
    yield Block("heading", title)
    position, begun = 0, Block("paragraph")
    for part in (*_PART.finditer(source), None):
        said = _said(source[position : part.start() if part else None], meant)
        yield Block(begun.kind, said, mark=begun.mark)
        begun = Block("paragraph")
        if part is None:
            return
        position = part.end()
        if part["listing"]:
            yield Block("paragraph", _OPTIONS.sub("", part["code"]).strip("\n"))
        elif part["table"]:
            yield Block("table", rows=list(_rows(part["cells"], _COLUMNS[part["table"]], meant)))
        elif part["section"]:
            yield Block("heading", _said(part["heading"], meant), _LEVELS[part["section"]])
        elif part["caption"]:
            yield Block("paragraph", _said(part["caption"], meant))
        elif part["named"]:
            yield Block("heading", _NAMED[part["named"]], 2)
        elif part["item"] is not None:
            begun = Block("item", mark=_said(part["mark"] or "", meant) or "•")


def _rows(cells: str, arguments: int, meant: Mapping[str, str]) -> Iterator[Row]:
    start = re.match(rf"{_OPTION}(?:\s*\{{{_INNER}\}}){{{arguments}}}", cells)
    for line in _ROW_END.split(_RULE.sub("", cells[start.end() if start else 0 :])):
        row: list[str | None] = []
        for cell in _CELL_END.split(_BESIDE.sub("", line)):
            spanning = _SPANNING.fullmatch(cell)
            row.append(_said(spanning[2] if spanning else cell, meant))
            row += [None] * (int(spanning[1]) - 1 if spanning else 0)
        if any(row):
            yield row


def _said(source: str, meant: Mapping[str, str]) -> str:
    """What a piece of source says. meant: what commands stand for that the document itself defines."""
    text = _CITED.sub(r"[\1]", source)
    text = _LINK.sub(r"\2 (\1)", _NOTE.sub(r" (\1)", _UNSAID.sub("", text)))
    text = _UNIT.sub(lambda found: (found[1] or "") + _UNIT_PART.sub(" ", found[2]).replace("\\", ""), text)
    text = _POWER.sub(lambda found: raised(found[1]), _SHARE.sub(r"\1/\2", text))
    text = _ACCENT.sub(lambda found: unicodedata.normalize("NFC", found[3] + _MARKS[found[1] or found[2]]), text)

    def sign(found: re.Match[str]) -> str:
        if name := found[1]:
            return meant.get(name) or _SYMBOLS.get(name) or _greek(name)
        return (found[2] if found[2] in "%&$#_{}" else " ") if found[2] else _SIGNS.get(found[0], "")

    return _BEFORE_STOP.sub("", " ".join(_COMMAND.sub(sign, text).split()))


def _greek(name: str) -> str:
    """The letter that a command names, "\\Omega" for one; nothing for any other command."""
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.removeprefix('var').upper()}")
    except KeyError:
        return ""
