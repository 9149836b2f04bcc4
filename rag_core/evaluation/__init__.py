"""Question sets, metrics, runs and comparisons."""

from rag_core.evaluation.evaluation import Evaluation
from rag_core.evaluation.host import Host

__all__ = ["Evaluation", "Host"]
