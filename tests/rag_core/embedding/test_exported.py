"""The export: whole or absent, by one process or by two."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from accelerator.atomic import work_path
from rag_core.embedding import exported
from rag_core.embedding.exported import MANIFEST, exported_model, is_whole, publish
from rag_core.embedding.source import ModelSource
from rag_core.errors import ModelUnavailable
from tests.rag_core.embedding.conftest import MODELS


@pytest.fixture
def target(tmp_path: Path, source: ModelSource) -> Path:
    """A whole exported model in a models folder of its own."""
    kept = exported_model(source, "float32", MODELS)
    return Path(shutil.copytree(kept, tmp_path / "embedding" / kept.name))


@pytest.fixture
def exports(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Exporting replaced by writing a file: its targets."""
    targets: list[Path] = []

    def export(source: ModelSource, precision: str, target: Path) -> None:
        targets.append(target)
        work = work_path(target)
        work.mkdir()
        (work / "model.xml").write_text("model")
        publish(work, target)

    monkeypatch.setattr(exported, "_export", export)
    return targets


def test_what_is_whole_is_taken(target: Path, source: ModelSource, tmp_path: Path, exports: list[Path]) -> None:
    assert exported_model(source, "float32", tmp_path) == target
    assert exported_model(source, "bf16", tmp_path) == target
    assert exports == []


@pytest.mark.parametrize("damage", ["truncated", "missing", "no manifest", "bad manifest"])
def test_what_is_damaged_is_exported_anew(
    target: Path, source: ModelSource, tmp_path: Path, exports: list[Path], damage: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    if damage == "truncated":
        os.truncate(target / "model.bin", 1000)
    elif damage == "missing":
        (target / "model.bin").unlink()
    elif damage == "no manifest":
        (target / MANIFEST).unlink()
    else:
        (target / MANIFEST).write_text("[1]")
    assert not is_whole(target)
    assert exported_model(source, "float32", tmp_path) == target
    assert exports == [target]
    assert "Preparing" in caplog.text
    assert is_whole(target)
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_the_first_of_two_exporters_is_kept(target: Path) -> None:
    before = (target / MANIFEST).read_bytes()
    work = work_path(target)
    work.mkdir()
    (work / "model.xml").write_text("another")
    assert not publish(work, target)
    assert (target / MANIFEST).read_bytes() == before
    assert not work.exists()


def test_leftovers_go_when_they_are_old(source: ModelSource, tmp_path: Path, exports: list[Path]) -> None:
    folder = tmp_path / "embedding"
    old, young = work_path(folder / "x"), work_path(folder / "x")
    for work in (old, young):
        work.mkdir(parents=True)
    os.utime(old, (time.time() - 86_400,) * 2)
    exported_model(source, "float32", tmp_path)
    assert not old.exists()
    assert young.exists()


def test_a_folder_that_cannot_be_written_is_named(source: ModelSource, tmp_path: Path) -> None:
    (tmp_path / "embedding").write_text("a file where a folder should be")
    with pytest.raises(ModelUnavailable, match="cannot be written") as caught:
        exported_model(source, "float32", tmp_path)
    assert "models_dir" in caught.value.help


def test_the_reason_of_a_failed_export_is_told(tmp_path: Path, model_folder: Path) -> None:
    from rag_core.embedding.source import find_source

    source = find_source(str(model_folder))
    (model_folder / "config.json").write_text("")
    with pytest.raises(ModelUnavailable, match=r"could not be exported.*cannot be read"):
        exported_model(source, "float32", tmp_path)
    assert list((tmp_path / "embedding").iterdir()) == []
