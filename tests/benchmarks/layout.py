"""How pages are laid out, against pages whose layout is known: reading order, tables and headings.

`python -m tests.benchmarks.layout [--halves tune report] [--each]`. For each half of the pages of shared/data/parsing
and each way of writing them (in the truth's order, and `raster`, line by line across the page): `order`, the indel
similarity of the text without blanks; `tables`, the likeness of all tables of a page as trees of rows and cells (TEDS;
X. Zhong and others, "Image-based table recognition", 2020); `headings`, the same of the tree of headings with the text
below each. The means are over the pages that have any. Only the half "tune" may be looked at in choosing anything.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from statistics import mean

from rag_core.domain import Page, ParsedDocument
from rag_core.reading import Reader
from rag_core.settings import Settings
from rag_core.text.tables import tables_of
from tests.benchmarks.measure import SHARED, emit
from tests.benchmarks.reading import letters, likeness

PAGES = SHARED / "data" / "parsing"
_TABLE = re.compile(r"<table.*?</table>", re.DOTALL)
_HEADING = re.compile(r"^(#+) +(.*)$", re.MULTILINE)
_MARKS = re.compile(r"<[^>]*>|^#+ |[*_`]{1,2}|^- ", re.MULTILINE)


@dataclass(slots=True)
class Node:
    """Of a tree: what it is, its text and its children."""

    name: str
    text: str = ""
    children: list[Node] = field(default_factory=list)


class _Rows(HTMLParser):
    """The tables of HTML as one tree, as the measure has it."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Node("table")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.root.children.append(Node("tr"))
        if tag in ("td", "th"):
            spans = dict(attrs)
            name = f"td {spans.get('rowspan') or 1} {spans.get('colspan') or 1}"
            self.root.children[-1].children.append(Node(name))

    def handle_data(self, data: str) -> None:
        if self.root.children and self.root.children[-1].children:
            cell = self.root.children[-1].children[-1]
            cell.text = f"{cell.text} {data.strip()}".strip()


def true_tables(text: str) -> Node:
    """The tables of a page's truth."""
    rows = _Rows()
    rows.feed("".join(_TABLE.findall(text)))
    return rows.root


def read_tables(page: Page) -> Node:
    """The tables of a page as it is read."""
    rows = [row for table in tables_of(page) for row in table.rows]
    return Node("table", children=[Node("tr", children=[Node("td 1 1", cell) for cell in row]) for row in rows])


def outline(text: str, heads: Sequence[tuple[int, int, str]]) -> Node:
    """The headings (start, end, title) of a text, each followed by what stands below it, on one level as the measure
    of pages without levels has it."""
    root = Node("document")
    ends = [*(start for start, _, _ in heads), len(text)]
    if before := letters(_MARKS.sub("", text[: ends[0]])):
        root.children.append(Node("content", before))
    for (_, end, title), until in zip(heads, ends[1:], strict=True):
        root.children.append(Node("heading", letters(title)))
        if below := letters(_MARKS.sub("", text[end:until])):
            root.children.append(Node("content", below))
    return root


def true_outline(text: str) -> Node:
    """The headings of a page's truth."""
    return outline(text, [(found.start(), found.end(), found[2]) for found in _HEADING.finditer(text)])


def read_outline(parsed: ParsedDocument) -> Node:
    """The headings of a document of one page as it is read."""
    text = parsed.pages[0].text
    return outline(text, [(one.start, _end(text, one.start, one.title), one.title) for one in parsed.sections])


def _end(text: str, start: int, title: str) -> int:
    """Where a heading that begins at a place of a text ends: behind as many letters as it has."""
    wanted, at = len("".join(title.split())), start
    while wanted and at < len(text):
        wanted -= not text[at].isspace()
        at += 1
    return at


@cache
def edits(one: str, other: str) -> float:
    """The Levenshtein distance of two texts over the longer one's length (bit-parallel, Myers 1999)."""
    if not one or not other:
        return float(one != other)
    full, top = (1 << len(one)) - 1, 1 << (len(one) - 1)
    places: dict[str, int] = {}
    for place, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << place
    up, down, distance = full, 0, len(one)
    for letter in other:
        equal = places.get(letter, 0)
        through = equal | down
        zero = (((equal & up) + up) ^ up) | equal
        more, less = down | ~(zero | up) & full, up & zero
        distance += bool(more & top) - bool(less & top)
        more, less = (more << 1 | 1) & full, less << 1 & full
        up, down = less | ~(through | more) & full, more & through
    return distance / max(len(one), len(other))


def tree_likeness(one: Node, other: Node) -> float:
    """1 less the edit distance of two trees over the nodes of the larger one (Zhang and Shasha, 1989)."""
    trees = [_postorder(tree) for tree in (one, other)]
    return 1 - _distance(*trees) / max(len(nodes) for nodes, _ in trees)


def _postorder(tree: Node) -> tuple[list[Node], list[int]]:
    """The nodes, each behind its children, and the place of the leftmost leaf below each."""
    nodes: list[Node] = []
    leaves: list[int] = []

    def visit(node: Node) -> int:
        firsts = [visit(child) for child in node.children]
        leaves.append(firsts[0] if firsts else len(nodes))
        nodes.append(node)
        return leaves[-1]

    visit(tree)
    return nodes, leaves


def _cost(one: Node, other: Node) -> float:
    return 1.0 if one.name != other.name else edits(one.text, other.text)


def _distance(one: tuple[list[Node], list[int]], other: tuple[list[Node], list[int]]) -> float:
    (nodes, leaves), (others, other_leaves) = one, other
    found: dict[tuple[int, int], float] = {}
    for root in _roots(leaves):
        for other_root in _roots(other_leaves):
            first, second = leaves[root], other_leaves[other_root]
            rows = [[float(at) for at in range(other_root - second + 2)]]
            for place in range(first, root + 1):
                above, row = rows[-1], [rows[-1][0] + 1]
                rows.append(row)
                for at in range(second, other_root + 1):
                    least = min(above[at - second + 1], row[-1]) + 1
                    if leaves[place] == first and other_leaves[at] == second:
                        least = min(least, above[at - second] + _cost(nodes[place], others[at]))
                        found[place, at] = least
                    else:
                        least = min(least, rows[leaves[place] - first][other_leaves[at] - second] + found[place, at])
                    row.append(least)
    return found[len(nodes) - 1, len(others) - 1]


def _roots(leaves: Sequence[int]) -> list[int]:
    """The last node of each leftmost leaf."""
    return sorted({leaf: place for place, leaf in enumerate(leaves)}.values())


def measured(reader: Reader, path: Path, truth: str) -> Iterator[tuple[str, float]]:
    """Each measure that a page has, 0 to 1."""
    parsed = reader.read(path, path.name)
    page = parsed.pages[0]
    yield "order", likeness(letters(_MARKS.sub("", truth)), letters(page.text))
    if _TABLE.search(truth):
        yield "tables", tree_likeness(true_tables(truth), read_tables(page))
    if _HEADING.search(truth):
        yield "headings", tree_likeness(true_outline(truth), read_outline(parsed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halves", nargs="+", default=["tune", "report"], choices=["tune", "report"])
    parser.add_argument("--each", action="store_true", help="print every page's figures of the half tune")
    options = parser.parse_args()
    if not PAGES.is_dir():
        emit(benchmark="layout", skipped=f"{PAGES} is not there")
        return
    truths = sorted((PAGES / "truth").glob("*.md"))
    with Reader(Settings(_env_file=None).reading) as reader:
        for half in options.halves:
            show = options.each and half == "tune"
            for suffix in (".pdf", ".raster.pdf"):
                # Of two files that follow each other one has its tables ruled.
                pages = [truth for at, truth in enumerate(truths) if at // 2 % 2 == ("tune", "report").index(half)]
                emit(benchmark="layout", half=half, written=suffix, **_means(reader, pages, suffix, show))


def _means(reader: Reader, truths: Sequence[Path], suffix: str, each: bool) -> dict[str, float]:
    found: dict[str, list[float]] = {"order": [], "tables": [], "headings": []}
    for truth in truths:
        path = PAGES / "pdf" / f"{truth.stem}{suffix}"
        for name, value in measured(reader, path, truth.read_text(encoding="utf-8")):
            found[name].append(value)
            if each:
                sys.stderr.write(f"{path.name} {name} {value:.3f}\n")
    return {name: round(mean(values), 3) for name, values in found.items() if values}


if __name__ == "__main__":
    main()
