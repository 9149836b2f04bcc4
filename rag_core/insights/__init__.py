"""What was asked of a library and what came of it, drawn and exported, and a map of its documents."""

from rag_core.insights.service import InsightsService

__all__ = ["InsightsService"]
