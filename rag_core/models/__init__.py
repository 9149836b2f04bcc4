"""Models that answer from passages: quoting, on this machine, or remote."""

from rag_core.models.base import ChatModel
from rag_core.models.registry import model_statuses, open_model

__all__ = ["ChatModel", "model_statuses", "open_model"]
