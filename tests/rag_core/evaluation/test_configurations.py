"""Configurations: what they may change, what comes of them, and their files."""

from __future__ import annotations

from typing import Any

import pytest

from rag_core import Settings
from rag_core.domain import Configuration, ModelStatus
from rag_core.errors import ConfigurationError
from rag_core.evaluation.configurations import LABELS, applied, fields, parsed

PLAIN = Settings(_env_file=None)


def changed(**changes: Any) -> Settings:
    """The settings of a configuration; `group__name` for group.name."""
    return applied(Configuration("one", {key.replace("__", "."): value for key, value in changes.items()}), PLAIN)


def test_without_changes_the_settings_are_the_library_s() -> None:
    assert applied(Configuration("as it is"), PLAIN) == PLAIN


def test_changes_of_several_groups_are_applied() -> None:
    settings = changed(retrieval__k=9, retrieval__scan="exact", chunking__size=300, chunking__overlap=40)
    assert (settings.retrieval.k, settings.retrieval.scan) == (9, "exact")
    assert (settings.chunking.size, settings.chunking.overlap) == (300, 40)
    assert settings.answering == PLAIN.answering


def test_configurations_of_earlier_versions_are_understood() -> None:
    settings = changed(retrieval__engine="chroma", retrieval__mode="fast")
    assert (settings.retrieval.index, settings.retrieval.scan, settings.retrieval.mode) == ("chroma", "fast", "auto")
    with pytest.raises(ConfigurationError):
        changed(retrieval__engine="elsewhere")


def test_one_lambda_is_taken_for_both() -> None:
    assert changed(retrieval__mmr_lambda=0.3).answering.mmr_lambda == 0.3
    both = changed(retrieval__mmr_lambda=0.3, answering__mmr_lambda=0.9)
    assert (both.retrieval.mmr_lambda, both.answering.mmr_lambda) == (0.3, 0.9)
    assert changed(answering__mmr_lambda=0.9).retrieval.mmr_lambda == PLAIN.retrieval.mmr_lambda


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("retrieval.k", 0),
        ("retrieval.k", 101),
        ("retrieval.k", 2.5),
        ("retrieval.k", None),
        ("retrieval.k", "many"),
        ("retrieval.k", float("nan")),
        ("retrieval.k", 10**400),
        ("retrieval.k", [6]),
        ("retrieval.mode", "quick"),
        ("answering.mmr_lambda", float("nan")),
        ("answering.mmr_lambda", float("inf")),
        ("answering.mmr_lambda", -0.1),
        ("chunking.size", 100),  # smaller than the overlap
        ("answering.prompt", "no places"),
        ("answering.prompt", 5),
        ("generation.model", object()),
        ("retrieval.kk", 3),
        ("retrieval", {"k": 3}),
        ("retrieval.", 3),
        ("retrieval.k.k", 3),
        ("k", 3),
        ("", 3),
        (".", 3),
        ("data_dir", "/tmp"),
        ("storage.pool_size", 9),
        ("embedding.model", "another"),
        ("reading.max_pages", 3),
        ("allow_remote", True),
        ("google_api_key", "key"),
        ("generation.gemini_endpoint", "https://example.org"),
    ],
)
def test_what_a_run_cannot_change_is_refused(key: str, value: object) -> None:
    with pytest.raises(ConfigurationError) as refused:
        applied(Configuration("one", {key: value}), PLAIN)
    assert refused.value.help


def test_a_row_tells_every_setting_that_matters_and_no_secret() -> None:
    secret = PLAIN.with_key("secret").changed("generation", gemini_endpoint="https://hidden.example")
    rows = secret.tunable()
    assert rows["retrieval.k"] == PLAIN.retrieval.k
    assert set(LABELS) <= set(rows)
    assert "secret" not in str(rows)
    assert "hidden" not in str(rows)
    assert PLAIN.with_values(rows) == PLAIN


def test_fields_have_the_library_s_values_kinds_and_bounds() -> None:
    models = [ModelStatus("extractive", "Quotes", True), ModelStatus("gemini", "Gemini", False, "no key")]
    found = {field.key: field for field in fields(PLAIN.changed("retrieval", k=8), models)}
    assert list(found) == list(LABELS)
    assert all(field.label and field.help for field in found.values())
    assert (found["retrieval.k"].kind, found["retrieval.k"].value) == ("integer", 8)
    assert (found["retrieval.k"].low, found["retrieval.k"].high) == (1, 100)
    assert found["generation.model"].choices == ("extractive",)
    assert found["retrieval.mode"].choices == ("auto", "hybrid", "dense", "lexical", "clusters", "scaler")
    assert found["retrieval.scan"].choices == ("auto", "exact", "fast")
    assert found["answering.mmr_lambda"].kind == "number"
    assert found["answering.prompt"].kind == "text"
    for field in found.values():
        assert applied(Configuration("own", {field.key: field.value}), PLAIN)
        if field.low is not None and field.kind == "integer":
            with pytest.raises(ConfigurationError):
                applied(Configuration("low", {field.key: int(field.low) - 1}), PLAIN)


def test_a_file_s_configuration_in_any_of_its_forms() -> None:
    wanted = {"retrieval.k": 3, "chunking.size": 500}
    for value in (
        {"name": "three", "changes": wanted},
        {"name": "three", **wanted},
        {"name": "three", "retrieval": {"k": 3}, "chunking": {"size": 500}},
        {"name": "three", "changes": {"retrieval": {"k": 3}, "chunking.size": 500}},
    ):
        assert parsed(value, "file") == Configuration("three", wanted)
    assert parsed({}, "file") == Configuration("file", {})
    assert parsed({"changes": {}}, "file") == Configuration("file", {})


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        "text",
        [],
        [{}],
        {"changes": 3},
        {"changes": ["retrieval.k"]},
        {"changes": {}, "retrieval": {"k": 3}},
        {"name": None},
        {"name": 5},
        {"name": " "},
    ],
)
def test_a_file_s_configuration_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(ConfigurationError):
        parsed(value, "file")
