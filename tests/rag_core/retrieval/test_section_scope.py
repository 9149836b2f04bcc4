"""The sections that people name are found whatever a document calls them, with what stands below them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from rag_core import Library, Settings
from rag_core.domain import Scope
from rag_core.services.tried_chunks import TriedChunks
from rag_core.settings import ChunkingSettings
from tests.conftest import add_text

SENTENCES = " ".join(f"The terns of colony {number} were counted from a boat in calm weather." for number in range(40))
TERNS = f"""# Terns

## Abstract

Terns fly less in wind. {SENTENCES}

## 2 Materials and Methods

Each tern was ringed. {SENTENCES}

### 2.1 Receivers

A receiver weighs two grams. {SENTENCES}

## 3 Results and Discussion

Terns flew 41 kilometres. {SENTENCES}

## 4 Conclusions

Wind halves flights.
"""
GULLS = f"""# Gulls

## Methodology

Each gull was weighed. {SENTENCES}

## Results

Gulls flew 60 kilometres. {SENTENCES}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("sections") / "library"
    with Library.open(Settings(_env_file=None, data_dir=folder, database_url=new_database())) as opened:
        add_text(opened, "terns.md", TERNS)
        add_text(opened, "gulls.md", GULLS)
        opened.storage.settle()
        yield opened


METHODS = {"2 Materials and Methods", "2.1 Receivers", "Methodology"}


@pytest.mark.parametrize(
    ("name", "sections"),
    [
        ("Methods", METHODS), ("methodology", {"Methodology"} | METHODS), ("Materials and methods", METHODS),
        ("2.1", {"2.1 Receivers"}),
        ("2 Materials and Methods", METHODS), ("Receivers", {"2.1 Receivers"}),
        ("results", {"3 Results and Discussion", "Results"}), ("discussion", {"3 Results and Discussion"}),
        ("Conclusion", {"4 Conclusions"}), ("Appendix", set()),
    ],
)  # fmt: skip
def test_a_section_is_searched_by_what_people_call_it(library: Library, name: str, sections: set[str]) -> None:
    found = library.retrieve("How were terns and gulls counted?", scope=Scope(sections=(name,)), k=100)
    assert {hit.section for hit in found.hits} == sections
    answer = library.ask("How far did gulls fly?", scope=Scope(sections=(name,)))
    assert {one.section for one in answer.citations} <= sections
    assert any("No document" in note for note in answer.trace.notes) == (not sections)


NO_APPENDIX = "No document that is searched has a section called “Appendix”"
GULL_SECTIONS = "Sections that there are: Methodology · Results"


def test_where_no_document_has_a_section_those_that_there_are_are_named(library: Library) -> None:
    (gulls,) = (one.id for one in library.documents() if one.title == "Gulls")
    scope, one = Scope(sections=("Appendix",)), Scope(sections=("Appendix",), documents=(gulls,))
    titles = "Methodology · Results · Abstract · 2 Materials and Methods · 3 Results and Discussion · 4 Conclusions"
    commonest = f"Sections that there are: {titles}"
    for wanted, note in ((scope, f"{NO_APPENDIX}. {commonest}"), (one, f"{NO_APPENDIX}. {GULL_SECTIONS}")):
        assert library.retrieve("How were they counted?", scope=wanted).trace.notes == (note,)
        assert library.ask("How far did the gulls of the colony fly?", scope=wanted).trace.notes == (note,)
    nowhere = Scope(sections=("Appendix",), years=(1850,))
    assert library.retrieve("How were they counted?", scope=nowhere).trace.notes == ()
    assert library.ask("How were they counted?", scope=nowhere).trace.notes == (
        "No document is within what the question is narrowed to.",
    )


def test_other_chunks_are_narrowed_likewise(library: Library) -> None:
    others = TriedChunks(library.storage, library.embedding.get(), ChunkingSettings(size=300, overlap=0), 0)
    list(others.prepare(lambda: False))
    (found,) = others.search(["How were they counted?"], library.settings.retrieval, Scope(sections=("Methods",)))
    assert found.hits
    assert {hit.section for hit in found.hits} <= METHODS


def test_insights_are_of_a_section_by_what_people_call_it(library: Library) -> None:
    answer = library.ask("How much does a receiver weigh?")
    assert {one.section for one in answer.citations} == {"2.1 Receivers"}
    used = library.insights.of(scope=Scope(sections=("Methods",))).used
    assert [one.title for one in used] == ["Terns"]
    assert library.insights.of(scope=Scope(sections=("Appendix",))).used == ()


def test_a_hit_has_what_stands_before_and_behind_it(library: Library) -> None:
    (terns,) = (one for one in library.documents() if one.title == "Terns")
    pages = {page.number: page.text for page in library.pages(terns.id)}
    hits = library.search("How many colonies of terns were counted?", scope=Scope(documents=(terns.id,)), k=100)
    for hit in hits:
        if hit.preceding_text:
            assert pages[hit.page][: hit.start].rstrip().endswith(hit.preceding_text), "nothing stands in both"
        if hit.following_text:
            assert pages[hit.page][hit.end :].lstrip().startswith(hit.following_text)
    assert sum(bool(hit.preceding_text) for hit in hits) == sum(bool(hit.following_text) for hit in hits) > 2
    narrowed = library.search("What does a receiver weigh?", scope=Scope(sections=("2.1",)), k=100)
    assert not any("Terns flew" in hit.following_text for hit in narrowed)
