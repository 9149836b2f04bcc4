"""Requests made up from the OpenAPI description: none is answered by a failure that nobody foresaw.

`make fuzz` sends 5,000; `LECTERN_FUZZ_REQUESTS` says how many, `LECTERN_FUZZ_SEED` repeats a run's draw of chance.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
import requests
import schemathesis
from hypothesis import strategies
from schemathesis import APIOperation, Case, GenerationMode

from rag_core import Library, Settings
from rag_core.domain import Gold, Question
from rag_core.settings import DoorSettings
from tests.conftest import add_text
from tests.rag_core.api.conftest import HANDBOOK, TRAVEL, serve

REQUESTS = int(os.environ.get("LECTERN_FUZZ_REQUESTS", "100"))
SEED = int(os.environ.get("LECTERN_FUZZ_SEED", "16"))
ENDLESS = "/api/v1/jobs/events"
_PATIENCE_S = 120


@pytest.mark.timeout(180 + REQUESTS)
def test_no_request_fails_in_a_way_that_nobody_foresaw(tmp_path: Path, new_database: Callable[[], str]) -> None:
    nowhere = "http://127.0.0.1:9"
    settings = Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database(), hub_url=nowhere)
    with Library.open(settings) as library, serve(library, settings=DoorSettings(rate_per_s=1e6)) as served:
        known = _filled(library)
        schema = schemathesis.openapi.from_url(f"{served.url}/api/v1/openapi.json")
        operations = [found.ok() for found in schema.get_all_operations()]
        operations = [one for one in operations if one.path != ENDLESS]
        # What takes something away comes last.
        operations.sort(key=lambda one: (one.method == "delete", one.path, one.method))
        told: list[str] = []
        with requests.Session() as session:
            sent = sum(_try(one, -(-REQUESTS // len(operations)), known, session, told) for one in operations)
        assert told == []
        assert sent >= 0.8 * REQUESTS
        assert library.maintenance.verify().findings == ()


def _filled(library: Library) -> dict[str, object]:
    """A library with one of everything; returns what the paths' parameters may be."""
    document, _ = add_text(library, "handbook.txt", HANDBOOK), add_text(library, "travel.txt", TRAVEL)
    library.catalogue.tag([document.id], add=["work"])
    answer = library.ask("How many days of annual leave do employees have?")
    made = library.evaluation.create("set", [Question("q", "How many days?", gold=(Gold("handbook.txt"),))])
    key, _ = library.access.create("fuzz")
    return {
        "document_id": document.id, "paper_id": document.id, "number": 1, "conversation_id": answer.conversation,
        "message_id": answer.message_id, "set_id": made.id, "key_id": key.id,
    }  # fmt: skip


def _try(
    operation: APIOperation, count: int, known: dict[str, object], session: requests.Session, told: list[str]
) -> int:
    """Send some requests of one kind; returns how many. What failed is told with the request that did it."""
    names = {parameter.name for parameter in operation.path_parameters}
    cases = [operation.as_strategy()]
    if names & known.keys():
        cases.append(operation.as_strategy(path_parameters={name: known[name] for name in names & known.keys()}))
    if names or operation.query or operation.body:
        cases.append(operation.as_strategy(GenerationMode.NEGATIVE))
    sent = 0

    @hypothesis.seed(SEED)
    @hypothesis.settings(
        max_examples=count, deadline=None, database=None, phases=[hypothesis.Phase.generate],
        suppress_health_check=[*hypothesis.HealthCheck],
    )  # fmt: skip
    @hypothesis.given(strategies.one_of(cases))
    def send(case: Case) -> None:
        nonlocal sent
        sent += 1
        answer = case.call(session=session, timeout=_PATIENCE_S)
        if answer.status_code == 500 or (answer.status_code > 500 and b"urn:lectern:problem" not in answer.content):
            told.append(f"{answer.status_code} {case.as_curl_command()}")

    send()
    return sent
