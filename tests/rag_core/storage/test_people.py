"""What each person may see and change, as PostgreSQL says it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

import pytest

from rag_core import Scope, Settings
from rag_core.domain import DocumentFilter
from rag_core.ingest.intake import document_id_of
from rag_core.retrieval.scope import documents_within
from rag_core.storage import Accepted, Storage

ADA, BOB, EVE = "ada@example.org", "bob@example.org", "eve@example.org"


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Storage]:
    folder = tmp_path_factory.mktemp("people")
    opened = Storage(Settings(_env_file=None, data_dir=folder / "library", database_url=new_database()))
    yield opened
    opened.close()


@pytest.fixture
def add(storage: Storage) -> Iterator[Callable[..., str]]:
    """Adds a document of an owner's, with tags; all are gone after the test."""
    yield lambda text, owner="", *tags: _add(storage, text, owner, tags)
    storage.database.execute("DELETE FROM documents")
    storage.database.execute("DELETE FROM collections")
    storage.database.execute("DELETE FROM conversations")


def _add(storage: Storage, text: str, owner: str, tags: tuple[str, ...]) -> str:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    document_id = document_id_of(sha256, owner)
    storage.documents.accept([Accepted(document_id, sha256, f"{text}.txt", "text/plain", len(text), owner=owner)])
    storage.documents.cards.tag([document_id], tags, ())
    return document_id


def seen(storage: Storage, person: str) -> set[str]:
    """What a list has of it; what a search is within has it, too."""
    storage.database.execute("UPDATE documents SET state = 'ready'")
    found = set(storage.documents.ids(DocumentFilter(viewer=person)))
    assert documents_within(storage.database, Scope(viewer=person)).keys() == found
    storage.database.execute("UPDATE documents SET state = 'pending'")
    return found


def test_each_sees_what_is_everybodys_and_their_own(storage: Storage, add: Callable[..., str]) -> None:
    everybodys, of_ada, of_bob = add("rules"), add("diary", ADA), add("diary", BOB)
    assert of_ada != of_bob, "the same bytes of two people are two documents"
    assert (seen(storage, ADA), seen(storage, BOB)) == ({everybodys, of_ada}, {everybodys, of_bob})
    assert seen(storage, EVE) == {everybodys}
    people = storage.documents.people
    assert [people.role(ADA, one) for one in (everybodys, of_ada, of_bob, "none")] == ["reader", "owner", None, None]
    people.give([of_bob], ADA)
    assert (seen(storage, ADA), seen(storage, BOB)) == ({everybodys, of_ada, of_bob}, {everybodys})
    assert set(storage.documents.ids(DocumentFilter())) == {everybodys, of_ada, of_bob}


def test_a_collection_is_shared_and_taken_back(storage: Storage, add: Callable[..., str]) -> None:
    people, collections = storage.documents.people, storage.documents.collections
    plan, diary, of_bob = add("plan", ADA, "Team"), add("diary", ADA), add("notes", BOB, "Team")
    team = collections.make("team", "", {}, ADA)
    assert (seen(storage, ADA), seen(storage, BOB)) == ({plan, diary}, {of_bob})
    assert people.membership(BOB, team) is None
    people.share(team, BOB, "reader")
    assert seen(storage, BOB) == {of_bob, plan}
    assert seen(storage, ADA) == {plan, diary}, "a tag of the same name shares nothing of whoever reads it"
    assert (people.role(BOB, plan), people.role(BOB, diary), people.membership(BOB, team)) == ("reader", None, "reader")
    people.put(team, of_bob)
    assert seen(storage, ADA) == {plan, diary}, "who reads puts nothing into it"
    people.share(team, BOB, "editor")
    assert seen(storage, ADA) == {plan, diary, of_bob}
    assert (people.role(BOB, plan), people.role(ADA, of_bob), people.members(team)) == (
        "editor", "editor", {BOB: "editor"}
    )  # fmt: skip
    assert [(one.name, one.documents, one.owner) for one in collections.all(BOB)] == [("Team", 2, ADA)]
    assert collections.all(EVE) == []
    people.unshare(team, BOB)
    assert (seen(storage, ADA), seen(storage, BOB)) == ({plan, diary}, {of_bob})
    people.share(team, BOB, "editor")
    assert seen(storage, ADA) == {plan, diary}, "what left it does not come back by itself"
    collections.remove(team)
    assert seen(storage, BOB) == {of_bob}


def test_names_and_tags_of_one_person_are_free_for_another(storage: Storage, add: Callable[..., str]) -> None:
    collections, cards, people = storage.documents.collections, storage.documents.cards, storage.documents.people
    add("a", ADA, "SeCrEt")
    of_bob = add("b", BOB, "secret")
    made = {person: collections.make("secret", "", {}, person) for person in (ADA, BOB, "")}
    assert [one.name for one in collections.all(ADA)] == ["secret", "SeCrEt"]
    assert people.tags(BOB) == [("secret", 1)]
    assert cards.tags() == [("SeCrEt", 1), ("secret", 1)]
    with pytest.raises(ValueError, match="name"):
        collections.make("SECRET", "", {}, BOB)
    collections.change(made[BOB], "Open", "", {})
    assert (people.tags(BOB), people.tags(ADA)) == ([("Open", 1)], [("SeCrEt", 1)])
    assert storage.documents.get(of_bob).tags == ("Open",)  # type: ignore[union-attr]
    collections.change(made[BOB], "Secret", "", {})
    for viewer, wanted in ((ADA, made[ADA]), (BOB, made[BOB]), (EVE, made[""]), ("", made[""])):
        found = collections.in_effect(None, Scope(tags=("secret",), viewer=viewer))
        assert found is not None
        assert found.id == wanted, viewer


def test_conversations_are_their_owners(storage: Storage, add: Callable[..., str]) -> None:
    kept = storage.conversations
    team = storage.documents.collections.make("Team", "", {}, ADA)
    kept.ask("of-ada", "What is the plan?", Scope(tags=("Team",), viewer=ADA), owner=ADA)
    kept.ask("of-bob", "What is the plan?", Scope(tags=("Team",), viewer=BOB), owner=BOB)
    _, message = kept.ask("nobodys", "What is the plan?")
    assert [one.id for one in kept.all(ADA)] == ["of-ada"]
    assert [(one.id, one.collection) for one in kept.find(["plan"], BOB)] == [("of-bob", "")]
    assert {one.id: one.collection for one in kept.all()} == {"of-ada": team, "of-bob": "", "nobodys": ""}
    assert kept.scope("of-ada") == Scope(tags=("Team",), viewer=ADA)
    people = storage.documents.people
    assert [people.owner_of_conversation(one) for one in ("of-ada", "nobodys", "none")] == [ADA, "", None]
    assert (people.owner_of_message(message), people.owner_of_message("none")) == ("", None)
