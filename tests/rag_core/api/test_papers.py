"""The research assistant's interface as its design document describes it, by its own example requests."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core import Library

TITLE = "Terns and Their Winds"
ABSTRACT = (
    "Abstract—We count terns over nine seasons and find that strong winds halve the distance of their flights.",
    "Receivers of two grams tell where each bird was at five o'clock in the morning, and the helpers of two towns",
    "read them. What is known of gulls and skuas does not hold for terns.",
)
PAGES = (
    [(18, TITLE), (11, "Ada Lund, Piet Hamre"), (11, "Department of Birds, Veyra"), *((10, line) for line in ABSTRACT),
     (14, "1 Introduction"), (10, "Terns are birds of the coast. Little was known of how they fly in wind.")],
    [(14, "2 Materials and Methods"), (10, "Every tern was ringed and followed by a receiver that weighs two grams."),
     (14, "2.1 Participants"), (10, "Forty helpers from Veyra read the receivers each morning at five o'clock."),
     (14, "3 Results"), (10, "In winds of more than nine metres per second terns flew 41 kilometres a day.")],
)  # fmt: skip


def pdf_of(pages: tuple[list[tuple[int, str]], ...]) -> bytes:
    """A paper: lines of a size on pages."""
    file = io.BytesIO()
    canvas = Canvas(file, invariant=1)
    canvas.setTitle(TITLE)
    for lines in pages:
        top = 760
        for size, text in lines:
            canvas.setFont("Helvetica-Bold" if size > 11 else "Helvetica", size)
            canvas.drawString(60, top, text)
            top -= 1.3 * size if size == 10 else 3 * size
        canvas.showPage()
    canvas.save()
    return file.getvalue()


@pytest.fixture(scope="module")
def paper_id(rest: httpx.Client) -> Iterator[str]:
    response = rest.post("/api/upload", files={"file": ("terns.pdf", pdf_of(PAGES), "application/pdf")})
    assert response.status_code == 201
    told = response.json()
    assert (told["status"], told["duplicate"], told["filename"]) == ("success", False, "terns.pdf")
    yield told["paper_id"]
    assert rest.delete(f"/api/papers/{told['paper_id']}").json() == {"status": "success"}
    assert rest.get(f"/api/papers/{told['paper_id']}").status_code == 404


def asked(rest: httpx.Client, question: str, **more: Any) -> dict[str, Any]:
    response = rest.post("/api/query", json={"question": question, **more})
    assert response.status_code == 200
    told: dict[str, Any] = response.json()
    assert told["status"] == "success"
    return told


def test_the_documents_own_example(rest: httpx.Client, paper_id: str) -> None:
    """Its chapter on testing: upload a paper, take its id, ask a question that says nothing."""
    assert paper_id
    response = rest.post("/api/query", json={"question": "test"})
    assert response.status_code == 200
    assert "answer" in response.json()


def test_a_duplicate_is_told(rest: httpx.Client, paper_id: str) -> None:
    again = rest.post("/api/upload", files={"file": ("other name.pdf", pdf_of(PAGES))})
    told = again.json()
    assert (again.status_code, told["status"], told["duplicate"]) == (200, "success", True)
    assert told["paper_id"] == paper_id
    assert told["detail"] == "other name.pdf is already in the library."


def test_a_paper_has_what_its_card_has(rest: httpx.Client, paper_id: str) -> None:
    one = rest.get(f"/api/papers/{paper_id}").json()
    assert (one["title"], one["authors"]) == (TITLE, ["Ada Lund", "Piet Hamre"])
    assert one["abstract"].startswith("We count terns")
    assert [name for name in one["sections"] if name == "Abstract" or name[0] in "123"] == [
        "Abstract", "1 Introduction", "2 Materials and Methods", "2.1 Participants", "3 Results",
    ]  # fmt: skip
    assert (one["total_pages"], one["file_size"] > 1000) == (2, True)
    assert datetime.fromisoformat(one["upload_date"]).tzinfo is not None
    listed = rest.get("/api/papers").json()
    assert {key: value for key, value in one.items() if key != "status"} in listed["papers"]


def test_a_question_of_the_abstract_is_answered_from_it(rest: httpx.Client, paper_id: str) -> None:
    given = {"question": "How many terns?", "scope": {"documents": [paper_id], "sections": ["Abstract"]}}
    found = rest.post("/api/v1/search", json=given).json()["hits"]
    assert ["We count terns" in hit["text"] and "Forty helpers" not in hit["text"] for hit in found] == [True]


def test_an_answer_cites_paper_section_and_page(rest: httpx.Client, paper_id: str) -> None:
    told = asked(rest, "How far did terns fly in winds of more than nine metres per second?", paper_ids=[paper_id])
    assert "41 kilometres" in told["answer"]
    first = told["citations"][0]
    assert (first["paper_id"], first["paper_title"], first["section"], first["page"]) == (
        paper_id, TITLE, "3 Results", 2,
    )  # fmt: skip
    assert first["citation"] == f"[{TITLE}, 3 Results, p. 2]"
    assert told["sources_used"] == [TITLE]
    assert 0 <= told["confidence"] <= 1


@pytest.mark.parametrize("top_k", [1, 2, 10])
def test_top_k_is_how_deep_it_searches(rest: httpx.Client, paper_id: str, top_k: int) -> None:
    told = asked(rest, "Who read the receivers, and how far did terns fly each day?", top_k=top_k)
    numbers = {int(number) for number in re.findall(r"\[(\d+)\]", told["answer"])}
    assert numbers == {one["number"] for one in told["citations"]}
    assert all(0 <= one["relevance_score"] <= 1 for one in told["citations"])
    assert len({(one["paper_id"], one["page"], one["section"]) for one in told["citations"]}) <= 2 * top_k


def test_the_same_question_is_answered_at_once(rest: httpx.Client, filled: Library, paper_id: str) -> None:
    filled.storage.settle()  # an answer of documents that an index has yet to follow is asked anew once it has
    question = "How much does a receiver weigh that follows terns?"
    first, second = asked(rest, question), asked(rest, question)
    assert (first["cached"], second["answer"], second["citations"]) == (None, first["answer"], first["citations"])
    assert second["query_id"] != first["query_id"]
    then = datetime.fromisoformat(second["cached"])
    assert abs(datetime.now(then.tzinfo) - then) < timedelta(minutes=5)
    assert any("answered before" in note for note in second["notes"])
    assert asked(rest, question, top_k=3)["cached"] is None
    assert asked(rest, question, paper_ids=[paper_id])["cached"] is None


def test_analytics(rest: httpx.Client, paper_id: str) -> None:
    asked(rest, "At what time were receivers read?", paper_ids=[paper_id])
    told = rest.get("/api/analytics", params={"days": 7}).json()
    used = next(one for one in told["most_queried_papers"] if one["paper_id"] == paper_id)
    assert (used["title"], used["queries"] >= 1) == (TITLE, True)
    assert told["step"] == "day"
    assert sum(one["queries"] for one in told["queries_over_time"]) == told["total_queries"] > 0


@pytest.mark.parametrize(
    ("method", "path", "sent", "status"),
    [
        ("POST", "/api/query", {"json": {}}, 400),
        ("POST", "/api/query", {"json": {"question": "   "}}, 400),
        ("POST", "/api/query", {"json": {"question": "What?", "top_k": 0}}, 400),
        ("POST", "/api/upload", {"files": {"file": ("a.exe", b"MZ\x90\x00" + bytes(200))}}, 400),
        ("POST", "/api/upload", {"files": [("file", ("a.txt", b"one")), ("file", ("b.txt", b"two"))]}, 400),
        ("POST", "/api/upload", {"files": {"note": (None, "no file")}}, 400),
        ("GET", "/api/papers/none", {}, 404),
        ("DELETE", "/api/papers/none", {}, 404),
        ("GET", "/api/nothing", {}, 404),
    ],
)  # fmt: skip
def test_errors_have_status_detail_and_timestamp(
    rest: httpx.Client, method: str, path: str, sent: dict[str, Any], status: int
) -> None:
    response = rest.request(method, path, **sent)
    told = response.json()
    assert (response.status_code, told["status"]) == (status, "error")
    assert told["detail"]
    assert datetime.fromisoformat(told["timestamp"]).tzinfo is not None


def test_other_doors_keep_their_own_form(rest: httpx.Client) -> None:
    told = rest.post("/api/v1/ask", json={})
    assert (told.status_code, told.json()["status"]) == (422, 422)
    assert told.headers["content-type"] == "application/problem+json"
