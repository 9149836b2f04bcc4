"""The REST interface over real connections."""

from __future__ import annotations

import io
import json
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from reportlab.pdfgen.canvas import Canvas

from rag_core import Library
from rag_core.settings import DoorSettings
from tests.rag_core.api.conftest import TRAVEL, Served, serve


def by_title(rest: httpx.Client, title: str) -> str:
    return next(one["id"] for one in rest.get("/api/v1/documents").json()["documents"] if one["title"] == title)


def events(answer: httpx.Response) -> list[tuple[str, dict]]:
    blocks = [block.splitlines() for block in answer.text.split("\n\n") if block and not block.startswith(":")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def test_search_and_ask(rest: httpx.Client) -> None:
    found = rest.get("/api/v1/search", params={"q": "How many days of leave?", "k": 1}).json()
    assert "27 days" in found["hits"][0]["text"]
    named = rest.get("/api/v1/search", params={"q": "What does the Handbook say of leave?", "k": 1}).json()
    assert named["hits"][0]["called"] == ["Handbook"]
    explained = rest.post("/api/v1/search", json={"question": "leave", "explain": True, "mode": "lexical"}).json()
    assert explained["searched"]["mode"] == "lexical"
    narrowed = rest.post("/api/v1/search", json={"question": "leave", "scope": {"names": ["travel"]}}).json()
    assert {hit["document"]["title"] for hit in narrowed["hits"]} <= {"travel"}
    nowhere = rest.post("/api/v1/search", json={"question": "leave", "scope": {"sections": ["Appendix"]}}).json()
    assert nowhere["hits"] == []
    assert nowhere["notes"][0].startswith("No document that is searched has a section called “Appendix”")
    answer = rest.post("/api/v1/ask", json={"question": "How many days of annual leave?"}).json()
    assert "27" in answer["text"]
    assert answer["citations"][0]["title"] == "handbook"
    kept = rest.get(f"/api/v1/conversations/{answer['conversation']}").json()
    assert kept["messages"][0]["answer"]["text"] == answer["text"]
    assert kept["messages"][0]["answer"]["outcome"] == answer["outcome"] == "answered"


def test_an_answer_comes_piece_by_piece(rest: httpx.Client) -> None:
    answer = rest.post("/api/v1/ask", json={"question": "What is paid for meals?", "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = events(answer)
    assert [name for name, _ in told][-1] == "answer"
    assert "".join(one["text"] for name, one in told if name == "piece") == told[-1][1]["text"]
    failed = events(rest.post("/api/v1/ask", json={"question": "What?", "model": "gguf:none", "stream": True}))
    assert (failed[-1][0], failed[-1][1]["type"]) == ("error", "urn:lectern:problem:ModelUnavailable")


def test_a_document_from_upload_to_removal(rest: httpx.Client) -> None:
    body = b"The canteen opens at half past eleven."
    made = rest.post("/api/v1/documents", params={"name": "canteen.txt"}, content=body)
    assert made.status_code == 201
    document = made.json()["results"][0]["document"]
    one = rest.get(f"/api/v1/documents/{document}")
    assert one.json()["sources"] == ["canteen.txt"]
    assert rest.get(f"/api/v1/documents/{document}", headers={"If-None-Match": one.headers["etag"]}).status_code == 304
    stale = rest.patch(f"/api/v1/documents/{document}", json={"title": "x"}, headers={"If-Match": '"old"'})
    assert stale.status_code == 412
    changed = rest.patch(f"/api/v1/documents/{document}", json={"title": "Food", "tags": {"add": ["house"]}}).json()
    assert (changed["title"], changed["tags"]) == ("Food", ["house"])
    listed = rest.get("/api/v1/documents", params={"tag": "house", "words": "food"}).json()
    assert [one["id"] for one in listed["documents"]] == [document]
    assert rest.get(f"/api/v1/documents/{document}/text").text == body.decode()
    assert rest.get(f"/api/v1/documents/{document}/pages/1").json()["text"] == body.decode()
    assert rest.get(f"/api/v1/documents/{document}/chunks").json()["total"] == 1
    original = rest.get(f"/api/v1/documents/{document}/original")
    assert original.content == body
    assert "attachment" in original.headers["content-disposition"]
    assert rest.get(f"/api/v1/documents/{document}/pages/1/picture").status_code == 415
    assert rest.delete(f"/api/v1/documents/{document}").status_code == 204
    assert rest.get(f"/api/v1/documents/{document}").status_code == 404


def test_a_chunk_is_corrected_left_out_and_brought_back(rest: httpx.Client) -> None:
    body = b"Name\tSeats\nBlue hall\t12\n\nThe canteen opens at half past ten."
    made = rest.post("/api/v1/documents", params={"name": "halls.txt"}, content=body).json()["results"][0]
    one = f"/api/v1/documents/{made['document']}"
    assert rest.get(f"{one}/tables").json()["tables"][0]["rows"] == [["Name", "Seats"], ["Blue hall", "12"]]
    (edit,) = rest.patch(f"{one}/chunks/0", json={"text": "The blue hall has 13 seats."}).json()["edits"]
    assert edit["original"].startswith("Name") and edit["in_place"]
    assert rest.get(f"{one}/chunks").json()["chunks"][0]["corrected"]
    assert rest.patch(f"{one}/chunks/0", json={"left_out": True}).json()["edits"][0]["left_out"]
    assert rest.get(f"{one}/chunks").json()["total"] == 0
    place = f"{one}/edits/{edit['page']}/{edit['start']}/{edit['end']}"
    assert not rest.delete(place).json()["edits"][0]["left_out"]
    assert rest.delete(place).json()["edits"] == rest.get(f"{one}/edits").json()["edits"] == []
    assert rest.delete(place).status_code == 404
    assert rest.patch(f"{one}/chunks/7", json={"text": "x"}).status_code == 404
    assert rest.patch(f"{one}/chunks/0", json={"text": " "}).status_code == 422
    rest.delete(one)


def test_a_form_with_several_files_and_a_key_that_is_sent_twice(rest: httpx.Client) -> None:
    files = [("files", ("a.txt", b"Alpha is the first letter.")), ("files", ("b.bin", bytes(range(256))))]
    sent = [rest.post("/api/v1/documents", files=files, headers={"Idempotency-Key": "one"}) for _ in range(2)]
    assert [one.json() for one in sent] == [sent[0].json()] * 2
    assert [one["stage"] for one in sent[0].json()["results"]] == ["failed", "ready"]
    other = rest.post("/api/v1/documents?name=c.txt", content=b"Other.", headers={"Idempotency-Key": "one"})
    assert other.status_code == 422
    streamed = events(
        rest.post("/api/v1/documents?name=d.txt", content=b"Delta.", headers={"Accept": "text/event-stream"})
    )
    assert streamed[-1][1]["stage"] == "ready"


@pytest.mark.parametrize("query", ["name=same.txt", "name=queued.txt&wait=false"])
def test_a_key_that_is_sent_twice_at_once(rest: httpx.Client, query: str) -> None:
    def send(_: int) -> httpx.Response:
        return rest.post(f"/api/v1/documents?{query}", content=query.encode(), headers={"Idempotency-Key": query})

    with ThreadPoolExecutor(3) as senders:
        sent = [*senders.map(send, range(3))]
    assert {one.status_code for one in sent} == {202 if "wait" in query else 201}
    assert {one.text for one in sent} == {sent[0].text}


def test_a_key_that_is_sent_again_after_a_restart(filled: Library) -> None:
    answers = []
    for _ in range(2):
        with serve(filled) as server, server.client() as client:
            sent = client.post("/api/v1/documents?name=e.txt", content=b"Epsilon.", headers={"Idempotency-Key": "late"})
            answers.append(sent.json())
    assert answers[0] == answers[1]
    assert answers[0]["results"][0]["note"] == ""


def test_a_question_set_from_a_file(rest: httpx.Client) -> None:
    rows = b"question,answer,document,page\nHow many days of leave?,27,handbook,1\n,,,\nWhere?,,gone.pdf,1\n"
    path = "/api/v1/question-sets/import"
    made = rest.post(path, params={"name": "leave.csv"}, content=rows)
    told = made.json()
    assert (made.status_code, told["set"]["name"], told["rows"]) == (201, "leave.csv", 2)
    (problem,) = told["problems"]
    assert "gone.pdf" in problem["message"]
    more = {"file": ("more.jsonl", b'{"question": "What is the notice period?"}')}
    assert rest.post(path, params={"set_id": told["set"]["id"]}, files=more).status_code == 201
    questions = rest.get(f"/api/v1/question-sets/{told['set']['id']}/questions").json()["questions"]
    assert len(questions) == 3
    assert rest.post(path, params={"name": "x.csv"}, content=b"nothing").status_code == 422
    assert rest.post(path, params={"set_id": "none"}, files=more).status_code == 404
    rest.delete(f"/api/v1/question-sets/{told['set']['id']}")


def test_files_of_this_machine_are_added_where_that_is_allowed(served: Served, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "note.txt").write_text("The key lies under the mat.")
    (tmp_path / "in" / "way-out").symlink_to("/etc")
    inside = {"paths": [str(tmp_path / "in" / "note.txt")]}
    with serve(served.library, settings=DoorSettings(folders=(tmp_path / "in",))) as other, other.client() as client:
        for path in ("/etc/passwd", str(tmp_path / "in/../../x"), str(tmp_path / "in" / "way-out" / "passwd")):
            refused = client.post("/api/v1/documents", json={"paths": [path]})
            assert (refused.status_code, "FOLDERS" in refused.json()["help"]) == (403, True)
            assert client.post("/api/v1/sources", json={"folder": path}).status_code == 403
        assert client.post("/api/v1/documents", json=inside).json()["results"][0]["stage"] == "ready"
        (tmp_path / "private.txt").write_text("The safe opens with four nines.")
        (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "private.txt")
        (tmp_path / "in" / "within.txt").symlink_to(tmp_path / "in" / "note.txt")
        folder = client.post("/api/v1/documents", json={"paths": [str(tmp_path / "in")]}).json()["results"]
        ends = {one["source"]: (one["stage"], one["error"] and one["error"]["message"]) for one in folder}
        assert ends.keys() == {"note.txt", "within.txt", "link.txt", str(tmp_path / "in")}
        assert "way-out" in str([one for one in folder if one["source"] == str(tmp_path / "in")]), (
            "a linked folder is named"
        )
        assert ends["link.txt"] == ("failed", "link.txt is a link that leads out of its folder: it is passed over.")
    with served.client() as client, served.client(served.doors.key) as owner:
        assert client.post("/api/v1/documents", json=inside).status_code == 403
        assert owner.post("/api/v1/documents", json=inside).status_code == 201
        (tmp_path / "in" / "note.txt").write_text("The key hangs in the shed.")
        query, key = {"wait": "false"}, {"Idempotency-Key": "path"}
        queued = [owner.post("/api/v1/documents", params=query, json=inside, headers=key) for _ in range(2)]
    assert [one.status_code for one in queued] == [202, 202]
    assert [one.json()["jobs"] for one in queued] == [queued[0].json()["jobs"]] * 2 != [[], []]


def test_what_goes_wrong_is_told_with_help(rest: httpx.Client) -> None:
    empty = rest.post("/api/v1/ask", json={"question": "  "})
    assert empty.status_code == 422
    assert empty.headers["content-type"] == "application/problem+json"
    assert empty.json()["help"]
    misspelt = rest.post("/api/v1/search", json={"question": "x", "kk": 3}).json()
    assert "kk" in misspelt["detail"]
    nothing = rest.get("/api/v1/nothing").json()
    assert (nothing["status"], nothing["detail"]) == (404, "Not Found: /api/v1/nothing.")
    assert "/api/v1/docs" in nothing["help"]
    assert rest.post("/api/v1/settings", json={}).status_code == 405
    assert "The request" in rest.patch("/api/v1/settings", json={"x": 1}).json()["detail"]
    text = rest.post("/api/v1/documents", json={"addresses": ["https://example.org"]})
    assert (text.status_code, text.json()["faults"][0]["where"]) == (422, "body.addresses.0")
    assert rest.post("/api/v1/keys", json={"name": "x", "tags": ["?"]}).status_code == 422
    assert rest.post("/api/v1/jobs", json={"kind": "download"}).status_code == 422


def test_what_is_not_looked_at_again_does_not_tell_where_the_server_works(rest: httpx.Client) -> None:
    asked = ["file:///etc/passwd", "notes", "../x", "~/y"]
    answer = rest.post("/api/v1/sources/update", json={"locations": asked})
    assert [one["source"] for one in answer.json()["results"]] == asked
    assert str(Path.cwd()) not in answer.text
    assert str(Path.home()) not in answer.text


@pytest.mark.parametrize("name", ["/etc", "../models", "gone", "", ".."])
def test_a_reranker_is_one_of_the_models_folder_or_none(rest: httpx.Client, name: str) -> None:
    refused = rest.patch("/api/v1/settings", json={"retrieval.rerank": name})
    assert (refused.status_code, "cannot be tried" in refused.json()["detail"]) == (422, True)
    question = {"id": "a", "text": "How many days of leave?"}
    made = rest.post("/api/v1/question-sets", json={"name": "re-ranked", "questions": [question]}).json()
    tried = {"set_id": made["id"], "configurations": [{"name": "x", "changes": {"retrieval.rerank": name}}]}
    assert rest.post("/api/v1/runs", json=tried).status_code == 422
    assert rest.patch("/api/v1/settings", json={"retrieval.rerank": "auto"}).status_code == 200


def test_library_settings_and_backup(rest: httpx.Client) -> None:
    assert rest.get("/api/v1/health").json()["state"] == "open"
    assert rest.get("/api/v1/status").json()["documents"] >= 2
    assert rest.patch("/api/v1/settings", json={"retrieval.k": 7}).status_code == 200
    values = {one["key"]: one["value"] for one in rest.get("/api/v1/settings").json()["settings"]}
    assert values["retrieval.k"] == 7
    assert rest.patch("/api/v1/settings", json={"generation.gemini_endpoint": "http://x"}).status_code == 422
    assert rest.post("/api/v1/verify").json()["findings"] == []
    archive = zipfile.ZipFile(io.BytesIO(rest.get("/api/v1/backup").content))
    assert "manifest.json" in archive.namelist()
    assert not any(name.endswith(("access_keys", "audit")) for name in archive.namelist())


def test_questions_and_runs(rest: httpx.Client) -> None:
    question = {"id": "1", "text": "How many days of leave?", "gold": [{"document": "handbook"}]}
    made = rest.post("/api/v1/question-sets", json={"name": "Leave", "questions": [question]}).json()
    told = rest.post(
        "/api/v1/runs", json={"set_id": made["id"], "configurations": [{"name": "as it is"}]},
        headers={"Accept": "text/event-stream"},
    )  # fmt: skip
    run = events(told)[-1][1]["note"]
    assert rest.get(f"/api/v1/runs/{run}").json()["metrics"]["hit_rate"]["mean"] == 1
    assert rest.get(f"/api/v1/runs/{run}/results").json()["results"][0]["question"]["id"] == "1"


def test_uploads_go_on_as_jobs(rest: httpx.Client, served: Served) -> None:
    queued = rest.post("/api/v1/documents?name=job.txt&wait=false", content=b"Jobs are kept in PostgreSQL.")
    assert queued.status_code == 202
    (job,) = queued.json()["jobs"]
    with rest.stream("GET", "/api/v1/jobs/events") as stream:
        for line in stream.iter_lines():
            told = json.loads(line[6:]) if line.startswith("data: ") else {}
            if (told.get("id"), told.get("state")) == (job["id"], "done"):
                break
    assert rest.get(f"/api/v1/jobs/{job['id']}").json()["document_id"] == job["document_id"]
    assert job["id"] in {one["id"] for one in rest.get("/api/v1/jobs?kind=add&past=true").json()["jobs"]}
    assert rest.post(f"/api/v1/jobs/{job['id']}/cancel").json()["state"] == "done"
    assert rest.delete(f"/api/v1/jobs/{job['id']}").status_code == 204
    assert rest.get(f"/api/v1/jobs/{job['id']}").status_code == 404
    assert rest.post("/api/v1/jobs", json={"kind": "verify"}).json()["kind"] == "verify"
    assert rest.post("/api/v1/jobs", json={"kind": "backup", "params": {"path": "/tmp/x"}}).status_code == 422


def test_a_password_goes_with_what_waits(rest: httpx.Client, served: Served) -> None:
    canvas = Canvas(file := io.BytesIO(), encrypt="geheim")
    canvas.drawString(30, 100, "The safe is behind the painting.")
    canvas.save()
    given = {"params": {"name": "locked.pdf", "wait": False}, "headers": {"X-Document-Password": "geheim"}}
    (job,) = rest.post("/api/v1/documents", content=file.getvalue(), **given).json()["jobs"]
    while served.library.document(job["document_id"]).state in ("pending", "stored"):
        time.sleep(0.05)
    assert served.library.document(job["document_id"]).state == "ready"
    served.library.remove(job["document_id"])
    given["params"], given["headers"]["Accept"] = {"name": "locked.pdf"}, "text/event-stream"
    assert events(rest.post("/api/v1/documents", content=file.getvalue(), **given))[-1][1]["stage"] == "ready"
    served.library.remove(job["document_id"])


def test_what_prometheus_collects(rest: httpx.Client) -> None:
    rest.get("/api/v1/documents/none")
    told = rest.get("/metrics").text
    assert "lectern_up 1.0" in told
    assert 'path="/api/v1/documents/{document_id}",status="404"' in told


def test_the_description_is_valid_and_true(rest: httpx.Client) -> None:
    schema = rest.get("/api/v1/openapi.json").json()
    validate(schema)
    page = rest.get("/api/v1/docs")
    assert f"curl {str(rest.base_url).rstrip('/')}/api/v1/search" in page.text
    assert "`" not in page.text.partition("<details>")[0]
    assert "http" not in page.text.replace("http://127.0.0.1", "")
    for path in (
        "documents",
        "search?q=leave",
        "status",
        "models",
        "settings",
        "question-sets",
        "runs",
        "conversations",
    ):
        answered = schema["paths"][f"/api/v1/{path.partition('?')[0]}"]["get"]["responses"]["200"]
        wanted = answered["content"]["application/json"]["schema"] | {"components": schema["components"]}
        Draft202012Validator(wanted).validate(rest.get(f"/api/v1/{path}").json())


@pytest.mark.parametrize("size", [0, 300_000])
def test_an_upload_is_written_to_disk_as_it_comes(rest: httpx.Client, size: int) -> None:
    body = (f"{TRAVEL}\n" * (size // len(TRAVEL) + 1))[:size].encode()
    result = rest.post(
        "/api/v1/documents?name=..%2Flong.txt", content=(body[at : at + 9999] for at in range(0, size, 9999))
    )
    if size:
        waiting = result.json()["results"][0]
        assert (waiting["stage"], waiting["source"]) == ("ready", "long.txt")
        rest.delete(f"/api/v1/documents/{waiting['document']}")
    else:
        assert result.status_code in (201, 422)
