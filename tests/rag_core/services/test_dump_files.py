"""TLDR's vector files, byte for byte: written of every document, read by its own layout, and taken back."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rag_core import Library, Settings
from rag_core.errors import LecternError, StoreCorrupt
from tests.conftest import add_text

TEXT = "\n\n".join(
    f"Chapter {n} tells of river {n}, which is {n}0 km long and runs into lake {n}. " * 4 for n in range(5)
)


@pytest.fixture
def library(tmp_path: Path, new_database: Callable[[], str]) -> Library:
    settings = Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database())
    with Library.open(settings.changed("chunking", size=320, overlap=0)) as opened:
        yield opened


def of_seed(path: Path) -> tuple[tuple[int, ...], np.ndarray, list[str]]:
    """A file as the seed's document reads it: a header of four numbers, vectors, hashes."""
    data = path.read_bytes()
    entries, hash_bytes, vector_bytes, dimensions = header = struct.unpack_from("<IIII", data)
    vectors = np.frombuffer(data, "<f4", entries * dimensions, 16).reshape(entries, dimensions)
    hashes = data[16 + entries * vector_bytes :]
    assert len(hashes) == entries * hash_bytes
    return header, vectors, [hashes[at : at + hash_bytes].hex() for at in range(0, len(hashes), hash_bytes)]


def test_a_file_is_the_seed_s_byte_for_byte(library: Library, tmp_path: Path) -> None:
    document = add_text(library, "rivers.txt", TEXT)
    add_text(library, "oven.txt", "Rye bread is baked on Fridays.")
    made = {one.document_id: one for one in library.dump_files.write(tmp_path / "vectors")}
    assert len(made) == 2
    header, vectors, hashes = of_seed(Path(made[document.id].path))
    chunks = library.chunks(document.id)
    assert header == (len(chunks), 16, 4 * 384, 384)
    assert hashes == [hashlib.md5(chunk.text.encode()).hexdigest() for chunk in chunks]
    assert np.array_equal(vectors, library.storage.documents.vectors.of(document.id)[0])


def test_what_was_written_is_taken_back_and_followed_by_every_index(library: Library, tmp_path: Path) -> None:
    document = add_text(library, "rivers.txt", TEXT)
    (made,) = library.dump_files.write(tmp_path / "vectors")
    path = Path(made.path)
    assert [one.outcome for one in library.dump_files.take(path)] == ["the same vectors"]
    _, vectors, _ = of_seed(path)
    near = (vectors * 2 + 0.01).astype("<f4")  # of another runtime, and not of unit length
    path.write_bytes(path.read_bytes()[:16] + near.tobytes() + path.read_bytes()[16 + near.nbytes :])
    assert [one.outcome for one in library.dump_files.take(path)] == ["taken"]
    unit = near / np.linalg.norm(near, axis=1, keepdims=True)
    assert np.allclose(library.storage.documents.vectors.of(document.id)[0], unit, atol=1e-6)
    library.storage.settle()
    assert library.maintenance.verify(deep=True).findings == ()
    (hit, *_) = library.search("How long is river 3?", mode="dense", k=1)
    assert hit.score == pytest.approx(float(unit[hit.index] @ library.embed(["How long is river 3?"])[0]), abs=1e-4)


def test_vectors_of_unit_length_are_taken_bit_for_bit(library: Library, tmp_path: Path) -> None:
    add_text(library, "rivers.txt", TEXT)
    (made,) = library.dump_files.write(tmp_path / "vectors")
    path, first = Path(made.path), Path(made.path).read_bytes()
    _, vectors, _ = of_seed(path)
    near = vectors + np.random.default_rng(0).normal(0, 0.005, vectors.shape)
    unit = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype("<f4")
    for given in (first[:16] + unit.tobytes() + first[16 + unit.nbytes :], first):
        path.write_bytes(given)
        assert [one.outcome for one in library.dump_files.take(path)] == ["taken"]
        (again,) = library.dump_files.write(tmp_path / "again")
        assert Path(again.path).read_bytes() == given


def test_hashes_of_eight_bytes_are_those_of_the_seed_s_own_files(library: Library, tmp_path: Path) -> None:
    add_text(library, "rivers.txt", TEXT)
    (made,) = library.dump_files.write(tmp_path / "vectors")
    header, vectors, hashes = of_seed(Path(made.path))
    head = struct.pack("<IIII", header[0], 8, *header[2:])
    short = tmp_path / "short.dump"
    short.write_bytes(head + vectors.tobytes() + b"".join(bytes.fromhex(one)[:8] for one in hashes))
    assert len([*library.dump_files.take(short)]) == 1


def test_what_does_not_fit_is_refused_and_changes_nothing(library: Library, tmp_path: Path) -> None:
    document = add_text(library, "rivers.txt", TEXT)
    (made,) = library.dump_files.write(tmp_path / "vectors")
    path, data = Path(made.path), Path(made.path).read_bytes()
    before = library.storage.documents.vectors.of(document.id)[0]
    other = np.random.default_rng(0).standard_normal(before.shape).astype("<f4")
    damages = {
        StoreCorrupt: data[:-1],
        LecternError: data[:16] + other.tobytes() + data[16 + other.nbytes :],  # of another model
    }
    for kind, damaged in damages.items():
        path.write_bytes(damaged)
        with pytest.raises(kind):
            list(library.dump_files.take(path))
    path.write_bytes(data[:-16] + bytes(16))
    with pytest.raises(LecternError, match="of no document here"):
        list(library.dump_files.take(path))
    assert np.array_equal(library.storage.documents.vectors.of(document.id)[0], before)
