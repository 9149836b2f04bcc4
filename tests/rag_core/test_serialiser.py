"""Domain objects as JSON and back."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from typing import Any

import pytest

from rag_core.domain import (
    BackupReport,
    Finding,
    Job,
    Profile,
    Progress,
    Question,
    Report,
    Scope,
    SourceReport,
)
from rag_core.domain.serialiser import from_json, job_to_json, to_json
from rag_core.errors import EncryptedDocument, LecternError, StoreUnavailable
from rag_core.remote.calls import received

NOW = datetime(2026, 11, 26, 18, 30, tzinfo=UTC)
SCOPE = Scope(("a",), ("work",), ("/notes",), ("Results",), (2020,), date(2024, 1, 1), date(2024, 2, 1))


@pytest.mark.parametrize(
    "result",
    [
        Report(1, 2, (Finding("Files", "d", "A letter", "It is gone.", False, "Add it."),), True, 0.5),
        BackupReport("a.lectern", 1, NOW, 1, 2, 3, 4, ("One original was missing.",)),
        SourceReport(1, 2, (("a.txt", "It cannot be read.", "Open it."),)), SourceReport(),
        (Question("a", "Why?"),), (), Progress("done", 1, 2, "a.gguf"), Progress("cancelled"), None,
    ],
    ids=lambda result: type(result).__name__,
)  # fmt: skip
def test_what_a_job_made_is_known_again(result: Any) -> None:
    job = Job("a", "kind", result=result, created_at=NOW, params={"deep": True})
    assert from_json(Job, json.loads(json.dumps(job_to_json(job)))) == job


@pytest.mark.parametrize(
    ("error", "again"), [(EncryptedDocument("Locked.", help="Open it."), EncryptedDocument), (None, type(None))]
)
def test_what_went_wrong_is_known_again(error: LecternError | None, again: type) -> None:
    made = from_json(Job, job_to_json(Job("a", "add", error=error)))
    assert type(made.error) is again
    assert (str(made.error), getattr(made.error, "help", None)) == (str(error), getattr(error, "help", None))


def test_an_error_of_another_version_is_an_error() -> None:
    told = {**job_to_json(Job("a", "add")), "error": {"kind": "Path", "message": "Odd.", "help": ""}}
    assert type(from_json(Job, told).error) is LecternError


def test_what_is_for_no_reader_is_kept_alone() -> None:
    sealed = Scope(documents=("a",), sealed=True)
    assert "sealed" not in to_json(sealed)
    assert from_json(Scope, to_json(sealed, whole=True)) == sealed
    assert from_json(Scope, to_json(SCOPE)) == SCOPE


def test_times_and_numbers_are_as_they_ever_were() -> None:
    assert to_json([NOW, NOW.date(), math.nan, -math.inf, {"a": (1, 0.5)}, None]) == [
        "2026-11-26T18:30:00+00:00", "2026-11-26", None, None, {"a": [1, 0.5]}, None,
    ]  # fmt: skip


def test_an_answer_of_another_version_is_refused_in_words() -> None:
    with pytest.raises(StoreUnavailable, match="not understood") as refused:
        received(Profile, {"id": "a"})
    assert "same version" in refused.value.help
