"""The log: lines of JSON with the request that they belong to, in a file that rotates; spans for a collector."""

from __future__ import annotations

import json
import logging
import stat
import threading
import time
from concurrent import futures
from pathlib import Path
from queue import Queue
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from rag_core import logs
from rag_core.api.tracing import exporter
from rag_core.settings import LogSettings
from tests.rag_core.api.conftest import Served


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_request_is_followed_by_its_id(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        logging.getLogger("rag_core.somewhere").warning("on the way")
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr(served.library.catalogue, "tags", fail)
    with logs.kept(tmp_path, LogSettings()), served.client() as client:
        assert client.get("/api/v1/search", params={"q": "secret words"}, headers={"X-Request-ID": "first"}).is_success
        failed = client.get("/api/v1/tags")
        path = tmp_path / "logs" / "lectern.log"
        # A request's own line comes when its answer was sent.
        deadline = time.monotonic() + 60
        while "GET /api/v1/tags" not in path.read_text("utf-8") and time.monotonic() < deadline:
            time.sleep(0.01)
    found = lines(path)
    (first,) = [line for line in found if line.get("request") == "first"]
    assert (first["message"], first["route"], first["status"]) == ("GET /api/v1/search", "/api/v1/search", 200)
    assert first["took_ms"] > 0
    of_failed = [line for line in found if line.get("request") == failed.headers["x-request-id"]]
    assert {"on the way", "A request could not be answered", "GET /api/v1/tags"} <= {
        one["message"] for one in of_failed
    }
    assert any("nobody foresaw this" in one.get("exc_info", "") for one in of_failed)
    assert "secret" not in path.read_text("utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_files_follow_each_other_and_a_lack_of_one_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What pytest captures of a log goes to another process, which takes no half of a pair.
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    with logs.kept(tmp_path, LogSettings(max_bytes=10_000, files=2)):
        for number in range(400):
            logging.getLogger("rag_core").info("line %d \udcff", number)
    kept = sorted(path.name for path in (tmp_path / "logs").iterdir())
    assert kept == ["lectern.log", "lectern.log.1", "lectern.log.2"]
    assert lines(tmp_path / "logs" / "lectern.log")[-1]["message"].startswith("line 399")
    (tmp_path / "taken" / "logs").mkdir(parents=True)
    (tmp_path / "taken" / "logs" / "lectern.log").mkdir()
    with logs.kept(tmp_path / "taken", LogSettings()):
        logging.getLogger("rag_core").info("goes nowhere")


@pytest.mark.slow
def test_requests_are_sent_to_a_collector() -> None:
    spans: Queue[Any] = Queue()

    class Collector(trace_service_pb2_grpc.TraceServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:
            for part in request.resource_spans:
                for span in part.scope_spans[0].spans:
                    spans.put(span)
            return trace_service_pb2.ExportTraceServiceResponse()

    server = grpc.server(futures.ThreadPoolExecutor(1))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Collector(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        exporter(f"http://127.0.0.1:{port}")("id", "GET", "/api/v1/documents/{document_id}", 200, 0.25)
        span = spans.get(timeout=60)
    finally:
        server.stop(None)
    assert span.name == "GET /api/v1/documents/{document_id}"
    assert (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9 == pytest.approx(0.25, abs=0.01)
    told = {item.key: item.value.int_value or item.value.string_value for item in span.attributes}
    assert told["http.response.status_code"] == 200


def test_what_ends_a_thread_is_in_the_log(tmp_path: Path) -> None:
    def fail() -> None:
        raise ZeroDivisionError("nobody foresaw this")

    before = threading.excepthook
    with logs.kept(tmp_path, LogSettings()):
        thread = threading.Thread(target=fail, name="lectern-somewhere")
        thread.start()
        thread.join()
    assert threading.excepthook is before
    (line,) = [line for line in lines(tmp_path / "logs" / "lectern.log") if "lectern-somewhere" in line["message"]]
    assert "nobody foresaw this" in line["exc_info"]


def test_what_a_database_quotes_is_not_in_the_log(tmp_path: Path) -> None:
    told = 'invalid input syntax for type json\nDETAIL:  Token "Infinity".\nCONTEXT:  JSON data: ["red", Infinity'
    with logs.kept(tmp_path, LogSettings()):
        try:
            raise ValueError(told)
        except ValueError:
            logging.getLogger("rag_core").exception("A request could not be answered")
    line = lines(tmp_path / "logs" / "lectern.log")[-1]
    assert "invalid input syntax" in line["exc_info"]
    assert "red" not in line["exc_info"]
