"""What is found by a few letters of its name."""

from __future__ import annotations

from dataclasses import replace

from pages.parts import finder
from tests.pages.conftest import FakeLibrary, a_document


def test_what_begins_as_one_types_comes_first(library: FakeLibrary) -> None:
    titles = [
        "Neat",
        "Questions, Fennel library",
        "PonderNet: Learning to Ponder",
        "Netflix, Inc. annual report",
        "Where money went",
    ]
    library.held = [replace(a_document(title), title=title) for title in titles]
    library.held[0] = replace(library.held[0], title="Docling", sources=("nemotron.pdf",))
    ready = [one for one in library.held if one.state == "ready"]
    found = sorted(
        (one for one in finder._documents(ready) if finder._fits(one, ["ne"])),
        key=lambda one: finder._farness(one, ["ne"]),
    )
    assert found[0]["label"] == "Netflix, Inc. annual report"
    assert found[1]["label"] == "Docling", "its file's name begins so"
    assert len(found) == 5
