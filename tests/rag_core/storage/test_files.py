"""Originals in every store that there is: what each promises, and what a bucket adds to it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from rag_core import Settings
from rag_core.errors import ConfigurationError, StoreUnavailable
from rag_core.storage.blobs import Blob, Blobs, originals
from rag_core.storage.blobs import s3 as s3_module
from rag_core.storage.blobs.s3 import S3Blobs
from tests.conftest import denied

ID, OTHER, NONE = "0" * 32, "1" * 32, "2" * 32


def test_what_is_written_is_there_and_goes(blobs: Blobs) -> None:
    before = time.time()
    blobs.write(ID, [b"some ", memoryview(b"words")])
    blobs.write_many({OTHER: b"", "note-1": b"[]"})
    assert (blobs.read(ID), blobs.read(OTHER), blobs.read(NONE)) == (b"some words", b"", None)
    assert [blobs.has(key) for key in (ID, OTHER, NONE)] == [True, True, False]
    assert (blobs.keys("note-"), blobs.holds(ID, b"some words"), blobs.holds(ID, b"others")) == (
        ["note-1"],
        True,
        False,
    )
    listing = blobs.listing()
    assert {key: size for key, (size, _) in listing.items()} == {ID: 10, OTHER: 0}
    assert all(before - 2 < written < time.time() + 2 for _, written in listing.values())
    assert blobs.free() > 0
    for key in (ID, OTHER, NONE):
        blobs.remove(key)
    assert (blobs.listing(), blobs.has(ID), blobs.path(ID).exists()) == ({}, False, False)


def test_there_are_files_of_it_for_those_who_need_some(blobs: Blobs) -> None:
    blobs.write(ID, [b"words"])
    assert blobs.path(ID).read_bytes() == Blob(blobs.address, ID).path().read_bytes() == b"words"
    with blobs.open(ID) as file:
        assert file.read() == b"words"
    assert not blobs.path(NONE).exists()
    with pytest.raises(FileNotFoundError):
        blobs.open(NONE)


def test_a_name_leads_to_the_bytes_and_goes_with_them(blobs: Blobs) -> None:
    blobs.write(ID, [b"words"])
    assert blobs.named(ID, "") == blobs.path(ID)
    named = blobs.named(ID, "notes/a letter.txt")
    assert (named.name, named.read_bytes(), blobs.named(ID, "a letter.txt")) == ("a letter.txt", b"words", named)
    assert {blobs.named(ID, name) for name in ("..", "a" * 300)} == {blobs.path(ID)}
    assert set(blobs.listing()) == {ID}
    blobs.remove(ID)
    assert not named.is_symlink()


@pytest.mark.parametrize("blobs", ["a bucket"], indirect=True)
class TestBucket:
    """What a store away from this machine adds."""

    def test_a_copy_stays_while_it_is_asked_for(self, blobs: Blobs) -> None:
        blobs.write_many({ID: b"words", OTHER: b"others"})
        copies = [blobs.path(key) for key in (ID, OTHER)]
        blobs.open(OTHER).close()
        assert sorted(path.name for path in copies[0].parent.iterdir()) == [ID, OTHER]
        for copy in copies:
            os.utime(copy, (0, 0))
        assert blobs.path(ID) == copies[0]
        blobs.tidy()
        assert [copy.exists() for copy in copies] == [True, False]
        assert blobs.path(OTHER).read_bytes() == b"others"

    def test_what_breaks_off_on_the_way_leaves_nothing(self, blobs: Blobs) -> None:
        def broken() -> object:
            yield b"the first part"
            raise RuntimeError

        with pytest.raises(RuntimeError):
            blobs.write(ID, broken())
        assert (blobs.keys(""), list(blobs.path(ID).parent.iterdir())) == ([], [])

    def test_a_process_before_leaves_no_copies(self, blobs: Blobs, tmp_path: Path) -> None:
        blobs.write(ID, [b"words"])
        copy = blobs.path(ID)
        blobs.prepare(tmp_path / "fetched")
        assert not copy.exists()

    def test_one_that_is_not_there_or_does_not_answer_or_may_not_be_used_says_what_to_do(
        self, s3: str, bucket: str, blobs: Blobs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        def refused(store: Blobs) -> str:
            with pytest.raises(StoreUnavailable) as told:
                store.prepare(tmp_path / "fetched")
            with pytest.raises(StoreUnavailable):
                store.write_many({ID: b"words"})
            return f"{told.value} {told.value.help}"

        assert "Make it, or name another" in refused(S3Blobs(f"s3://none-{bucket.removeprefix('s3://')}"))
        with monkeypatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
            away = S3Blobs(bucket)
            assert "Check AWS_ENDPOINT_URL" in refused(away)
            for ask in (away.has, away.open, away.remove):
                with pytest.raises(StoreUnavailable):
                    ask(ID)
        with denied(s3):
            assert "who may list the bucket" in refused(S3Blobs(bucket))
        assert blobs.listing() == {}


def test_an_address_that_is_none_is_refused(settings: Settings) -> None:
    for address in ("gs://bucket/prefix", "s3://", "s3:///prefix"):
        with pytest.raises(ConfigurationError) as refused:
            originals(settings.changed("storage", originals=address))
        assert "s3://bucket/prefix" in refused.value.help


def test_a_bucket_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_module, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="need the package s3fs") as refused:
        S3Blobs("s3://bucket")
    assert "pip install" in refused.value.help
