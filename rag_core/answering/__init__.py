"""Hits to an answer whose every sentence can be checked."""

from rag_core.answering.answerer import Answerer

__all__ = ["Answerer"]
