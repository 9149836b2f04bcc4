"""A cross-encoder that lies in the models folder re-ranks the first candidates."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from rag_core import Library, Settings
from rag_core.domain import Document, Scope
from rag_core.errors import ModelUnavailable
from rag_core.retrieval.candidates import Candidates
from rag_core.retrieval.query import Query
from rag_core.retrieval.reranking.choosing import AUTOMATIC, FIRST, Rerankers
from rag_core.retrieval.reranking.cross_encoder import CrossEncoderReranker, cross_encoders
from rag_core.storage.postgres.passages import PassageRow
from tests.conftest import add_text
from tests.rag_core.retrieval.crossing import saved, with_code

DOCUMENT = Document("d", "1", "text/plain", 1, "ready")  # a number says nothing, so the text is read alone
QUERY = Query.of("when does it leave", None, Scope(), None)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models folder with a cross-encoder of random weights, one that counts ferries, and what is none."""
    folder = tmp_path_factory.mktemp("models")
    saved(folder / "counting", counting=True)
    saved(folder / "random")
    saved(folder / "three-labels", labels=3)
    exported = Settings().models_dir / "embedding"  # exporting takes half a minute
    exported.mkdir(parents=True, exist_ok=True)
    (folder / "embedding").symlink_to(exported)
    (folder / "broken").mkdir()
    (folder / "broken" / "config.json").write_text("[1]")
    (folder / "answers.gguf").write_bytes(b"GGUF")
    return folder


@pytest.fixture(scope="module")
def rerankers(models: Path) -> Rerankers:
    """Those of the models folder, loaded once for all tests."""
    return Rerankers(models)


def candidates(*texts: str) -> Candidates:
    refs = [(DOCUMENT.id, index) for index in range(len(texts))]
    rows = [PassageRow(*ref, 1, "", "", 0, 1, "[]", text, "") for ref, text in zip(refs, texts, strict=True)]
    score = np.linspace(1, 0.5, len(texts), dtype=np.float32)
    return Candidates(refs, score, "fused", {"fused": score}, None, rows, {DOCUMENT.id: DOCUMENT})


def order(found: Candidates) -> list[int]:
    return [index for _, index in found.refs]


def reranked(held: Rerankers, some: Candidates, wanted: str = "counting") -> tuple[Candidates, list[str], list[str]]:
    notes: list[str] = []
    laps: list[str] = []
    return held.reranked(QUERY, some, wanted, notes, laps.append), notes, laps


def test_those_of_one_label_are_found(models: Path, tmp_path: Path) -> None:
    assert [folder.name for folder in cross_encoders(models)] == ["counting", "random"]
    assert list(cross_encoders(tmp_path / "none")) == []


@pytest.mark.slow
def test_its_order_takes_the_place_of_the_automatic_one(rerankers: Rerankers) -> None:
    found, notes, laps = reranked(
        rerankers, candidates("rye bread", "a ferry leaves", "ferry ferry ferry", "the ferry")
    )
    assert (order(found), found.kind, notes, laps) == ([2, 3, 1, 0], "rerank", [], ["cross_encoder"])
    assert (found.score[0], found.score[-1]) == (1, 0)
    assert list(found.scores["cross_encoder"]) == sorted(found.scores["cross_encoder"], reverse=True)
    assert set(found.scores) == {"fused", "cross_encoder", "rerank"}


def test_only_the_first_are_read(rerankers: Rerankers) -> None:
    found, _, _ = reranked(rerankers, candidates(*["rye bread"] * (FIRST - 1), "the ferry", *["ferry ferry"] * 9))
    assert order(found) == [FIRST - 1, *range(FIRST - 1), *range(FIRST, FIRST + 9)]
    assert np.isnan(found.scores["cross_encoder"][FIRST:]).all()
    assert (np.diff(found.score[FIRST - 1 :]) < 0).all()


def test_a_longer_text_than_its_window_is_cut_off(rerankers: Rerankers) -> None:
    model = rerankers.cross_encoder("counting")
    assert model is not None
    first, whole = model.scores(QUERY, candidates("bread " * 60, "bread " * 60 + "ferry " * 500))
    assert first == whole


def test_one_text_scores_alone_as_among_others(rerankers: Rerankers) -> None:
    model, some = rerankers.cross_encoder("random"), candidates("the ferry", "bread " * 50, "ferry ferry bread")
    assert model is not None
    together = model.scores(QUERY, some)
    alone = [model.scores(QUERY, some.take([place]))[0] for place in range(3)]
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert len(set(together)) == 3


@pytest.mark.parametrize("wanted", ["auto", "gone", "../models/counting"])
def test_a_model_that_cannot_serve_is_told_of(models: Path, tmp_path: Path, wanted: str) -> None:
    shutil.copytree(models / "counting", tmp_path / "half")
    (tmp_path / "half" / "model.safetensors").write_bytes(b"not yet")
    some = candidates("rye bread", "the ferry")
    held = Rerankers(tmp_path)
    found, (note,), laps = reranked(held, some, wanted)
    again = [note]
    held.reranked(QUERY, some, wanted, again, lambda _: None)
    assert again == [note]
    assert "cross-encoder" in note
    assert "automatic" in note
    assert (order(found), found.kind, laps) == ([0, 1], "fused", list(AUTOMATIC))


def test_a_model_is_loaded_once_and_again_only_when_its_files_changed(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "counting", tmp_path / "mine")
    weights = (tmp_path / "mine" / "model.safetensors").read_bytes()
    (tmp_path / "mine" / "model.safetensors").write_bytes(weights[:-1])
    rerankers = Rerankers(tmp_path)
    rerankers.warm("auto")
    before = list(rerankers._failed)
    with pytest.raises(ModelUnavailable):
        rerankers.cross_encoder("auto")
    assert [path.name for path in before] == ["mine"]
    (tmp_path / "mine" / "model.safetensors").write_bytes(weights)
    assert rerankers.cross_encoder("auto") is rerankers.cross_encoder("mine") is not None


def test_no_code_of_a_model_is_run(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable):
        CrossEncoderReranker(with_code(tmp_path / "coded"))
    assert not (tmp_path / "coded" / "ran").exists()


def test_weights_that_could_hold_code_are_not_read(models: Path, tmp_path: Path) -> None:
    import torch

    shutil.copytree(models / "counting", tmp_path / "pickled")
    (tmp_path / "pickled" / "model.safetensors").unlink()
    torch.save({}, tmp_path / "pickled" / "pytorch_model.bin")
    with pytest.raises(ModelUnavailable, match="pickled"):
        CrossEncoderReranker(tmp_path / "pickled")


def test_a_library_searches_with_it_and_tells_so(models: Path, settings: Settings) -> None:
    with Library.open(settings.model_copy(update={"models_dir": models})) as library:
        for name, text in {
            "bread": "The rye bread is baked in the morning.", "boats": "Ferry after ferry.",
            "harbour": "The morning ferry leaves from here.",
        }.items():  # fmt: skip
            add_text(library, f"{name}.txt", text)
        library.storage.settle()
        library.warm_up()
        found = library.retrieve("morning bread")
        assert [hit.document.title for hit in found.hits] == ["boats", "harbour", "bread"]
        assert "cross_encoder" in found.hits[0].scores
        assert found.trace.searched is not None
        assert "cross_encoder" in found.trace.searched.candidates[0].scores
        assert "cross_encoder" in found.trace.searched.latency_ms
        for rerank in ("none", "gone"):
            found = library.retrieve("morning bread", rerank=rerank)
            assert found.hits[0].document.title == "bread"
            assert bool(found.trace.notes) == (rerank == "gone")
        assert "cross_encoder" in library.retrieve("morning bread", rerank="random").hits[0].scores
