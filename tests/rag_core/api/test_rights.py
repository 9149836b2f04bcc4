"""What a key that reads alone, or sees some documents alone, neither changes nor learns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from rag_core import Library, Settings
from rag_core.errors import ConfigurationError
from rag_core.settings import DoorSettings
from tests.conftest import add_text
from tests.rag_core.api.conftest import Served, serve
from tests.rag_core.models.hub_server import hub_server
from tests.until import until

HOST = "192.0.2.7"


@pytest.fixture
def served(filled: Library) -> Iterator[Served]:
    with serve(filled, HOST) as running:
        yield running


def client(served: Served, role: str = "read", tags: tuple[str, ...] = (), host: str = HOST) -> httpx.Client:
    _, text = served.library.access.create(f"tries {role}", role, tags)
    return served.client(text, Host=host)


def asked(caller: httpx.Client, question: str, **more: object) -> httpx.Response:
    return caller.post("/api/v1/ask", json={"question": question, **more})


def test_a_key_that_reads_leaves_conversations_of_others_as_they_are(served: Served) -> None:
    with client(served, "admin") as admin, client(served) as reader, client(served) as other:
        said = asked(admin, "How many days of annual leave?").json()
        theirs, message = said["conversation"], said["message_id"]
        for more in (
            {"conversation": theirs}, {"conversation": theirs, "stream": True},
            {"conversation": theirs, "scope": {"tags": ["nosuch"]}}, {"replaces": message},
            {"conversation": theirs, "replaces": message}, {"replaces": "none"},
        ):  # fmt: skip
            assert asked(reader, "Who books trains?", **more).status_code == 403, more
        mine = asked(reader, "Who books trains?").json()["conversation"]
        assert asked(reader, "And who pays for flights?", conversation=mine).json()["conversation"] == mine
        assert asked(reader, "Who books trains?", conversation="its-own-name").status_code == 200
        assert asked(other, "Who books trains?", conversation=mine).status_code == 403
        kept = reader.get(f"/api/v1/conversations/{theirs}").json()["messages"]
        assert [one["question"] for one in kept] == ["How many days of annual leave?"]
        assert not served.library.history.scope(theirs)
        until(lambda: len([one for one in served.library.access.audit(30) if one.status == 403]) >= 7)
        tried = served.library.access.audit(30)
        assert {(one.action, one.status) for one in tried if "tries read" in one.who} == {("POST /api/v1/ask", 403)}


def test_whoever_writes_goes_on_with_every_conversation_and_it_is_noted(served: Served) -> None:
    with client(served) as reader, client(served, "write") as writer:
        said = asked(reader, "Who books trains?").json()
        theirs, message = said["conversation"], said["message_id"]
        asked(writer, "How long is the notice period?", conversation=theirs)
        until(lambda: served.library.access.audit(1)[0].who.startswith("key tries write"))
        assert len(served.library.messages(theirs)) == 2
        elsewhere = asked(writer, "What is paid for meals?", replaces=message).json()["conversation"]
        assert len(served.library.messages(theirs)) == 2, "it replaces what its own conversation holds alone"
        asked(writer, "What is paid for meals?", conversation=theirs, replaces=message)
        assert [one.question for one in served.library.messages(theirs)] == ["What is paid for meals?"]
        assert len(served.library.messages(elsewhere)) == 1
        until(lambda: served.library.access.audit(3)[2].status == 200)
        before = served.library.access.audit(1000)
        asked(writer, "Who books trains?", conversation=asked(writer, "Who books trains?").json()["conversation"])
        writer.get("/api/v1/models")
        assert served.library.access.audit(1000) == before, "of one's own, nothing is to be told"


def told_to(narrowed: httpx.Client, question: str) -> str:
    """All that a narrowed key is told of a question, at every door."""
    found = [
        narrowed.post("/api/v1/search", json={"question": question, "explain": True, "k": 20}),
        *(asked(narrowed, question, agent=agent, stream=stream) for agent in (True, False) for stream in (True, False)),
        narrowed.post("/api/query", json={"question": question}),
        narrowed.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": question}]}),
    ]
    assert {answer.status_code for answer in found} == {200}
    return " ".join(answer.text for answer in found).casefold()


def test_a_narrowed_key_learns_no_word_of_other_documents(served: Served) -> None:
    library = served.library
    xylophone = "The xylophone of Igor Vantablack is named Blueheron, in Quixotrania."
    secret = add_text(library, "vantablack.md", f"# Orchestra\n\n## Instruments\n\n{xylophone}")
    library.storage.settle()  # no word is put right before the index of words has it
    try:
        assert "vantablack" in library.retrieve("Who is Igr Vantablakc?").trace.query.casefold(), (
            "else it shows nothing"
        )
        with client(served, tags=("work",)) as narrowed, client(served) as reader:
            misspelt = {
                "Who plays the xylofone?": "xylophone", "Is Blueherno leaving?": "blueheron",
                "Where is Quixotrannia?": "quixotrania", "Igor Vantablakc": "vantablack",
            }  # fmt: skip
            for question, word in misspelt.items():
                assert word not in told_to(narrowed, question), question
            (hit,) = narrowed.post("/api/v1/search", json={"question": "annual leave", "k": 1}).json()["hits"]
            assert (hit["document"]["title"], hit["scores"]) == ("handbook", {})
            lacking = {"question": "Blueheron in Quixotrania?", "scope": {"sections": ["Appendix"]}}
            for caller, sees in ((narrowed, False), (reader, True)):
                (note,) = caller.post("/api/v1/search", json=lacking).json()["notes"]
                assert "called “Appendix”" in note
                assert ("Instruments" in note) == sees
            put_right = asked(narrowed, "How many days of anual leave?").json()
            assert "27" in put_right["text"]
            assert put_right["trace"]["query"] == "How many days of anual leave?"
            assert "blueheron" in asked(reader, "Is Blueherno leaving?").json()["trace"]["query"].casefold()
    finally:
        library.remove(secret.id)


def test_a_narrowed_key_does_not_learn_which_tags_and_titles_there_are(served: Served) -> None:
    library = served.library
    travel = next(one for one in library.documents() if one.title == "travel")
    library.catalogue.tag([travel.id], add=["topsecret"])
    try:
        with client(served, tags=("WORK",)) as narrowed, client(served) as reader:
            for path in ("/api/v1/search", "/api/v1/ask"):
                for names in (["topsecret"], ["travel"], ["travel.txt"], ["handbook", "topsecret"]):
                    answers = {
                        (told.status_code, told.json()["detail"].replace(names[-1], "NAME"))
                        for name in (names[-1], "nosuch")
                        for told in [
                            narrowed.post(path, json={"question": "leave", "scope": {"names": [*names[:-1], name]}})
                        ]
                        if name == names[-1] or told.status_code == 422
                    }
                    assert {status for status, _ in answers} == {422}, names
                taken = narrowed.post(path, json={"question": "leave", "scope": {"names": ["handbook"]}})
                assert taken.status_code == 200
            assert reader.post("/api/v1/search", json={"question": "trains", "scope": {"names": ["topsecret"]}}).json()[
                "hits"
            ]
    finally:
        library.catalogue.tag([travel.id], remove=["topsecret"])


def test_lists_are_filtered_and_paged_by_the_database(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [add_text(library, f"Ärzte {number}.txt", f"Note number {number} is short.") for number in range(5)]
    library.catalogue.tag([one.id for one in made[:4]], add=["Größe"])
    library.catalogue.tag([one.id for one in made[1:]], add=["other"])
    monkeypatch.setattr(type(library), "documents", None)
    with serve(library, HOST) as served, client(served) as reader, client(served, tags=("GRÖSSE",)) as narrowed:
        first = narrowed.get("/api/v1/documents", params={"limit": 3}).json()
        rest = narrowed.get("/api/v1/documents", params={"limit": 3, "offset": 3}).json()
        ids = [one["id"] for one in first["documents"] + rest["documents"]]
        assert (ids, first["total"], rest["total"]) == ([one.id for one in made[3::-1]], 4, 4)
        found = narrowed.get("/api/v1/documents", params={"tag": ["OTHER", "größe"], "words": "ÄRZTE 2"}).json()
        assert [one["id"] for one in found["documents"]] == [made[2].id]
        for more in ({"words": "%"}, {"tag": "none"}, {"year": 1900}, {"state": "failed"}, {"media_type": "image/"}):
            assert narrowed.get("/api/v1/documents", params=more).json() == {"documents": [], "total": 0}, more
        assert reader.get("/api/v1/documents", params={"media_type": "text/", "state": "ready"}).json()["total"] == 5
        assert reader.get("/api/v1/documents", params={"offset": 2**63}).json()["documents"] == []
        assert len(narrowed.get("/api/papers").json()["papers"]) == 4
        hits = narrowed.post("/api/v1/search", json={"question": "Which note is short?", "k": 20}).json()["hits"]
        assert {hit["document"]["id"] for hit in hits} <= {*ids}
        assert hits


def test_a_file_of_a_shared_folder_that_became_a_link_is_not_read_again(settings: Settings, tmp_path: Path) -> None:
    note, private = tmp_path / "in" / "note.txt", tmp_path / "private.txt"
    note.parent.mkdir()
    note.write_text("The key lies under the mat.")
    private.write_text("The safe opens with four nines.")
    doors = DoorSettings(folders=(note.parent,))
    with (
        Library.open(settings.model_copy(update={"doors": doors})) as library,
        serve(library, HOST, doors) as served,
        client(served, "write") as writer,
    ):
        assert writer.post("/api/v1/documents", json={"paths": [str(note)]}).json()["results"][0]["stage"] == "ready"
        note.unlink()
        note.symlink_to(private)
        again = writer.post("/api/v1/sources/update", json={"locations": [str(note)]}).json()["results"]
        assert [(one["stage"], "leads out" in one["error"]["message"]) for one in again] == [("failed", True)]
        assert [document.sources for document in library.documents()] == [("note.txt",)]
        assert all("four nines" not in hit.text for hit in library.search("How does the safe open?"))


def test_models_come_from_this_machine_for_its_owner_alone(served: Served) -> None:
    with hub_server() as hub, client(served, "admin") as admin, served.client(served.doors.key, Host=HOST) as owner:
        hub.files = {"me/tiny/tiny.gguf": b"GGUF, as far as one sees"}
        wanted = f"{hub.url}/me/tiny/resolve/main/tiny.gguf"
        told = admin.post("/api/v1/models/download", json={"wanted": wanted}).text
        assert "urn:lectern:problem:AddressRefused" in told
        given = {"kind": "download", "params": {"wanted": wanted, "owner": True}}
        job = admin.post("/api/v1/jobs", json=given).json()["id"]
        until(lambda: admin.get(f"/api/v1/jobs/{job}").json()["state"] == "failed")
        assert admin.get(f"/api/v1/jobs/{job}").json()["error"]["kind"] == "AddressRefused"
        assert not hub.asked
        assert "is not what its server says" in owner.post("/api/v1/models/download", json={"wanted": wanted}).text
        assert hub.asked


def test_where_a_key_is_asked_for_here_too_the_printed_address_lets_one_browser_in(filled: Library) -> None:
    settings = DoorSettings(ask_here=True)
    with serve(filled, settings=settings) as served, served.client() as stranger, served.client() as browser:
        entry = served.doors.entry
        assert entry is not None
        assert {stranger.get(path).status_code for path in ("/", "/api/v1/documents", "/?entry=guessed")} == {401}
        address = entry.address(served.url)
        came = browser.get(address)
        assert (came.status_code, came.headers["location"], came.headers["cache-control"]) == (303, "/", "no-store")
        assert {"HttpOnly", "SameSite=lax"} <= {part.strip() for part in came.headers["set-cookie"].split(";")}
        assert (browser.get("/").text, browser.get("/api/v1/documents").status_code) == ("a page", 200)
        assert stranger.get(address).status_code == 401, "it counts once"
        assert stranger.get("/", headers={"Cookie": "lectern_entry=guessed"}).status_code == 401
        for headers in ({"X-Forwarded-For": "1.2.3.4"}, {"Host": "evil.example"}, {"Sec-Fetch-Site": "same-site"}):
            assert browser.get("/api/v1/documents", headers=headers).status_code >= 400, headers
        with client(served, "admin", host="127.0.0.1") as admin, served.client(served.doors.key) as owner:
            assert admin.get("/").text == "a page"
            assert admin.post("/api/v1/entry").status_code == 403
            more = owner.post("/api/v1/entry").json()["address"]
        assert stranger.get(more).status_code == 303
    with serve(filled) as served, served.client(served.doors.key) as owner:
        assert owner.post("/api/v1/entry").json() == {"address": ""}


def test_a_file_that_is_no_backup_is_not_replaced(library: Library, tmp_path: Path) -> None:
    place = tmp_path / "mine.lectern"
    for content in (b"", b"my own notes", b"PK\x03\x04 and more of another program's"):
        place.write_bytes(content)
        with pytest.raises(ConfigurationError, match="no backup"):
            library.maintenance.backup(place, replace=True)
        assert place.read_bytes() == content
    place.unlink()
    library.maintenance.backup(place)
    with pytest.raises(ConfigurationError, match="exists already"):
        library.maintenance.backup(place)
    assert library.maintenance.backup(place, replace=True).size_bytes == place.stat().st_size
