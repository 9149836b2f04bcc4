"""Which models there are, which of them can answer now, and what the others need. Imports nothing heavy."""

from __future__ import annotations

from rag_core.domain import ModelStatus
from rag_core.errors import ModelUnavailable
from rag_core.models import gemini, gguf, openai_compatible
from rag_core.models.base import ChatModel, Provider
from rag_core.settings import Settings

EXTRACTIVE = "extractive"

PROVIDERS: tuple[Provider, ...] = (
    gguf.PROVIDER,
    openai_compatible.PROVIDER,
    gemini.PROVIDER,
)


def open_model(model_id: str, settings: Settings) -> ChatModel:
    """Open a model by its id. Raises ModelUnavailable with a reason that a person can use."""
    provider = next((provider for provider in PROVIDERS if provider.owns(model_id)), None)
    if provider is None:
        ids = ", ".join(p.prefix + "NAME" * p.prefix.endswith(":") for p in PROVIDERS)
        raise ModelUnavailable(f"There is no model called {model_id[:100]!r}.", help=f"Choose {EXTRACTIVE}, {ids}.")
    return provider.open(model_id, settings)


def model_statuses(settings: Settings) -> tuple[ModelStatus, ...]:
    """Every model with whether it can answer now: extractive first, then those of each provider."""
    extractive = ModelStatus(EXTRACTIVE, "Quotes from your documents", True)
    return (extractive, *(status for provider in PROVIDERS for status in provider.statuses(settings)))
