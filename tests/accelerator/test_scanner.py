"""The scanner against brute force in float64, over dumps of odd sizes."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

import numpy as np
import pytest

from accelerator.errors import DumpMismatch
from accelerator.ranking import Found, Match, merged
from accelerator.scanner import Scanner
from accelerator.selection import Selection
from accelerator.unsealed import SMALL_ROWS, Unsealed
from tests.accelerator.conftest import MakeDump, unit_rows

DIMENSIONS = 48
SIZES = (1, 3, 97, 256, 16385)


def brute_force(blocks: Mapping[str, np.ndarray], query: np.ndarray, k: int) -> list[Match]:
    direction = query.astype(np.float64) / np.linalg.norm(query.astype(np.float64))
    matches = []
    for key, block in blocks.items():
        rows = block.astype(np.float64)
        lengths = np.linalg.norm(rows, axis=1)
        cosines = np.where(lengths > 0, (rows * direction).sum(axis=1) / np.where(lengths > 0, lengths, 1), 0)
        matches += [Match(key, row, float(np.float32(score))) for row, score in enumerate(cosines)]
    return sorted(matches, key=lambda match: (-match.score, match.key, match.row))[:k]


def query_of(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)


def assert_same(found: list[Match], expected: list[Match]) -> None:
    assert [(match.key, match.row) for match in found] == [(match.key, match.row) for match in expected]
    np.testing.assert_allclose([match.score for match in found], [match.score for match in expected], atol=1e-7)


@pytest.fixture
def blocks() -> dict[str, np.ndarray]:
    return {f"d{size}": unit_rows(size, DIMENSIONS, seed=size) for size in SIZES}


@pytest.fixture
def scanner(blocks: dict[str, np.ndarray], make_dump: MakeDump) -> Scanner:
    scanner = Scanner(DIMENSIONS)
    for place, (key, block) in enumerate(blocks.items()):
        scanner.add(key, make_dump(block, version=1 + place % 2))
    return scanner


@pytest.mark.parametrize("k", [1, 3, 20, 300])
def test_equals_brute_force(scanner: Scanner, blocks: dict[str, np.ndarray], k: int) -> None:
    for seed in range(4):
        assert_same(scanner.search(query_of(seed), k), brute_force(blocks, query_of(seed), k))


@pytest.mark.parametrize("size", SIZES)
def test_one_dump_of_each_size(make_dump: MakeDump, size: int) -> None:
    block, scanner = unit_rows(size, DIMENSIONS), Scanner(DIMENSIONS)
    scanner.add("a", make_dump(block))
    assert len(scanner) == size
    assert_same(scanner.search(query_of(1), 10), brute_force({"a": block}, query_of(1), 10))


def test_k_above_the_number_of_rows(make_dump: MakeDump) -> None:
    scanner = Scanner(DIMENSIONS)
    scanner.add("a", make_dump(3))
    scanner.add("b", make_dump(2))
    assert len(scanner.search(query_of(1), 50)) == 5


def test_nothing_there(make_dump: MakeDump) -> None:
    scanner = Scanner(DIMENSIONS)
    assert scanner.search(query_of(1), 5) == []
    scanner.add("empty", make_dump(0))
    assert scanner.search(query_of(1), 5) == []
    assert scanner.keys() == {"empty"}
    assert len(scanner) == 0


@pytest.mark.parametrize("keys", [["d3"], ["d97", "d16385", "unknown"], [], ["unknown"]], ids=str)
def test_a_search_in_some_dumps(scanner: Scanner, blocks: dict[str, np.ndarray], keys: list[str]) -> None:
    expected = brute_force({key: block for key, block in blocks.items() if key in keys}, query_of(3), 20)
    assert_same(scanner.search(query_of(3), 20, within=Selection(dict.fromkeys(keys))), expected)


def test_removal_takes_effect_at_once(scanner: Scanner, blocks: dict[str, np.ndarray]) -> None:
    for key in list(blocks):
        scanner.remove(key)
        del blocks[key]
        assert scanner.keys() == set(blocks)
        assert_same(scanner.search(query_of(4), 20), brute_force(blocks, query_of(4), 20))
    scanner.remove("never there")


def test_a_key_given_again_replaces(make_dump: MakeDump) -> None:
    scanner = Scanner(DIMENSIONS)
    for size in (5, SMALL_ROWS + 1, 7):
        block = unit_rows(size, DIMENSIONS, seed=size)
        scanner.add("a", make_dump(block))
        assert len(scanner) == size
        assert_same(scanner.search(query_of(5), 9), brute_force({"a": block}, query_of(5), 9))


def test_many_small_dumps_come_and_go(make_dump: MakeDump) -> None:
    random, scanner, blocks = np.random.default_rng(6), Scanner(DIMENSIONS), {}
    for number in range(400):
        block = unit_rows(int(random.integers(0, 6)), DIMENSIONS, seed=number)
        blocks[f"{number:03}"] = block
        scanner.add(f"{number:03}", make_dump(block))
        if number % 3:
            gone = str(random.choice(sorted(blocks)))
            scanner.remove(gone)
            del blocks[gone]
    assert scanner.keys() == set(blocks)
    assert len(scanner) == sum(map(len, blocks.values()))
    matches = scanner.search(query_of(6), 40)
    assert_same(matches, brute_force(blocks, query_of(6), 40))
    np.testing.assert_array_equal(scanner.vectors(matches), [blocks[match.key][match.row] for match in matches])


def test_equal_vectors_tie_by_key_then_row(make_dump: MakeDump) -> None:
    scanner, row = Scanner(DIMENSIONS), unit_rows(1, DIMENSIONS)
    scanner.add("c", make_dump(np.repeat(row, SMALL_ROWS + 3, axis=0)))
    scanner.add("b", make_dump(np.repeat(row, 2, axis=0)))
    scanner.add("a", make_dump(np.repeat(row, 3, axis=0)))
    matches = scanner.search(row[0], 7)
    assert [(match.key, match.row) for match in matches] == [
        ("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1), ("c", 0), ("c", 1),
    ]  # fmt: skip
    assert {match.score for match in matches} == {1.0}


def test_rows_that_differ_by_less_than_float32_sums_can_tell(make_dump: MakeDump) -> None:
    random = np.random.default_rng(8)
    block = unit_rows(1, DIMENSIONS) + 2e-7 * random.standard_normal((3000, DIMENSIONS)).astype(np.float32)
    block = (block / np.linalg.norm(block, axis=1, keepdims=True)).astype(np.float32)
    scanner = Scanner(DIMENSIONS)
    scanner.add("a", make_dump(block))
    assert_same(scanner.search(query_of(8), 20), brute_force({"a": block}, query_of(8), 20))


@pytest.mark.parametrize("size", [50, SMALL_ROWS + 50], ids=["copied", "mapped"])
def test_rows_of_any_length_score_by_cosine(make_dump: MakeDump, size: int) -> None:
    block = unit_rows(size, DIMENSIONS) * np.linspace(0.01, 50, size, dtype=np.float32)[:, None]
    block[size // 2] = 0
    scanner, beside = Scanner(DIMENSIONS), unit_rows(30, DIMENSIONS, seed=3)
    scanner.add("b", make_dump(beside))
    scanner.add("a", make_dump(block, normalised=False))
    matches = scanner.search(query_of(9), size + 30)
    assert_same(matches, brute_force({"a": block, "b": beside}, query_of(9), size + 30))
    assert Match("a", size // 2, 0.0) in matches


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
@pytest.mark.parametrize("k", [1, SMALL_ROWS + 1])
def test_a_damaged_row_is_never_found_and_hides_no_other(make_dump: MakeDump, value: float, k: int) -> None:
    path = make_dump(SMALL_ROWS + 1).path
    data = bytearray(path.read_bytes())
    query = query_of(1)
    data[64:68] = np.float32(np.copysign(value, query[0])).tobytes()
    path.write_bytes(data)
    scanner = Scanner(DIMENSIONS)
    from accelerator.dump import Dump

    scanner.add("a", Dump.open(path))
    matches = scanner.search(query, k)
    assert len(matches) == min(k, SMALL_ROWS)
    assert 0 not in {match.row for match in matches}


@pytest.mark.parametrize(
    ("query", "k", "word"),
    [
        (np.ones(DIMENSIONS + 1), 1, "shape"),
        (np.zeros(DIMENSIONS), 1, "zero"),
        (np.full(DIMENSIONS, np.nan), 1, "finite"),
        (np.ones(DIMENSIONS), 0, "at least 1"),
    ],
    ids=["shape", "zero", "NaN", "k"],
)
def test_queries_that_cannot_be_answered(scanner: Scanner, query: np.ndarray, k: int, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        scanner.search(query, k)


def test_other_dimensions_are_refused(scanner: Scanner, make_dump: MakeDump) -> None:
    with pytest.raises(DumpMismatch, match="24 dimensions, not 48"):
        scanner.add("x", make_dump(2, dimensions=24))


def test_large_dumps_are_not_copied(make_dump: MakeDump) -> None:
    dump, unsealed = make_dump(SMALL_ROWS), Unsealed(DIMENSIONS)
    unsealed.add("a", dump)
    assert np.shares_memory(unsealed.parts(None)[0].rows, dump.vectors)


def test_vectors_of_what_was_removed(scanner: Scanner) -> None:
    matches = [Match("d3", 2, 0.5), Match("d16385", 9, 0.4)]
    assert scanner.vectors(matches).shape == (2, DIMENSIONS)
    assert scanner.vectors([]).shape == (0, DIMENSIONS)
    with pytest.raises(KeyError):
        scanner.vectors([Match("d3", 3, 0.5)])
    with pytest.raises(KeyError):
        scanner.vectors([Match("d16385", 16385, 0.5)])
    scanner.remove("d3")
    with pytest.raises(KeyError):
        scanner.vectors(matches)


def test_searches_while_dumps_come_and_go(make_dump: MakeDump) -> None:
    steady = unit_rows(200, DIMENSIONS)
    scanner, dumps = Scanner(DIMENSIONS), [make_dump(size) for size in (1, 5, SMALL_ROWS + 5)]
    scanner.add("steady", make_dump(steady))
    expected, stop, faults = brute_force({"steady": steady}, query_of(2), 5), threading.Event(), []

    def churn() -> None:
        while not stop.is_set():
            for number, dump in enumerate(dumps):
                scanner.add(str(number), dump)
                scanner.remove(str(number))

    def look() -> None:
        while not stop.is_set():
            found = [match for match in scanner.search(query_of(2), 3000) if match.key == "steady"][:5]
            if found != expected:
                faults.append(found)

    threads = [threading.Thread(target=work) for work in (churn, churn, look, look)]
    for thread in threads:
        thread.start()
    time.sleep(0.7)
    stop.set()
    for thread in threads:
        thread.join()
    assert faults == []


def test_what_was_removed_is_not_remembered_for_good(scanner: Scanner, make_dump: MakeDump) -> None:
    rows = unit_rows(2, DIMENSIONS, seed=5)
    for number in range(50):
        scanner.add(f"short lived {number}", make_dump(rows))
        scanner.search(rows[0], 1)
        scanner.search_many(rows, 1)
        scanner.remove(f"short lived {number}")
    with pytest.raises(ValueError, match="k must be"):
        scanner.search(rows[0], 0)
    assert len(scanner.removals) == 0


@pytest.mark.parametrize("is_replaced", [True, False], ids=["replaced", "removed"])
def test_a_search_ends_though_its_best_goes_each_time(
    blocks: dict[str, np.ndarray], make_dump: MakeDump, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
) -> None:
    scanner = Scanner(DIMENSIONS)
    dumps = {f"{name} {number}": make_dump(block) for name, block in blocks.items() for number in range(4)}
    for key, dump in dumps.items():
        scanner.add(key, dump)
    gone: list[str] = []

    def merge(found: list[Found], unit: np.ndarray, k: int) -> list[Match]:
        matches = merged(found, unit, k)
        gone.append(matches[0].key)
        scanner.add(gone[-1], dumps[gone[-1]]) if is_replaced else scanner.remove(gone[-1])
        return matches

    monkeypatch.setattr("accelerator.scanner.merged", merge)
    matches = scanner.search(query_of(1), 20)
    assert len(gone) < 10
    assert matches
    assert gone[-1] not in {match.key for match in matches}
    (together,) = scanner.search_many(query_of(1)[np.newaxis], 20)
    assert together and len(gone) < 20
