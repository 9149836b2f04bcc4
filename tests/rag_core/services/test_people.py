"""Documents that are given to people: whose they are stays so, whatever comes of them."""

from __future__ import annotations

import io
import os
import time
import zipfile
from pathlib import Path

import pytest

from rag_core import Library, Scope, Upload
from rag_core.domain import Document, DocumentFilter
from rag_core.errors import NotAllowed
from rag_core.jobs import Request
from rag_core.personal import library_of
from rag_core.retrieval.scope import documents_within
from rag_core.storage.postgres.changes import Waiting
from rag_core.storage.postgres.database import Database
from tests.conftest import add_text
from tests.until import until

ADA, BOB = "ada@example.org", "bob@example.org"
BREAD = "A loaf of rye bread costs 4.20."
PRICE = "What does a loaf of rye bread cost?"


def write(path: Path, text: str, *, age_s: float) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    os.utime(path, (time.time() - age_s,) * 2)


def of(library: Library, *, title: str) -> Document:
    (found,) = (one for one in library.documents() if one.title == title)
    return found


def seen_by(library: Library, person: str) -> set[str]:
    return {name for one in library_of(library, person).documents() for name in one.sources}


def test_what_comes_of_a_watched_file_that_was_given_away_is_its_owners(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    write(folder / "bakery.txt", BREAD, age_s=100)
    write(folder / "copy.txt", "A loaf costs 5.30.", age_s=100)
    library.sources.watch(folder)
    list(library.sources.update())
    first = of(library, title="bakery")
    collection = library.collections.make("Bread", owner=BOB)
    library.people.share(collection.id, ADA, "editor")
    library.people.give([first.id], ADA)
    library_of(library, ADA).people.put(collection.id, first.id)
    write(folder / "bakery.txt", BREAD.replace("4.20", "5.10"), age_s=80)
    list(library.sources.update())
    second = of(library, title="bakery")
    assert second.id != first.id
    assert library.people.role(ADA, second.id) == "owner"
    assert seen_by(library, BOB) == {"bakery.txt", "copy.txt"}, "it is in the collection still"
    library.people.unshare(collection.id, ADA)
    assert seen_by(library, BOB) == {"copy.txt"}
    # By another name, and then with the words of what is everybody's.
    (folder / "bakery.txt").rename(folder / "bread.txt")
    list(library.sources.update())
    assert (seen_by(library, ADA), seen_by(library, BOB)) == ({"bread.txt", "copy.txt"}, {"copy.txt"})
    write(folder / "bread.txt", "A loaf costs 5.30.", age_s=60)
    list(library.sources.update())
    assert (seen_by(library, ADA), seen_by(library, BOB)) == ({"bread.txt", "copy.txt"}, {"copy.txt"})
    third = of(library, title="bread")
    assert library.people.role(ADA, third.id) == "owner"
    # Ada removes it, and it is written on.
    library_of(library, ADA).remove(third.id)
    list(library.sources.update())
    assert seen_by(library, ADA) == {"copy.txt"}
    write(folder / "bread.txt", "A loaf costs 6.40.", age_s=40)
    list(library.sources.update())
    assert (seen_by(library, ADA), seen_by(library, BOB)) == ({"bread.txt", "copy.txt"}, {"copy.txt"})
    assert library.maintenance.verify(deep=True).findings == ()


def test_what_was_given_away_is_added_again_as_another_document(library: Library) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    for adding in (library, bob):
        first = add_text(adding, "bakery.txt", BREAD)
        library.people.give([first.id], ADA)
        for _ in range(2):
            *_, last = adding.add([Upload("secret name.txt", BREAD.encode())])
            assert last.document is not None
            assert last.document.id != first.id
            assert adding.document(last.document.id).sources == ("secret name.txt",)
            assert ada.document(first.id).sources == ("bakery.txt",)
        library.storage.settle()
        assert {hit.document.id for hit in adding.search("What does rye bread cost?")} >= {last.document.id}
        adding.remove(last.document.id)
        assert ada.catalogue.documents(DocumentFilter(ids=(first.id,)))[1] == 1
        ada.remove(first.id)


@pytest.fixture
def shared(library: Library) -> Document:
    """A document of Ada's with two tags, one of which is a collection that Bob reads."""
    ada = library_of(library, ADA)
    document = add_text(ada, "bakery.txt", BREAD)
    ada.catalogue.tag([document.id], add=["Team", "Fired soon"])
    library.people.share(ada.collections.make("Team").id, BOB, "reader")
    library.storage.settle()
    return document


def test_of_the_tags_of_what_is_shared_the_collection_alone_is_seen(library: Library, shared: Document) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    assert ada.document(shared.id).tags == ("Fired soon", "Team")
    assert bob.document(shared.id).tags == ("Team",)
    assert [one.tags for one in bob.documents()] == [("Team",)]
    assert bob.catalogue.tags() == [("Team", 1)]
    assert bob.search(PRICE)[0].document.tags == ("Team",)
    asked = bob.ask(PRICE)
    assert {hit.document.tags for hit in asked.hits} == {("Team",)}
    for tag, found in (("Team", [shared.id]), ("team", [shared.id]), ("Fired soon", []), ("fired soon", [])):
        assert bob.catalogue.ids(DocumentFilter(tags=(tag,))) == found
        assert [hit.document.id for hit in bob.search(PRICE, scope=Scope(tags=(tag,)))] == found
    assert not bob.ask(f'@"fired soon" {PRICE}').abstained
    with pytest.raises(KeyError):
        bob.scope_of(["Fired soon"])


def test_what_editors_put_into_a_collection_is_of_its_name(library: Library, shared: Document) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    (team,) = ada.collections.all()
    ada.people.share(team.id, BOB, "editor")
    added = add_text(bob, "cheese.txt", "A wheel of mountain cheese costs 31.50.")
    bob.people.put(team.id, added.id)
    library.storage.settle()
    assert ada.document(added.id).tags == ("Team",)
    assert ada.catalogue.tags() == [("Fired soon", 1), ("Team", 2)]
    other = add_text(ada, "tea.txt", "Tea costs 2.10.")
    for person in (ada, bob):
        scope = person.scope_of(["Team", "bakery"])
        assert set(scope.documents) == {shared.id, added.id}
        assert "31.50" in person.ask("@Team What does a wheel of mountain cheese cost?").text
    ada.remove(other.id)
    ada.catalogue.tag([shared.id], remove=["Team"])
    assert bob.scope_of(["team"]) == Scope(tags=("Team",))
    assert "31.50" in ada.ask("@team What does a wheel of mountain cheese cost?").text


def test_names_of_collections_are_found_in_any_letters(library: Library) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    team = ada.collections.make("İZMİR")
    library.people.share(team.id, BOB, "editor")
    document = add_text(bob, "bakery.txt", BREAD)
    bob.people.put(team.id, document.id)
    library.storage.settle()
    for person in (ada, bob):
        assert [person.catalogue.ids(DocumentFilter(tags=(tag,))) for tag in ("İZMİR", "i̇zmi̇r")] == [[document.id]] * 2
        assert [hit.document.id for hit in person.search(PRICE, scope=Scope(tags=("İZMİR",)))] == [document.id]
        assert "4.20" in person.ask(f"@İZMİR {PRICE}").text


def test_a_collection_is_shared_with_others_than_its_owner(library: Library, shared: Document) -> None:
    ada = library_of(library, ADA)
    (team,) = ada.collections.all()
    library.people.share(team.id, ADA, "reader")
    assert ada.people.members(team.id) == {BOB: "reader"}
    assert library.people.membership(ADA, team.id) == "owner"


def test_insights_begin_with_ones_own_first_question(library: Library, shared: Document) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    ada.ask(PRICE)
    library.storage.database.execute("UPDATE messages SET created_at = created_at - interval '100 days'")
    assert len(bob.insights.of().asked) == 1
    bob.ask(PRICE)
    assert [one.asked for one in bob.insights.of().asked] == [1]
    assert len(ada.insights.of().asked) > 10
    assert len(library.insights.of().asked) > 10


def test_what_an_index_lacks_is_not_told_to_a_person(
    library: Library, shared: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    (team,) = ada.collections.all()
    ada.collections.change(team.id, settings={"retrieval.index": "chroma"})
    monkeypatch.setattr(library.storage.log, "waiting", lambda name: Waiting(2))
    scope = Scope(tags=("Team",))
    assert "lacks 2" in str(library.retrieve(PRICE, index="chroma").trace.notes)
    for notes in (
        bob.retrieve(PRICE, scope=scope).trace.notes,
        bob.ask(PRICE, scope=scope).trace.notes,
        bob.retrieve(PRICE, index="chroma").trace.notes,
    ):
        assert "lacks" not in str(notes)


def test_what_a_person_sees_is_looked_up_once_for_each_search_of_an_answer(
    library: Library, shared: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Scope] = []

    def within(database: Database, scope: Scope) -> dict[str, int]:
        looked.append(scope)
        return documents_within(database, scope)

    monkeypatch.setattr("rag_core.retrieval.indexes.documents_within", within)
    assert "4.20" in library_of(library, BOB).ask(PRICE).text
    assert 0 < len(looked) <= 6


def finished(library: Library) -> bool:
    return all(job.finished for job in library.jobs.all())


def test_what_is_sent_as_a_job_is_the_senders_own_and_so_is_the_job(library: Library) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    team = ada.collections.make("Team")
    library.people.share(team.id, BOB, "reader")
    into = {"collection": team.id, "path": "/etc/passwd", "of": ADA, "tags": ["Fired soon"]}
    for sender in (ada, bob):
        sent = Upload("bakery.txt", BREAD.encode())
        sender.jobs.submit_all("add", [Request(sent.name, into, private=sent)])
    library.jobs.submit_all("add", [Request("tea.txt", private=Upload("tea.txt", b"Tea costs 2.10."))])
    until(lambda: finished(library))
    (adas,), (bobs,) = ada.jobs.all("add"), bob.jobs.all()
    assert adas.document_id != bobs.document_id
    assert [library.people.role(ADA, one.document_id) for one in (adas, bobs)] == ["owner", None]
    assert ada.document(adas.document_id).tags == ("Team",)
    assert bob.document(bobs.document_id).tags == (), "who reads a collection puts nothing into it"
    assert [len(one.jobs.all()) for one in (ada, bob, library)] == [1, 1, 3]
    assert (ada.jobs.busy("add"), ada.jobs.ended("add"), ada.jobs.all("evaluate")) == (False, 1, ())
    with pytest.raises(KeyError):
        bob.jobs.get(adas.id)
    assert not bob.jobs.can_retry(adas.id)
    for act in (bob.jobs.dismiss, bob.jobs.cancel, bob.jobs.retry):
        act(adas.id)
    bob.jobs.clear("add")
    assert [job.id for job in ada.jobs.all()] == [adas.id]
    assert bob.jobs.all() == ()
    for kind, request in (
        ("add", Request("passwd", {"path": "/etc/passwd"})),
        ("add", Request("x", private="a password")),
        ("verify", Request("x")),
    ):
        with pytest.raises(NotAllowed):
            bob.jobs.submit_all(kind, [request])
    again = Request("bakery.txt", {"retry": True}, document_id=adas.document_id)
    with pytest.raises(NotAllowed):
        bob.jobs.submit_all("add", [again])
    library.people.unshare(team.id, BOB)
    with pytest.raises(KeyError):
        bob.jobs.submit_all("add", [again])


def test_documents_of_an_archive_are_its_senders_own(library: Library) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("bakery.txt", BREAD)
        archive.writestr("tea.txt", "Tea costs 2.10.")
    ada, sent = library_of(library, ADA), Upload("all.zip", held.getvalue())
    ada.jobs.submit_all("add", [Request(sent.name, private=sent)])
    until(lambda: finished(library) and len(ada.documents()) == 2)
    assert len(ada.jobs.all()) == 3
    assert library_of(library, BOB).documents() == []


def test_who_edits_a_collection_sends_files_into_it(library: Library, shared: Document) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    (team,) = ada.collections.all()
    ada.people.share(team.id, BOB, "editor")
    sent = Upload("cheese.txt", b"A wheel of mountain cheese costs 31.50.")
    bob.jobs.submit_all("add", [Request(sent.name, {"collection": team.id}, private=sent)])
    until(lambda: finished(library))
    library.storage.settle()
    assert "31.50" in ada.ask("@Team What does a wheel of mountain cheese cost?").text


def test_removals_are_taken_back_by_whose_they_are(library: Library, shared: Document) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    (team,) = ada.collections.all()
    with pytest.raises(NotAllowed):
        bob.catalogue.set_aside([shared.id])
    assert ada.catalogue.set_aside([shared.id]) == [shared.id]
    assert bob.catalogue.take_back([shared.id]) == []
    assert bob.documents() == []
    assert ada.catalogue.take_back([shared.id]) == [shared.id]
    ada.collections.remove(team.id)
    with pytest.raises(KeyError):
        bob.collections.take_back(team.id)
    ada.collections.take_back(team.id)
    assert [one.id for one in bob.documents()] == [shared.id]


def test_a_conversation_that_begins_keeps_its_name(library: Library, shared: Document) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    begun = ada.history.begin()
    assert ada.ask(PRICE, conversation=begun).conversation == begun
    (kept,) = ada.conversations()
    assert kept.id == begun
    assert bob.messages(begun) == []
    assert bob.ask(PRICE, conversation=begun).conversation != begun
    assert [len(one.messages(begun)) for one in (ada, bob)] == [1, 1]
    named = ada.ask(PRICE, conversation="by a name of one's own").conversation
    assert ada.ask(PRICE, conversation="by a name of one's own").conversation == named


def test_which_model_answers_each_chooses_for_themselves(library: Library) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    library.preferences.set("model", "gemini")
    ada.preferences.set("model", "extractive")
    assert [one.preferences.get("model") for one in (ada, bob, library)] == ["extractive", "gemini", "gemini"]
    with pytest.raises(NotAllowed):
        ada.preferences.set("settings", "{}")
    with pytest.raises(NotAllowed):
        ada.preferences.get("settings")


def test_charts_are_of_ones_own_questions(library: Library, shared: Document) -> None:
    ada, bob = library_of(library, ADA), library_of(library, BOB)
    ada.ask(PRICE)
    assert ada.insights.state() != bob.insights.state()
    assert "asked" in {drawing.key for drawing in ada.insights.drawings(ada.insights.of())}
    assert "asked" not in {drawing.key for drawing in bob.insights.drawings(bob.insights.of())}
    (asked,) = ada.insights.of().asked
    assert (asked.asked, [one.asked for one in bob.insights.of().asked]) == (1, [0])
    with pytest.raises(NotAllowed):
        bob.insights.corpus_map()
