"""Every setting of Lectern, in nested, closed groups: a misspelt name fails.

Values come from arguments first, then from the environment (`LECTERN_DATA_DIR`, `LECTERN_CHUNKING__SIZE=800`), then
from a `.env` file in the working directory, then from the defaults. `DATABASE_URL`, `CHROMA_URL` and
`GOOGLE_API_KEY` keep the names that other programs use for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from rag_core.errors import ConfigurationError
from rag_core.paths import APP_DIR, PROJECT_DIR, data_dir
from rag_core.settings.answers import (
    AnsweringSettings,
    GenerationSettings,
    HierarchySettings,
    RetrievalSettings,
    ServerSettings,
)
from rag_core.settings.documents import (
    ChunkingSettings,
    EmbeddingSettings,
    OcrSettings,
    ReadingSettings,
    SourcesSettings,
)
from rag_core.settings.group import Group
from rag_core.settings.keeping import DoorSettings, JobSettings, LogSettings, StorageSettings

__all__ = [
    "APP_DIR", "DATA_DIR", "PROJECT_DIR",
    "AnsweringSettings", "ChunkingSettings", "DoorSettings", "EmbeddingSettings", "GenerationSettings",
    "HierarchySettings", "JobSettings", "LogSettings", "OcrSettings", "ReadingSettings", "RetrievalSettings",
    "ServerSettings", "Settings", "SourcesSettings", "StorageSettings", "not_settings", "translated",
]  # fmt: skip

DATA_DIR = data_dir()
"""Where libraries and models are kept by default."""
# What a run of an evaluation may change and a library may apply. Never where a remote model's key and passages go.
_TUNABLE = ("retrieval", "answering", "chunking", "generation")
_NOT_TUNABLE = ("generation.gemini_endpoint",)
_PREFIX = "LECTERN_"
# What fault points and tests read of the environment.
_OTHERS = ("FAULT", "FUZZ_", "REQUIRE_BROWSER")


class Settings(BaseSettings):
    """All settings. Raises ConfigurationError through `Settings.load` for values that cannot be used."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_nested_delimiter="__",
        env_file=".env",
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        # .env may hold other programs' variables; only unknown arguments are refused.
        dotenv_filtering="match_prefix",
    )

    data_dir: Path = Field(default=DATA_DIR / "library", description="the library's folder")
    models_dir: Path = Field(default=DATA_DIR / "models", description="GGUF files, cross-encoders, exported models")
    database_url: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("database_url", "DATABASE_URL"),
        description="a database of another PostgreSQL, instead of the embedded one; for this library alone, or shared",
    )
    chroma_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("chroma_url", "CHROMA_URL"),
        description="a Chroma server instead of the embedded one",
    )
    google_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("google_api_key", "GOOGLE_API_KEY", "GEMINI_API_KEY"),
        description="key for Gemini; never shown or logged",
    )
    hub_url: str = Field(default="", description="another hub to download models from, of the same protocol")
    allow_remote: bool = Field(default=False, description="passages may leave the machine for a remote model")
    reading: ReadingSettings = ReadingSettings()
    sources: SourcesSettings = SourcesSettings()
    ocr: OcrSettings = OcrSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    storage: StorageSettings = StorageSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    hierarchy: HierarchySettings = HierarchySettings()
    generation: GenerationSettings = GenerationSettings()
    server: ServerSettings = ServerSettings()
    answering: AnsweringSettings = AnsweringSettings()
    jobs: JobSettings = JobSettings()
    doors: DoorSettings = DoorSettings()
    logs: LogSettings = LogSettings()

    def changed(self, group: str, **values: Any) -> Settings:
        """The same settings with some values of one group replaced and checked. Raises ConfigurationError."""
        try:
            old = getattr(self, group)
            return self.model_copy(
                update={group: type(old)(**{**old.model_dump(), **old.implied_by_change(values), **values})}
            )
        except ValidationError as error:
            raise ConfigurationError(f"Settings cannot be used: {_faults(error)}") from error

    def with_values(self, values: Mapping[str, object]) -> Settings:
        """The same settings with values of any group replaced: `{"retrieval.k": 10}`. Raises ConfigurationError.

        Names of earlier versions are understood.
        """
        groups: dict[str, dict[str, object]] = {}
        for key, value in translated(values).items():
            group, _, name = key.partition(".")
            if not isinstance(getattr(self, group, None), Group) or name not in type(getattr(self, group)).model_fields:
                raise ConfigurationError(f"{key} is no setting.", help="The folder rag_core/settings has them all.")
            groups.setdefault(group, {})[name] = value
        settings = self
        for group, changes in groups.items():
            settings = settings.changed(group, **changes)
        return settings

    def tunable(self) -> dict[str, Any]:
        """What a run may change and a library may apply, by its name with a dot: no keys, no addresses."""
        groups = {group: getattr(self, group).model_dump(mode="json") for group in _TUNABLE}
        flat = {f"{group}.{name}": value for group, values in groups.items() for name, value in values.items()}
        return {key: value for key, value in flat.items() if key not in _NOT_TUNABLE}

    def with_key(self, key: str | None) -> Settings:
        """The same settings with another Gemini key."""
        return self.model_copy(update={"google_api_key": SecretStr(key) if key else None})

    @classmethod
    def load(cls, **values: Any) -> Settings:
        """Build settings, turning pydantic's report into one readable ConfigurationError."""
        try:
            return cls(**values)
        except ValidationError as error:
            raise ConfigurationError(f"Settings cannot be used: {_faults(error)}") from error
        except SettingsError as error:
            raise ConfigurationError(
                f"Settings cannot be used: {error}.", help="docs/settings.md tells how each one is written."
            ) from error


def not_settings(names: Iterable[str] = os.environ) -> tuple[str, ...]:
    """What the user should know of variables of the environment that are named like settings and are none.

    They are not refused, as such a line of `.env` is: the environment is not Lectern's alone.
    """
    known, lines = [*_names()], []
    for name in sorted(names):
        own = name.upper().removeprefix(_PREFIX)
        if own == name.upper() or own.startswith(_OTHERS) or own.partition("__")[0].lower() in Settings.model_fields:
            continue
        near = get_close_matches(own, known, 1, 0.75)
        help_text = f"Did you mean {_PREFIX}{near[0]}?" if near else "docs/settings.md has all settings."
        lines.append(f"{name} in the environment is no setting and changes nothing. {help_text}")
    return tuple(lines)


def _names() -> Iterator[str]:
    """Every setting as the environment names it, without the prefix."""
    for name, field in Settings.model_fields.items():
        group = field.default
        keys = type(group).model_fields if isinstance(group, Group) else ()
        yield from (f"{name}__{key}".upper() for key in keys) if keys else (name.upper(),)


def translated(values: Mapping[str, object]) -> dict[str, object]:
    """Settings by their names with a dot, those that an earlier version kept under another name under today's.

    `retrieval.engine` is `retrieval.index`; the scanner's `retrieval.mode` is `retrieval.scan`.
    """
    found = dict(values)
    if "retrieval.engine" in found:
        index = found.pop("retrieval.engine")
        found.setdefault("retrieval.index", index)
    if found.get("retrieval.mode") in ("exact", "fast"):
        scan = found.pop("retrieval.mode")
        found.setdefault("retrieval.scan", scan)
    return found


def _faults(error: ValidationError) -> str:
    return "; ".join(
        ": ".join(part for part in (".".join(map(str, item["loc"])), item["msg"].removeprefix("Value error, ")) if part)
        for item in error.errors()
    )
