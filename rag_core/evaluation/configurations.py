"""Configurations: which settings they may change, and the settings that come of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast, get_args, get_origin

from rag_core.domain import Configuration, Field, FieldKind, ModelStatus
from rag_core.errors import ConfigurationError
from rag_core.retrieval.reranking.cross_encoder import cross_encoders
from rag_core.settings import Settings, translated
from rag_core.storage.indexes import DENSE, check_dense

LABELS = {
    "retrieval.mode": "Mode of search",
    "retrieval.index": "Index of vectors",
    "retrieval.scan": "Scan of vectors",
    "retrieval.k": "Passages (k)",
    "retrieval.fetch_k": "Candidates (fetch_k)",
    "answering.mmr_lambda": "Relevance against variety (lambda)",
    "chunking.strategy": "Chunking",
    "chunking.tokens": "Chunk size (tokens)",
    "chunking.overlap_tokens": "Chunk overlap (tokens)",
    "chunking.size": "Chunk size (characters)",
    "chunking.overlap": "Chunk overlap (characters)",
    "chunking.separators": "Cut at (characters)",
    "generation.model": "Model",
    "generation.temperature": "Temperature",
    "generation.max_tokens": "Longest answer",
    "answering.max_sentences": "Sentences quoted",
    "answering.prompt": "Prompt",
}
_KINDS: dict[object, FieldKind] = {int: "integer", float: "number", str: "text"}


def fields(settings: Settings, models: Sequence[ModelStatus]) -> tuple[Field, ...]:
    """What a configuration may change, with the library's own values; models are those that are ready."""
    ready = tuple(model.id for model in models if model.ready)
    return tuple(_field(key, label, settings, ready) for key, label in LABELS.items())


def applied(configuration: Configuration, settings: Settings) -> Settings:
    """The settings with a configuration's changes, as answers use them.

    A `retrieval.mmr_lambda` without an `answering.mmr_lambda` is taken for both: passages are measured as answers get
    them. Raises ConfigurationError for a setting that there is not, that cannot be changed, or of a wrong value.
    """
    changes = translated(configuration.changes)
    for key in changes:
        if key not in settings.tunable():
            raise ConfigurationError(
                f"“{configuration.name}” changes {key}, which a run cannot change.",
                help=f"What it can: {', '.join(LABELS)}. Another embedding model is set by `reembed`.",
            )
    _check_reranker(configuration.name, changes.get("retrieval.rerank", "auto"), settings)
    if "retrieval.mmr_lambda" in changes:
        changes.setdefault("answering.mmr_lambda", changes["retrieval.mmr_lambda"])
    try:
        made = settings.with_values(changes)
        check_dense(made.retrieval.index)
        return made
    except ConfigurationError as error:
        told = str(error).removeprefix("Settings cannot be used: ")
        raise ConfigurationError(
            f"“{configuration.name}” cannot be tried: {told}.", help="Change it, and try again."
        ) from error


def _check_reranker(name: str, wanted: object, settings: Settings) -> None:
    """Raises ConfigurationError for a re-ranker that is none of those in the models folder."""
    known = ["auto", "none", *(folder.name for folder in cross_encoders(settings.models_dir))]
    if wanted not in known:
        raise ConfigurationError(
            f"“{name}” cannot be tried: there is no cross-encoder called {str(wanted)[:100]} in the models folder.",
            help=f"Take one of: {', '.join(known)}.",
        )


def parsed(value: object, name: str) -> Configuration:
    """A configuration of a file: `{"name": ..., "changes": {"retrieval.k": 10}}`, or settings in groups or with dots.

    Raises ConfigurationError.
    """
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{name}: a configuration is an object of settings.")
    named = dict(value)
    name = named.pop("name", name)
    if not isinstance(name, str) or not name.strip():
        raise ConfigurationError("The `name` of a configuration is a text.")
    changes = named.pop("changes", None)
    if changes is not None and (named or not isinstance(changes, Mapping)):
        raise ConfigurationError(f"{name}: `changes` is an object of all settings; beside it stands `name` alone.")
    changes = named if changes is None else changes
    flat: dict[str, object] = {}
    for key, inner in changes.items():
        if isinstance(inner, Mapping):
            flat |= {f"{key}.{setting}": setting_value for setting, setting_value in inner.items()}
        else:
            flat[str(key)] = inner
    return Configuration(name, flat)


def _field(key: str, label: str, settings: Settings, models: tuple[str, ...]) -> Field:
    group, name = key.split(".")
    values = getattr(settings, group)
    info = type(values).model_fields[name]
    annotation: Any = info.annotation
    choices = cast("tuple[str, ...]", get_args(annotation)) if get_origin(annotation) is Literal else ()
    choices = {"generation.model": models, "retrieval.index": ("auto", *DENSE)}.get(key, choices)
    bounds = {
        bound: getattr(rule, bound) for rule in info.metadata for bound in ("ge", "gt", "le") if hasattr(rule, bound)
    }
    return Field(
        key=key, label=label, help=info.description or "", kind="choice" if choices else _KINDS[annotation],
        value=getattr(values, name), choices=choices, low=bounds.get("ge", bounds.get("gt")), high=bounds.get("le"),
    )  # fmt: skip
