from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_core.embedding.source import PACKAGED, ModelSource, find_source
from rag_core.errors import ModelUnavailable


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_the_packaged_model(source: ModelSource) -> None:
    assert (source.name, source.dimensions, source.pooling, source.max_tokens) == (PACKAGED, 384, "mean", 256)
    assert source.query_prompt == source.text_prompt == ""


def test_a_folder_is_the_same_model_under_its_own_name(model_folder: Path, source: ModelSource) -> None:
    other = find_source(str(model_folder))
    assert other.name == "my model"
    assert (other.revision, other.dimensions, other.max_tokens) == (source.revision, 384, 256)


def test_profiles_tell_precisions_and_models_apart(model_folder: Path, source: ModelSource) -> None:
    other = find_source(str(model_folder))
    ids = {item.profile(precision).id for item in (source, other) for precision in ("float32", "bf16", "int8")}
    assert len(ids) == 6
    assert all(len(id.encode()) <= 24 for id in ids), "a dump file keeps 24 bytes"
    assert source.profile("int8") == find_source(PACKAGED).profile("int8")


def test_changed_weights_are_another_revision(model_folder: Path, source: ModelSource) -> None:
    with (model_folder / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x55")
    assert find_source(str(model_folder)).revision != source.revision


def test_settings_are_read_from_the_folder(model_folder: Path) -> None:
    pooling = {"word_embedding_dimension": 384, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (model_folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    change(model_folder / "sentence_bert_config.json", max_seq_length=128, do_lower_case=True)
    prompts = {"query": "query: ", "passage": "passage: "}
    change(model_folder / "config_sentence_transformers.json", prompts=prompts)
    source = find_source(str(model_folder))
    assert (source.pooling, source.max_tokens, source.lowercase) == ("cls", 128, True)
    assert (source.query_prompt, source.text_prompt) == ("query: ", "passage: ")


def test_a_dense_layer_sets_the_dimensions(model_folder: Path) -> None:
    modules = json.loads((model_folder / "modules.json").read_text())
    modules.insert(2, {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    (model_folder / "modules.json").write_text(json.dumps(modules))
    (model_folder / "2_Dense").mkdir()
    (model_folder / "2_Dense" / "config.json").write_text(json.dumps({"in_features": 384, "out_features": 128}))
    assert find_source(str(model_folder)).dimensions == 128


def test_a_plain_transformers_folder_is_pooled_by_the_mean(model_folder: Path) -> None:
    for name in ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"):
        (model_folder / name).unlink()
    source = find_source(str(model_folder))
    assert (source.pooling, source.dimensions, source.max_tokens) == ("mean", 384, 512)


def test_a_missing_folder_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no embedding model at") as caught:
        find_source(str(tmp_path / "nowhere"))
    assert PACKAGED in caught.value.help


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_a_missing_file_is_named(model_folder: Path, name: str) -> None:
    (model_folder / name).unlink()
    with pytest.raises(ModelUnavailable, match=name):
        find_source(str(model_folder))


@pytest.mark.parametrize("text", ["", "[]", "{}", "not json"], ids=["empty", "list", "no keys", "text"])
def test_a_damaged_configuration_is_translated(model_folder: Path, text: str) -> None:
    (model_folder / "config.json").write_text(text)
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        find_source(str(model_folder))


def test_the_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.embedding.source.find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable) as caught:
        find_source(PACKAGED)
    assert "pip install" in caught.value.help
