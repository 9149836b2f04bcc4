"""A document's guide, made of what stands in it."""

from __future__ import annotations

from rag_core import Library
from rag_core.domain import Scope
from tests.browser.conftest import SAMPLES


def test_a_guide_has_lines_figures_and_questions_of_the_document(library: Library) -> None:
    (event,) = (one for one in library.add([SAMPLES / "veyra-ferry-handbook.pdf"]) if one.stage == "ready")
    document = event.document
    assert document is not None
    guide = library.guides.of(document)
    assert guide.lines
    assert guide.figures
    for line in (*guide.lines, *guide.figures):
        page = library.page(document.id, line.page)
        assert "".join(page.text[line.start : line.end].split())[:20] == "".join(line.text.split())[:20]
    assert all(any(character.isdigit() for character in line.text) for line in guide.figures)
    assert not {line.text for line in guide.lines} & {line.text for line in guide.figures}
    assert library.guides.of(document) == guide


def test_the_lines_of_a_guide_are_those_of_a_summary_without_the_title(library: Library) -> None:
    names = ("veyra-ferry-handbook.pdf", "water-works-guide.md")
    handbook, works = (
        event.document for event in library.add([SAMPLES / name for name in names]) if event.stage == "ready"
    )
    assert handbook is not None
    assert works is not None
    for document in (handbook, works):
        summary = library.ask("Summarise this document", scope=Scope(documents=(document.id,)))
        told = [one.text for one in summary.citations if one.text.strip("# ") != document.title]
        assert [line.text for line in library.guides.of(document).lines] == told[:5]
    assert document.title not in library.guides.of(works).lines[0].text
