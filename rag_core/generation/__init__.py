"""Models that answer from passages: quoting, on this machine, or remote."""

from rag_core.generation.base import LanguageModel
from rag_core.generation.registry import model_statuses, open_model

__all__ = ["LanguageModel", "model_statuses", "open_model"]
