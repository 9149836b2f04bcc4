"""Exact is exact: sealed segments and unsealed dumps against brute force, on the data hardest for the search."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accelerator import scanner as scanner_module
from accelerator import segment_search
from accelerator.backends.base import Backend, BackendUnavailable, Block
from accelerator.backends.cpu import CpuBackend
from accelerator.backends.torch import TorchBackend
from accelerator.dump import Dump, write_dump
from accelerator.ranking import Match
from accelerator.scanner import Scanner
from accelerator.selection import Selection
from tests.accelerator.conftest import PROFILE, some_hashes, unit_rows
from tests.accelerator.making import Blocks, write_segment
from tests.accelerator.test_scanner import assert_same, brute_force

Random = np.random.Generator


def made_unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def random_rows(rows: int, dimensions: int, chance: Random) -> np.ndarray:
    return made_unit(chance.standard_normal((rows, dimensions)))


def clustered_rows(rows: int, dimensions: int, chance: Random) -> np.ndarray:
    middles = chance.standard_normal((max(1, rows // 50), dimensions))
    return made_unit(
        middles[chance.integers(0, len(middles), rows)] + 0.01 * chance.standard_normal((rows, dimensions))
    )


def equal_rows(rows: int, dimensions: int, chance: Random) -> np.ndarray:
    return np.repeat(random_rows(1, dimensions, chance), rows, axis=0)


def rows_of_other_last_bits(rows: int, dimensions: int, chance: Random) -> np.ndarray:
    return made_unit(random_rows(1, dimensions, chance) + 2e-7 * chance.standard_normal((rows, dimensions)))


def one_hot_rows(rows: int, dimensions: int, chance: Random) -> np.ndarray:
    return np.eye(dimensions, dtype=np.float32)[chance.integers(0, dimensions, rows)]


def rows_of_one_huge_coordinate(rows: int, dimensions: int, chance: Random) -> np.ndarray:
    found = chance.standard_normal((rows, dimensions))
    found[np.arange(rows), chance.integers(0, min(2, dimensions), rows)] = 400
    return made_unit(found)


def rows_hidden_in_the_tail(rows: int, dimensions: int, chance: Random) -> np.ndarray:
    """Nearly all lie in one half of the dimensions, which the head becomes, and a few in the other."""
    found = chance.standard_normal((rows, dimensions))
    found[:, dimensions // 2 :] *= 1e-3
    few = slice(None, None, 40)
    found[few] = found[few, ::-1]
    return made_unit(found)


def opposite_rows(rows: int, dimensions: int, chance: Random) -> np.ndarray:
    found = random_rows(rows, dimensions, chance)
    found[1::2] = -found[: rows // 2 * 2 : 2]
    return found


def rows_of_any_length(rows: int, dimensions: int, chance: Random) -> np.ndarray:
    return random_rows(rows, dimensions, chance) * (10.0 ** chance.uniform(-9, 9, (rows, 1))).astype(np.float32)


def rows_of_zeros_among_others(rows: int, dimensions: int, chance: Random) -> np.ndarray:
    found = rows_of_any_length(rows, dimensions, chance)
    found[::3] = 0
    return found


UNIT = (
    random_rows, clustered_rows, equal_rows, rows_of_other_last_bits, one_hot_rows, rows_of_one_huge_coordinate,
    rows_hidden_in_the_tail, opposite_rows,
)  # fmt: skip
ANY_LENGTH = (rows_of_any_length, rows_of_zeros_among_others)
KINDS: dict[str, Callable[[int, int, Random], np.ndarray]] = {kind.__name__: kind for kind in (*UNIT, *ANY_LENGTH)}
of_every_kind = pytest.mark.parametrize("kind", KINDS)


class OffBy(Backend):
    """Scores that are off by all of the error it admits: too low for the best rows, too high for the others."""

    name = "made up"

    def __init__(self, error: float) -> None:
        self.error = error

    def scores(self, block: Block, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        head = block.head.astype(np.float64) * block.head_scales[:, None]
        held = np.hstack((head, block.tail.astype(np.float64) * block.tail_scales[:, None]))
        true = queries.astype(np.float64) @ held.T
        best = true >= np.median(true, axis=1, keepdims=True)
        off = np.where(best, -self.error, self.error)
        return (true + off).astype(np.float32), np.full(len(queries), self.error, dtype=np.float32)


PLAIN = 2**40  # every segment is scored by its float32 rows
BACKENDS: dict[str, Callable[[], Backend]] = {
    "cpu": CpuBackend,
    "cpu, two threads": lambda: CpuBackend(2),
    "cpu, plain rows": lambda: CpuBackend(2, PLAIN),
    "torch on the CPU": lambda: TorchBackend("cpu"),
    "off by 0.001": lambda: OffBy(0.001),
    "off by 0.3": lambda: OffBy(0.3),
}


class Arranged:
    """Rows in two segments, a large unsealed dump and many small ones, some of all removed; searched by any engine."""

    def __init__(self, folder: Path, rows: np.ndarray, *, unit: bool = True) -> None:
        self._folder, self._unit = folder, unit
        # Sealed: 5 keys of 1/8 each in two segments. Unsealed: the rest, the last part of it in crumbs.
        cuts = np.linspace(0, len(rows), 9).astype(int)
        parts = [rows[start:end] for start, end in itertools.pairwise(cuts)]
        crumbs = np.array_split(parts[7], 5)
        self._first = {f"a{number}": part for number, part in enumerate(parts[:3])}
        self._second = {f"b{number}": part for number, part in enumerate(parts[3:5])}
        self._unsealed = {"c": np.concatenate(parts[5:7]), **{f"d{number}": part for number, part in enumerate(crumbs)}}
        sealed = [held for held in (self._first, self._second) if sum(map(len, held.values()))]
        self.segments = [write_segment(folder / f"{n}.segment", held, unit=unit) for n, held in enumerate(sealed)]
        for key, part in self._unsealed.items():
            write_dump(folder / f"{key}.dump", part, some_hashes(len(part)), profile=PROFILE, normalised=unit)
        self.blocks: Blocks = {**self._first, **self._second, **self._unsealed}

    def scanner(self, backend: Backend | None = None, without: tuple[str, ...] = ()) -> Scanner:
        scanner = Scanner(next(iter(self.blocks.values())).shape[1], backend)
        for segment in self.segments:
            scanner.attach(segment)
        for key in self._unsealed:
            scanner.add(key, Dump.open(self._folder / f"{key}.dump"))
        for key in without:
            scanner.remove(key)
        return scanner

    def left(self, without: tuple[str, ...]) -> Blocks:
        return {key: rows for key, rows in self.blocks.items() if key not in without}


def queries_for(arranged: Arranged, rows: np.ndarray, chance: Random) -> list[np.ndarray]:
    """A chance one, a row, its negative, and ones of nothing in head or tail of a segment."""
    dimensions = rows.shape[1]
    queries = [chance.standard_normal(dimensions)]
    full = rows[np.abs(rows).max(axis=1) > 0]
    if len(full):
        queries += [full[len(full) // 2], -full[0]]
    for segment in arranged.segments[:1]:
        width = segment.block.head.shape[1]
        for part in (segment.axes[:width], segment.axes[width:]):
            if len(part):
                queries.append(chance.standard_normal(len(part)) @ part)
    return [np.asarray(query, dtype=np.float32) for query in queries]


SHAPES = [
    (1, 1), (97, 1), (3, 3), (256, 3), (97, 17), (4097, 17), (1, 48), (3, 48), (256, 48), (4097, 48), (97, 384),
    (256, 384),
]  # fmt: skip


@of_every_kind
@pytest.mark.parametrize(("count", "dimensions"), SHAPES, ids=[f"{rows} x {width}" for rows, width in SHAPES])
def test_equals_brute_force(tmp_path: Path, kind: str, dimensions: int, count: int) -> None:
    chance = np.random.default_rng([count, dimensions])
    rows = KINDS[kind](count, dimensions, chance)
    arranged = Arranged(tmp_path, rows, unit=KINDS[kind] in UNIT)
    staged, plain = arranged.scanner(), arranged.scanner(CpuBackend(1, PLAIN))
    for number, query in enumerate(queries_for(arranged, rows, chance)):
        k = (10, 1, 100, 37, count + 5)[number % 5]
        expected = brute_force(arranged.blocks, query, k)
        assert_same(staged.search(query, k, mode="exact"), expected)
        assert_same(plain.search(query, k, mode="exact"), expected)


@pytest.mark.parametrize(
    ("kind", "dimensions"),
    [
        ("random_rows", 384), ("clustered_rows", 48), ("equal_rows", 17), ("rows_of_other_last_bits", 48),
        ("rows_hidden_in_the_tail", 48),
    ],
)  # fmt: skip
def test_equals_brute_force_in_many_rows(tmp_path: Path, kind: str, dimensions: int) -> None:
    chance = np.random.default_rng(3)
    rows = KINDS[kind](16_385, dimensions, chance)
    blocks = {"a": rows[:9000], "b": rows[9000:]}
    segment = write_segment(tmp_path / "a.segment", blocks)
    scanners = Scanner(dimensions), Scanner(dimensions, CpuBackend(2, PLAIN))
    last = segment.axes[-(dimensions // 2) :]
    for scanner in scanners:
        scanner.attach(segment)
    for query in (rows[77], -rows[78], (chance.standard_normal(len(last)) @ last).astype(np.float32)):
        expected = brute_force(blocks, query, 10)
        for scanner in scanners:
            assert_same(scanner.search(query, 10, mode="exact"), expected)


def test_plain_rows_are_read_where_they_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = unit_rows(100, 16)
    segment = write_segment(tmp_path / "a.segment", {"a": rows})
    monkeypatch.setattr(CpuBackend, "part", None)  # whoever reads the 8 bits calls it
    for enough in (True, False):
        scanner = Scanner(16, CpuBackend(1, rows.nbytes - (not enough)))
        scanner.attach(segment)
        if enough:
            assert [match.row for match in scanner.search(rows[5], 1)] == [5]
        else:
            with pytest.raises(TypeError):
                scanner.search(rows[5], 1)


def test_rows_orthogonal_in_the_head_and_equal_in_the_tail(tmp_path: Path) -> None:
    """All that the head tells is wrong: the best rows have a score of nothing there, and many others a good one."""
    chance = np.random.default_rng(4)
    base = rows_hidden_in_the_tail(8000, 48, chance)
    axes = write_segment(tmp_path / "base.segment", {"base": base}).axes
    query = np.concatenate((0.4 * random_rows(1, 24, chance)[0], 0.9 * random_rows(1, 24, chance)[0]))
    beside = chance.standard_normal((30, 24))
    beside -= np.outer(beside @ query[:24], query[:24]) / (query[:24] @ query[:24])
    adverse = np.hstack((0.3 * made_unit(beside), np.repeat(query[None, 24:], 30, axis=0)))
    blocks = {"base": base, "adverse": made_unit(adverse @ axes)}
    scanner, asked = Scanner(48), (query @ axes).astype(np.float32)
    scanner.attach(write_segment(tmp_path / "both.segment", blocks))
    found = scanner.search(asked, 20, mode="exact")
    assert_same(found, brute_force(blocks, asked, 20))
    assert {match.key for match in found} == {"adverse"}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_equals_brute_force_whatever_the_rows(tmp_path: Path, data: st.DataObject) -> None:
    dimensions, count = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 60))
    numbers = st.integers(-3, 3).map(float)  # of few values, so that there are ties
    cells = data.draw(st.lists(numbers, min_size=dimensions * count, max_size=dimensions * count))
    rows = np.array(cells, dtype=np.float32).reshape(count, dimensions)
    keys = data.draw(st.integers(1, 4))
    blocks = dict(zip("abcd", np.array_split(rows, keys), strict=False))
    scanner = Scanner(dimensions)
    scanner.attach(write_segment(tmp_path / "a.segment", blocks, unit=False))
    for key in data.draw(st.sets(st.sampled_from(sorted(blocks)))):
        scanner.remove(key)
        del blocks[key]
    query = rows[0] if rows[0].any() else np.ones(dimensions, dtype=np.float32)
    k = data.draw(st.integers(1, count + 2))
    assert_same(scanner.search(query, k, mode="exact"), brute_force(blocks, query, k))


@pytest.fixture(scope="module", params=KINDS)
def answered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Arranged, list[np.ndarray], list[list[Match]]]:
    """Rows of a kind, questions and their answers."""
    chance = np.random.default_rng(5)
    rows = KINDS[request.param](3000, 48, chance)
    arranged = Arranged(tmp_path_factory.mktemp("answered"), rows, unit=KINDS[request.param] in UNIT)
    queries = queries_for(arranged, rows, chance)
    return arranged, queries, [brute_force(arranged.blocks, query, 12) for query in queries]


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_engine_finds_the_same_one_by_one_and_together(
    answered: tuple[Arranged, list[np.ndarray], list[list[Match]]], backend: str
) -> None:
    arranged, queries, expected = answered
    scanner = arranged.scanner(BACKENDS[backend]())
    together = scanner.search_many(np.stack(queries), 12, mode="exact")
    for query, many, best in zip(queries, together, expected, strict=True):
        assert_same(many, best)
        assert_same(scanner.search(query, 12, mode="exact"), best)
    assert scanner.note == ""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("k", [10, 2000, 10_000], ids=str)
def test_removed_halves(tmp_path: Path, backend: str, k: int) -> None:
    without = ("a0", "a2", "b1", "d1", "d3")
    rows = random_rows(5000, 48, np.random.default_rng(6))
    arranged = Arranged(tmp_path, rows)
    scanner = arranged.scanner(BACKENDS[backend](), without)
    for query in (rows[0], rows[4999], -rows[1300]):  # a removed row is the nearest to the first
        expected = brute_force(arranged.left(without), query, k)
        assert_same(scanner.search(query, k, mode="exact"), expected)
        assert_same(scanner.search_many(query[None], k, mode="exact")[0], expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("k", [5, 3000], ids=str)
@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_within_a_selection(tmp_path: Path, backend: str, k: int, mode: scanner_module.Mode) -> None:
    rows = random_rows(6000, 48, np.random.default_rng(7))
    arranged = Arranged(tmp_path, rows)
    scanner = arranged.scanner(BACKENDS[backend](), ("a2",))
    wanted = {"a0": None, "a1": [range(100, 700)], "a2": None, "b0": [5, 9, range(40, 44)], "c": None, "d2": [0]}
    selection, query = Selection(wanted), rows[1600]
    expected = picked(brute_force(arranged.left(("a2",)), query, len(rows)), wanted)
    for _ in range(2):  # what a selection keeps of a segment is used again
        found = scanner.search(query, k, mode=mode, within=selection)
        assert set(found) <= set(expected)
        if mode == "exact":
            assert_same(found, expected[:k])
            assert_same(scanner.search_many(query[None], k, mode=mode, within=selection)[0], expected[:k])


def picked(matches: list[Match], wanted: dict[str, list[int | range] | None]) -> list[Match]:
    def is_wanted(match: Match) -> bool:
        rows = wanted.get(match.key, [])
        return rows is None or any(match.row in item if isinstance(item, range) else match.row == item for item in rows)

    return [match for match in matches if is_wanted(match)]


def test_many_questions_are_what_single_ones_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner_module, "_SCORES", 40_000)  # in several passes
    rows = clustered_rows(6000, 48, np.random.default_rng(8))
    arranged = Arranged(tmp_path, rows)
    scanner, queries = arranged.scanner(without=("a1",)), unit_rows(25, 48, seed=9)
    together = scanner.search_many(queries, 7, mode="exact")
    assert len(together) == 25
    for query, found in zip(queries, together, strict=True):
        assert_same(found, brute_force(arranged.left(("a1",)), query, 7))
    assert scanner.search_many(queries[:0], 7) == []
    with pytest.raises(ValueError, match="zero"):
        scanner.search_many(np.zeros((2, 48), dtype=np.float32), 7)


def test_nothing_and_nothing_left(tmp_path: Path) -> None:
    scanner, queries = Scanner(48), unit_rows(2, 48)
    assert scanner.search_many(queries, 3) == [[], []]
    scanner.attach(write_segment(tmp_path / "a.segment", {"a": unit_rows(5, 48), "none": unit_rows(0, 48)}))
    assert scanner.keys() == {"a", "none"}
    scanner.remove("a")
    for mode in ("exact", "fast", "auto"):
        assert scanner.search(queries[0], 3, mode=mode) == []
        assert scanner.search(queries[0], 3, mode=mode, within=Selection(dict.fromkeys(["a"]))) == []
        assert scanner.search_many(queries, 3, mode=mode) == [[], []]
    assert (len(scanner), scanner.keys()) == (0, {"none"})


@pytest.mark.parametrize("kind", ["clustered_rows", "random_rows"])
@pytest.mark.parametrize("backend", ["cpu", "torch on the CPU"])
def test_fast_finds_nearly_all_and_nothing_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, backend: str
) -> None:
    monkeypatch.setattr(segment_search, "_FAST_ROWS", 4096)  # as if there were many more
    chance = np.random.default_rng(10)
    rows = KINDS[kind](20_000, 48, chance)
    parts = {f"{number:02}": part for number, part in enumerate(np.array_split(rows, 40))}
    scanner = Scanner(48, BACKENDS[backend]())
    scanner.attach(write_segment(tmp_path / "a.segment", parts))
    for key in list(parts)[::4]:
        scanner.remove(key)
        del parts[key]
    found, wanted = 0, 0
    for number in range(30):
        query = rows[number * 500] + 0.02 * chance.standard_normal(48).astype(np.float32)
        best = scanner.search(query, 10, mode="fast")
        exact = scanner.search(query, 10, mode="exact")
        assert len(best) == 10
        assert {match.key for match in best} <= set(parts)
        found += sum(match.score >= exact[-1].score for match in best)
        wanted += 10
    if kind == "clustered_rows":  # others have no near neighbours to be found among
        assert found >= 0.95 * wanted


def test_fast_finds_others_where_all_that_is_near_was_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_search, "_FAST_ROWS", 500)
    near = unit_rows(1, 16) + 0.01 * unit_rows(2000, 16, seed=1)
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    scanner = Scanner(16)
    scanner.attach(write_segment(tmp_path / "a.segment", {"near": near, "far": -near}))
    assert {match.key for match in scanner.search(near[0], 10, mode="fast")} == {"near"}
    scanner.remove("near")
    assert [match.key for match in scanner.search(near[0], 10, mode="fast")] == ["far"] * 10


def test_fast_looks_at_more_where_more_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_search, "_FAST_ROWS", 100)
    rows = unit_rows(8000, 16)
    scanner = Scanner(16)
    scanner.attach(write_segment(tmp_path / "a.segment", {"a": rows}))
    exact = scanner.search(rows[5], 100, mode="exact")
    fast = scanner.search(rows[5], 100, mode="fast")
    assert len({match.row for match in fast} & {match.row for match in exact}) >= 95


def test_auto_is_fast_above_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    find = segment_search._Staged.find

    def noted(self: segment_search._Staged, fast: bool, floor: float) -> segment_search.Candidates:
        asked.append(fast)
        return find(self, fast, floor)

    monkeypatch.setattr(segment_search._Staged, "find", noted)
    monkeypatch.setattr(scanner_module, "FAST_ROWS", 200)
    scanner = Scanner(48)
    scanner.attach(write_segment(tmp_path / "a.segment", {"a": unit_rows(199, 48)}))
    scanner.search(unit_rows(1, 48)[0], 3)
    scanner.attach(write_segment(tmp_path / "b.segment", {"b": unit_rows(1, 48)}))
    scanner.search(unit_rows(1, 48)[0], 3)
    scanner.search(unit_rows(1, 48)[0], 3, mode="exact")
    assert asked == [False, True, True, False, False]


class Whole(Backend):
    """The CPU's scores for whole blocks, and something that is done before each."""

    name = "made up"

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def scores(self, block: Block, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self._act()
        return CpuBackend().scores(block, queries)

    def forget(self, digest: str) -> None:
        raise BackendUnavailable(f"{digest} cannot be forgotten")


def fail_after(works: int) -> Whole:
    left = [works]

    def act() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise BackendUnavailable("the card was lost")

    return Whole(act)


@pytest.mark.parametrize("works", [0, 1, 2])
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_an_engine_that_fails_is_replaced_with_a_note(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, works: int, many: bool
) -> None:
    rows = random_rows(3000, 48, np.random.default_rng(11))
    arranged = Arranged(tmp_path, rows)
    scanner = arranged.scanner(fail_after(works))
    for query in (rows[5], -rows[6]):
        found = scanner.search_many(query[None], 9)[0] if many else scanner.search(query, 9)
        assert_same(found, brute_force(arranged.blocks, query, 9))
    assert scanner.note == "The backend made up failed (the card was lost). The CPU searches in its place."
    assert scanner.note in caplog.text
    assert isinstance(scanner.backend, CpuBackend)


def test_an_engine_that_cannot_forget_keeps_nothing_from_happening(tmp_path: Path) -> None:
    rows = random_rows(3000, 48, np.random.default_rng(11))
    arranged = Arranged(tmp_path, rows)
    scanner = arranged.scanner(Whole(lambda: None))
    merged = write_segment(tmp_path / "merged", {**arranged._first, **arranged._second})
    scanner.replace(arranged.segments, merged, {})
    assert [sealed.segment for sealed in scanner.sealed()] == [merged]
    assert_same(scanner.search(rows[3], 9), brute_force(arranged.blocks, rows[3], 9))
    scanner.detach(merged)
    assert scanner.sealed() == ()


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_what_is_removed_amid_a_search_is_not_returned(tmp_path: Path, many: bool) -> None:
    rows = random_rows(3000, 48, np.random.default_rng(12))
    arranged = Arranged(tmp_path, rows)
    gone = iter(["a0", "c", "d3"])
    scanner = arranged.scanner(Whole(lambda: scanner.remove(next(gone, "unknown"))))
    query = rows[0]  # of a0
    found = scanner.search_many(query[None], 500)[0] if many else scanner.search(query, 500)
    assert not {match.key for match in found} & {"a0", "c", "d3"} - set(gone)
    assert_same(found, brute_force(arranged.left(("a0", "c", "d3")), query, 500))


def test_what_is_replaced_amid_a_search_is_not_returned_as_it_was(tmp_path: Path) -> None:
    rows = random_rows(3000, 48, np.random.default_rng(13))
    arranged = Arranged(tmp_path, rows)
    write_dump(tmp_path / "new.dump", rows[-2:], some_hashes(2), profile=PROFILE)
    new = Dump.open(tmp_path / "new.dump")
    once = iter([lambda: scanner.add("a0", new)])
    scanner = arranged.scanner(Whole(lambda: next(once, lambda: None)()))
    found = scanner.search(rows[0], 500)
    assert_same(found, brute_force({**arranged.blocks, "a0": rows[-2:]}, rows[0], 500))


def test_many_threads_search_at_once(tmp_path: Path) -> None:
    """What searches write into is each thread's own."""
    rows = clustered_rows(9000, 48, np.random.default_rng(14))
    arranged = Arranged(tmp_path, rows)
    scanner, faults = arranged.scanner(), []
    queries = [rows[number] for number in range(0, 9000, 1500)]
    expected = [brute_force(arranged.blocks, query, 15) for query in queries]

    def look(first: int) -> None:
        for turn in range(60):
            number = (first + turn) % len(queries)
            found = scanner.search(queries[number], 15, mode="exact")
            if [(match.key, match.row) for match in found] != [(match.key, match.row) for match in expected[number]]:
                faults.append(number)

    threads = [threading.Thread(target=look, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
