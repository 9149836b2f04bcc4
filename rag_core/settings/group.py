"""What a group of settings is: closed and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict


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
