"""What a group of settings is: closed and frozen; and settings of several values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic_core import from_json
from pydantic_settings import NoDecode

One = TypeVar("One")


def _several(value: object) -> object:
    """The values of a text: of a list as JSON has it, else what commas divide."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return from_json(value)
    return tuple(part for part in map(str.strip, value.split(",")) if part)


Several = Annotated[tuple[One, ...], NoDecode, BeforeValidator(_several)]
"""A setting of several values: in the environment `a,b`, or `["a", "b"]` for values with commas."""


class Group(BaseModel):
    """A closed group of settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def implied(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """What giving some values says about others."""
        return {}

    def implied_by_change(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same where these values take the places of some that were set."""
        return self.implied(values)
