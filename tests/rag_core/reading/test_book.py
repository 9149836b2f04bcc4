"""Books, made by hand as publishers' programs make them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from rag_core.errors import UnsupportedDocument
from rag_core.reading import Reader

CONTAINER = '<?xml version="1.0"?><container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
PACKAGE = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Mosses</dc:title><dc:creator>Ada Moss</dc:creator>
<dc:language>en</dc:language></metadata><manifest>
<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>
<item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="text/one%20first.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="one"/><itemref idref="two"/><itemref idref="nav" linear="no"/></spine></package>"""
NAV = """<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol>
<li><a href="text/one%20first.xhtml">Where&nbsp;they grow</a></li>
<li><a href="text/two.xhtml#x">Kinds</a></li></ol></nav>
</body></html>"""
XHTML = '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>'
FILES = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": CONTAINER,
    "OEBPS/book.opf": PACKAGE,
    "OEBPS/nav.xhtml": NAV,
    "OEBPS/text/one first.xhtml": f"{XHTML}</head><body><p>On stones<a id='n'/> and&#160;roofs.</p></body></html>",
    "OEBPS/text/two.xhtml": f"{XHTML}</head><body><h2>Kinds of moss</h2><p>Many.</p></body></html>",
}


def packed(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text, zipfile.ZIP_STORED if name == "mimetype" else None)
    return path


def test_chapters_follow_the_spine_and_are_named_by_the_contents(reader: Reader, tmp_path: Path) -> None:
    parsed = reader.read(packed(tmp_path / "stored", FILES), "mosses.epub")
    assert (parsed.title, parsed.authors, parsed.language) == ("Mosses", "Ada Moss", "en")
    assert [page.text for page in parsed.pages] == [
        "Where they grow\n\nOn stones and roofs.", "Kinds of moss\n\nMany.",
    ]  # fmt: skip
    assert [(item.title, item.page) for item in parsed.sections] == [("Where they grow", 1), ("Kinds of moss", 2)]


def test_a_locked_book_is_refused_with_the_reason(reader: Reader, tmp_path: Path) -> None:
    locks = '<encryption><CipherReference URI="OEBPS/text/two.xhtml"/></encryption>'
    path = packed(tmp_path / "stored", {**FILES, "META-INF/encryption.xml": locks})
    with pytest.raises(UnsupportedDocument, match="DRM"):
        reader.read(path, "mosses.epub")


def test_a_damaged_chapter_or_contents_cost_themselves_alone(reader: Reader, tmp_path: Path) -> None:
    path = packed(tmp_path / "book", FILES)
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(tmp_path / "stored", "w") as stored:
        for name in book.namelist():
            if name != "OEBPS/nav.xhtml":
                stored.writestr(name, book.read(name))
    damaged = (tmp_path / "stored").read_bytes().replace(b"Many.", b"Mony.")
    (tmp_path / "stored").write_bytes(damaged)
    parsed = reader.read(tmp_path / "stored", "mosses.epub")
    assert [page.text for page in parsed.pages] == ["On stones and roofs."]
    assert parsed.notes == ("Chapters that are damaged, and were left out: OEBPS/text/two.xhtml.",)


def test_hidden_lists_of_a_chapter_are_told_of_and_a_chapter_nested_too_deeply_costs_itself(
    reader: Reader, tmp_path: Path
) -> None:
    hidden = "<ol hidden='hidden'><li>Nobody may see this here.</li></ol><p>On stones.</p>"
    files = {
        **FILES,
        "OEBPS/text/one first.xhtml": f"{XHTML}</head><body>{hidden}</body></html>",
        "OEBPS/text/two.xhtml": f"{XHTML}</head><body>{'<div>' * 5000}deep</body></html>",
    }
    parsed = reader.read(packed(tmp_path / "stored", files), "mosses.epub")
    assert parsed.pages[0].text == "Where they grow\n\nOn stones."
    deep, unseen = parsed.notes
    assert deep.startswith("The chapter OEBPS/text/two.xhtml could not be read whole: The page's tags are nested")
    assert unseen == "Hidden on the page and left out: 1 part, “Nobody may see this here.”."
