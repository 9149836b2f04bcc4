"""Restrictions of a search: whole dumps, rows, ranges and masks."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest

from accelerator.scanner import Scanner
from accelerator.selection import Selection
from tests.accelerator.conftest import MakeDump, unit_rows
from tests.accelerator.making import write_segment
from tests.accelerator.test_scanner import assert_same, brute_force


def mask(*rows: int, length: int = 12) -> np.ndarray:
    found = np.zeros(length, dtype=np.bool_)
    found[list(rows)] = True
    return found


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        ([], []),
        ([3], [3]),
        ([7, 3, 3, 7], [3, 7]),
        ([range(2, 5)], [2, 3, 4]),
        ([range(2, 5), 4, range(3, 7), 0], [0, 2, 3, 4, 5, 6]),
        ([range(8, 2, -3)], [5, 8]),
        ([range(0)], []),
        ([range(5, 5), 1], [1]),
        ([-1, -5, range(-3, 2)], [0, 1]),
        ([9, 10, 11, 2**40, range(8, 10**11)], [8, 9]),
        ([np.int64(4), np.uint8(6)], [4, 6]),
        (np.array([8, 1]), [1, 8]),
        (mask(1, 4), [1, 4]),
        (mask(), []),
        (mask(2, 11), [2]),
        (iter([5, 6]), [5, 6]),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "__next__") else str(value),
)
def test_the_rows_of_a_dump_of_ten(wanted: object, rows: list[int]) -> None:
    found = Selection({"a": wanted}).rows("a", 10)
    assert found is not None
    assert found.dtype == np.intp
    assert found.tolist() == rows


def test_all_rows_and_none() -> None:
    selection = Selection({"a": None, "b": [1]})
    assert selection.rows("a", 10) is None
    assert selection.rows("unknown", 10).tolist() == []
    assert list(selection) == ["a", "b"]
    assert "b" in selection
    assert "unknown" not in selection
    assert Selection(dict.fromkeys(["a", "b"])).rows("b", 3) is None


def test_where_the_rows_of_a_segment_lie(tmp_path: Path) -> None:
    segment = write_segment(tmp_path / "a.segment", {"a": unit_rows(40, 48), "b": unit_rows(60, 48, 2)})
    selection = Selection({"b": [range(50, 70), 0], "a": [3], "unknown": None})
    places = selection.places(segment)
    assert (np.diff(places) > 0).all()
    origins = segment.sections.arrays["origins"][places].tolist()
    assert sorted(origins) == [[0, 3], [1, 0], *([1, row] for row in range(50, 60))]
    assert selection.places(segment) is places  # found once
    assert Selection({}).places(segment).tolist() == []


def test_what_is_kept_of_a_segment_goes_with_it(tmp_path: Path) -> None:
    segment = write_segment(tmp_path / "a.segment", {"a": unit_rows(4, 48)})
    selection, gone = Selection(dict.fromkeys(["a"])), weakref.ref(segment)
    selection.places(segment)
    del segment
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("rows", [5, 511, 512, 513, 2000], ids=str)
def test_few_and_many_rows_are_searched_alike(tmp_path: Path, make_dump: MakeDump, rows: int) -> None:
    sealed, unsealed = unit_rows(2500, 48), unit_rows(1500, 48, seed=5)
    scanner = Scanner(48)
    scanner.attach(write_segment(tmp_path / "a.segment", {"sealed": sealed}))
    scanner.add("unsealed", make_dump(unsealed))
    selection = Selection({"sealed": [range(100, 100 + rows)], "unsealed": mask(*range(0, 1500, 3), length=1500)})
    query = sealed[99]
    expected = [
        match
        for match in brute_force({"sealed": sealed, "unsealed": unsealed}, query, 4000)
        if (100 <= match.row < 100 + rows if match.key == "sealed" else match.row % 3 == 0)
    ]
    for k in (1, 10, 4000):
        assert_same(scanner.search(query, k, within=selection), expected[:k])
        assert_same(scanner.search_many(query[None], k, within=selection)[0], expected[:k])


def test_a_selection_outlives_removal_and_compaction(tmp_path: Path, make_dump: MakeDump) -> None:
    blocks = {key: unit_rows(700, 48, seed=number) for number, key in enumerate("abc")}
    scanner, selection, query = Scanner(48), Selection({"a": None, "b": [range(600)]}), unit_rows(1, 48, 9)[0]
    first = write_segment(tmp_path / "a.segment", blocks)

    def check(*keys: str) -> None:
        held = {key: blocks[key][: 600 if key == "b" else None] for key in keys}
        assert_same(scanner.search(query, 30, within=selection), brute_force(held, query, 30))

    for key, block in blocks.items():
        scanner.add(key, make_dump(block))
    check("a", "b")
    scanner.attach(first)
    check("a", "b")
    scanner.remove("a")
    check("b")
    scanner.replace([first], write_segment(tmp_path / "b.segment", {"b": blocks["b"], "c": blocks["c"]}), {})
    check("b")
    scanner.remove("b")
    check()
