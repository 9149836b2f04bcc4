"""Each stage takes values and gives values: a fresh process makes the same of them as this one."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rag_core import Settings
from rag_core.embedding import open_embedder
from rag_core.errors import LecternError
from rag_core.ingest.stages import Embedded, File, Model, chunk, embed, parse, parse_small
from rag_core.storage.blobs import Blob
from rag_core.storage.blobs.folder import FolderBlobs
from tests.conftest import PROJECT

SAMPLES = PROJECT / "data" / "samples"


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Callable[..., Any]]:
    """Calls a function in a process that has nothing of this one's, as another machine has not."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.MonkeyPatch.context() as patch:  # or it would run whatever page was tested last
            patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
            pool.submit(int).result(120)
        yield lambda function, *given: pool.submit(function, *given).result(120)


@pytest.fixture(scope="module")
def plain() -> Settings:
    return Settings(_env_file=None)


@pytest.fixture(scope="module")
def model(plain: Settings) -> Model:
    with open_embedder(plain.embedding, plain.models_dir) as embedder:
        return Model(embedder.profile, embedder.model, plain.embedding, plain.models_dir)


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], File]:
    def keep(name: str) -> File:
        store = FolderBlobs(tmp_path / "files")
        store.prepare(tmp_path / "fetched")
        store.write(name, [(SAMPLES / name).read_bytes()])
        return File(Blob(store.address, name), (name,))

    return keep


@pytest.mark.parametrize("name", ["veyra-ferry-handbook.pdf", "water-works-guide.md"])
def test_a_file_is_read_elsewhere(
    elsewhere: Callable[..., Any], file: Callable[[str], File], plain: Settings, name: str
) -> None:
    here = parse(file(name), plain.reading)
    assert here.card
    assert here.pages
    assert elsewhere(parse, file(name), plain.reading) == here


def test_small_files_are_read_elsewhere_and_what_is_none_is_told(
    elsewhere: Callable[..., Any], file: Callable[[str], File], plain: Settings
) -> None:
    sound = file("storm-report-2019.txt")
    found = elsewhere(parse_small, [sound, File(Blob(sound.blob.store, "none"), ("none.txt",))], plain.reading)
    assert found[0] == parse(sound, plain.reading)
    assert isinstance(found[1], LecternError)
    assert found[1].help


def test_a_document_is_cut_and_embedded_elsewhere(
    elsewhere: Callable[..., Any], file: Callable[[str], File], plain: Settings, model: Model
) -> None:
    document = parse(file("water-works-guide.md"), plain.reading)
    chunks = chunk("d" * 32, document, plain.chunking, model)
    assert len(chunks) > 3
    assert elsewhere(chunk, "d" * 32, document, plain.chunking, model) == chunks
    texts, contexts = [item.text for item in chunks], [item.section for item in chunks]
    here: Embedded = embed(texts, contexts, model)
    there: Embedded = elsewhere(embed, texts, contexts, model)
    assert there.profile == here.profile == model.profile
    assert np.array_equal(here.vectors, there.vectors)
    assert all(np.array_equal(a, b) for a, b in zip(here.pieces, there.pieces, strict=True))
    assert pickle.loads(pickle.dumps(model)) == model
