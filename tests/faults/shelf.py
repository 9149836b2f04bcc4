"""Documents to add in fault tests: small, of every format, each with the chunks that it must have."""

from __future__ import annotations

import hashlib
import io
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from rag_core.chunking import chunk_document
from rag_core.embedding.source import PACKAGED, find_source
from rag_core.embedding.tokens import TokenCounter
from rag_core.reading import Reader, detect
from rag_core.settings import ChunkingSettings, ReadingSettings

_TEXT = """
    amber anchor apple archive attic autumn badger baker balcony barley basin beacon bellows birch biscuit blanket
    boulder bramble bridge bronze bucket cabin camel candle canyon carpet castle cellar chapel cherry chimney cinema
    clover cobalt comet copper coral cotton cradle crater cricket dagger dahlia desert diamond dolphin donkey dragon
    eagle ember engine falcon farmer feather fennel ferry fiddle forest fossil fountain garden garlic ginger glacier
    goblet granite guitar hammer harbour harvest hazel hermit honey horizon island ivory jacket jasmine jungle kettle
    kitchen ladder lagoon lantern lemon library lighthouse lizard magnet maple marble market meadow mirror monsoon
    mountain museum needle nutmeg oasis olive orchard orchid otter oyster palace parrot pebble pepper piano pigeon
    planet plough pocket pollen prairie prism puzzle quarry rabbit radish railway raven ribbon river rocket saddle
    saffron sandal sapphire satellite scarf shadow shelter shovel silver sparrow spider spiral stable starling statue
    summit sunset tailor temple thistle thunder timber tortoise trumpet tunnel turnip turtle valley vanilla velvet
    village violin volcano wagon walnut weaver whistle willow window winter workshop yogurt zebra
"""


_WORDS = _TEXT.split()


@dataclass(frozen=True, slots=True)
class Item:
    """One document: the file that holds it, the id that it will have, and the texts of its chunks."""

    path: str
    id: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shelf:
    """The documents of one test."""

    items: tuple[Item, ...]
    file: Path

    def by_id(self) -> dict[str, Item]:
        return {item.id: item for item in self.items}

    def save(self) -> None:
        """Write the list to `file`, for other processes."""
        self.file.write_text(json.dumps([asdict(item) for item in self.items]))

    @classmethod
    def load(cls, file: Path) -> Shelf:
        return cls(tuple(Item(i["path"], i["id"], tuple(i["texts"])) for i in json.loads(file.read_text())), file)


def make_shelf(folder: Path, count: int, seed: int) -> Shelf:
    """Write `count` documents into a folder and find out, without a library, which chunks they have."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(seed)
    paths = [_write(folder, number, draw) for number in range(count)]
    reader = Reader(ReadingSettings())
    try:
        shelf = Shelf(tuple(_item(reader, path) for path in paths), folder.with_suffix(".json"))
    finally:
        reader.close()
    shelf.save()
    return shelf


def _write(folder: Path, number: int, draw: random.Random) -> Path:
    kind = number % 10
    if kind == 0:
        path = folder / f"paper-{number}.pdf"
        path.write_bytes(_pdf([_sentences(draw, 4) for _ in range(2)]))
    elif kind in (1, 2):
        path = folder / f"notes-{number}.md"
        parts = [
            f"# {draw.choice(_WORDS).title()} {number}",
            *_paragraphs(draw, 2),
            "## Details",
            *_paragraphs(draw, 2),
        ]
        path.write_text("\n\n".join(parts))
    elif kind == 3:
        path = folder / f"long-{number}.txt"
        path.write_text("\n\n".join(_paragraphs(draw, 14)))
    else:
        path = folder / f"text-{number}.txt"
        path.write_text(" ".join(_sentences(draw, 3)))
    return path


def _item(reader: Reader, path: Path) -> Item:
    key = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    detect(path, path.name)
    chunks = chunk_document(key, reader.read(path, path.name), ChunkingSettings(), _tokens().count)
    return Item(str(path), key, tuple(chunk.text for chunk in chunks))


@cache
def _tokens() -> TokenCounter:
    return TokenCounter(find_source(PACKAGED))


def _paragraphs(draw: random.Random, count: int) -> list[str]:
    return [" ".join(_sentences(draw, 6)) for _ in range(count)]


def _sentences(draw: random.Random, count: int) -> list[str]:
    return [
        f"In {draw.randrange(1200, 2000)} the {draw.choice(_WORDS)} of the {draw.choice(_WORDS)} was given"
        f" {draw.randrange(2, 99)} {draw.choice(_WORDS)} cups for one {draw.choice(_WORDS)} or {draw.choice(_WORDS)}."
        for _ in range(count)
    ]


def _pdf(pages: Sequence[Sequence[str]]) -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, invariant=1)
    for lines in pages:
        for number, line in enumerate(lines):
            canvas.drawString(40, 780 - 20 * number, line)
        canvas.showPage()
    canvas.save()
    return file.getvalue()
