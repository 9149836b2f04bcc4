"""A folder of segments: what is compacted when, what a restart finds, and what damage and removals amid it cost."""

from __future__ import annotations

import errno
import json
import logging
import os
import resource
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from accelerator import segments as segments_module
from accelerator.atomic import work_path
from accelerator.dump import Dump, write_dump
from accelerator.errors import DumpCorrupt
from accelerator.scanner import Scanner
from accelerator.segments import COMPACT_ROWS, Segments
from tests.accelerator.conftest import PROFILE, some_hashes, unit_rows
from tests.accelerator.making import Meddling, Shelf, overwrite, write_segment
from tests.accelerator.test_scanner import brute_force, query_of


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def filled(shelf: Shelf, *keys: str, rows: int = 300) -> Shelf:
    for key in keys:
        shelf.add(key, unit_rows(rows, 48, seed=sum(key.encode())))
    return shelf


def only_segment(shelf: Shelf) -> Path:
    (path,) = (shelf.folder / "segments").glob("*.segment")
    return path


def manifest(shelf: Shelf) -> Path:
    return shelf.folder / "segments" / "manifest.json"


def rewrite_manifest(shelf: Shelf, change: Callable[[dict], object]) -> None:
    """With a checksum that fits."""
    content = json.loads(manifest(shelf).read_bytes().partition(b"\n")[2])
    body = json.dumps(change(content) or content).encode()
    manifest(shelf).write_bytes(f"{zlib.crc32(body):08x}\n".encode() + body)


def test_dumps_become_a_segment_and_are_found_in_it(shelf: Shelf) -> None:
    filled(shelf, "a", "b", "c")
    assert shelf.compact()
    assert shelf.files() == ["00000001.segment", "manifest.json"]
    assert shelf.scanner.unsealed() == {}
    assert shelf.scanner.keys() == {"a", "b", "c"}
    assert len(shelf.scanner) == 900
    shelf.check()


def test_a_restart_finds_them_again(shelf: Shelf) -> None:
    filled(shelf, "a", "b", "c").compact()
    filled(shelf, "d")
    assert shelf.open() == {"a", "b", "c"}
    assert set(shelf.scanner.unsealed()) == {"d"}
    shelf.check()


def test_nothing_to_gather(shelf: Shelf) -> None:
    assert not shelf.segments.due()
    assert not shelf.compact()
    shelf.add("empty", unit_rows(0, 48))
    shelf.compact()
    assert shelf.scanner.keys() == {"empty"}
    assert shelf.open() in (set(), {"empty"})
    assert shelf.scanner.keys() == {"empty"}


def test_due_when_there_is_enough(shelf: Shelf) -> None:
    shelf.add("a", unit_rows(COMPACT_ROWS - 1, 48))
    assert not shelf.segments.due()
    shelf.add("b", unit_rows(1, 48))
    assert shelf.segments.due()
    shelf.compact()
    assert not shelf.segments.due()


def test_small_segments_become_greater_ones_and_great_ones_stay(shelf: Shelf) -> None:
    filled(shelf, "a", rows=2000).compact()
    filled(shelf, "b", rows=300).compact()
    assert len(shelf.scanner.sealed()) == 2
    filled(shelf, "c", rows=200).compact()
    assert sorted(map(len, shelf.scanner.sealed())) == [500, 2000]
    filled(shelf, "d", rows=900).compact()
    assert sorted(map(len, shelf.scanner.sealed())) == [3400]
    assert shelf.files() == ["00000004.segment", "manifest.json"]
    shelf.check()
    assert shelf.open() == {"a", "b", "c", "d"}
    shelf.check()


def test_a_segment_of_which_much_was_removed_is_written_anew(shelf: Shelf) -> None:
    filled(shelf, *"abcdefgh").compact()
    for key in "abc":
        shelf.remove(key)
    assert shelf.segments.due()
    assert shelf.compact()
    (sealed,) = shelf.scanner.sealed()
    assert (len(sealed.segment), sealed.dead) == (1500, None)
    assert not shelf.segments.due()
    shelf.check()


def test_a_segment_of_which_all_was_removed_goes(shelf: Shelf) -> None:
    filled(shelf, "a", "b").compact()
    shelf.remove("a")
    shelf.remove("b")
    shelf.check()
    shelf.compact()
    assert shelf.scanner.sealed() == ()
    assert shelf.files() == ["manifest.json"]
    assert shelf.open() == set()


def test_keys_without_rows_outlast_the_others_of_their_segment(shelf: Shelf) -> None:
    shelf.add("empty", unit_rows(0, 48))
    filled(shelf, "a").compact()
    shelf.remove("a")
    shelf.compact()
    assert shelf.scanner.keys() == {"empty"}


def test_removed_keys_stay_so(shelf: Shelf) -> None:
    filled(shelf, *"abcdefgh").compact()
    generations = dict(shelf.generations)
    shelf.remove("c")
    shelf.check()
    shelf.segments.tombstone(["c", "unknown"])
    shelf.generations = generations  # as if it were wanted still
    assert shelf.open() == set("abdefgh")


def test_an_added_again_key_is_its_new_dump(shelf: Shelf) -> None:
    filled(shelf, *"abcdefgh").compact()
    shelf.add("c", unit_rows(40, 48, seed=77))
    shelf.check()
    assert shelf.open() == set("abdefgh")
    shelf.check()
    shelf.compact()
    shelf.check()
    assert shelf.open() == set("abcdefgh")
    assert shelf.scanner.unsealed() == {}
    shelf.check()


def test_other_generations_are_left(shelf: Shelf) -> None:
    filled(shelf, "a", "b").compact()
    shelf.generations["a"] = 5
    assert shelf.open() == {"b"}
    shelf.check()


def test_keys_that_are_not_asked_for_are_not_gathered(shelf: Shelf) -> None:
    filled(shelf, "a", "b")
    assert shelf.segments.compact(lambda: {"a": 1})
    assert set(shelf.scanner.unsealed()) == {"b"}
    shelf.check()


def test_two_segments_that_claim_a_key(shelf: Shelf) -> None:
    filled(shelf, "a", "b").compact()
    other = write_segment(shelf.folder / "segments" / "00000009.segment", {"b": shelf.blocks["b"]})
    rewrite_manifest(shelf, lambda content: content["segments"].append({"file": other.path.name, "removed": []}))
    assert shelf.open() == {"a", "b"}
    assert len(shelf.scanner) == 600
    shelf.check()
    shelf.remove("b")
    shelf.check()


# Damage


@pytest.mark.parametrize("place", [0, 5, 9, 30, -1])
def test_a_flipped_bit_of_the_manifest(shelf: Shelf, caplog: pytest.LogCaptureFixture, place: int) -> None:
    filled(shelf, "a").compact()
    data = bytearray(manifest(shelf).read_bytes())
    data[place] ^= 4
    manifest(shelf).write_bytes(data)
    assert shelf.open() == set()
    assert "manifest of the segments cannot be used" in caplog.text
    shelf.check()
    assert shelf.compact()
    assert shelf.open() == {"a"}


@pytest.mark.parametrize("length", [0, 4, 8, 9, 20])
def test_a_manifest_cut_short(shelf: Shelf, length: int) -> None:
    filled(shelf, "a").compact()
    os.truncate(manifest(shelf), length)
    assert shelf.open() == set()
    shelf.check()
    assert shelf.compact()


@pytest.mark.parametrize(
    "content",
    [
        [], 3, None, {}, {"version": 1}, {"version": 1, "profile": PROFILE, "segments": 3},
        {"version": 1, "profile": PROFILE, "segments": [3]}, {"version": 1, "profile": PROFILE, "segments": [{}]},
        {"version": 1, "profile": PROFILE, "segments": [{"file": 3, "removed": []}]},
        {"version": 1, "profile": PROFILE, "segments": [{"file": "", "removed": []}]},
        {"version": 1, "profile": PROFILE, "segments": [{"file": "..", "removed": []}]},
        {"version": 1, "profile": PROFILE, "segments": [{"file": "a\0b", "removed": []}]},
        {"version": 1, "profile": PROFILE, "segments": [{"file": "absent.segment", "removed": []}]},
        {"version": 1, "profile": PROFILE, "segments": [{"file": "00000001.segment", "removed": [[]]}]},
        {"version": 2, "profile": PROFILE, "segments": []},
    ],
    ids=lambda content: str(content)[-42:],
)  # fmt: skip
def test_manifests_that_make_no_sense_though_their_checksum_fits(shelf: Shelf, content: object) -> None:
    filled(shelf, "a").compact()
    body = json.dumps(content).encode()
    manifest(shelf).write_bytes(f"{zlib.crc32(body):08x}\n".encode() + body)
    assert shelf.open() == set()
    shelf.check()
    assert shelf.compact()
    assert shelf.open() == {"a"}


def test_a_manifest_reaches_no_other_folder(shelf: Shelf) -> None:
    filled(shelf, "a").compact()
    outside = shelf.folder / "outside.segment"
    only_segment(shelf).rename(outside)
    for name in ("../outside.segment", str(outside)):
        rewrite_manifest(shelf, lambda content, name=name: content["segments"][0].update(file=name))
        assert shelf.open() == set()
        assert outside.exists()
        rewrite_manifest(shelf, lambda content: content["segments"].append({"file": "00000001.segment", "removed": []}))


def test_a_manifest_in_whose_place_is_a_folder(shelf: Shelf) -> None:
    filled(shelf, "a").compact()
    manifest(shelf).unlink()
    manifest(shelf).mkdir()
    assert shelf.open() == set()
    shelf.check()


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def lengthened(path: Path) -> None:
    os.truncate(path, path.stat().st_size + 1)


def overwritten(path: Path) -> None:
    path.write_bytes(b"\x89ANOTHER" + path.read_bytes()[8:])


def gone(path: Path) -> None:
    path.unlink()


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "file").touch()


def made_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def of_another_profile(path: Path) -> None:
    write_segment(path, {"a": unit_rows(5, 48)}, profile="another")


def of_other_dimensions(path: Path) -> None:
    write_segment(path, {"a": unit_rows(5, 24)})


@pytest.mark.parametrize(
    "damage",
    [
        emptied, cut, lengthened, overwritten, gone, made_a_folder, made_a_pipe, of_another_profile,
        of_other_dimensions,
    ],
)  # fmt: skip
def test_a_segment_that_cannot_be_used_is_compacted_anew(
    shelf: Shelf, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    filled(shelf, "a", "b").compact()
    damage(only_segment(shelf))
    assert shelf.open() == set()
    assert "cannot be used" in caplog.text
    shelf.check()
    assert shelf.compact()
    assert shelf.open() == {"a", "b"}
    assert len(shelf.files()) == 2
    shelf.check()


@pytest.mark.parametrize("name", ["rows", "hashes", "head", "places", "axes"])
def test_a_damaged_segment_is_named_dropped_and_compacted_from_the_dumps(shelf: Shelf, name: str) -> None:
    filled(shelf, *"abcdefgh").compact()
    shelf.remove("h")
    (sealed,) = shelf.scanner.sealed()
    assert list(shelf.segments.damaged()) == []
    overwrite(sealed.segment, name, 40, b"\x55\xaa\x55\xaa")
    ((segment, fault),) = shelf.segments.damaged()
    assert segment is sealed.segment
    assert f"has {name} that do not fit their checksum" in fault
    assert shelf.segments.drop(segment) == set("abcdefg")
    assert shelf.files() == ["manifest.json"]
    for key in "abcdefg":
        shelf.scanner.add(key, Dump.open(shelf.dump_path(key)))
    shelf.check()
    assert shelf.compact()
    assert shelf.open() == set("abcdefg")


@pytest.mark.parametrize("name", ["rows", "hashes"])
@pytest.mark.parametrize("value", [b"\x01\x02\x03", np.float32(np.nan).tobytes()], ids=["flipped", "NaN"])
def test_damage_is_not_compacted_into_a_sound_file(shelf: Shelf, name: str, value: bytes) -> None:
    filled(shelf, "a").compact()
    overwrite(shelf.scanner.sealed()[0].segment, name, 4, value)
    filled(shelf, "b", rows=500)
    with pytest.raises(DumpCorrupt, match=name):
        shelf.compact()
    assert [fault for _, fault in shelf.segments.damaged()]
    assert shelf.files() == ["00000001.segment", "manifest.json"]
    assert set(shelf.scanner.unsealed()) == {"b"}


def test_leftovers_are_cleared(shelf: Shelf) -> None:
    filled(shelf, "a").compact()
    folder = shelf.folder / "segments"
    work_path(folder / "x").write_bytes(b"half")
    (folder / "00000077.segment").write_bytes(b"never named")
    (folder / "stray.segment").write_bytes(b"never named")
    (folder / "²³.segment").write_bytes(b"no number")
    assert shelf.open() == {"a"}
    assert shelf.files() == ["00000001.segment", "manifest.json"]
    filled(shelf, "b").compact()
    shelf.check()
    assert shelf.open() == {"a", "b"}


def test_another_profile_finds_nothing(shelf: Shelf) -> None:
    filled(shelf, "a").compact()
    scanner = Scanner(48)
    assert Segments(shelf.folder / "segments", scanner, "other", shelf.dump_path).load({"a": 1}) == set()
    assert shelf.files() == ["manifest.json"]


# Dumps that are not what they were


def test_a_damaged_dump_is_left_and_keeps_no_other_back(shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    filled(shelf, "a", "b")
    data = bytearray(shelf.dump_path("b").read_bytes())
    data[100] ^= 1
    shelf.dump_path("b").write_bytes(data)
    assert shelf.compact()
    assert set(shelf.scanner.unsealed()) == {"b"}
    assert "A dump is not compacted" in caplog.text


@pytest.mark.parametrize("damage", [emptied, cut, lengthened, overwritten, gone, made_a_folder, made_a_pipe])
def test_a_dump_that_cannot_be_opened_is_not_gathered(shelf: Shelf, damage: Callable[[Path], None]) -> None:
    filled(shelf, "a", "b")
    damage(shelf.dump_path("b"))
    assert shelf.compact()
    assert set(shelf.scanner.unsealed()) == {"b"}
    shelf.check()


def test_a_dump_that_was_replaced_meanwhile_is_not_gathered(shelf: Shelf) -> None:
    filled(shelf, "a", "b")
    write_dump(shelf.dump_path("b"), unit_rows(300, 48, seed=99), some_hashes(300), profile=PROFILE)
    assert shelf.compact()
    assert set(shelf.scanner.unsealed()) == {"b"}
    shelf.check()


def test_version_1_and_short_hashes(shelf: Shelf) -> None:
    filled(shelf, "a")
    rows = unit_rows(30, 48, seed=4)
    head = np.array([30, 8, 48 * 4, 48], dtype="<u4").tobytes()
    shelf.dump_path("old").write_bytes(head + rows.tobytes() + bytes(30 * 8))
    shelf.scanner.add("old", Dump.open(shelf.dump_path("old")))
    shelf.blocks["old"], shelf.generations["old"] = rows, 1
    assert shelf.compact()
    shelf.check()


def test_rows_of_any_length(shelf: Shelf) -> None:
    rows = unit_rows(1500, 48) * (10.0 ** np.random.default_rng(0).uniform(-9, 9, (1500, 1))).astype(np.float32)
    rows[::5] = 0
    shelf.add("a", rows, normalised=False)
    filled(shelf, "b").compact()
    shelf.check(k=1700)
    filled(shelf, "c", rows=2500).compact()
    shelf.check(k=100)


# Removals, additions and stops amid a compaction


@pytest.mark.parametrize("at", [1, 2, 4])
def test_what_is_removed_amid_a_gathering_stays_removed(shelf: Shelf, at: int) -> None:
    filled(shelf, "a", "b", "c").compact()
    filled(shelf, "d", "e")

    def act() -> None:
        for key in "be":
            shelf.remove(key)
        shelf.check()

    assert shelf.compact(stopped=Meddling(act, at))
    assert shelf.scanner.keys() == {"a", "c", "d"}
    shelf.check(k=1000)
    assert shelf.open() == {"a", "c", "d"}
    shelf.check(k=1000)


@pytest.mark.parametrize("at", [1, 2, 4])
def test_what_is_added_again_amid_a_gathering_is_found_as_it_is_now(shelf: Shelf, at: int) -> None:
    filled(shelf, "a", "b").compact()
    filled(shelf, "c", "d")

    def act() -> None:
        for key in "ac":
            shelf.add(key, unit_rows(20, 48, seed=55))
        shelf.add("new", unit_rows(9, 48, seed=56))

    assert shelf.compact(stopped=Meddling(act, at))
    assert set(shelf.scanner.unsealed()) == {"a", "c", "new"}
    shelf.check(k=1000)
    assert shelf.open() == {"b", "d"}
    shelf.check(k=1000)


def test_what_is_removed_while_generations_are_asked_for(shelf: Shelf) -> None:
    filled(shelf, "a", "b")

    def generations() -> dict[str, int]:
        found = dict(shelf.generations)
        shelf.remove("b")
        return found

    assert shelf.segments.compact(generations)
    assert shelf.scanner.keys() == {"a"}
    shelf.check()


def test_the_same_dump_added_again_amid_a_gathering_is_found_once(shelf: Shelf) -> None:
    filled(shelf, "a", "b")
    assert shelf.compact(stopped=Meddling(lambda: filled(shelf, "a"), 2))
    assert len(shelf.scanner) == 600
    shelf.check()
    shelf.open()  # of another generation: its dump is
    shelf.check()


def test_a_stopped_gathering_changes_nothing(shelf: Shelf) -> None:
    filled(shelf, "a", "b")
    before = shelf.files()
    for calls in (0, 1, 3):
        left = iter([False] * calls)
        assert not shelf.compact(stopped=lambda left=left: next(left, True))
        assert shelf.files() == before
        assert set(shelf.scanner.unsealed()) == {"a", "b"}
    assert shelf.compact()


def test_no_room(shelf: Shelf) -> None:
    filled(shelf, "a", "b")
    for room in (-1, 0, 100_000):
        assert not shelf.compact(free_bytes=room)
    assert shelf.files() == []
    assert shelf.compact(free_bytes=2**20)
    assert only_segment(shelf).stat().st_size < 2**20


@pytest.mark.parametrize("fails", ["compact", "write_atomically"])
def test_a_disk_that_fails_changes_no_answer(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    filled(shelf, "a", "b").compact()
    filled(shelf, "c", "d")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(segments_module, fails, fail)
        with pytest.raises(OSError, match="No space"):
            shelf.compact()
    shelf.check()
    assert shelf.open() >= {"a", "b"}
    shelf.check()
    shelf.compact()
    assert shelf.open() == set("abcd")
    shelf.check()


def test_a_folder_that_went_away(shelf: Shelf) -> None:
    filled(shelf, "a").compact()
    only_segment(shelf).unlink()
    manifest(shelf).unlink()
    (shelf.folder / "segments").rmdir()
    shelf.check()
    filled(shelf, "b").compact()
    shelf.check()
    assert shelf.open() == {"a", "b"}


# Many


def test_thousands_of_dumps_hold_no_descriptors(shelf: Shelf) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    Dump.open(filled(shelf, "first", rows=1).dump_path("first"))  # raises the limit, once a process
    raised = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + 40, hard))
        hashes, rows = some_hashes(2), unit_rows(2, 48, seed=3)
        for number in range(1500):
            key = f"k{number:04}"
            shelf.blocks[key], shelf.generations[key] = rows, 1
            if number < 3:
                write_dump(shelf.dump_path(key), rows, hashes, profile=PROFILE)
            else:
                os.link(shelf.dump_path("k0000"), shelf.dump_path(key))
            shelf.scanner.add(key, Dump.open(shelf.dump_path(key)))
        assert shelf.compact()
        shelf.open()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, raised[0]), hard))
    assert len(shelf.scanner) == 3001
    shelf.check(k=5, queries=1)


def test_gathering_beside_searches_additions_and_removals(shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    """What is always there is always found, what is gone is not, and every row is found under its own name."""
    caplog.set_level(logging.ERROR)
    filled(shelf, "steady", rows=600)
    steady, stop, faults = {"steady": shelf.blocks["steady"]}, threading.Event(), []
    expected = brute_force(steady, query_of(2), 5)

    def guarded(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                while not stop.is_set():
                    work()
            except Exception as error:  # noqa: BLE001
                faults.append(error)

        return run

    def look() -> None:
        found = [match for match in shelf.scanner.search(query_of(2), 4000) if match.key == "steady"][:5]
        if [(match.key, match.row) for match in found] != [(match.key, match.row) for match in expected]:
            faults.append(found)

    def churn() -> None:
        for number in range(6):
            key = f"c{number}"
            shelf.add(key, unit_rows(100 + 50 * number, 48, seed=number))
            if number % 2:
                shelf.remove(key)
                if key in {match.key for match in shelf.scanner.search(query_of(3), 4000)}:
                    faults.append(key)

    def compact() -> None:
        shelf.compact()
        shelf.segments.tombstone(["c1", "c3"])
        time.sleep(0.01)

    threads = [threading.Thread(target=guarded(work)) for work in (look, look, churn, compact)]
    for thread in threads:
        thread.start()
    time.sleep(1.5)
    stop.set()
    for thread in threads:
        thread.join()
    assert faults == []
    shelf.check()
    shelf.open()
    shelf.check()
