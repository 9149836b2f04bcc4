"""The race of the ways to embed: a clear margin in every round, kept for this machine, never in the way."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from rag_core.embedding import open_embedder, race
from rag_core.embedding.exported import exported_model
from rag_core.embedding.openvino_runtime import Way
from rag_core.embedding.race import fastest, ways, winner
from rag_core.embedding.source import ModelSource
from rag_core.errors import ModelUnavailable
from rag_core.settings import EmbeddingSettings
from tests.rag_core.embedding.conftest import MODELS

ONE, TWO, THREE = Way(8, 2, 2), Way(4, 2, 2), Way(8, 1, 2)
WON = {"way": asdict(TWO), "words": "1.5 times as fast"}


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    (tmp_path / "model").mkdir()
    return tmp_path / "model"


@pytest.fixture
def raced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The race replaced by one that is won by the second way: the precisions that were raced."""
    asked: list[str] = []

    def child(_race: object, _folder: str, precision: str, _exported: Path, *, timeout_s: float) -> object:
        asked.append(precision)
        return WON

    monkeypatch.setattr(race, "call_once", child)
    monkeypatch.setattr(race, "machine", lambda: "this one")
    return asked


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        ([(1.0, 0.8, 1.0), (1.0, 0.7, 1.0)], (TWO, 1.25)),
        ([(1.0, 0.8, 0.7), (1.0, 0.8, 0.7)], (THREE, 1 / 0.7)),
        ([(1.0, 0.95, 1.1), (1.0, 0.95, 1.1)], (ONE, 1.0)),
        ([(1.0, 0.5, 1.0), (1.0, 0.95, 1.0)], (ONE, 1.0)),
    ],
    ids=["clearly", "the best of two", "hardly", "once alone"],
)
def test_a_way_must_be_faster_by_a_clear_margin_in_every_round(
    rounds: list[tuple[float, ...]], expected: tuple[Way, float]
) -> None:
    assert winner([ONE, TWO, THREE], rounds) == expected


@pytest.mark.parametrize(("cores", "count"), [(1, 2), (2, 4), (16, 4), (64, 3)])
def test_the_usual_way_is_the_first_of_some_that_differ(cores: int, count: int) -> None:
    found = ways(cores)
    assert found[0] == Way.usual(cores)
    assert len(set(found)) == len(found) == count
    assert all(way.streams <= way.threads <= cores for way in found)


def test_the_outcome_is_kept_until_the_machine_changes(
    source: ModelSource, exported: Path, raced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        assert fastest(source, "int8", exported) == (TWO, "1.5 times as fast")
    assert raced == ["int8"]
    fastest(source, "float32", exported)
    monkeypatch.setattr(race, "machine", lambda: "another one")
    fastest(source, "int8", exported)
    assert raced == ["int8", "float32", "int8"]


@pytest.mark.parametrize(
    "kept", ["", "[]", '{"KEY": 3}', '{"KEY": {"way": {"batch_size": 0}}}', '{"KEY": {"words": 1}}']
)
def test_what_is_kept_and_makes_no_sense_is_raced_anew(
    source: ModelSource, exported: Path, raced: list[str], kept: str
) -> None:
    fastest(source, "int8", exported)
    path = exported.with_name("race.json")
    path.write_text(kept.replace("KEY", next(iter(json.loads(path.read_bytes())))))
    assert fastest(source, "int8", exported)[0] == TWO
    assert len(raced) == 2


def test_where_nothing_can_be_raced_or_kept_the_usual_way_is_taken(
    source: ModelSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, timeout_s: float) -> str:
        raise ModelUnavailable("no reason")

    monkeypatch.setattr(race, "call_once", fail)
    assert fastest(source, "int8", tmp_path / "none" / "model") == (
        Way.usual(), "the usual way, as the trial failed: no reason"
    )  # fmt: skip


def test_a_race(source: ModelSource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "_TEXTS_A_STREAM", 1)
    monkeypatch.setattr(race, "ways", lambda cores: [Way.usual(cores)])
    outcome = race.race(str(source.folder), "float32", exported_model(source, "float32", MODELS))
    assert Way(**outcome["way"]) == Way.usual()
    assert outcome["words"].endswith("texts/s on trial")


def test_what_is_set_is_not_raced_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "fastest", lambda *_: (Way.usual(), "no other way is a tenth faster"))
    with open_embedder(EmbeddingSettings(precision="float32"), MODELS) as chosen:
        assert "in batches of 8; no other way is a tenth faster" in chosen.how
    with open_embedder(EmbeddingSettings(precision="float32", batch_size=3), MODELS) as told:
        assert "in batches of 3; as set" in told.how
