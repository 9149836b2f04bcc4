"""A few of the kills of `make kills`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rag_core.api.kills import kill_at_random


@pytest.mark.slow
def test_no_kill_of_any_process_loses_or_doubles_a_document(tmp_path: Path, new_database: Callable[[], str]) -> None:
    outcome = kill_at_random(tmp_path, new_database(), kills=6, seed=1)
    assert outcome.accepted
    assert (outcome.lost, outcome.doubled, outcome.disagreeing) == ([], [], [])
