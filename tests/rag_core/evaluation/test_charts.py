"""Charts of made-up runs: what is drawn, what stands in their tables, and that they can be drawn at all."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import vl_convert

from rag_core.chart_parts import COLOURS
from rag_core.domain import Configuration, Drawing, Run
from rag_core.evaluation.reporting import figures
from rag_core.evaluation.reporting.charts import drawings
from tests.made_runs import AS_IT_IS, BEGUN, MORE, a_result, a_run, results


def drawn(*runs: figures.Tested, history: list[Run] | None = None) -> dict[str, Drawing]:
    return {drawing.key: drawing for drawing in drawings(runs, history or [])}


def tried(name: str, seed: int, k: int = 6, **changes: Any) -> figures.Tested:
    found = results(40, seed, k)
    return a_run(name, Configuration(name), found, **changes), found


@pytest.fixture(scope="module")
def two() -> dict[str, Drawing]:
    history = [a_run(f"h{n}", AS_IT_IS, group=f"g{n}", created_at=BEGUN + timedelta(hours=n)) for n in range(3)]
    return drawn(tried("a", 1), tried("b", 2, 10), history=history)


def test_two_runs_have_every_chart_and_each_its_table(two: dict[str, Drawing]) -> None:
    assert list(two) == [
        "metrics_retrieval", "metrics_answer", "over_k", "questions", "reliability", "latency", "history",
    ]  # fmt: skip
    for drawing in two.values():
        assert drawing.rows
        assert all(len(row) == len(drawing.columns) for row in drawing.rows)
        assert drawing.caption.endswith(".")


@pytest.mark.parametrize("key", ["metrics_retrieval", "over_k", "questions", "reliability", "latency", "history"])
def test_specifications_stand_alone_and_are_drawn(two: dict[str, Drawing], key: str) -> None:
    spec = json.dumps(two[key].spec)
    assert two[key].spec["background"] == "transparent"
    svg = vl_convert.vegalite_to_svg(spec, vl_version="6.4")
    assert svg.startswith("<svg")
    assert '"url"' not in spec


def test_only_what_has_data_is_drawn() -> None:
    found = results(5, 1, answers=False)
    assert list(drawn((a_run("a", AS_IT_IS, found), found))) == ["metrics_retrieval", "over_k", "latency"]
    assert drawn((a_run("a", AS_IT_IS, [], metrics={}), [])) == {}
    assert drawn() == {}


def test_what_failed_is_left_out() -> None:
    failed = [replace(result, error="No model.", metrics={}) for result in results(5, 1)]
    assert "over_k" not in drawn((a_run("a", AS_IT_IS, failed, metrics={}), failed))
    assert figures.over_k([failed[0], a_result(1, at=2)])[1]["recall"] == 1


def test_over_k_counts_places_and_passages() -> None:
    found = [a_result(1, 4, at=1), a_result(2, 4, at=3), a_result(3, 2, at=None)]
    points = figures.over_k(found)
    assert [point["k"] for point in points] == [1, 2, 3, 4]
    assert [round(point["recall"], 3) for point in points] == [0.333, 0.333, 0.667, 0.667]
    assert points[3]["precision"] == pytest.approx(2 / 4 / 3)
    assert points[2]["hits"] == pytest.approx(2 / 3)


def test_times_are_those_of_stages_in_order() -> None:
    found = figures.latency([a_result(1), a_result(2, 16)])
    assert list(found) == ["prepare", "embed", "search", "generate"]
    assert found["search"][0] == pytest.approx(2.1)
    assert found["search"][1] == pytest.approx(2.55)


def test_questions_are_paired_by_id(two: dict[str, Drawing]) -> None:
    a, b = [a_result(1, at=1), a_result(2, at=1), a_result(3)], [a_result(2, at=None), a_result(1, at=1)]
    shifts = figures.shifts(a, b, "correct")
    assert [shift[1:] for shift in shifts] == [(1, 1), (1, 0)]
    changes = [row[3] for row in two["questions"].rows]
    assert changes == sorted(changes, key=lambda value: -abs(float(str(value))))
    assert 0 not in changes


def test_names_tell_runs_apart() -> None:
    later = a_run("c", AS_IT_IS, created_at=BEGUN + timedelta(minutes=5))
    runs = [a_run("a"), a_run("b", MORE), a_run("d"), later]
    found = figures.names(runs)
    assert found[1] == "More passages"
    assert found[0].startswith("The library as it is, 20 Nov")
    assert len(set(found)) == 4


def test_six_runs_at_most_are_drawn() -> None:
    found = drawn(*(tried(f"run {n}", n) for n in range(8)))
    assert len({row[1] for row in found["metrics_retrieval"].rows}) == len(COLOURS)
    assert "questions" not in found


def test_the_history_goes_from_old_to_new_by_group() -> None:
    history = [
        a_run(f"{group}{name}", Configuration(name), group=str(group), created_at=BEGUN + timedelta(hours=group))
        for group in range(25)
        for name in ("a", "b")
    ]
    rows = drawn(history=list(reversed(history)))["history"].rows
    assert len(rows) == 2 * 20
    assert [row[0] for row in rows[:3]] == ["1", "1", "2"]
    assert {row[2] for row in rows} == {"a", "b"}
