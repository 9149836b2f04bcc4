"""People with documents of their own: what one has, no other learns of, by whatever door and try.

Each try is made twice: for a thing of somebody else, and for one that there is not. The answers must be the same.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from rag_core import Scope
from rag_core.domain import Question
from rag_core.errors import ConfigurationError, NotAllowed
from rag_core.personal import library_of
from rag_core.settings import DoorSettings
from tests.rag_core.api.house import (
    ADA,
    BOB,
    EVE,
    GUESSED,
    HOST,
    PRICES,
    QUESTION,
    SECRET,
    WORDS,
    House,
    added,
    assert_whole,
    opened,
    same,
    secrets_in,
)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[House]:
    with opened(tmp_path_factory.mktemp("house"), new_database()) as made:
        yield made


def routes(app: FastAPI) -> list[tuple[str, str]]:
    """Every method and path of the doors for programs."""
    found: list[tuple[str, str]] = []

    def walk(some: Any, prefix: str = "") -> None:
        for route in some:
            if isinstance(route, APIRoute):
                found.extend((method, prefix + route.path) for method in sorted(route.methods or ()))

    walk(app.routes)
    if not any("/documents" in path for _, path in found):  # a FastAPI that keeps its routers whole
        found = [(verb.upper(), path) for path, verbs in app.openapi()["paths"].items() for verb in verbs]
    return found


def filled(path: str, house: House, guessed: bool) -> str:
    """A path with things of Ada's in the places of its ids, or with such as there are not."""
    known = {
        "document_id": house.secret.id, "paper_id": house.secret.id, "collection_id": house.collection,
        "conversation_id": house.conversation, "message_id": house.message,
    }  # fmt: skip
    plain = {"number": "1", "index": "0", "page": "1", "start": "0", "end": "5", "table": "0", "person": EVE}
    others = {"model_id", "key_id", "set_id", "run_id", "job_id", "name"}

    def value(found: re.Match[str]) -> str:
        name = found[1].partition(":")[0]
        assert name in known or name in plain or name in others, f"say what {name} stands for, of {path}"
        return GUESSED if guessed or name in others else known.get(name, plain.get(name, ""))

    return re.sub(r"\{([^}]+)\}", lambda found: plain.get(found[1], "") or value(found), path)


def bodies(house: House, guessed: bool) -> list[dict[str, Any]]:
    """What may be sent along, of whatever fits."""
    document, table = (GUESSED, GUESSED) if guessed else (house.secret.id, house.prices.id)
    conversation, message = (GUESSED, GUESSED) if guessed else (house.conversation, house.message)
    plan = {"document_id": table, "table": 0, "conditions": [], "operation": "count"}
    return [
        {}, {"title": "Mine"}, {"tags": {"add": ["mine"]}}, {"text": "Mine."}, {"left_out": True}, {"password": "x"},
        {"question": "rye bread", "scope": {"documents": [document]}}, {"rating": 1}, {"pinned": True},
        {"plan": plan}, {"plan": plan, "question": "How many?"}, {"plan": plan, "column": 0}, {"head": 1},
        {"plan": {**plan, "document_id": document, "other": table}}, {"role": "reader"}, {"name": "Mine"},
        {"collection": GUESSED if guessed else house.collection}, {"days": 30}, {"scope": {"documents": [document]}},
        {"question": "rye bread", "conversation": conversation, "replaces": message, "keep": False},
    ]  # fmt: skip


def test_no_path_of_rest_tells_what_there_is(house: House) -> None:
    app = house.served.doors.make()
    assert isinstance(app, FastAPI)
    found, tries = routes(app), 0
    assert len(found) > 80
    asks = ("/api/v1/ask", "/api/query", "/v1/chat/completions")
    with house.client(BOB) as bob, house.client(BOB, "read") as reader:
        for method, path in found:
            if path.endswith("/events") or path in asks or path.endswith("/continue"):
                continue  # streams without end, and what is asked below
            pairs = zip(bodies(house, False), bodies(house, True), strict=True)
            for body, other in pairs if method in ("POST", "PUT", "PATCH") else [(None, None)]:
                for caller in (bob,) if body else (bob, reader):
                    query = "?form=json&q=rye&location=x&start=0&end=5&name=x"
                    theirs = caller.request(method, filled(path, house, True) + query, json=other)
                    if theirs.status_code == 422 and "cannot be used" in theirs.text:
                        continue  # a body that is another path's
                    mine = caller.request(method, filled(path, house, False) + query, json=body)
                    tries += 1
                    if 201 not in (mine.status_code, theirs.status_code):  # what is Bob's own is there the second time
                        assert mine.status_code == theirs.status_code, (method, path, body, mine.text, theirs.text)
                    assert mine.status_code < 500, (method, path, body, mine.text)
                    assert not secrets_in(mine.text), (method, path, body, mine.text)
                    if "{" in path and "_id}" in path:
                        assert same(house, mine.text) == same(house, theirs.text), (method, path, body)
    assert tries > 100, tries
    assert_whole(house)


def questions(house: House) -> list[dict[str, Any]]:
    """Tries at the doors that answer in words."""
    document = house.secret.id
    scopes: list[dict[str, Any]] = [
        {}, {"documents": [document]}, {"documents": [document, house.prices.id]}, {"tags": ["TopSecret"]},
        {"folders": ["vantablack"]}, {"sections": ["Instruments"]},
    ]  # fmt: skip
    asked = [{"question": QUESTION, "scope": scope} for scope in scopes]
    said = ("Who plays the xylofone?", "@vantablack What does it cost?", "@TopSecret What is there?", "Igor Vantablakc",
            "List all documents.", "How much do the instruments cost in total?")  # fmt: skip
    return [*asked, *({"question": one} for one in said)]


def test_no_search_finds_what_is_not_seen(house: House) -> None:
    with house.client(BOB) as bob:
        for given in questions(house):
            for mode in ("hybrid", "dense", "lexical", "clusters", "scaler"):
                found = bob.post("/api/v1/search", json={**given, "mode": mode, "k": 50, "explain": True})
                assert found.status_code == 200, found.text
                told = json.dumps([[hit["text"], hit["document"]] for hit in found.json()["hits"]])
                assert not secrets_in(told + json.dumps(found.json()["notes"])), (given, mode, told)
                assert found.json()["searched"] is None
        for names in (["TopSecret"], ["vantablack"], ["prices.csv"]):
            given = {"question": "cost", "scope": {"names": names}}
            invented = {"question": "cost", "scope": {"names": ["nosuch"]}}
            answers = [bob.post("/api/v1/search", json=one) for one in (given, invented)]
            assert {one.status_code for one in answers} == {422}


def test_no_answer_tells_of_what_is_not_seen(house: House) -> None:
    asked = questions(house)
    with house.client(BOB) as bob:
        for given in asked:
            # Their own words may come back to them, and no others.
            allowed = {word for word in WORDS if word in given["question"].casefold()}
            answers = [bob.post("/api/v1/ask", json={**given, "stream": given is asked[0]})]
            if "scope" not in given:
                sent = {"messages": [{"role": "user", "content": given["question"]}]}
                answers += [
                    bob.post("/api/query", json=given), bob.post("/v1/chat/completions", json=sent),
                    bob.post("/api/v1/ask", json={**given, "keep": False, "conversation": house.conversation}),
                ]  # fmt: skip
            for answer in answers:
                assert answer.status_code == 200, (given, answer.text)
                if "scope" not in given:
                    assert set(secrets_in(answer.text)) <= allowed, (given, answer.text)
                assert "7715533" not in answer.text
                assert house.secret.id not in answer.text.replace(json.dumps(given)[1:-1], "") or "scope" in given
        mine = bob.post("/api/v1/ask", json={"question": "Who books trains?", "conversation": house.conversation})
        assert mine.json()["conversation"] != house.conversation
        assert "7715533" not in bob.get(f"/api/v1/conversations/{mine.json()['conversation']}").text
        replaced = {"question": "Who books trains?", "replaces": house.message}
        assert bob.post("/api/v1/ask", json=replaced).status_code == 200
        listed = bob.get("/api/v1/conversations").json()["conversations"]
        assert house.conversation not in {one["id"] for one in listed}
        assert not secrets_in(json.dumps(bob.get("/api/v1/conversations?words=7715533").json()))
        counted = bob.post("/api/v1/insights", json={}).text
        assert house.secret.id not in counted
    assert_whole(house)


def test_no_question_is_suggested_of_what_is_not_seen(house: House) -> None:
    library = house.served.library
    given = [Question("", QUESTION, references=("7715533",))]
    assert library_of(library, ADA).suggestions(given) == [QUESTION]
    for scope in (None, Scope(documents=(house.secret.id,)), Scope(tags=("TopSecret",))):
        for person in (BOB, EVE):
            found = library_of(library, person).suggestions(given, scope=scope, limit=16)
            assert not secrets_in(" ".join(found)), (person, scope, found)
    library.people.share(house.collection, EVE, "reader")
    assert library_of(library, EVE).suggestions(given) == [QUESTION]
    library.people.unshare(house.collection, EVE)
    assert library_of(library, EVE).suggestions(given) == []


def test_adding_and_naming_the_same_tells_nothing(house: House) -> None:
    with house.client(BOB) as bob, house.client(EVE) as eve:
        sent = {"content": SECRET.encode(), "headers": {"Content-Type": "application/octet-stream"}}
        (ended,) = bob.post("/api/v1/documents?name=mine.md", **sent).json()["results"]
        assert (ended["stage"], ended["note"]) == ("ready", "")
        assert ended["document"] != house.secret.id
        other = bob.post("/api/upload", files={"file": ("p.csv", PRICES.encode())}).json()
        assert (other["duplicate"], other["paper_id"] != house.prices.id) == (False, True)
        mine = bob.get(f"/api/v1/documents/{ended['document']}").json()
        assert mine["tags"] == []
        tagged = bob.patch(f"/api/v1/documents/{mine['id']}", json={"tags": {"add": ["topsecret"]}}).json()
        assert tagged["tags"] == ["topsecret"], "the letters are his own"
        made = bob.post("/api/v1/collections", json={"name": "topsecret"})
        assert (made.status_code, made.json()["name"], made.json()["documents"]) == (201, "topsecret", 1)
        assert bob.post("/api/v1/collections", json={"name": "TOPSECRET"}).status_code == 422
        answer = bob.post("/api/v1/ask", json={"question": QUESTION, "scope": {"tags": ["topsecret"]}}).json()
        assert {one["document_id"] for one in answer["citations"]} == {mine["id"]}
        assert not secrets_in(eve.get("/api/v1/documents").text)
        for one in (mine["id"], other["paper_id"]):
            assert bob.delete(f"/api/v1/documents/{one}").status_code == 204
        assert bob.delete(f"/api/v1/collections/{made.json()['id']}").status_code == 204
        given = house.served.library.folder.parent / "given"
        for path in ("/etc/passwd", house.served.library.folder, given / "vantablack.md", given / "nosuch.md"):
            for door, body in (("documents", {"paths": [str(path)]}), ("sources", {"folder": str(path)})):
                refused = bob.post(f"/api/v1/{door}", json=body)
                assert (refused.status_code, f"{path} cannot be added." in refused.text) == (403, True), refused.text
        assert bob.post("/api/v1/documents", json={"addresses": [{"address": "http://127.0.0.1/"}]}).status_code == 403
    assert_whole(house)


def test_what_a_person_began_is_theirs_to_follow(house: House) -> None:
    with house.client(BOB) as bob, house.client(EVE) as eve:
        sent = {
            "content": b"The ferry to Texel leaves at noon.",
            "headers": {"Content-Type": "application/octet-stream"},
        }
        (job,) = bob.post("/api/v1/documents?name=ferry.txt&wait=false", **sent).json()["jobs"]
        while (told := bob.get(f"/api/v1/jobs/{job['id']}").json())["state"] in ("waiting", "running"):
            time.sleep(0.05)
        assert told["state"] == "done", told
        unknown = eve.get(f"/api/v1/jobs/{GUESSED}")
        theirs = eve.get(f"/api/v1/jobs/{job['id']}")
        assert (theirs.status_code, theirs.json()["detail"]) == (404, unknown.json()["detail"])
        assert eve.post(f"/api/v1/jobs/{job['id']}/cancel").status_code == 404
        asked = bob.post(
            "/api/v1/ask", json={"question": "When does the ferry leave?", "conversation": "mychat"}
        ).json()
        assert "noon" in asked["text"]
        kept = bob.get("/api/v1/conversations/mychat")
        assert kept.json()["conversation"]["id"] == asked["conversation"]
        assert [one["question"] for one in kept.json()["messages"]] == ["When does the ferry leave?"]
        assert bob.patch("/api/v1/conversations/mychat", json={"title": "Ferry"}).json()["title"] == "Ferry"
        assert eve.get("/api/v1/conversations/mychat").status_code == 404
        assert bob.delete("/api/v1/conversations/mychat").status_code == 204
        made = bob.post("/api/v1/collections", json={"name": "Trips"}).json()["id"]
        placed = f"/api/v1/collections/{made}/documents/{told['document_id']}"
        for change, tags, count in ((bob.put, ["Trips"], 1), (bob.delete, [], 0)):
            assert change(placed).status_code == 204
            assert bob.get(f"/api/v1/documents/{told['document_id']}").json()["tags"] == tags
            counts = {one["id"]: one["documents"] for one in bob.get("/api/v1/collections").json()["collections"]}
            assert counts[made] == count
        assert bob.delete(f"/api/v1/collections/{made}").status_code == 204
        assert bob.delete(f"/api/v1/documents/{told['document_id']}").status_code == 204


def test_a_table_of_ones_own_is_not_joined_with_one_that_is_not_seen(house: House) -> None:
    library = house.served.library
    mine = added(library_of(library, BOB), "stock.csv", "Instrument,Count\nxylophone,3\nquixotron,4\nblueheron,5\n")
    with house.client(BOB) as bob:  # what is asked before an index has it, too
        for question in (
            "What do all instruments cost?",
            "What is the price of the xylophone?",
            "Total price by count?",
        ):
            assert not re.search(
                "[789]715533|8815533|9915533", bob.post("/api/v1/ask", json={"question": question}).text
            )
        library.storage.settle()
        for path in ("", "/rows", "/choices"):
            told = set()
            for other in (house.prices.id, GUESSED):
                plan = {"document_id": mine.id, "table": 0, "conditions": [], "operation": "count", "other": other}
                given = {"plan": plan, "question": "How many?"} if not path else {"plan": plan}
                given |= {"column": 1} if path == "/choices" else {}
                answer = bob.post(f"/api/v1/table-plans{path}", json=given)
                told.add((answer.status_code, same(house, answer.text)))
            assert len(told) == 1, told
            assert {status for status, _ in told} == {404}
    library_of(library, BOB).remove(mine.id)
    assert_whole(house)


def test_a_collection_is_shared_with_roles_and_taken_back(house: House) -> None:
    library = house.served.library
    ada, bob, eve = (library_of(library, one) for one in (ADA, BOB, EVE))
    members = f"/api/v1/collections/{house.collection}/members"
    with house.client(ADA) as owner:
        shared = owner.put(f"{members}/{BOB.upper()}", json={"role": "reader"})
        assert shared.json() == {"members": [{"person": BOB, "role": "reader"}]}
        assert owner.put(f"{members}/nobody", json={"role": "reader"}).status_code == 422
        assert owner.put(f"{members}/{ADA}", json={"role": "reader"}).status_code == 403
    with house.client(BOB) as client, house.client(EVE) as other:
        seen = {one["id"] for one in client.get("/api/v1/documents").json()["documents"]}
        assert {house.secret.id, house.prices.id} <= seen
        assert "7715533" in client.post("/api/v1/ask", json={"question": QUESTION}).json()["text"]
        assert "7715533" not in other.post("/api/v1/ask", json={"question": QUESTION}).json()["text"]
        assert client.patch(f"/api/v1/documents/{house.secret.id}", json={"title": "His"}).status_code == 403
        assert client.delete(f"/api/v1/documents/{house.secret.id}").status_code == 403
    assert [one.id for one in bob.collections.all() if one.owner != BOB] == [house.collection]
    for tried in (
        lambda: bob.people.share(house.collection, EVE, "reader"), lambda: bob.collections.remove(house.collection),
        lambda: bob.collections.change(house.collection, name="His"),
        lambda: bob.catalogue.tag([house.secret.id], add=["his"]),
    ):  # fmt: skip
        with pytest.raises(NotAllowed):
            tried()
    ada.people.share(house.collection, BOB, "editor")
    bob.catalogue.rename(house.secret.id, "The orchestra")
    assert ada.document(house.secret.id).title == "The orchestra"
    bob.catalogue.rename(house.secret.id, None)
    mine = added(bob, "tuning.txt", "The harpsichord is tuned on Mondays.")
    with pytest.raises(KeyError):
        eve.people.put(house.collection, mine.id)
    with house.client(BOB) as client, house.client(BOB, "read") as reader:
        placed = f"/api/v1/collections/{house.collection}/documents/{mine.id}"
        assert [one.put(placed).status_code for one in (reader, client)] == [403, 204]
    library.storage.settle()
    (hit, *_) = ada.search("When is the harpsichord tuned?", scope=Scope(tags=("TopSecret",)))
    assert hit.document.id == mine.id
    ada.people.unshare(house.collection, BOB)
    with pytest.raises(KeyError):
        ada.document(mine.id)
    with pytest.raises(KeyError):
        bob.document(house.secret.id)
    with house.client(BOB) as client:
        again = client.post("/api/v1/ask", json={"question": QUESTION}).json()
        assert ("7715533" in again["text"], again["trace"]["cached_at"]) == (False, None), (
            "no kept answer is given again"
        )
    bob.remove(mine.id)
    assert_whole(house)


class Everybody:
    """A sign-in by which all who come have the library as a whole."""

    def who(self, cookies: Mapping[str, str]) -> str:
        return ADA

    def end(self, cookies: Mapping[str, str]) -> None: ...


def test_a_key_of_a_person_runs_nothing_and_opens_nothing_where_people_sign_in(house: House) -> None:
    access = house.served.library.access
    for wrong in (
        {"role": "admin", "person": ADA},
        {"tags": ["x"], "person": ADA},
        {"person": "nobody"},
        {"person": ""},
    ):
        with pytest.raises(ConfigurationError):
            access.create("key", **wrong)  # type: ignore[arg-type]
    with house.client(BOB) as bob:
        for path in ("/", "/metrics", "/api/v1/settings", "/api/v1/keys", "/api/v1/backup", "/api/v1/insights/map"):
            assert bob.get(path).status_code in (403, 405), path
        with bob.stream("GET", "/api/v1/jobs/events") as events:
            assert "NotOffered" in next(line for line in events.iter_lines() if line.startswith("data:"))
        before, house.served.doors.sign_in = house.served.doors.settings, Everybody()
        try:
            assert bob.get("/api/v1/documents").status_code == 403
            house.served.doors.settings = DoorSettings(apart=True, rate_per_s=1e6)
            assert bob.get("/api/v1/documents").status_code == 200
        finally:
            house.served.doors.settings = before
            house.served.doors.sign_in = None
        assert bob.get("/api/v1/documents").status_code == 200


def test_a_key_narrowed_to_a_tag_has_nothing_that_is_a_persons(house: House) -> None:
    _, text = house.served.library.access.create("of a tag", tags=["TopSecret"])
    with house.served.client(text, Host=HOST) as narrowed:
        assert narrowed.get("/api/v1/documents").json()["documents"] == []
        assert narrowed.get(f"/api/v1/documents/{house.secret.id}").status_code == 404
        assert narrowed.get(f"/api/v1/documents/{house.secret.id}/text").status_code == 404
        told = narrowed.post("/api/v1/search", json={"question": QUESTION}).text
    assert not secrets_in(told)
