"""reStructuredText, read by docutils: headings, paragraphs, lists, tables, code, notes; links as their words.

No file is taken in and nothing raw: the directives for these are shut. What only Sphinx knows is read as what stands in
it. What docutils cannot read, or would read too slowly, is read as it is written.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en

from rag_core.reading.base import Details
from rag_core.reading.flowing.blocks import Block, Flow, Row, picture
from rag_core.reading.flowing.records import as_text
from rag_core.reading.text import clean, read_text

_MOST_CHARS = 1_000_000  # docutils reads a quarter of a million a second
_MOST_LINE, _MOST_NAMES = 10_000, 500
_SETTINGS = {
    "file_insertion_enabled": False, "raw_enabled": False, "_disable_config": True, "warning_stream": False,
    "report_level": 5, "halt_level": 6, "syntax_highlight": "none", "doctitle_xform": False, "docinfo_xform": False,
}  # fmt: skip
_DIRECTIVE, _ROLE = (
    re.compile(r"^[ \t]*\.\. ([\w+.:-]{1,60}?)::(?=\s)", re.MULTILINE),
    re.compile(r":([\w+.:-]{1,60}?):`"),
)
_TARGET = re.compile(r"\A[!~]?(.*?)(?:\s*<[^<>]*>)?\Z", re.DOTALL)
# What says nothing to a reader: names of files and languages, and roles, which docutils would keep for other documents.
_UNSHOWN = ("toctree", "index", "highlight", "role")
_UNSAID: tuple[Any, ...] = (
    nodes.comment,
    nodes.system_message,
    nodes.substitution_definition,
    nodes.target,
    nodes.pending,
    nodes.raw,
    nodes.colspec,
    nodes.generated,
    nodes.decoration,
)
_LEAVES = (nodes.paragraph, nodes.literal_block, nodes.doctest_block, nodes.math_block, nodes.rubric, nodes.attribution)


def read(path: Path, max_chars: int) -> Flow:
    """Read a text in reStructuredText. Raises LimitExceeded for one that is too large."""
    text, note = read_text(path, max_chars)
    notes = [note] if note else []
    try:
        tree = _parsed(clean(text)) if _is_quick(text) else None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - docutils raises anything for texts against its rules
        tree = None
    if tree is None:
        return Flow(as_text(text), Details(notes=(*notes, "Its markup was not followed: it was read as text.")))
    heading = next(iter(tree.findall(nodes.title)), None)
    return Flow(_blocks(tree, 0), Details(_said(heading) if heading else "", notes=tuple(notes)))


def _is_quick(text: str) -> bool:
    return len(text) <= _MOST_CHARS and max(map(len, text.splitlines()), default=0) <= _MOST_LINE


def _parsed(text: str) -> Any:
    language: Any = en
    for name in _UNSHOWN:
        directives.register_directive(name, _Unshown)
    for name in islice(dict.fromkeys(_DIRECTIVE.findall(text)), _MOST_NAMES):
        if name.lower() not in {*language.directives, *_UNSHOWN}:
            directives.register_directive(name.lower(), _Unknown)
    for name in islice(dict.fromkeys(_ROLE.findall(text)), _MOST_NAMES):
        if name.lower() not in language.roles:
            roles.register_local_role(name.lower(), _words_of_role)
    return publish_doctree(text, settings_overrides=_SETTINGS)


class _Unknown(Directive):  # type: ignore[misc]  # docutils has no types
    """A directive that docutils does not know: what it is about, and what stands in it."""

    has_content, optional_arguments, final_argument_whitespace = True, 1, True
    option_spec: ClassVar[Any] = defaultdict(lambda: directives.unchanged, {"class": directives.unchanged})

    def run(self) -> Any:
        """The nodes of its argument and its content."""
        holder = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, holder)
        about = " ".join(" ".join(self.arguments).split())
        words, _ = self.state.inline_text(about, self.lineno)
        return ([nodes.paragraph(about, "", *words)] if about else []) + holder.children


class _Unshown(_Unknown):
    """A directive that shows nothing."""

    def run(self) -> Any:
        """No nodes."""
        return []


def _words_of_role(name: str, raw: str, text: str, *rest: Any, **more: Any) -> Any:
    """What a role that docutils does not know says, without where it leads."""
    said = _TARGET.match(text)
    words = said[1] if said else text
    return [nodes.inline(raw, words)], []


def _blocks(node: Any, level: int) -> Iterator[Block]:
    """The blocks of what is below a node. level: of the section around it."""
    for child in node.children:
        if isinstance(child, _UNSAID) or "contents" in child.get("classes", ()):
            continue
        for kind, read_node in _READERS:
            if isinstance(child, kind):
                yield from read_node(child, level)
                break
        else:
            yield from _blocks(child, level)


def _section(node: Any, level: int) -> Iterator[Block]:
    return _blocks(node, level + 1)


def _heading(node: Any, level: int) -> Iterator[Block]:
    if isinstance(node.parent, nodes.section):
        yield Block("heading", _said(node), level)
    else:
        yield Block("paragraph", _said(node), is_caption=isinstance(node.parent, nodes.table))


def _leaf(node: Any, level: int) -> Iterator[Block]:
    yield Block("paragraph", _said(node))


def _caption(node: Any, level: int) -> Iterator[Block]:
    yield Block("paragraph", _said(node), is_caption=True)


def _image(node: Any, level: int) -> Iterator[Block]:
    yield Block("paragraph", picture(node.get("alt")), pictures=("",))


def _list(node: Any, level: int) -> Iterator[Block]:
    start = node.get("start", 1) if isinstance(node, nodes.enumerated_list) else None
    for number, item in enumerate(node.children, start or 0):
        mark = "•" if start is None else f"{number}."
        for place, block in enumerate(_blocks(item, level)):
            yield Block("item", block.text, mark=mark) if place == 0 and block.kind == "paragraph" else block


def _labelled(node: Any, level: int) -> Iterator[Block]:
    """A term or a field's name, with what is said of it."""
    *names, body = node.children
    name = ", ".join(_said(one) for one in names)
    yield from _after(f"{name}: ", _blocks(body, level))


def _admonition(node: Any, level: int) -> Iterator[Block]:
    return _after(f"{node.tagname.capitalize()}: ", _blocks(node, level))


def _note(node: Any, level: int) -> Iterator[Block]:
    label, *rest = node.children or [nodes.label()]
    said = "\n".join(block.text for one in rest for block in _blocks(nodes.container("", one), level))
    yield Block("note", f"[{_said(label)}] {said}")


def _after(name: str, blocks: Iterator[Block]) -> Iterator[Block]:
    """Blocks, the first with a name before what it says."""
    first = next(blocks, Block("paragraph"))
    if first.kind == "paragraph":
        yield Block("paragraph", name + first.text)
    else:
        yield Block("paragraph", name.strip())
        yield first
    yield from blocks


def _lines(node: Any, level: int) -> Iterator[Block]:
    yield Block("paragraph", "\n".join(_said(line) for line in node.findall(nodes.line)))


def _table(node: Any, level: int) -> Iterator[Block]:
    yield from (block for title in node.children if isinstance(title, nodes.title) for block in _heading(title, level))
    yield Block("table", rows=list(_rows(node)))


def _rows(table: Any) -> Iterator[Row]:
    """Rows, a cell that reaches over others None in their place, one that goes on downwards said once."""
    below: dict[int, int] = {}
    for row in table.findall(nodes.row):
        cells: list[str | None] = []
        for entry in row.children:
            while below.get(len(cells), 0):
                below[len(cells)] -= 1
                cells.append("")
            across, down = entry.get("morecols", 0), entry.get("morerows", 0)
            below |= dict.fromkeys(range(len(cells), len(cells) + across + 1), down)
            cells += [" ".join(_said(one) for one in entry.children), *[None] * across]
        yield cells


def _said(node: Any) -> str:
    """What a node says, a mark of a note in brackets."""
    if isinstance(node, (nodes.footnote_reference, nodes.citation_reference)):
        return f"[{node.astext()}]"
    if isinstance(node, (nodes.system_message, nodes.target)):
        return ""
    if isinstance(node, nodes.image):
        return picture(node.get("alt"))
    if isinstance(node, nodes.Text) or not node.children:
        return str(node.astext())
    between = "" if isinstance(node, nodes.TextElement) else " "
    return between.join(map(_said, node.children))


_READERS: tuple[tuple[Any, Callable[[Any, int], Iterator[Block]]], ...] = (
    (nodes.section, _section), ((nodes.title, nodes.subtitle), _heading), (_LEAVES, _leaf),
    (nodes.caption, _caption), (nodes.image, _image), ((nodes.bullet_list, nodes.enumerated_list), _list),
    ((nodes.definition_list_item, nodes.field, nodes.option_list_item), _labelled), (nodes.Admonition, _admonition),
    ((nodes.footnote, nodes.citation), _note), (nodes.line_block, _lines), (nodes.table, _table),
)  # fmt: skip
