"""Collections: documents of a tag with conversations, instructions and settings of search."""

from __future__ import annotations

import pytest

from rag_core import Library, Scope, Upload
from rag_core.domain import Collection, Document
from rag_core.errors import ConfigurationError
from rag_core.jobs import Request
from tests.conftest import add_text
from tests.until import until

PRICE = "What does a loaf of rye bread cost?"
BREAD = "A loaf of rye bread costs 4.20."
WORK = Scope(tags=("Work",))


@pytest.fixture
def bread(library: Library) -> Document:
    document = add_text(library, "bakery.txt", BREAD)
    library.catalogue.tag([document.id], add=["Work"])
    return document


def names(library: Library) -> list[tuple[str, int]]:
    return [(one.name, one.documents) for one in library.collections.all()]


def test_a_collection_has_the_documents_of_its_tag(library: Library, bread: Document) -> None:
    made = library.collections.make("#work")  # in the letters that the tag has
    assert (made.name, made.documents) == ("Work", 1)
    other = library.collections.make("Home")
    library.catalogue.tag([bread.id], add=["home"])
    assert names(library) == [("Home", 1), ("Work", 1)]
    assert library.document(bread.id).tags == ("Home", "Work")
    for taken in ("HOME", "", "!"):
        with pytest.raises(ValueError, match=r"name|letters"):
            library.collections.make(taken)
    with pytest.raises(ValueError, match="name"):
        library.collections.change(other.id, name="Work")


def test_a_conversation_begun_in_a_collection_is_in_it(library: Library, bread: Document) -> None:
    work = library.collections.make("Work")
    inside, outside = library.ask(PRICE, scope=WORK), library.ask(PRICE)
    kept = {one.id: one.collection for one in library.conversations()}
    assert (kept[inside.conversation], kept[outside.conversation]) == (work.id, "")
    library.ask(f"@bakery {PRICE}", conversation=inside.conversation)  # narrowed otherwise, it stays there
    library.collections.move(outside.conversation, work.id)
    assert {one.collection for one in library.conversations()} == {work.id}
    library.collections.move(outside.conversation, None)
    assert {one.collection for one in library.conversations("rye")} == {work.id, ""}


def test_another_name_is_that_of_its_tag_wherever_it_is_kept(library: Library, bread: Document) -> None:
    work = library.collections.make("Work")
    asked = library.ask(PRICE, scope=Scope(tags=("Work",), years=(2020,)))
    library.sources.watch(library.folder.parent, tags=["Work"])
    library.collections.change(work.id, name="Job", instructions=" In one word. ")
    assert library.collections.get(work.id) == Collection(work.id, "Job", "In one word.", {}, work.created_at, 1)
    assert library.document(bread.id).tags == ("Job",)
    assert library.history.scope(asked.conversation) == Scope(tags=("Job",), years=(2020,))
    assert [one.tags for one in library.sources.followed()] == [("Job",)]


def test_it_is_searched_by_its_own_settings(library: Library) -> None:
    ids = [add_text(library, f"{n}.txt", f"Bread of kind {n} costs {n}.20.").id for n in range(4)]
    library.catalogue.tag(ids, add=["Work"])
    work = library.collections.make("Work", settings={"retrieval.k": 2})
    assert (len(library.search("bread", scope=WORK)), len(library.search("bread"))) == (2, 4)
    assert len(library.search("bread", scope=WORK, k=3)) == 3
    assert len(library.ask("What does bread cost?", scope=WORK).hits) == 2
    for wrong in ({"retrieval.k": 0}, {"chunking.size": 300}, {"retrieval.none": 1}):
        with pytest.raises(ConfigurationError):
            library.collections.change(work.id, settings=wrong)


def test_a_removal_keeps_documents_and_conversations_and_is_undone(library: Library, bread: Document) -> None:
    work = library.collections.make("Work", instructions="In one word.")
    asked = library.ask(PRICE, scope=WORK)
    library.collections.remove(work.id)
    assert (names(library), library.document(bread.id).tags) == ([], ("Work",))
    assert [one.collection for one in library.conversations()] == [""]
    assert library.ask(PRICE, conversation=asked.conversation).citations
    another = library.collections.make("Work")
    with pytest.raises(ValueError, match="name"):
        library.collections.take_back(work.id)
    library.collections.remove(another.id)
    library.collections.take_back(work.id)
    assert library.collections.get(work.id).instructions == "In one word."
    assert [one.collection for one in library.conversations()] == [work.id]
    for gone in ("none", ""):
        with pytest.raises(KeyError):
            library.collections.take_back(gone)


def test_what_is_added_in_a_collection_is_of_it(library: Library) -> None:
    library.collections.make("Work")
    request = Request("bakery.txt", {"tags": ["work"]}, private=Upload("bakery.txt", BREAD.encode()))
    library.jobs.submit_all("add", [request])
    until(lambda: library.jobs.ended("add") == 1)
    assert names(library) == [("Work", 1)]
