"""Language models: on this machine, on a server, or remote; each behind `ChatModel`."""

from rag_core.models.base import ChatModel
from rag_core.models.messages import ChatMessage, Delta, Usage, prompted
from rag_core.models.registry import model_statuses, open_model

__all__ = ["ChatMessage", "ChatModel", "Delta", "Usage", "model_statuses", "open_model", "prompted"]
